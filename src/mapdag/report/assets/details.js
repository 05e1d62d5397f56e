// What is known of a node or an arc, as elements: for the card beside the pointer and for the panel of a chosen node.
// Nodes go by their places, in the data and in the picture alike.
const places = new Map(data.nodes.map((node, i) => [node.name, i]));
const place = (node) => places.get(node);
for (const arc of data.arcs) Object.assign(arc, { start: place(arc.start), end: place(arc.end) });
for (const node of data.nodes) node.parents = node.parents.map(place);
const children = data.nodes.map(() => []);
data.nodes.forEach((node, i) => node.parents.forEach((parent) => children[parent].push(i)));
const name = (i) => data.nodes[i].name;

/** What other scripts add: functions of a node that return elements, for its card and for its panel. */
const extras = { card: [], panel: [] };

/** Parents, children, and the children's other parents. */
function blanket(i) {
  const parents = new Set(data.nodes[i].parents);
  const kids = new Set(children[i]);
  const spouses = new Set();
  for (const kid of kids) {
    for (const other of data.nodes[kid].parents) {
      if (other !== i && !parents.has(other) && !kids.has(other)) spouses.add(other);
    }
  }
  return { parent: [...parents], child: [...kids], spouse: [...spouses] };
}

function facts(rows) {
  return make("dl", { class: "facts" }, rows.filter(Boolean).map(([key, value]) => [make("dt", {}, key), make("dd", {}, value)]));
}

/** Everything about a node: `where` is "card" or "panel". */
function describeNode(i, where) {
  const node = data.nodes[i];
  const list = (names) => names.join(", ") || "none";
  const known = node.table
    ? [
      ["family score", figure(node.score)],
      node.parents.length ? ["configurations observed", node.configurations + (node.sparse ? " (sparse)" : "")] : null,
      ["levels", figure(node.r, 0)],
    ]
    : [["parents in A", list(node.target)], ["parents in B", list(node.parents.map(name))]];
  return [make("h3", {}, node.name), facts(known), extras[where].map((extra) => extra(i))];
}

const JOINTS = { "->": "→", "<-": "←", "--": "—", "": "not joined" };

/** Everything about an arc. */
function describeArc(k, view) {
  const { start, end, arcs, classes, reversible, loss, strength, direction } = data.arcs[k];
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
