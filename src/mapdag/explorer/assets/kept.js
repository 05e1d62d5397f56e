// Graphs that were kept under names, and notes.
import { openDialog } from "./dialog.js";
import { whenShown } from "./dock.js";
import { figure, make } from "./elements.js";
import { pinTo } from "./pin.js";
import { arcsNow, change, on, state, tell } from "./state.js";

/** Ask for a name, and keep the graph as it is. */
export function keepGraph() {
  if (!state.graph) return;
  const field = make("input", { type: "text", id: "keep-name", "aria-label": "Name", maxlength: 120, value: `Graph ${state.kept.length + 1}` });
  const act = (event) => { event.preventDefault(); close(); keepAs(field.value.trim() || field.defaultValue); };
  const close = openDialog("Keep this graph", make("form", { method: "dialog", submit: act }, make("p", {}, make("label", { class: "choice" }, make("span", {}, "Name"), field)), make("p", { class: "actions" }, make("button", { type: "submit", class: "primary", id: "keep-do" }, "Keep"))));
  field.select();
}
function keepAs(wanted) {
  let name = wanted;
  for (let k = 2; state.kept.some((each) => each.name === name); k += 1) name = `${wanted} (${k})`;
  state.kept = [...state.kept, { name, settings: state.settings, arcs: arcsNow().map(([a, b], n) => [a, b, state.graph.arcs[n][2]]), score: state.graph.score, objective: state.graph.objective, note: "" }];
  tell("kept");
}

/** Begin; `openGallery` shows all of them side by side. */
export function startKept(openGallery) {
  const place = document.getElementById("panel-kept"), notes = make("textarea", { id: "notes", rows: 6, placeholder: "What you saw, what you decided, and why", "aria-label": "Notes", input: () => { state.notes = notes.value; tell("notes"); } });
  const list = make("div");
  place.append(list, make("h4", { class: "over" }, "Notes"), notes, make("p", { class: "note" }, "Kept graphs and notes go into the session file, not into the address."));

  function update() {
    if (notes.value !== state.notes) notes.value = state.notes;
    list.replaceChildren(
      make("p", { class: "actions" }, make("button", { type: "button", class: "primary", click: keepGraph }, "Keep this graph"), make("button", { type: "button", id: "side-by-side", disabled: !state.kept.length, click: openGallery }, "Side by side")),
      state.kept.length ? make("ul", { class: "kept", id: "kept" }, state.kept.map(entry)) : make("p", { class: "note" }, "No graph was kept yet."));
  }
  function entry(kept) {
    const { name, arcs, score, objective, note, settings } = kept;
    const remark = make("input", { type: "text", value: note, placeholder: "a remark", "aria-label": `Remark about ${name}`, change: () => { kept.note = remark.value; tell("notes"); } });
    const act = (text, hint, does) => make("button", { type: "button", title: hint, click: does }, text);
    return make("li", {}, make("strong", {}, name), make("span", { class: "note" }, `${figure(arcs.length, 0)} arcs · ${figure(score, 2)}`), make("code", {}, objective), remark,
      make("p", { class: "actions" }, act("Go back to it", "Take its settings", () => change(settings)), act("Compare", "Pin it", () => pinTo(kept)), act("Remove", "Forget it", () => { state.kept = state.kept.filter((each) => each !== kept); tell("kept"); })));
  }
  on("kept data", update);
  on("restored", update);
  whenShown("kept", update);
  document.getElementById("keep").addEventListener("click", keepGraph);
  on("data", () => { state.kept = state.kept.filter(({ arcs }) => arcs.every(([a, b]) => [a, b].every((each) => state.data.columns.some(({ name }) => name === each)))); update(); });
}
