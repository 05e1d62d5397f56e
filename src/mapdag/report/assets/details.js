// What a report tells of a node or an arc, as elements: for the card beside the pointer and for the panel of a chosen node.
import { facts, figure, make } from "./elements.js";

const JOINTS = { "->": "→", "<-": "←", "--": "—", "": "not joined" };

/** Everything about a node; `more` are functions of a node that return elements. */
export function describeNode({ nodes, name }, i, more) {
  const node = nodes[i];
  const list = (names) => names.join(", ") || "none";
  const known = node.table
    ? [
      ["family score", figure(node.score)],
      node.parents.length ? ["configurations observed", node.configurations + (node.sparse ? " (sparse)" : "")] : null,
      ["levels", figure(node.r, 0)],
    ]
    : [["parents in A", list(node.target)], ["parents in B", list(node.parents.map(name))]];
  return [make("h3", {}, node.name), facts(known), more.map((extra) => extra(i))];
}

/** Everything about an arc. */
export function describeArc({ arcs: all, name }, k, view) {
  const { start, end, arcs, classes, reversible, loss, strength, direction } = all[k];
  if (arcs) {
    const joint = view === "class" ? classes : arcs;
    return [make("h3", {}, `${name(start)} … ${name(end)}`), facts([["verdict", joint.status], ["in A", JOINTS[joint.in_a]], ["in B", JOINTS[joint.in_b]]])];
  }
  const line = reversible && view === "class" ? "—" : "→";
  return [
    make("h3", {}, `${name(start)} ${line} ${name(end)}`),
    facts([
      ["direction", reversible ? "reversible" : "compelled"],
      ["score lost without it", figure(loss)],
      strength === null ? null : ["strength", strength.toFixed(2)],
      strength === null ? null : ["this way", direction.toFixed(2)],
    ]),
  ];
}
