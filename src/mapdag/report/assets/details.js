// What is known of a node or an arc, as elements: for the card beside the pointer and for the panel of a chosen node.
// Nodes go by their places, in the data and in the picture alike.
const places = new Map(data.nodes.map((node, i) => [node.name, i]));
const place = (node) => places.get(node);
for (const arc of data.arcs) Object.assign(arc, { start: place(arc.start), end: place(arc.end) });
for (const node of data.nodes) node.parents = node.parents.map(place);
const children = data.nodes.map(() => []);
data.nodes.forEach((node, i) => node.parents.forEach((parent) => children[parent].push(i)));
const name = (i) => data.nodes[i].name;

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

/** A shaded cell of a probability table. */
function chance(p) {
  const text = p < 0.0005 ? "<.001" : p >= 0.9995 ? ">.999" : p.toFixed(3); // estimates are never 0 or 1
  const cell = make("td", { class: "chance" }, text);
  cell.style.setProperty("--p", p);
  return cell;
}

function probabilities(node) {
  const { levels, rows, hidden } = node.table;
  const rest = node.r - levels.length;
  const head = make("tr", {},
    node.parents.map((p) => make("th", { class: "given", title: name(p) }, name(p))),
    make("th", { class: "count" }, "rows"),
    levels.map((code) => make("th", { title: node.labels[code] }, node.labels[code])),
    rest ? make("th", {}, `${rest} others`) : null);
  const body = rows.map(({ given, count, chances, others }) => make("tr", {},
    given.map((code, k) => make("td", { class: "given", title: data.nodes[node.parents[k]].labels[code] }, data.nodes[node.parents[k]].labels[code])),
    make("td", { class: "count" }, Number.isInteger(count) ? figure(count, 0) : figure(count, 2)),
    chances.map(chance),
    rest ? chance(others) : null));
  return [
    make("div", { class: "scroll" }, make("table", { class: "probabilities" }, make("thead", {}, head), make("tbody", {}, body))),
    hidden ? make("p", { class: "help" }, `and ${figure(hidden, 0)} more observed configurations`) : null,
  ];
}

/** Everything about a node. */
function describeNode(i) {
  const node = data.nodes[i];
  const parts = [make("h3", {}, node.name)];
  if (node.table) {
    parts.push(
      facts([
        ["family score", figure(node.score)],
        node.parents.length ? ["configurations observed", node.configurations + (node.sparse ? " (sparse)" : "")] : null,
        ["levels", figure(node.r, 0)],
      ]),
      probabilities(node));
  } else {
    const list = (names) => names.join(", ") || "none";
    parts.push(facts([["parents in A", list(node.target)], ["parents in B", list(node.parents.map(name))]]));
  }
  return parts;
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
