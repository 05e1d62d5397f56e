// Life: for each arc the stretches of alpha and of the prior's number in which it lives, as strips with births and deaths.
import { along, axis, tick } from "./axis.js";
import { settled } from "./clock.js";
import { whenShown } from "./dock.js";
import { figure, make } from "./elements.js";
import { pickArc } from "./stage.js";
import { change, has, keyOf, on, state } from "./state.js";
import { makeWorker, showProgress } from "./streaming.js";

const MOST = 300;

/** Begin. */
export function startLife() {
  const place = document.getElementById("panel-life"), bar = make("progress", { id: "life-progress", "aria-label": "Done", hidden: true });
  const word = make("p", { class: "note", id: "life-told", role: "status" }), body = make("div", { id: "life" });
  const filter = make("select", { "aria-label": "Arcs", id: "life-arcs", change: () => show() }, make("option", { value: "restless" }, "those that come and go"), make("option", { value: "all" }, "all that live somewhere"), make("option", { value: "here" }, "those of this graph"));
  place.append(make("p", { class: "help" }, "Where on each slider an arc lives, all else as it is, by hill climbing. Click a strip to go there."), make("p", { class: "actions" }, filter), bar, word, body);
  let found = new Map(), about = "";

  const worker = makeWorker("/api/life", "life", hear, (trouble) => { bar.hidden = true; word.textContent = trouble; });
  /** Whether two nodes are joined in the graph, and which way; lives are those of pairs, whatever their direction. */
  const wayNow = (a, b) => (has(state.graph.arcs, a, b) ? [a, b] : has(state.graph.arcs, b, a) ? [b, a] : null);
  /** What the strips depend on: everything but the two numbers that they are about. */
  const ground = () => JSON.stringify([state.data?.data, { ...state.settings, alpha: 0, c: 0, beta: state.settings.beta === null ? null : 0 }, state.settings.alpha, state.settings.c, state.settings.beta]);
  const refresh = settled(() => {
    if (!state.graph || state.tab !== "life" || about === ground()) return;
    about = ground();
    found = new Map();
    bar.hidden = false;
    bar.removeAttribute("value");
    worker.start({ data: state.data.data, settings: state.settings });
  }, 500);
  function hear(line) {
    if (line.kind === "progress") showProgress(bar, line.done, line.of);
    if (line.kind !== "life" || !line.parameter) return;
    found.set(line.parameter, line);
    if (line.of) showProgress(bar, line.done, line.of);
    show();
  }
  function show() {
    const parts = [...found.values()], arcs = new Map();
    for (const { parameter, arcs: list } of parts) {
      for (const [a, b, stretches] of list) {
        const key = [a, b].sort().join("\u0000");
        arcs.set(key, { ...(arcs.get(key) || { a, b }), [parameter]: stretches });
      }
    }
    const whole = ({ low, high }, stretches) => stretches?.length === 1 && stretches[0][0] <= low * 1.001 && stretches[0][1] >= high / 1.001;
    let rows = [...arcs.values()];
    if (filter.value === "here") rows = rows.filter(({ a, b }) => wayNow(a, b));
    if (filter.value === "restless") rows = rows.filter((row) => parts.some((part) => !whole(part, row[part.parameter])));
    const length = (row) => parts.reduce((sum, part) => sum + (row[part.parameter] || []).reduce((all, [lo, hi]) => all + along(hi, part.low, part.high) - along(lo, part.low, part.high), 0), 0);
    rows = rows.map((row) => [length(row), row]).sort((x, y) => y[0] - x[0]).map(([, row]) => row);
    body.style.setProperty("--parts", parts.length);
    body.replaceChildren(
      make("div", { class: "life-row head" }, make("span"), parts.map((part) => make("div", { class: "strip-head" }, make("strong", {}, part.parameter), axis(part.low, part.high)))),
      ...rows.slice(0, MOST).map((row) => lifeRow(row, parts)),
      ...(rows.length > MOST ? [make("p", { class: "help" }, `and ${figure(rows.length - MOST, 0)} more`)] : []));
  }
  function lifeRow(row, parts) {
    const here = wayNow(row.a, row.b), [a, b] = here || [row.a, row.b], name = `${a} ${here ? "→" : "—"} ${b}`;
    return make("div", { class: `life-row ${here ? "here" : ""}`, "data-arc": keyOf(a, b) },
      make("button", { type: "button", class: "link names", title: name, click: () => pickArc(a, b) }, name),
      parts.map((part) => strip(part, row)));
  }
  function strip({ parameter, low, high }, row) {
    const stretches = row[parameter] || [], told = stretches.map(([lo, hi]) => `${tick(lo)} to ${tick(hi)}`).join(", ") || "nowhere";
    const now = state.settings[parameter], element = make("div", {
      class: "strip", title: `${parameter} ${told}`, role: "img", "aria-label": `${row.a} → ${row.b} lives for ${parameter} ${told}`, "data-parameter": parameter,
      click: (event) => {
        const at = element.getBoundingClientRect(), value = low * (high / low) ** ((event.clientX - at.left) / at.width);
        change({ [parameter]: +value.toPrecision(3) });
      },
    });
    for (const [lo, hi] of stretches) {
      const from = along(lo, low, high), piece = make("i", { class: `${lo > low * 1.001 ? "born" : ""} ${hi < high / 1.001 ? "dies" : ""}` });
      Object.assign(piece.style, { left: `${100 * from}%`, width: `${Math.max(100 * (along(hi, low, high) - from), 1)}%` });
      element.append(piece);
    }
    if (now) {
      const mark = make("u");
      mark.style.left = `${100 * along(now, low, high)}%`;
      element.append(mark);
    }
    return element;
  }
  on("drawn", () => { if (state.tab === "life") { refresh(); if (found.size) show(); } });
  on("data", () => { worker.stop(); found = new Map(); about = ""; body.replaceChildren(); });
  on("tab", (name) => { if (name !== "life") { if (worker.running) about = ""; worker.stop(); bar.hidden = true; } });
  whenShown("life", refresh);
}
