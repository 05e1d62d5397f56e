// Waiting: for a pause, and for the next picture.

/** A function that acts once nothing has asked for it for a while. */
export function settled(act, pause) {
  let timer = 0;
  return (...about) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...about), pause);
  };
}

const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

/** Call `draw` with shares from 0 to 1 for as long as a transition takes; returns a function that ends it at once. */
export function animate(draw, length = 320) {
  if (calm.matches || document.hidden) { draw(1); return () => {}; }
  const begun = performance.now();
  let over = false;
  const step = (now) => {
    if (over) return;
    const share = Math.min(1, Math.max(0, now - begun) / length);
    draw(share < 1 ? share * share * (3 - 2 * share) : 1);
    if (share < 1) requestAnimationFrame(step);
    else over = true;
  };
  requestAnimationFrame(step);
  return () => { if (!over) { over = true; draw(1); } };
}
