// Why this arc: what it is worth, what it is made of, what else would explain it, what taking it out or turning it costs.
import { post } from "./api.js";
import { settled } from "./clock.js";
import { startElicitation } from "./elicited.js";
import { facts, figure, make } from "./elements.js";
import { has, on, question, state, tell } from "./state.js";
import { forbid, require_, ruleOf } from "./rules.js";
import { pickArc } from "./stage.js";

const signed = (value) => (value === null || value === undefined ? "∞" : `${value > 0 ? "+" : ""}${figure(value, 2)}`);

/** A Bayes factor in words: what the nats mean. */
function worth(nats) {
  if (nats === null) return "demanded by the prior";
  const factor = Math.exp(Math.abs(nats)), text = factor < 1000 ? factor.toPrecision(3) : `10^${(Math.abs(nats) / Math.LN10).toFixed(1)}`;
  return nats >= 0 ? `${text} to 1 for the arc` : `${text} to 1 against it`;
}

/** Begin. */
export function startWhy() {
  const place = document.getElementById("arc-panel");
  let latest = "";

  async function update() {
    place.hidden = !state.arc;
    if (!state.arc) { place.replaceChildren(); latest = ""; return; }
    const [a, b] = state.arc, asked = JSON.stringify([state.arc, state.settings, state.graph?.arcs]);
    if (!state.graph || asked === latest) return;
    latest = asked;
    if (place.dataset.arc !== JSON.stringify(state.arc)) place.replaceChildren(head(a, b), make("p", { class: "help" }, "One moment …"));
    let found;
    try { found = await post("/api/why", { ...question(), arc: [a, b] }); } catch (error) {
      if (asked === latest) place.replaceChildren(head(a, b), make("p", { class: "notice warning" }, error.message));
      return;
    }
    if (asked !== latest || !state.arc) return;
    place.dataset.arc = JSON.stringify(state.arc);
    place.replaceChildren(...[head(a, b), verdict(found), actions(a, b), startElicitation(a, b), counts(a, b, found), alternatives(found)].flat().filter(Boolean));
    tell("why", found);
  }
  function head(a, b) {
    return [
      make("button", { type: "button", class: "close", "aria-label": "Close", title: "Let go (Esc)", click: () => pickArc(null) }, "×"),
      make("h3", {}, `${a} → ${b}`),
    ];
  }
  function verdict({ factor, likelihood, prior, remove, turn, present, reversible, others = [] }) {
    const absent = present === false, cost = (each) => (each?.impossible ? each.impossible : each?.cost === undefined ? null : `${signed(each.cost)} nats`);
    return [
      absent ? make("p", { class: "note" }, "This arc is not in the graph.") : make("p", { class: "note" }, reversible ? "Reversible: an equivalent graph has it the other way round." : "Compelled: every equivalent graph has it this way."),
      make("p", { class: "worth" }, make("strong", { id: "factor", "data-nats": factor }, `${signed(factor)} nats`), ` ${worth(factor)}`),
      facts([
        likelihood === undefined ? null : ["from the data", `${signed(likelihood)} nats`],
        prior === undefined ? null : ["from the prior", `${signed(prior)} nats`],
        others.length ? ["beside", others.join(", ")] : null,
        remove ? ["taking it out costs", make("span", { id: "cost-remove" }, cost(remove) ?? "–")] : null,
        turn ? ["turning it costs", make("span", { id: "cost-turn" }, cost(turn) ?? "–")] : null,
      ]),
    ];
  }
  function actions(a, b) {
    const button = (id, text, title, act, pressed) => make("button", { type: "button", id, title, "aria-pressed": String(pressed), click: act }, text);
    return make("p", { class: "actions" },
      button("act-require", "Require", "The arc must be there", () => require_(a, b), ruleOf(a, b) === "required"),
      button("act-forbid", "Forbid", "The arc must not be there, this way round", () => forbid(a, b), ruleOf(a, b) === "forbidden"),
      button("act-turn", "Turn", "The arc must be there the other way round", () => { require_(b, a); pickArc(b, a); }, ruleOf(b, a) === "required"));
  }
  function counts(a, b, { table }) {
    if (!table) return null;
    const most = Math.max(1, ...table.counts.flat()), rows = table.counts.map((row) => row.reduce((sum, n) => sum + n, 0));
    return [
      make("h4", { class: "over" }, "Rows by level"),
      make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Counts" }, make("table", { class: "probabilities counts" },
        make("thead", {}, make("tr", {}, make("th", { class: "given", scope: "col" }, `${a} ╲ ${b}`), table.child.map((level) => make("th", { scope: "col", title: level }, level)))),
        make("tbody", {}, table.counts.map((row, k) => make("tr", {}, make("th", { class: "given", scope: "row", title: table.parent[k] }, table.parent[k]), row.map((n) => {
          const cell = make("td", { class: "chance", title: rows[k] ? `${(100 * n / rows[k]).toFixed(1)} % of the row` : "" }, figure(n, Number.isInteger(n) ? 0 : 1));
          cell.style.setProperty("--p", rows[k] ? n / rows[k] : n / most);
          return cell;
        })))))),
    ];
  }
  function alternatives({ alternatives: list = [] }) {
    if (!list.length) return null;
    return [
      make("h4", { class: "over" }, "What else would explain it"),
      make("ul", { class: "alternatives", id: "alternatives" }, list.map(({ text, cost }) => make("li", {}, make("span", {}, text), make("strong", {}, `${signed(cost)} nats`)))),
    ];
  }
  on("drawn", settled(update, 60));
  on("chosen", update);
  on("data", () => { latest = ""; place.hidden = true; });
}

/** Whether an arc is in the graph. */
export const present = (a, b) => Boolean(state.graph) && has(state.graph.arcs, a, b);
