// Where nodes go: as the server laid them out, with more room where nodes have bars in them.
import { layersOf } from "./routes.js";

const HEIGHT = 26, LINE = 15;
export const WIDE = 150; // the least width of a node with bars
export const SHOWN = 6; // levels of a node with bars

/** Boxes from the positions of a layout; `levels` are how many bars each node has, or null for none. */
export function boxesOf(positions, levels = null) {
  const plain = positions.x.map((x, i) => ({ x, y: positions.y[i], w: positions.w[i], h: HEIGHT }));
  if (!levels) return { boxes: plain, w: positions.width, h: positions.height };
  plain.forEach((box, i) => { box.w = Math.max(box.w, WIDE); box.h = HEIGHT + LINE * Math.min(levels[i], SHOWN) + 5; });
  return spread(plain);
}

/** Move boxes that have become larger apart: layers down, and all of them sideways by the same factor. */
function spread(boxes) {
  const layers = layersOf(boxes);
  let factor = 1;
  for (const { row } of layers) {
    for (let k = 1; k < row.length; k += 1) {
      const apart = row[k].x - row[k - 1].x, needed = (row[k].w + row[k - 1].w) / 2 + 18;
      if (apart > 1) factor = Math.max(factor, Math.min(needed / apart, 6));
    }
  }
  let y = 12, before = null;
  for (const layer of layers) {
    const tall = Math.max(...layer.row.map((box) => box.h));
    if (before !== null) y += Math.min(Math.max(36, layer.y - before - 2 * HEIGHT), 70);
    before = layer.y;
    for (const box of layer.row) Object.assign(box, { x: box.x * factor, y: y + box.h / 2 });
    y += tall;
  }
  const left = Math.min(...boxes.map((box) => box.x - box.w / 2)) - 12;
  for (const box of boxes) box.x -= left;
  return { boxes, w: Math.max(...boxes.map((box) => box.x + box.w / 2)) + 12, h: y + 12 };
}
