// A small layered layout, for neighbourhoods: nodes below their parents, long arcs passing between the boxes of a layer.

/**
 * Place some nodes. `sizes` are the widths of their boxes, `hints` where they were from left to right, `links` the pairs
 * (upper, lower). Returns the centres of the nodes, and for every link the points on its way.
 */
export function layOut(members, links, sizes, hints) {
  const GAP = 20, ROW = 78, WIDEST = 1150, THIN = 6;
  const wide = new Map(members.map((i) => [i, sizes[i]])), x = new Map(members.map((i) => [i, hints[i]]));
  const near = new Map(members.map((i) => [i, []])), layers = [];
  const layer = depths();
  members.forEach((i) => (layers[layer.get(i)] ||= []).push(i));
  const chains = links.map(chain);

  /** How far down each node is; those without parents right above their first child. */
  function depths() {
    const parents = new Map(members.map((i) => [i, []])), kids = new Map(members.map((i) => [i, []]));
    for (const [a, b] of links) { parents.get(b).push(a); kids.get(a).push(b); }
    const found = new Map(), open = new Set();
    const depth = (i) => {
      if (found.has(i)) return found.get(i);
      if (open.has(i)) return -1; // two graphs in one picture may have a cycle
      open.add(i);
      found.set(i, Math.max(-1, ...parents.get(i).map(depth)) + 1);
      return found.get(i);
    };
    members.forEach(depth);
    for (const i of members) {
      if (!parents.get(i).length && kids.get(i).length) found.set(i, Math.max(0, Math.min(...kids.get(i).map((kid) => found.get(kid))) - 1));
    }
    const levels = [...new Set(found.values())].sort((a, b) => a - b);
    return new Map([...found].map(([i, each]) => [i, levels.indexOf(each)]));
  }
  /** Give a link a thin vertex in every layer that it passes; names of these are texts. */
  function chain([a, b], n) {
    const [top, bottom] = layer.get(a) < layer.get(b) ? [a, b] : [b, a];
    const passed = [];
    for (let at = layer.get(top) + 1; at < layer.get(bottom); at += 1) {
      const dummy = `${n}/${at}`;
      wide.set(dummy, THIN);
      x.set(dummy, (x.get(a) + x.get(b)) / 2);
      near.set(dummy, []);
      layers[at].push(dummy);
      passed.push(dummy);
    }
    const whole = [top, ...passed, bottom];
    for (let k = 1; k < whole.length; k += 1) { near.get(whole[k - 1]).push(whole[k]); near.get(whole[k]).push(whole[k - 1]); }
    return top === a ? passed : passed.reverse();
  }
  const mean = (i) => (near.get(i).length ? near.get(i).reduce((sum, j) => sum + x.get(j), 0) / near.get(i).length : x.get(i));
  function pack(row) {
    let at = 0;
    for (const i of row) { x.set(i, at + wide.get(i) / 2); at += wide.get(i) + GAP; }
    for (const i of row) x.set(i, x.get(i) - (at - GAP) / 2);
  }
  /** Cut a layer that is too wide into several rows. */
  function wrapped(row) {
    const total = row.reduce((sum, i) => sum + wide.get(i) + GAP, 0), count = Math.max(1, Math.ceil(total / WIDEST));
    const rows = Array.from({ length: count }, () => []);
    row.forEach((i, k) => rows[k % count].push(i));
    return rows;
  }
  /** Move the vertices of a row to where they want to be, as far as those beside leave room. */
  function settle(row) {
    const left = row.map(mean), right = [...left];
    const apart = (k) => (wide.get(row[k]) + wide.get(row[k + 1])) / 2 + GAP;
    for (let k = 1; k < row.length; k += 1) left[k] = Math.max(left[k], left[k - 1] + apart(k - 1));
    for (let k = row.length - 2; k >= 0; k -= 1) right[k] = Math.min(right[k], right[k + 1] - apart(k));
    row.forEach((i, k) => x.set(i, (left[k] + right[k]) / 2));
  }

  for (const row of layers) row.sort((a, b) => x.get(a) - x.get(b));
  layers.forEach(pack);
  for (let sweep = 0; sweep < 14; sweep += 1) {
    for (const row of sweep % 2 ? [...layers].reverse() : layers) {
      const wanted = new Map(row.map((i) => [i, mean(i)]));
      row.sort((a, b) => wanted.get(a) - wanted.get(b));
      pack(row);
    }
  }
  const rows = layers.flatMap(wrapped), y = new Map();
  rows.forEach((row, number) => { pack(row); for (const i of row) y.set(i, number * ROW); });
  for (let sweep = 0; sweep < 10; sweep += 1) for (const row of sweep % 2 ? [...rows].reverse() : rows) settle(row);
  const at = (i) => ({ x: x.get(i), y: y.get(i) });
  return { places: new Map(members.map((i) => [i, at(i)])), routes: chains.map((passed) => passed.map(at)) };
}
