// Rules: required and forbidden arcs and tiers, in a list with what each costs in nats.
import { post } from "./api.js";
import { settled } from "./clock.js";
import { whenShown } from "./dock.js";
import { figure, make } from "./elements.js";
import { change, has, on, state, without } from "./state.js";

/** "required", "forbidden" or "": the rule about an arc. */
export const ruleOf = (a, b) => (has(state.settings.required, a, b) ? "required" : has(state.settings.forbidden, a, b) ? "forbidden" : "");

/** Require an arc, or take that back. The other way round, and forbidding it, give way. */
export function require_(a, b) {
  const { required, forbidden } = state.settings;
  if (ruleOf(a, b) === "required") change({ required: without(required, a, b) });
  else change({ required: [...without(required, b, a), [a, b]], forbidden: without(forbidden, a, b) });
}

/** Forbid an arc, or take that back. */
export function forbid(a, b) {
  const { required, forbidden } = state.settings;
  if (ruleOf(a, b) === "forbidden") change({ forbidden: without(forbidden, a, b) });
  else change({ forbidden: [...forbidden, [a, b]], required: without(required, a, b) });
}

const told = (cost) => (cost === undefined ? "" : cost === null ? "∞ nats" : Math.abs(cost) < 0.005 ? "costs nothing" : `${cost > 0 ? "costs " : "gains "}${figure(Math.abs(cost), 2)} nats`);

/** Begin; `openLanes` shows the tiers. */
export function startRules(openLanes) {
  const place = document.getElementById("panel-rules");
  const body = make("div");
  let costs = new Map(), latest = "";

  const rules = () => [
    ...state.settings.required.map(([a, b]) => ["required", a, b]), ...state.settings.forbidden.map(([a, b]) => ["forbidden", a, b]),
    ...(state.settings.elicited || []).map(([a, b, p]) => ["elicited", a, b, p]),
  ];
  const key = (kind, a, b) => JSON.stringify([kind, a, b]);

  function update() {
    if (!state.data || state.tab !== "rules") return;
    const tiers = state.settings.tiers || [], list = rules(), total = costs.get("total");
    body.replaceChildren(...[
      list.length ? make("ul", { class: "rules", id: "rules" }, list.map(line)) : make("p", { class: "note" }, "No arc is required or forbidden."),
      make("h4", { class: "over" }, "Tiers"),
      tiers.length
        ? make("p", {}, `${tiers.length} tiers: ${tiers.map((tier) => tier.length).join(", ")} nodes. `, make("strong", { id: "cost-tiers" }, told(costs.get(key("tiers", null, null)))))
        : make("p", { class: "note" }, "No arc goes from a later tier to an earlier one."),
      make("p", { class: "actions" }, make("button", { type: "button", click: openLanes }, tiers.length ? "Change tiers" : "Make tiers"), tiers.length ? make("button", { type: "button", click: () => change({ tiers: [] }) }, "Remove tiers") : null),
      (list.length || tiers.length) && total !== undefined ? make("p", { class: "worth" }, "All together ", make("strong", { id: "cost-total" }, told(total))) : null,
    ].filter(Boolean));
  }
  function line([kind, a, b, p]) {
    const back = { required: () => require_(a, b), forbidden: () => forbid(a, b), elicited: () => change({ elicited: state.settings.elicited.filter(([x, y]) => x !== a || y !== b) }) };
    return make("li", { class: kind }, make("span", { class: "chip" }, kind === "elicited" ? `p = ${p}` : kind), make("span", { class: "names" }, `${a} → ${b}`),
      make("strong", { class: "cost" }, told(costs.get(key(kind, a, b)))),
      make("button", { type: "button", class: "quiet", "aria-label": `Take back: ${kind} ${a} → ${b}`, title: "Take it back", click: back[kind] }, "×"));
  }
  function form() {
    const names = state.data.columns.map(({ name }) => name), pick = (label, at) => make("select", { "aria-label": label }, names.map((name, i) => make("option", { value: i, selected: i === at }, name)));
    const from = pick("From", 0), to = pick("To", Math.min(1, names.length - 1));
    const kind = make("select", { "aria-label": "Rule" }, make("option", { value: "required" }, "must be there"), make("option", { value: "forbidden" }, "must not"));
    const add = () => { if (from.value !== to.value && ruleOf(names[from.value], names[to.value]) !== kind.value) ({ required: require_, forbidden: forbid })[kind.value](names[from.value], names[to.value]); };
    return make("div", { class: "rule-form" }, from, make("span", { "aria-hidden": "true" }, "→"), to, kind, make("button", { type: "button", id: "add-rule", click: add }, "Add"));
  }
  /** Ask what the rules cost, once the graph stands. */
  const price = settled(async () => {
    const { tiers } = state.settings, asked = JSON.stringify([state.data?.data, state.settings]);
    if (!state.graph || asked === latest) return;
    latest = asked;
    costs = new Map();
    if (rules().length || tiers?.length) {
      try {
        const found = await post("/api/constraint-cost", { data: state.data.data, settings: state.settings });
        if (asked !== latest) return;
        for (const { kind, arc, cost } of found.costs) costs.set(key(kind, arc?.[0] ?? null, arc?.[1] ?? null), cost);
        costs.set("total", found.total);
      } catch (error) { costs.set("total", undefined); }
    }
    update();
    const lanes = document.getElementById("lane-cost");
    if (lanes) lanes.textContent = told(costs.get(key("tiers", null, null)));
  }, 250);
  on("drawn", ({ final }) => { if (final) price(); });
  on("settings data", () => { costs = new Map(); update(); });
  on("data", () => place.replaceChildren( // the form stays as it is while one fills it in
    make("p", { class: "help" }, "What you know. Drag from node to node in the graph with Require or Forbid, or add a rule here. Costs are what the score of the best graph found loses by a rule."),
    form(), body));
  whenShown("rules", update);
}
