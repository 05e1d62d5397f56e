// Strength: how often each arc comes back when rows are resampled, in the background, and a threshold.
import { makeDial } from "./dial.js";
import { figure, make } from "./elements.js";
import { pickArc } from "./stage.js";
import { keyOf, on, state, tell } from "./state.js";
import { makeWorker, showProgress } from "./streaming.js";

/** Begin. */
export function startStrength() {
  const place = document.getElementById("panel-strength");
  const resamples = make("select", { "aria-label": "Resamples", id: "resamples" }, [50, 100, 200, 500].map((n) => make("option", { value: n, selected: n === 100 }, `${n} resamples`)));
  const button = make("button", { type: "button", class: "primary", id: "resample", click: () => (worker.running ? cancel() : begin()) }, "Resample");
  const clear = make("button", { type: "button", id: "strength-clear", hidden: true, click: () => forget() }, "Clear");
  const bar = make("progress", { id: "strength-progress", "aria-label": "Resamples done", hidden: true }), word = make("p", { class: "note", id: "strength-told", role: "status" });
  const limit = makeDial({ id: "threshold", title: "threshold", hint: "Arcs that come back less often are faint; others that the graph does not have are dotted", low: 0, high: 1, log: false, act: (value) => setLimit(value) });
  const list = make("ul", { class: "strengths", id: "strengths" });
  limit.element.hidden = true;
  place.append(make("p", { class: "help" }, "Learn again and again from resampled rows, and count. Arcs are drawn as thick as they are strong."),
    make("p", { class: "actions" }, resamples, button, clear), bar, word, limit.element, list);
  let chosenLimit = null, about = "";

  const worker = makeWorker("/api/strength", "strength", hear, (trouble) => {
    button.textContent = "Resample";
    bar.hidden = true;
    if (trouble) word.textContent = trouble;
  });
  function begin() {
    chosenLimit = null;
    about = JSON.stringify(state.settings);
    button.textContent = "Stop";
    bar.hidden = false;
    bar.removeAttribute("value");
    word.textContent = "Beginning …";
    worker.start({ data: state.data.data, settings: state.settings, resamples: +resamples.value });
  }
  function cancel() {
    worker.stop();
    button.textContent = "Resample";
    bar.hidden = true;
    if (!state.strength) word.textContent = "Stopped.";
  }
  function forget() {
    cancel();
    state.strength = null;
    word.textContent = "";
    limit.element.hidden = clear.hidden = true;
    list.replaceChildren();
    tell("strength");
  }
  function hear(line) {
    if (line.kind === "progress" || line.kind === "strength") {
      showProgress(bar, line.done, line.of);
      word.textContent = line.final ? `${figure(line.of, 0)} resamples.` : `${figure(line.done, 0)} of ${figure(line.of, 0)} resamples`;
    }
    if (line.kind !== "strength") return;
    state.strength = {
      arcs: new Map(line.arcs.map(([a, b, strength, direction]) => [keyOf(a, b), [strength, direction]])),
      done: line.done, of: line.of, limit: chosenLimit ?? line.threshold ?? 0.5,
    };
    limit.element.hidden = clear.hidden = false;
    limit.set(+state.strength.limit.toFixed(3));
    show();
  }
  function setLimit(value) {
    chosenLimit = state.strength.limit = value;
    show();
  }
  function show() {
    const all = [...state.strength.arcs].map(([key, [strength, direction]]) => [...JSON.parse(key), strength, direction]).map(([a, b, s, d]) => (d >= 0.5 ? [a, b, s, d] : [b, a, s, 1 - d]));
    all.sort((a, b) => b[2] - a[2] || b[3] - a[3]);
    list.replaceChildren(...all.slice(0, 200).map(([a, b, strength, direction]) => {
      const fill = make("i");
      fill.style.width = `${100 * strength}%`;
      return make("li", { class: strength < state.strength.limit ? "weak" : "" }, make("button", { type: "button", title: `this way round in ${(100 * direction).toFixed(0)} % of these`, click: () => pickArc(a, b) }, fill,
        make("span", { class: "names" }, `${a} → ${b}`), make("span", { class: "share" }, strength.toFixed(2))));
    }));
    tell("strength");
  }
  on("data", forget);
  on("settings", () => { if (state.strength && about !== JSON.stringify(state.settings)) word.textContent = "Of earlier settings: resample again."; });
}
