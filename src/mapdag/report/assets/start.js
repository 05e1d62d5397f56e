// The frame gets its size, and the whole graph is put into it: last, when all scripts that watch the camera are there.
{
  svg.removeAttribute("viewBox"); // from here on the scale is ours
  frame.style.setProperty("--tall", camera.whole.h);
  frame.style.setProperty("--wide", camera.whole.w);
  frame.classList.add("ready");
  camera.fit();
  let last = [svg.clientWidth, svg.clientHeight];
  new ResizeObserver(() => {
    const now = [svg.clientWidth, svg.clientHeight];
    if (now[0] !== last[0] || now[1] !== last[1]) { last = now; camera.fit(); }
  }).observe(svg);
  window.addEventListener("beforeprint", camera.fit);
}
