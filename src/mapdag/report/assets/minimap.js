// A small map of the whole drawing with the part that is in view, whenever that is not all of it. Click or drag to go there.

/** Let `map`, an element with a canvas and a frame, show where in the picture the camera is. */
export function makeMinimap({ picture, camera, known, map }) {
  const { frame, svg, boxes } = picture, { whole } = camera;
  const canvas = map.querySelector("canvas"), window_ = map.querySelector("span");
  let scale = 1;

  function draw() {
    const { w, h } = whole;
    const most = Math.min(190, svg.clientWidth * 0.28);
    scale = Math.min(most / w, most / h);
    const sharp = window.devicePixelRatio || 1;
    canvas.width = Math.ceil(w * scale * sharp);
    canvas.height = Math.ceil(h * scale * sharp);
    canvas.style.width = `${w * scale}px`;
    canvas.style.height = `${h * scale}px`;
    const brush = canvas.getContext("2d"), style = getComputedStyle(frame);
    brush.scale(scale * sharp, scale * sharp);
    brush.strokeStyle = style.getPropertyValue("--arc");
    brush.globalAlpha = 0.35;
    brush.lineWidth = 0.6 / scale;
    brush.beginPath();
    for (const { start, end } of known().arcs) { brush.moveTo(boxes[start].x, boxes[start].y); brush.lineTo(boxes[end].x, boxes[end].y); }
    brush.stroke();
    brush.globalAlpha = 1;
    brush.fillStyle = style.getPropertyValue("--box-line");
    for (const { x, y, w: wide, h: high } of boxes) brush.fillRect(x - wide / 2, y - high / 2, Math.max(wide, 1.5 / scale), Math.max(high, 1.5 / scale));
  }
  function frameIt() {
    const part = camera.view(), { w, h } = whole;
    const all = part.x <= 1 && part.y <= 1 && part.x + part.w >= w - 1 && part.y + part.h >= h - 1;
    map.hidden = all || frame.classList.contains("near-only");
    if (map.hidden) return;
    const left = Math.max(part.x, 0), top = Math.max(part.y, 0), right = Math.min(part.x + part.w, w), bottom = Math.min(part.y + part.h, h);
    Object.assign(window_.style, {
      left: `${left * scale}px`, top: `${top * scale}px`,
      width: `${Math.max((right - left) * scale, 4)}px`, height: `${Math.max((bottom - top) * scale, 4)}px`,
    });
  }
  function go(event) {
    const at = canvas.getBoundingClientRect();
    camera.centre((event.clientX - at.left) / scale, (event.clientY - at.top) / scale);
  }
  map.addEventListener("pointerdown", (event) => { map.setPointerCapture(event.pointerId); go(event); });
  map.addEventListener("pointermove", (event) => { if (map.hasPointerCapture(event.pointerId)) go(event); });
  camera.watchers.push(frameIt);
  new ResizeObserver(() => { if (!frame.classList.contains("near-only")) { draw(); frameIt(); } }).observe(svg);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return { draw: () => { draw(); frameIt(); } };
}
