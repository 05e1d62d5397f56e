// The picture of a report: the elements that Python wrote, and where its boxes are.
const frame = document.getElementById("frame");
const svg = frame.querySelector("svg");

/** Centre and size of a box. */
function boxOf(element) {
  const rect = element.querySelector("rect"), [x, y, w, h] = ["x", "y", "width", "height"].map((key) => +rect.getAttribute(key));
  return { x: x + w / 2, y: y + h / 2, w, h };
}

export const picture = {
  frame, svg,
  size: { w: +frame.dataset.width, h: +frame.dataset.height },
  nodes: [...svg.querySelectorAll(".node")],
  arcs: [...svg.querySelectorAll(".arc")],
};
picture.boxes = picture.nodes.map(boxOf); // the neighbourhood view moves them
for (const arc of picture.arcs) { // a wider line that nobody sees, easier to point at
  const wide = arc.querySelector(".line").cloneNode();
  wide.setAttribute("class", "hit");
  wide.removeAttribute("stroke-dasharray");
  arc.append(wide);
}
