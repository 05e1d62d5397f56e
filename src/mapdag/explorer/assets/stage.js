// The stage: the graph in its frame, put together from the parts that the report has, too.
import { post } from "./api.js";
import { makeCamera } from "./camera.js";
import { settled } from "./clock.js";
import { makeDrawing } from "./drawing.js";
import { makeFinder } from "./find.js";
import { makeGraph } from "./graph.js";
import { boxesOf } from "./layout.js";
import { ghosts, look } from "./looks.js";
import { makeMinimap } from "./minimap.js";
import { makeNeighbourhood } from "./neighbourhood.js";
import { indexed } from "./network.js";
import { arcsNow, keyOf, on, state, tell } from "./state.js";
import { tellArc, tellNode } from "./telling.js";

const element = (id) => document.getElementById(id);
const frame = element("frame"), svg = frame.querySelector("svg");

export const picture = { frame, svg, size: { w: 800, h: 500 }, nodes: [], arcs: [], boxes: [] };
export const camera = makeCamera(picture, null, document.querySelectorAll("[data-zoom]"));
export const drawing = makeDrawing(picture);

const EMPTY = indexed({ nodes: [], arcs: [] });
let network = EMPTY, positions = null, bars = null, latest = null, firstLayout = null, opening = true, sliding = false;

/** The network that is shown. */
export const known = () => network;

const say = (text) => { element("said").textContent = text; };
const nodePanel = element("node-panel");

export const graph = makeGraph({
  picture, camera, card: element("card"), panel: nodePanel, known, tellNode, tellArc,
  chooseArc: (n) => pickArc(network.name(network.arcs[n].start), network.name(network.arcs[n].end)),
});
makeFinder({ field: element("find"), list: element("matches"), names: () => network.nodes.map((node) => node.name), goTo: graph.goTo, say });
const neighbourhood = makeNeighbourhood({ picture, camera, graph, known, radius: element("radius"), say });
const minimap = makeMinimap({ picture, camera, known, map: element("minimap") });

// Choosing ------------------------------------------------------------------------------------------------------------------
/** Choose an arc, whether it is in the graph or not; null lets it go. */
export function pickArc(start, end) {
  if (graph.chosen >= 0) graph.choose(-1);
  state.arc = start === null ? null : [start, end];
  state.node = null;
  tell("chosen");
  restyle();
}
graph.watchers.push((i) => {
  state.node = i < 0 ? null : network.name(i);
  if (i >= 0 || state.arc) state.arc = null;
  tell("chosen");
  restyle();
});

on("escape", () => { if (graph.chosen >= 0) graph.choose(-1); else if (state.arc) pickArc(null); });

// Drawing -------------------------------------------------------------------------------------------------------------------
function restyle() {
  if (!state.graph || !picture.arcs.length && !network.arcs.length) return;
  drawing.restyle((n) => look(network, n));
  drawing.setGhosts(ghosts(network));
}
/** Lay the graph out anew, and move there. */
export async function tidy() {
  const arcs = arcsNow(), asked = state.data.data;
  let found;
  try { found = await post("/api/layout", { data: asked, arcs }); } catch (error) { tell("trouble", error); }
  if (!found || state.data.data !== asked) { frame.classList.remove("settling"); return; }
  positions = { ...found, paths: new Map(arcs.map(([a, b], n) => [keyOf(a, b), found.lines[n]])) };
  settle();
}
/** Put everything where the layout wants it. */
function settle() {
  neighbourhood.leave();
  frame.classList.add("settling");
  const first = !picture.boxes.length, { boxes, w, h } = boxesOf(positions, bars);
  camera.resize(w, h);
  drawing.place(boxes, bars ? new Map() : positions.paths, positions.layered, () => {
    drawing.setGhosts(state.graph ? ghosts(network) : []);
    minimap.draw();
    neighbourhood.update();
    frame.classList.remove("settling");
    tell("placed");
  });
  if (first || !graph || graph.chosen < 0) camera.fit();
}
/** Give nodes room for bars: how many each has, or null. */
export function makeRoom(levels) {
  bars = levels;
  if (positions) settle();
}

const tidyLater = settled(() => tidy(), 350), mapLater = settled(() => minimap.draw(), 120);

/** Lay out anew when much has changed; a table that was just opened gets the layout of the search's first graph. */
function tidyIfNeeded({ final, arcs }) {
  if (!final || sliding) return; // nothing moves while a slider is held
  const unknown = arcs.filter(([a, b]) => !positions.paths.has(keyOf(a, b))).length;
  if (unknown > (opening ? 0 : Math.max(6, arcs.length / 3))) {
    frame.classList.add("settling");
    (opening ? tidy : tidyLater)();
  }
  opening = false;
}

async function draw(answer) {
  const nodes = answer.nodes.map((name) => ({ name, parents: [] })), places = new Map(answer.nodes.map((name, i) => [name, i]));
  const arcs = answer.arcs.map(([start, end, compelled]) => ({ start, end, reversible: !compelled }));
  for (const { start, end } of arcs) nodes[places.get(end)].parents.push(start);
  const fresh = !positions;
  network = indexed({ nodes, arcs });
  latest = answer;
  if (fresh) {
    await (firstLayout ||= tidy());
    if (!positions || answer !== latest) return; // a newer answer is drawn instead
  }
  neighbourhood.leave();
  drawing.setArcs(network, (n) => look(network, n));
  drawing.setGhosts(ghosts(network));
  tidyIfNeeded(answer);
  if (graph.chosen >= 0) graph.refresh();
  mapLater();
  if (+element("radius").value) neighbourhood.update();
  requestAnimationFrame(() => {
    frame.dataset.sequence = answer.sequence;
    frame.dataset.final = String(Boolean(answer.final));
    frame.dataset.score = answer.score;
    window.mapdagReady = true;
  });
  tell("drawn", answer);
}
on("graph", draw);
on("settings", ({ live }) => { sliding = live; });
on("history", () => {
  if (sliding && state.graph && positions) { sliding = false; tidyIfNeeded(state.graph); }
});
on("progress", say);
on("drawn", () => { if (!+element("radius").value) say(""); });
on("strength pin", restyle);
on("settings", () => { if (state.graph && positions) restyle(); });
on("data", () => {
  [positions, network, latest, firstLayout, opening] = [null, EMPTY, null, null, true];
  if (graph.chosen >= 0) graph.choose(-1);
  state.arc = state.node = null;
  drawing.setNodes(state.data.columns.map(({ name }) => name), state.data.columns.map(({ name }) => (name.length > 24 ? `${name.slice(0, 23)}…` : name)));
});

for (const input of document.querySelectorAll("input[name=view]")) input.addEventListener("change", () => { frame.dataset.view = input.value; tell("view"); });
element("tidy").addEventListener("click", () => { if (state.graph) tidy(); });
frame.classList.add("ready");
let last = [0, 0];
new ResizeObserver(() => {
  const now = [svg.clientWidth, svg.clientHeight];
  if (now[0] !== last[0] || now[1] !== last[1]) { last = now; camera.fit(); }
}).observe(svg);
