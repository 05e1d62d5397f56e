// All arcs in a list, for those who look for one, and for those who cannot see the picture.
import { settled } from "./clock.js";
import { figure, make } from "./elements.js";
import { sincePin, strengthOf } from "./looks.js";
import { pickArc } from "./stage.js";
import { on, state } from "./state.js";

const MOST = 400;

/** Begin. */
export function startArcList() {
  const place = document.getElementById("arc-list"), field = make("input", { type: "search", class: "filter", placeholder: "Filter arcs", "aria-label": "Filter arcs", input: () => list() });
  const body = make("ul", { class: "arcs-listed", "aria-label": "Arcs" }), head = make("p", { class: "help", id: "arc-list-head" });
  field.hidden = true;
  place.append(head, field, body);

  function list() {
    place.hidden = Boolean(state.arc || state.node);
    if (!state.graph || place.hidden || state.tab !== "chosen") return;
    const wanted = field.value.trim().toLowerCase();
    const found = state.graph.arcs.filter(([a, b]) => `${a} → ${b}`.toLowerCase().includes(wanted));
    const gone = (state.pin?.arcs || []).filter(([a, b]) => !state.graph.arcs.some(([x, y]) => (x === a && y === b) || (x === b && y === a)));
    head.textContent = state.graph.arcs.length ? "Choose an arc, here or in the graph, to see why it is there; or a node for its distribution." : "The best graph has no arcs.";
    field.hidden = state.graph.arcs.length < 12;
    body.replaceChildren(
      ...found.slice(0, MOST).map(([a, b, compelled]) => row(a, b, compelled ? "compelled" : "reversible", sincePin(a, b))),
      ...gone.map(([a, b]) => row(a, b, "", "gone")),
      ...(found.length > MOST ? [make("li", { class: "help" }, `and ${figure(found.length - MOST, 0)} more: filter them`)] : []));
  }
  function row(a, b, kind, since) {
    const found = strengthOf(a, b);
    return make("li", {}, make("button", { type: "button", click: () => pickArc(a, b) },
      make("span", { class: "names" }, `${a} → ${b}`),
      since ? make("span", { class: `chip since-${since}` }, since) : kind === "reversible" ? make("span", { class: "chip reversible" }, "reversible") : null,
      found ? make("span", { class: "share" }, found.strength.toFixed(2)) : null));
  }
  on("pin chosen strength tab", list);
  on("drawn", settled(list, 80)); // not while a slider moves
}
