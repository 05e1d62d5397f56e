// Side by side: all graphs that were kept and the current one, nodes in the same places, differences from the current one.
import { arrow } from "./arrows.js";
import { figure, make, makeSvg } from "./elements.js";
import { sinceCounts } from "./pin.js";
import { camera, known, picture } from "./stage.js";
import { arcsNow, change, has, on, state } from "./state.js";

const place = document.getElementById("gallery");

/** Show the gallery, or the graph again. */
export function showGallery(wanted = place.hidden) {
  place.hidden = !wanted;
  document.getElementById("frame").classList.toggle("with-gallery", wanted);
  if (wanted) update();
}
function update() {
  if (place.hidden || !state.graph) return;
  const now = { name: "Now", arcs: state.graph.arcs, score: state.graph.score, objective: state.graph.objective };
  place.replaceChildren(
    make("p", { class: "lane-head" }, make("span", {}, "Nodes are where they are in the graph. Colours are differences from the current graph."), make("button", { type: "button", class: "primary", click: () => showGallery(false) }, "Done")),
    make("div", { class: "gallery" }, [now, ...state.kept].map((graph, k) => small(graph, k === 0))));
}
function small({ name, arcs, score, objective, settings }, isNow) {
  const { place: at } = known(), { w, h } = camera.whole, current = arcsNow(), since = isNow ? null : sinceCounts(arcs, current);
  const lines = arcs.map(([a, b, compelled]) => {
    const paths = arrow(picture.boxes[at(a)], picture.boxes[at(b)]), kind = isNow || has(current, a, b) ? "" : has(current, b, a) ? "since-turned" : "since-new";
    return makeSvg("g", { class: `arc ${compelled === false ? "reversible" : "compelled"} ${kind}` }, makeSvg("path", { class: "line", d: paths.line }), makeSvg("path", { class: "head", d: paths.head }));
  });
  const gone = isNow ? [] : current.filter(([a, b]) => !has(arcs, a, b) && !has(arcs, b, a)).map(([a, b]) => makeSvg("g", { class: "arc ghost gone" }, makeSvg("path", { class: "line", d: arrow(picture.boxes[at(a)], picture.boxes[at(b)]).line })));
  const boxes = picture.boxes.map((box, i) => makeSvg("g", { class: "node" }, makeSvg("rect", { x: box.x - box.w / 2, y: box.y - box.h / 2, width: box.w, height: box.h, rx: 7 }), makeSvg("text", { x: box.x, y: box.y }, picture.nodes[i].querySelector("text").textContent)));
  const svg = makeSvg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `${name}: ${arcs.length} arcs`, "font-size": 12 }, makeSvg("g", { fill: "none" }, gone, lines), makeSvg("g", { "text-anchor": "middle", "dominant-baseline": "central" }, boxes));
  return make("figure", { class: isNow ? "now" : "" },
    make("figcaption", {}, make("strong", {}, name), ` ${figure(arcs.length, 0)} arcs · ${figure(score, 1)}`, since ? ` · +${since.new} −${since.gone} ⇄${since.turned}` : "", settings ? make("button", { type: "button", class: "quiet", click: () => { showGallery(false); change(settings); } }, "Go back to it") : null),
    svg, make("code", {}, objective));
}

/** Begin. */
export function startGallery() {
  on("drawn kept placed", update);
  on("data escape", () => showGallery(false));
}
