// A graph with what is known of its nodes and arcs. Nodes go by their places, in the data and in the picture alike.

/** Put places where the data have names, and find who is related to whom. */
export function indexed({ nodes, arcs }) {
  const places = new Map(nodes.map((node, i) => [node.name, i]));
  const place = (node) => places.get(node);
  for (const arc of arcs) Object.assign(arc, { start: place(arc.start), end: place(arc.end) });
  for (const node of nodes) node.parents = node.parents.map(place);
  const children = nodes.map(() => []);
  nodes.forEach((node, i) => node.parents.forEach((parent) => children[parent].push(i)));

  /** Parents, children, and the children's other parents. */
  function blanket(i) {
    const parents = new Set(nodes[i].parents), kids = new Set(children[i]), spouses = new Set();
    for (const kid of kids) {
      for (const other of nodes[kid].parents) {
        if (other !== i && !parents.has(other) && !kids.has(other)) spouses.add(other);
      }
    }
    return { parent: [...parents], child: [...kids], spouse: [...spouses] };
  }
  return { nodes, arcs, place, children, blanket, name: (i) => nodes[i].name };
}
