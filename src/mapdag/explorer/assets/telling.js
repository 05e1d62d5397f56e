// What the page tells of a node or an arc at once: for the card beside the pointer and for the panel of a chosen node.
import { facts, figure, make } from "./elements.js";
import { aboutNode } from "./evidence.js";
import { sincePin, strengthOf } from "./looks.js";
import { known } from "./stage.js";
import { has, state } from "./state.js";

const SINCE = { new: "new since the pinned graph", turned: "turned since the pinned graph" };

/** Everything about a node: `where` is "card" or "panel". */
export function tellNode(i, where) {
  const { name, levels, counts } = state.data.columns[i], { nodes } = known();
  const thin = (state.graph?.thin || []).find((each) => each.node === name), rows = counts?.reduce((sum, n) => sum + n, 0) || 1;
  const most = levels.map((level, k) => [counts?.[k] || 0, level]).sort((a, b) => b[0] - a[0]).slice(0, 4);
  return [
    make("h3", {}, name),
    thin ? make("p", { class: "notice warning" }, thin.text || `A thin family: ${figure(thin.rows, 1)} rows for each of ${figure(thin.configurations, 0)} configurations.`) : null,
    facts([
      ["parents", String(nodes[i]?.parents.length ?? 0)],
      where === "card" ? ["levels", most.map(([n, level]) => `${level} ${(100 * n / rows).toFixed(0)} %`).join(", ") + (levels.length > 4 ? ", …" : "")] : ["levels", figure(levels.length, 0)],
    ]),
    aboutNode(i, where),
  ];
}

/** Everything about an arc that is known without asking. */
export function tellArc(n) {
  const { arcs, name } = known(), { start, end, reversible } = arcs[n], [a, b] = [name(start), name(end)];
  const found = strengthOf(a, b), since = sincePin(a, b);
  return [
    make("h3", {}, `${a} ${reversible && document.getElementById("frame").dataset.view === "class" ? "—" : "→"} ${b}`),
    facts([
      ["direction", reversible ? "reversible: an equivalent graph has it the other way round" : "compelled"],
      found ? ["strength", `${found.strength.toFixed(2)}, this way ${found.direction.toFixed(2)}`] : null,
      since ? ["", SINCE[since]] : null,
      has(state.settings.required, a, b) ? ["", "required"] : null,
    ]),
    make("p", { class: "help" }, "Click to see why it is there."),
  ];
}
