// The viewer of a report: the graph in its frame, with what can be done to it.
import { data } from "./base.js";
import { makeCamera } from "./camera.js";
import { describeArc, describeNode } from "./details.js";
import { makeFinder } from "./find.js";
import { makeGraph } from "./graph.js";
import { makeMinimap } from "./minimap.js";
import { makeNeighbourhood } from "./neighbourhood.js";
import { indexed } from "./network.js";
import { picture } from "./picture.js";

const { frame: place, svg: drawn } = picture, element = (id) => document.getElementById(id);

/** The network of the page. */
export const network = indexed(data);

/** What other scripts add: functions of a node that return elements, for its card and for its panel. */
export const extras = { card: [], panel: [] };

/** Say something in a line at the edge of the graph, for everybody; nothing clears it. */
const say = (text) => { element("said").textContent = text; };

const camera = makeCamera(picture, element("details"), document.querySelectorAll("[data-zoom]"));

export const graph = makeGraph({
  picture, camera,
  card: element("card"), panel: element("details"),
  known: () => network,
  tellNode: (i, where) => describeNode(network, i, extras[where]),
  tellArc: (n) => describeArc(network, n, place.dataset.view),
});
makeFinder({ field: element("find"), list: element("matches"), names: () => network.nodes.map((node) => node.name), goTo: graph.goTo, say });
makeNeighbourhood({ picture, camera, graph, known: () => network, radius: element("radius"), say });
makeMinimap({ picture, camera, known: () => network, map: element("minimap") });

// From elsewhere in the page: views, and rows of tables -----------------------------------------------------------------
for (const input of document.querySelectorAll("input[name=view]")) {
  input.addEventListener("change", () => { place.dataset.view = input.value; });
  if (input.checked) place.dataset.view = input.value; // browsers keep the choice when a page is reloaded
}
function linkRows(id, act) {
  const table = element(id);
  if (!table) return;
  table.classList.add("linked");
  for (const row of table.tBodies[0].rows) {
    row.tabIndex = 0;
    const go = () => { act(+row.dataset.row); place.scrollIntoView({ block: "center", behavior: "smooth" }); };
    row.addEventListener("click", go);
    row.addEventListener("keydown", (event) => { if (event.key === "Enter") go(); });
  }
}
linkRows("node-table", graph.goTo);
linkRows("arc-table", graph.goToArc);

// The frame gets its size, and the whole graph is put into it: last, when all that watch the camera are there -----------
drawn.removeAttribute("viewBox"); // from here on the scale is ours
place.style.setProperty("--tall", camera.whole.h);
place.style.setProperty("--wide", camera.whole.w);
place.classList.add("ready");
camera.fit();
let last = [drawn.clientWidth, drawn.clientHeight];
new ResizeObserver(() => {
  const now = [drawn.clientWidth, drawn.clientHeight];
  if (now[0] !== last[0] || now[1] !== last[1]) { last = now; camera.fit(); }
}).observe(drawn);
window.addEventListener("beforeprint", camera.fit);
