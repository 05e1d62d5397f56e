// What if: probabilities of the learned graph, asked for when something shows them, computed here as in the report.
import { post } from "./api.js";
import { makeBeliefs } from "./beliefs.js";
import { settled } from "./clock.js";
import { makeTables, showTables } from "./cpts.js";
import { facts, figure, make } from "./elements.js";
import { indexed } from "./network.js";
import { on, question, state, tell } from "./state.js";

let beliefs = null, shown = null, network = null, current = "", wanted = () => false, refresh = () => {};

/** The distribution of a node and its table, as far as they are known: for the card or the panel. */
export function aboutNode(i, where) {
  if (!beliefs?.loaded || current !== signature()) return where === "panel" ? [make("p", { class: "help" }, "Probabilities are on their way.")] : [];
  const node = network.nodes[i];
  const told = facts([["family score", figure(node.score)], node.parents.length ? ["configurations observed", node.configurations] : null]);
  if (where === "card") return [told];
  return [told, make("h4", { class: "over" }, "Distribution"), beliefs.monitor(i, false), shown.panel(i)];
}

const signature = () => JSON.stringify([state.data?.data, state.graph?.arcs.map(([a, b]) => [a, b])]);

/** Begin; `isWanted()` says whether anything shows probabilities now, `redescribe` is called when they have come. */
export function startEvidence({ picture, graph, isWanted, redescribe }) {
  [wanted, refresh] = [isWanted, redescribe];
  const element = (id) => document.getElementById(id);
  beliefs = makeBeliefs({
    picture,
    grid: element("monitors"), filter: element("monitor-filter"), order: element("monitor-order"), rest: element("monitor-rest"),
    showNode: (i) => graph.goTo(i),
  });
  beliefs.watchers.push((all) => tell("beliefs", all));
  const soon = settled(load, 120);
  on("drawn chosen tab bars", soon);
  on("data", () => {
    current = "";
    beliefs.evidence.clear();
    picture.frame.classList.remove("shifted");
    for (const each of [element("monitors"), ...document.querySelectorAll(".evidence")]) each.replaceChildren();
    delete element("monitors").dataset.ready;
  });
  return beliefs;
}

async function load() {
  if (!state.graph || !(wanted() || beliefs.evidence.size)) return;
  const asked = signature();
  if (asked === current) return;
  let found;
  try { found = await post("/api/cpts", question()); } catch (error) { tell("trouble", error); return; }
  if (asked !== signature()) return;
  current = asked;
  network = indexed(found);
  const tables = makeTables(network);
  shown = showTables(network, tables);
  document.getElementById("evidence-told").textContent = TOLD[found.plan.kind](found.plan);
  beliefs.load(network, tables, found.plan);
  document.getElementById("monitors").dataset.ready = current.length;
  refresh();
}

const TOLD = {
  exact: () => "Click a level to say that it was observed, and all other distributions follow: exact probabilities. Click it again to take it back.",
  samples: ({ rows, why }) => `Click a level to say that it was observed. ${why} So probabilities are estimated from ${figure(rows, 0)} samples.`,
  none: ({ why }) => `What follows from evidence cannot be computed here. ${why} Shown are the shares in the data.`,
};
