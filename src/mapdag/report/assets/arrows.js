// Lines and arrowheads from box to box.

/** Where the line between two centres leaves the first box. */
export function border(a, b) {
  const dx = b.x - a.x, dy = b.y - a.y;
  const share = Math.min(dx ? a.w / 2 / Math.abs(dx) : Infinity, dy ? a.h / 2 / Math.abs(dy) : Infinity);
  return [a.x + share * dx, a.y + share * dy];
}

/** Points right above and below those on the way, so that round corners do not cut into the boxes that are passed. */
function passing(a, b, points) {
  const down = Math.sign(b.y - a.y);
  return down ? points.flatMap(({ x, y, reach = 17 }) => [{ x, y: y - down * reach }, { x, y: y + down * reach }]) : points;
}

/**
 * The paths of an arc between two boxes, through the points on its way, with round corners: line, stub (for a line without
 * a head), head. A point may have a `reach`: how far above and below it the arc goes straight.
 */
export function arrow(a, b, points = []) {
  const way = passing(a, b, points);
  const [ax, ay] = border(a, way[0] || b), from = way.at(-1) || a;
  const [bx, by] = border(b, from), [cx, cy] = way.length ? [from.x, from.y] : [ax, ay];
  const length = Math.hypot(bx - cx, by - cy) || 1, ux = (bx - cx) / length, uy = (by - cy) / length, size = Math.min(8, length);
  const at = (along, aside) => `${(bx - along * ux - aside * uy).toFixed(1)} ${(by - along * uy + aside * ux).toFixed(1)}`;
  const write = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const corner = ({ x, y }, k) => (k < way.length - 1 ? `Q${write(x, y)} ${write((x + way[k + 1].x) / 2, (y + way[k + 1].y) / 2)}` : `Q${write(x, y)} `);
  const passed = way.length ? way.map(corner).join("") : "L";
  const line = `M${write(ax, ay)}${passed}${at(0.8 * size, 0)}`;
  return { line, hit: line, stub: `M${at(0.8 * size, 0)}L${at(0, 0)}`, head: `M${at(0, 0)}L${at(size, size / 2)}L${at(size, -size / 2)}Z` };
}
