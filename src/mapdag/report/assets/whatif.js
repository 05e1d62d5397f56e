// The section "What if" of a report, and the distribution in the panel of a node.
import { data } from "./base.js";
import { makeBeliefs } from "./beliefs.js";
import { makeTables, showTables } from "./cpts.js";
import { make } from "./elements.js";
import { picture } from "./picture.js";
import { extras, graph, network } from "./viewer.js";

const section = (id) => document.getElementById(id), tables = makeTables(network), shown = showTables(network, tables);
const beliefs = makeBeliefs({
  picture,
  grid: section("monitors"), filter: section("monitor-filter"), order: section("monitor-order"), rest: section("monitor-rest"),
  showNode: (i) => { graph.goTo(i); picture.frame.scrollIntoView({ block: "center" }); },
});
extras.card.push(shown.card);
extras.panel.push((i) => [make("h4", { class: "over" }, "Distribution"), beliefs.monitor(i, false)], shown.panel);

setTimeout(() => { // after the first picture of the page: large tables take a moment
  beliefs.load(network, tables, data.plan);
  section("monitors").dataset.ready = "";
});
