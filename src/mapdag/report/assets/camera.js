// A camera that moves over a picture: wheel, pointers, buttons and keys; whoever wants to know of its moves is told.

const SMALL = 0.6, FAR = 0.3; // below these scales labels fill their boxes, and cannot be read
const MOST = 4;

/**
 * Look at the picture in a frame. `picture` has the frame, the svg in it, and `size`, the width and height of the drawing;
 * `panel` may cover a part of it, and `buttons` have what they do as `data-zoom`.
 */
export function makeCamera({ frame, svg, size }, panel, buttons) {
  const layer = svg.querySelector(".view");
  const whole = { x: 0, y: 0, ...size };
  const watchers = [];
  let extent = whole, x = 0, y = 0, k = 1, least = 0.02;

  function apply() {
    layer.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${k.toFixed(5)})`);
    svg.classList.toggle("small", k < SMALL && k >= FAR);
    svg.classList.toggle("far", k < FAR);
    svg.classList.toggle("remote", k < FAR / 1.8);
    frame.dataset.scale = k.toFixed(4);
    for (const each of watchers) each();
  }
  /** What of the picture the panel leaves free: it is beside it, or, in narrow windows, below. */
  function free() {
    const w = svg.clientWidth, h = svg.clientHeight;
    return [!panel || panel.hidden || panel.offsetWidth > 0.8 * w ? w : w - panel.offsetWidth - 16, h];
  }
  function fit() {
    const [w, h] = extent === whole ? [svg.clientWidth, svg.clientHeight] : free();
    k = Math.min(w / extent.w, h / extent.h, 1.5);
    least = k * 0.6;
    x = (w - k * extent.w) / 2 - k * extent.x;
    y = (h - k * extent.h) / 2 - k * extent.y;
    apply();
  }
  function zoom(factor, px = free()[0] / 2, py = free()[1] / 2) {
    const next = Math.min(Math.max(k * factor, least), MOST);
    x = px - (px - x) * next / k;
    y = py - (py - y) * next / k;
    k = next;
    apply();
  }
  function centre(cx, cy, scale = k) {
    const [w, h] = free();
    k = Math.min(Math.max(scale, least), MOST);
    x = w / 2 - k * cx;
    y = h / 2 - k * cy;
    apply();
  }
  function move(dx, dy) {
    x += dx;
    y += dy;
    apply();
  }
  /** Look at a part of the drawing from now on, or at all of it. */
  function show(part = whole) {
    extent = part;
    fit();
  }
  /** The drawing has another size from now on. */
  function resize(w, h) {
    Object.assign(whole, { w, h });
  }
  /** The part of the drawing that is in view. */
  const view = () => ({ x: -x / k, y: -y / k, w: svg.clientWidth / k, h: svg.clientHeight / k });
  /** Where a point of the drawing is in the frame. */
  const spot = (px, py) => [px * k + x, py * k + y];

  svg.addEventListener("wheel", (event) => {
    const out = event.deltaY > 0;
    if (out && k <= least * 1.67) return; // all is in view: let the page scroll on
    event.preventDefault();
    const at = svg.getBoundingClientRect();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 18 : 1);
    zoom(Math.exp(-Math.max(-240, Math.min(240, pixels)) * 0.0018), event.clientX - at.left, event.clientY - at.top);
  }, { passive: false });

  const held = new Map(); // pointers that are down: one moves, two pinch
  let moved = 0;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    held.set(event.pointerId, [event.clientX, event.clientY]);
    moved = 0;
  });
  window.addEventListener("pointermove", (event) => {
    const before = held.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    if (held.size === 2) {
      const [, other] = [...held].find(([id]) => id !== event.pointerId);
      const at = svg.getBoundingClientRect();
      const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
      zoom(apart(now) / Math.max(apart(before), 1), (now[0] + other[0]) / 2 - at.left, (now[1] + other[1]) / 2 - at.top);
    } else {
      move(now[0] - before[0], now[1] - before[1]);
    }
    moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
    if (moved > 4) frame.classList.add("moving");
    held.set(event.pointerId, now);
  });
  for (const kind of ["pointerup", "pointercancel"]) {
    window.addEventListener(kind, (event) => { held.delete(event.pointerId); frame.classList.remove("moving"); });
  }
  const acts = {
    in: () => zoom(1.35), out: () => zoom(1 / 1.35), fit,
    full: () => (document.fullscreenElement ? document.exitFullscreen() : frame.parentElement.requestFullscreen()),
  };
  for (const button of buttons) {
    button.addEventListener("click", acts[button.dataset.zoom]);
    if (button.dataset.zoom === "full" && !document.fullscreenEnabled) button.remove();
  }
  const keys = {
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), "0": fit,
    ArrowLeft: () => move(60, 0), ArrowRight: () => move(-60, 0), ArrowUp: () => move(0, 60), ArrowDown: () => move(0, -60),
  };
  svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  return {
    fit, centre, move, show, resize, view, spot, whole, watchers, free,
    get scale() { return k; },
    get dragged() { return moved > 4; },
    get far() { return k < FAR; },
  };
}
