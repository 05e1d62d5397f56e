// The neighbourhood of the chosen node, drawn by itself: the same boxes and lines in other places, the others out of sight.
{
  const radius = document.getElementById("radius");
  const MOST = 120; // nodes
  const GAP = 20, ROW = 78, WIDEST = 1150;
  const home = boxes.map((box) => ({ ...box }));
  const drawn = arcs.map((arc) => [...arc.querySelectorAll("path")].map((path) => [path, path.getAttribute("d")]));
  const joined = data.nodes.map(() => []);
  for (const { start, end } of data.arcs) { joined[start].push(end); joined[end].push(start); }

  /** All nodes within some steps, nearest first, at most `MOST`. */
  function within(i, steps) {
    const members = [i], far = new Map([[i, 0]]);
    for (const each of members) {
      if (far.get(each) === steps) break;
      for (const other of joined[each]) if (!far.has(other)) { far.set(other, far.get(each) + 1); members.push(other); }
    }
    return members;
  }
  /** Put nodes below their parents, those without parents right above their first child. */
  function layersOf(members) {
    const inside = new Set(members), layer = new Map(), open = new Set();
    const parents = new Map(members.map((i) => [i, []])), kids = new Map(members.map((i) => [i, []]));
    for (const { start, end } of data.arcs) if (inside.has(start) && inside.has(end)) { parents.get(end).push(start); kids.get(start).push(end); }
    const depth = (i) => {
      if (layer.has(i)) return layer.get(i);
      if (open.has(i)) return -1; // two graphs in one picture may have a cycle
      open.add(i);
      const own = Math.max(-1, ...parents.get(i).map(depth)) + 1;
      layer.set(i, own);
      return own;
    };
    members.forEach(depth);
    for (const i of members) if (!parents.get(i).length && kids.get(i).length) layer.set(i, Math.min(...kids.get(i).map((kid) => layer.get(kid))) - 1);
    const least = Math.min(...layer.values());
    const layers = [];
    for (const i of members) (layers[layer.get(i) - least] ||= []).push(i);
    return { layers: layers.filter(Boolean), near: new Map(members.map((i) => [i, [...parents.get(i), ...kids.get(i)]])) };
  }
  /** Places for the nodes: rows with few crossings, no wider than the window. */
  function layOut(members) {
    const { layers, near } = layersOf(members);
    const x = new Map(members.map((i) => [i, home[i].x]));
    const mean = (i) => (near.get(i).length ? near.get(i).reduce((sum, j) => sum + x.get(j), 0) / near.get(i).length : x.get(i));
    const pack = (row) => {
      let at = 0;
      for (const i of row) { x.set(i, at + boxes[i].w / 2); at += boxes[i].w + GAP; }
      for (const i of row) x.set(i, x.get(i) - (at - GAP) / 2);
    };
    layers.forEach((layer) => { layer.sort((a, b) => x.get(a) - x.get(b)); });
    layers.forEach(pack);
    for (let sweep = 0; sweep < 12; sweep += 1) {
      for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
        const wanted = new Map(layer.map((i) => [i, mean(i)]));
        layer.sort((a, b) => wanted.get(a) - wanted.get(b));
        pack(layer);
      }
    }
    const rows = layers.flatMap(wrapped);
    rows.forEach(pack);
    for (let sweep = 0; sweep < 8; sweep += 1) for (const row of rows) settle(row, x, mean);
    rows.forEach((row, number) => { for (const i of row) { boxes[i].x = x.get(i); boxes[i].y = number * ROW; } });
  }
  /** Cut a layer that is too wide into several. */
  function wrapped(layer) {
    const total = layer.reduce((sum, i) => sum + boxes[i].w + GAP, 0);
    const count = Math.ceil(total / WIDEST), rows = Array.from({ length: count }, () => []);
    layer.forEach((i, k) => rows[k % count].push(i));
    return rows;
  }
  /** Move the nodes of a row to where they want to be, as far as those beside leave room. */
  function settle(row, x, mean) {
    const wanted = row.map(mean), left = [...wanted], right = [...wanted];
    const apart = (k) => (boxes[row[k]].w + boxes[row[k + 1]].w) / 2 + GAP;
    for (let k = 1; k < row.length; k += 1) left[k] = Math.max(left[k], left[k - 1] + apart(k - 1));
    for (let k = row.length - 2; k >= 0; k -= 1) right[k] = Math.min(right[k], right[k + 1] - apart(k));
    row.forEach((i, k) => x.set(i, (left[k] + right[k]) / 2));
  }
  /** Where the line between two centres leaves the first box. */
  function border(a, b) {
    const dx = b.x - a.x, dy = b.y - a.y;
    const share = Math.min(dx ? a.w / 2 / Math.abs(dx) : Infinity, dy ? a.h / 2 / Math.abs(dy) : Infinity);
    return [a.x + share * dx, a.y + share * dy];
  }
  function redraw(n) {
    const { start, end } = data.arcs[n], [ax, ay] = border(boxes[start], boxes[end]), [bx, by] = border(boxes[end], boxes[start]);
    const length = Math.hypot(bx - ax, by - ay) || 1, ux = (bx - ax) / length, uy = (by - ay) / length, size = Math.min(8, length);
    const at = (along, aside) => `${(bx - along * ux - aside * uy).toFixed(1)} ${(by - along * uy + aside * ux).toFixed(1)}`;
    const line = `M${ax.toFixed(1)} ${ay.toFixed(1)}L${at(0.8 * size, 0)}`;
    const paths = { line, hit: line, stub: `M${at(0.8 * size, 0)}L${at(0, 0)}`, head: `M${at(0, 0)}L${at(size, size / 2)}L${at(size, -size / 2)}Z` };
    for (const [path] of drawn[n]) path.setAttribute("d", paths[path.getAttribute("class")]);
  }
  function restore() {
    home.forEach((box, i) => { Object.assign(boxes[i], box); nodes[i].removeAttribute("transform"); });
    for (const paths of drawn) for (const [path, d] of paths) path.setAttribute("d", d);
    for (const element of [...nodes, ...arcs]) element.classList.remove("away");
    frame.classList.remove("near-only");
    camera.show();
  }
  function update() {
    const i = graph.chosen, steps = +radius.value;
    if (!steps || i < 0) {
      if (frame.classList.contains("near-only")) restore();
      say(steps ? "Choose a node to see its neighbourhood." : "");
      return;
    }
    const all = within(i, steps), members = all.slice(0, MOST), inside = new Set(members);
    layOut(members);
    nodes.forEach((element, k) => {
      element.classList.toggle("away", !inside.has(k));
      if (inside.has(k)) element.setAttribute("transform", `translate(${boxes[k].x - home[k].x} ${boxes[k].y - home[k].y})`);
    });
    data.arcs.forEach(({ start, end }, n) => {
      const here = inside.has(start) && inside.has(end);
      arcs[n].classList.toggle("away", !here);
      if (here) redraw(n);
    });
    frame.classList.add("near-only");
    const left = Math.min(...members.map((k) => boxes[k].x - boxes[k].w / 2)), right = Math.max(...members.map((k) => boxes[k].x + boxes[k].w / 2));
    const ys = members.map((k) => boxes[k].y), top = Math.min(...ys), bottom = Math.max(...ys);
    camera.show({ x: left - 24, y: top - 40, w: right - left + 48, h: bottom - top + 80 });
    const cut = all.length > members.length ? `the nearest ${members.length} of ${figure(all.length, 0)} nodes` : `${members.length} of ${figure(nodes.length, 0)} nodes`;
    say(`${name(i)} and what is within ${steps === 1 ? "1 step" : `${steps} steps`}: ${cut}`);
  }
  radius.addEventListener("change", update);
  graph.watchers.push(update);
}
