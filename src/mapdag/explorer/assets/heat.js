// The map: how many arcs the graph has, or whether one arc is in it, for every alpha and every number of the prior.
import { tick } from "./axis.js";
import { settled } from "./clock.js";
import { whenShown } from "./dock.js";
import { figure, make } from "./elements.js";
import { change, has, keyOf, on, state } from "./state.js";
import { makeWorker, showProgress } from "./streaming.js";

/** Begin. */
export function startHeat() {
  const place = document.getElementById("panel-map"), bar = make("progress", { id: "map-progress", "aria-label": "Cells done", hidden: true });
  const choice = make("select", { "aria-label": "What the map shows", id: "map-shows", change: () => paint() }), word = make("p", { class: "note", id: "map-told", role: "status" });
  const grid = make("div", { class: "heat", id: "heat", role: "grid", "aria-label": "Arcs by alpha and prior" }), legend = make("p", { class: "heat-legend" });
  place.append(make("p", { class: "help" }, "Each cell is a graph, learned by hill climbing in the background. Click one to go there."), make("p", { class: "actions" }, choice), bar, grid, legend, word);
  let shape = null, cells = new Map(), about = "", buttons = new Map();

  const worker = makeWorker("/api/map", "map", hear, (trouble) => { bar.hidden = true; word.textContent = trouble; });
  const ground = () => JSON.stringify([state.data?.data, { ...state.settings, alpha: 0, c: 0, beta: state.settings.beta === null ? null : 0 }]);
  const refresh = settled(() => {
    if (!state.graph || state.tab !== "map" || about === ground()) return;
    about = ground();
    [shape, cells] = [null, new Map()];
    grid.replaceChildren();
    bar.hidden = false;
    bar.removeAttribute("value");
    worker.start({ data: state.data.data, settings: state.settings });
  }, 500);
  function hear(line) {
    if (line.kind === "grid") { shape = line; build(); }
    if (line.kind !== "cell" || !shape) return;
    cells.set(`${line.i},${line.j}`, line);
    showProgress(bar, cells.size, shape.alphas.length * shape.values.length);
    list();
    paint();
  }
  function build() {
    const { alphas, values, parameter } = shape;
    buttons = new Map();
    grid.style.setProperty("--columns", alphas.length);
    grid.replaceChildren(
      make("span", { class: "heat-title y" }, parameter || ""),
      ...[...values.keys()].reverse().flatMap((j) => make("div", { class: "heat-row", role: "row" }, make("span", { class: "tick", role: "rowheader" }, parameter ? tick(values[j]) : ""), alphas.map((_, i) => cell(i, j)))),
      make("div", { class: "heat-row foot", "aria-hidden": "true" }, make("span", { class: "tick" }), alphas.map((value, i) => make("span", { class: "tick" }, i % Math.ceil(alphas.length / 7) ? "" : tick(value)))),
      make("span", { class: "heat-title x" }, "alpha"));
    mark();
  }
  function cell(i, j) {
    const button = make("button", {
      type: "button", role: "gridcell", "data-cell": `${i},${j}`, tabindex: i || j ? -1 : 0, disabled: true,
      click: () => change({ alpha: +shape.alphas[i].toPrecision(3), ...(shape.parameter ? { [shape.parameter]: +shape.values[j].toPrecision(3), ...(shape.parameter === "c" ? { beta: null } : {}) } : {}) }),
      keydown: (event) => {
        const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
        if (!step) return;
        event.preventDefault();
        buttons.get(`${i + step[0]},${j + step[1]}`)?.focus();
      },
    });
    buttons.set(`${i},${j}`, button);
    return button;
  }
  /** The arcs of all cells, to choose one from. */
  function list() {
    const before = choice.value, seen = new Map();
    for (const { arcs } of cells.values()) for (const [a, b] of arcs) seen.set(keyOf(a, b), (seen.get(keyOf(a, b)) || 0) + 1);
    const restless = [...seen].filter(([, n]) => n < cells.size).sort((x, y) => y[1] - x[1]).slice(0, 400).map(([key]) => key);
    if (state.arc && !restless.includes(keyOf(...state.arc))) restless.unshift(keyOf(...state.arc));
    choice.replaceChildren(make("option", { value: "" }, "number of arcs"), ...restless.map((key) => make("option", { value: key }, JSON.parse(key).join(" → "))));
    choice.value = restless.includes(before) ? before : "";
  }
  function paint() {
    if (!shape) return;
    const counts = [...cells.values()].map(({ arcs }) => arcs.length), low = Math.min(...counts), high = Math.max(...counts), arc = choice.value ? JSON.parse(choice.value) : null;
    for (const [key, { arcs, i, j }] of cells) {
      const button = buttons.get(key), there = arc && (has(arcs, ...arc) ? 1 : has(arcs, arc[1], arc[0]) ? 0.45 : 0);
      const share = arc ? there : high > low ? 0.08 + 0.92 * (arcs.length - low) / (high - low) : 0.5;
      const told = arc ? (there === 1 ? "the arc is there" : there ? "the other way round" : "the arc is not there") : `${figure(arcs.length, 0)} arcs`;
      button.style.setProperty("--share", share.toFixed(3));
      button.disabled = false;
      button.dataset.count = arcs.length;
      button.title = `alpha ${tick(shape.alphas[i])}${shape.parameter ? `, ${shape.parameter} ${tick(shape.values[j])}` : ""}: ${told}`;
      button.setAttribute("aria-label", button.title);
    }
    legend.textContent = !cells.size ? "" : arc ? "Dark: there. Half: the other way round. Light: not there." : `From ${figure(low, 0)} arcs, light, to ${figure(high, 0)}, dark.`;
    mark();
  }
  /** Mark where the sliders are. */
  function mark() {
    if (!shape) return;
    const nearest = (list, value) => list.reduce((best, each, k) => (Math.abs(Math.log(each / value)) < Math.abs(Math.log(list[best] / value)) ? k : best), 0);
    const i = nearest(shape.alphas, state.settings.alpha), j = shape.parameter && state.settings[shape.parameter] ? nearest(shape.values, state.settings[shape.parameter]) : 0;
    for (const [key, button] of buttons) button.classList.toggle("here", key === `${i},${j}`);
  }
  on("drawn", () => { if (state.tab === "map") { refresh(); mark(); } });
  on("chosen", () => { if (state.tab === "map" && cells.size) { list(); if (state.arc) choice.value = keyOf(...state.arc); paint(); } });
  on("data", () => { worker.stop(); [shape, cells, about] = [null, new Map(), ""]; grid.replaceChildren(); legend.textContent = ""; });
  on("tab", (name) => { if (name !== "map") { if (worker.running) about = ""; worker.stop(); bar.hidden = true; } });
  whenShown("map", () => { refresh(); if (cells.size) { list(); if (state.arc) choice.value = keyOf(...state.arc); paint(); } });
}
