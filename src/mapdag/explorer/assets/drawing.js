// The drawing: elements for nodes and arcs as the graph changes. Nodes stay where they are until a layout moves them; arcs
// come and go. Elements and classes are those of the report's pictures.
import { arrow } from "./arrows.js";
import { animate } from "./clock.js";
import { makeSvg } from "./elements.js";
import { layersOf, route } from "./routes.js";
import { keyOf } from "./state.js";

const FADE = 240; // milliseconds until an arc that goes is gone

/** Draw into a picture: `{frame, svg, nodes, arcs, boxes}`, of which this keeps the last three. */
export function makeDrawing(picture) {
  const { svg, boxes } = picture, layer = (name) => svg.querySelector(`.${name}`);
  const pool = new Map(); // arcs that are drawn
  let network = null, drawn = new Map(), layers = [], layered = true, finish = () => {};

  /** New nodes: the picture starts afresh. */
  function setNodes(names, labels) {
    finish();
    pool.clear();
    for (const each of ["arcs", "ghosts"]) layer(each).replaceChildren();
    picture.arcs = [];
    boxes.length = 0;
    network = null;
    picture.nodes = names.map((name, i) => makeSvg("g", { class: "node", "data-node": i, tabindex: 0, role: "button", "aria-label": name },
      makeSvg("rect", { rx: 7 }), makeSvg("text", { stroke: "none" }, labels[i])));
    layer("nodes").replaceChildren(...picture.nodes);
  }

  // Boxes ----------------------------------------------------------------------------------------------------------------
  function putNode(i) {
    const { x, y, w, h } = boxes[i], [rect, text] = picture.nodes[i].children;
    for (const [key, value] of Object.entries({ x: x - w / 2, y: y - h / 2, width: w, height: h })) rect.setAttribute(key, value.toFixed(1));
    text.setAttribute("x", x.toFixed(1));
    text.setAttribute("y", (h > 30 ? y - h / 2 + 14 : y).toFixed(1));
    const bars = picture.nodes[i].querySelector(".bars");
    if (bars) bars.setAttribute("transform", `translate(${(x - w / 2).toFixed(1)} ${(y - h / 2).toFixed(1)})`);
  }
  /** Move the nodes to new boxes, and the arcs with them; `paths` are the arcs' by their keys, where they are known. */
  function place(next, paths, itIsLayered, then = () => {}) {
    finish();
    const from = boxes.length === next.length ? boxes.map((box) => ({ ...box })) : null;
    [drawn, layered] = [paths, itIsLayered];
    next.forEach((box, i) => { boxes[i] = boxes[i] || { ...box }; });
    finish = animate((share) => {
      next.forEach((box, i) => {
        const old = from ? from[i] : box;
        Object.assign(boxes[i], { x: old.x + (box.x - old.x) * share, y: old.y + (box.y - old.y) * share, w: box.w, h: box.h });
        putNode(i);
      });
      if (share === 1) {
        layers = layered ? layersOf(boxes) : [];
        for (const key of pool.keys()) putArc(key);
        then();
      } else {
        for (const { element, start, end } of pool.values()) setPaths(element, arrow(boxes[start], boxes[end]));
      }
    }, from ? 420 : 0);
  }

  // Arcs -----------------------------------------------------------------------------------------------------------------
  function setPaths(element, paths) {
    for (const path of element.children) path.setAttribute("d", paths[path.getAttribute("class")]);
  }
  function pathsOf(start, end) {
    return arrow(boxes[start], boxes[end], route(boxes[start], boxes[end], layers));
  }
  function putArc(key) {
    const { element, start, end } = pool.get(key), known = drawn.get(key);
    setPaths(element, known ? { ...known, hit: known.line } : pathsOf(start, end));
  }
  function arcElement(className) {
    return makeSvg("g", { class: className }, ["line", "stub", "head", "hit"].map((name) => makeSvg("path", { class: name })));
  }
  function add(key, start, end) {
    const element = arcElement("arc entering"), [from, to] = JSON.parse(key);
    Object.assign(element.dataset, { from, to });
    pool.set(key, { element, start, end });
    layer("arcs").append(element);
    if (boxes.length) putArc(key);
    requestAnimationFrame(() => element.classList.remove("entering"));
  }
  function remove(key) {
    const { element } = pool.get(key);
    pool.delete(key);
    element.removeAttribute("data-arc");
    element.classList.add("leaving");
    setTimeout(() => element.remove(), FADE);
  }
  /** Show the arcs of a network; `look(n)` gives the classes and the width of each. */
  function setArcs(itsNetwork, look) {
    finish();
    network = itsNetwork;
    const { name } = network, wanted = new Map(network.arcs.map((arc, n) => [keyOf(name(arc.start), name(arc.end)), n]));
    for (const key of [...pool.keys()]) if (!wanted.has(key)) remove(key);
    picture.arcs = network.arcs.map(({ start, end }) => {
      const key = keyOf(name(start), name(end));
      if (!pool.has(key)) add(key, start, end);
      return pool.get(key).element;
    });
    restyle(look);
  }
  /** Give arcs other classes and widths. */
  function restyle(look) {
    picture.arcs.forEach((element, n) => {
      const { classes, width } = look(n), kept = ["entering", "near", "hot", "away"].filter((each) => element.classList.contains(each));
      element.setAttribute("class", ["arc", ...classes, ...kept].join(" "));
      element.setAttribute("stroke-width", width.toFixed(2));
      element.dataset.arc = n;
    });
  }
  /** Show arcs that are not in the graph: `[{start, end, kind}]`, by places of nodes. */
  function setGhosts(list) {
    layer("ghosts").replaceChildren(...list.map(({ start, end, kind }) => {
      const element = arcElement(`arc ghost ${kind}`);
      setPaths(element, pathsOf(start, end));
      element.dataset.ghost = keyOf(start, end);
      element.append(makeSvg("title", {}, `${picture.nodes[start].getAttribute("aria-label")} → ${picture.nodes[end].getAttribute("aria-label")}: ${kind}`));
      return element;
    }));
  }
  return { setNodes, place, setArcs, restyle, setGhosts, putNode, finish: () => finish() };
}
