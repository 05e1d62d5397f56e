// The neighbourhood of the chosen node, drawn by itself: the same boxes and lines in other places, the others out of sight.
{
  const radius = document.getElementById("radius");
  const MOST = 120; // nodes
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
  /** Where the line between two centres leaves the first box. */
  function border(a, b) {
    const dx = b.x - a.x, dy = b.y - a.y;
    const share = Math.min(dx ? a.w / 2 / Math.abs(dx) : Infinity, dy ? a.h / 2 / Math.abs(dy) : Infinity);
    return [a.x + share * dx, a.y + share * dy];
  }
  /** Draw an arc anew, through the points on its way. */
  function redraw(n, way) {
    const { start, end } = data.arcs[n], [ax, ay] = border(boxes[start], way[0] || boxes[end]);
    const from = way.at(-1) || boxes[start], [bx, by] = border(boxes[end], from), [cx, cy] = way.length ? [from.x, from.y] : [ax, ay];
    const length = Math.hypot(bx - cx, by - cy) || 1, ux = (bx - cx) / length, uy = (by - cy) / length, size = Math.min(8, length);
    const at = (along, aside) => `${(bx - along * ux - aside * uy).toFixed(1)} ${(by - along * uy + aside * ux).toFixed(1)}`;
    const line = `M${ax.toFixed(1)} ${ay.toFixed(1)}${way.map(({ x, y }) => `L${x.toFixed(1)} ${y.toFixed(1)}`).join("")}L${at(0.8 * size, 0)}`;
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
    const kept = data.arcs.map((_, n) => n).filter((n) => inside.has(data.arcs[n].start) && inside.has(data.arcs[n].end));
    const { places: at, routes } = layOut(members, kept.map((n) => [data.arcs[n].start, data.arcs[n].end]), home.map((box) => box.w), home.map((box) => box.x));
    for (const [k, spot] of at) Object.assign(boxes[k], spot);
    for (const arc of arcs) arc.classList.add("away");
    kept.forEach((n, k) => { arcs[n].classList.remove("away"); redraw(n, routes[k]); });
    nodes.forEach((element, k) => {
      element.classList.toggle("away", !inside.has(k));
      if (inside.has(k)) element.setAttribute("transform", `translate(${boxes[k].x - home[k].x} ${boxes[k].y - home[k].y})`);
    });
    frame.classList.add("near-only");
    const left = Math.min(...members.map((k) => boxes[k].x - boxes[k].w / 2)), right = Math.max(...members.map((k) => boxes[k].x + boxes[k].w / 2));
    const ys = members.map((k) => boxes[k].y), top = Math.min(...ys), bottom = Math.max(...ys);
    camera.show({ x: left - 24, y: top - 64, w: right - left + 48, h: bottom - top + 100 });
    const cut = all.length > members.length ? `the nearest ${members.length} of ${figure(all.length, 0)} nodes` : `${members.length} of ${figure(nodes.length, 0)} nodes`;
    say(`${name(i)} and what is within ${steps === 1 ? "1 step" : `${steps} steps`}: ${cut}`);
  }
  radius.addEventListener("change", update);
  graph.watchers.push(update);
}
