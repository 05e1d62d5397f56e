// Ways for arcs among boxes that stay where they are: past the boxes of the layers between, through the nearest gaps.

const ASIDE = 12; // pixels that an arc keeps from a box that it passes

/** The boxes of each layer, from top to bottom: boxes at the same height. */
export function layersOf(boxes) {
  const found = new Map();
  for (const box of boxes) {
    const key = Math.round(box.y);
    found.set(key, [...(found.get(key) || []), box]);
  }
  return [...found].sort((a, b) => a[0] - b[0]).map(([y, row]) => ({ y, row: row.sort((a, b) => a.x - b.x) }));
}

/** The x nearest to the wanted one that no box of a row covers. */
function gap(row, wanted) {
  const covered = (x) => row.some((box) => Math.abs(x - box.x) < box.w / 2 + ASIDE - 1);
  if (!covered(wanted)) return wanted;
  const edges = row.flatMap((box) => [box.x - box.w / 2 - ASIDE, box.x + box.w / 2 + ASIDE]).filter((x) => !covered(x));
  return edges.reduce((best, x) => (Math.abs(x - wanted) < Math.abs(best - wanted) ? x : best), edges[0] ?? wanted);
}

/** The points on the way from a box to another. */
export function route(a, b, layers) {
  if (Math.abs(a.y - b.y) < 2) { // side by side: below what is between, if anything is
    const [left, right] = a.x < b.x ? [a, b] : [b, a];
    const between = layers.find(({ y }) => Math.abs(y - a.y) < 2)?.row.some((box) => box.x > left.x + 1 && box.x < right.x - 1);
    return between ? [{ x: a.x + (b.x - a.x) * 0.2, y: a.y + a.h * 1.2 }, { x: a.x + (b.x - a.x) * 0.8, y: a.y + a.h * 1.2 }] : [];
  }
  const [low, high] = a.y < b.y ? [a.y, b.y] : [b.y, a.y];
  const points = [];
  for (const { y, row } of layers) {
    if (y <= low + 2 || y >= high - 2) continue;
    const straight = a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y), x = gap(row, straight);
    if (x !== straight) points.push({ x, y, reach: Math.max(...row.map((box) => box.h)) / 2 + 4 });
  }
  return a.y < b.y ? points : points.reverse();
}
