// Exact probabilities, by messages in a tree of cliques: one clique for every node, made when the node is eliminated. A
// table has an axis for each node of its scope; the last one changes first.

/**
 * Make a function that takes evidence, a Map from nodes to levels, and returns the probabilities of all levels of all nodes
 * and the log of that of the evidence, minus infinity if it is impossible.
 */
export function junction(cards, tables, order) {
  const when = [];
  order.forEach((node, t) => { when[node] = t; });
  const size = (scope) => scope.reduce((product, node) => product * cards[node], 1);

  /** Where rows of a table over `scope`, of which the last axis is one row, begin in a table over `part`; the step in a row. */
  function rowsIn(scope, part) {
    const stride = new Map();
    let step = 1;
    for (let a = part.length - 1; a >= 0; a -= 1) { stride.set(part[a], step); step *= cards[part[a]]; }
    const outer = scope.slice(0, -1), sizes = outer.map((node) => cards[node]), steps = outer.map((node) => stride.get(node) || 0);
    const digits = new Int32Array(outer.length), starts = new Int32Array(size(outer));
    for (let row = 0, at = 0; row < starts.length; row += 1) {
      starts[row] = at;
      for (let a = outer.length - 1; a >= 0; a -= 1) {
        at += steps[a];
        digits[a] += 1;
        if (digits[a] < sizes[a]) break;
        at -= steps[a] * sizes[a];
        digits[a] = 0;
      }
    }
    return { starts, step: stride.get(scope.at(-1)) || 0 };
  }
  function multiply(values, scope, factor, part) {
    const { starts, step } = rowsIn(scope, part), r = cards[scope.at(-1)];
    for (let row = 0, at = 0; row < starts.length; row += 1) {
      for (let k = 0, from = starts[row]; k < r; k += 1, from += step) { values[at] *= factor[from]; at += 1; }
    }
  }
  /** Sum a table over all nodes that are not in `part`. */
  function summed(values, scope, part) {
    const { starts, step } = rowsIn(scope, part), r = cards[scope.at(-1)], sums = new Float64Array(size(part));
    for (let row = 0, at = 0; row < starts.length; row += 1) {
      for (let k = 0, to = starts[row]; k < r; k += 1, to += step) { sums[to] += values[at]; at += 1; }
    }
    return sums;
  }

  // The tree. The scope of a clique ends with the node that is eliminated, before it the others, the next to go last: that
  // one's clique holds all of them.
  const near = cards.map(() => new Set());
  for (const { scope } of tables) for (const a of scope) for (const b of scope) if (a !== b) near[a].add(b);
  const cliques = order.map((node) => {
    const others = [...near[node]].sort((a, b) => when[b] - when[a]);
    for (const a of others) {
      near[a].delete(node);
      for (const b of others) if (a !== b) near[a].add(b);
    }
    const scope = [...others, node];
    return { node, scope, others, up: others.length ? when[others.at(-1)] : -1, children: [], base: new Float64Array(size(scope)).fill(1) };
  });
  cliques.forEach(({ up }, t) => { if (up >= 0) cliques[up].children.push(t); });
  for (const { scope, values } of tables) {
    const { base, scope: whole } = cliques[Math.min(...scope.map((node) => when[node]))];
    multiply(base, whole, values, scope);
  }

  /** From the leaves to the roots: sum out each node; returns the log-probability of the evidence. */
  function collect(evidence) {
    let log = 0;
    for (const clique of cliques) {
      const { node, scope, children } = clique, r = cards[node], seen = evidence.get(node);
      const values = clique.base.slice();
      if (seen !== undefined) for (let at = 0; at < values.length; at += 1) if (at % r !== seen) values[at] = 0;
      for (const child of children) multiply(values, scope, cliques[child].message, cliques[child].others);
      const sums = new Float64Array(values.length / r);
      let most = 0;
      for (let row = 0, at = 0; row < sums.length; row += 1) {
        for (let k = 0; k < r; k += 1) { sums[row] += values[at]; at += 1; }
        if (sums[row] > most) most = sums[row];
      }
      if (!(most > 0)) return -Infinity;
      log += Math.log(most); // so that many small probabilities do not vanish
      Object.assign(clique, { values, sums, message: sums.map((sum) => sum / most) });
    }
    return log;
  }
  /** From the roots to the leaves: make each clique's table the joint distribution of its nodes. */
  function distribute() {
    const marginals = [];
    for (let t = cliques.length - 1; t >= 0; t -= 1) {
      const { node, others, up, values, sums } = cliques[t], r = cards[node];
      const outside = up < 0 ? [1] : summed(cliques[up].values, cliques[up].scope, others);
      const own = new Float64Array(r);
      for (let row = 0, at = 0; row < sums.length; row += 1) {
        const share = sums[row] > 0 ? outside[row] / sums[row] : 0;
        for (let k = 0; k < r; k += 1) { values[at] *= share; own[k] += values[at]; at += 1; }
      }
      const total = own.reduce((sum, p) => sum + p, 0);
      marginals[node] = own.map((p) => p / total);
    }
    return marginals;
  }
  return (evidence) => {
    const log = collect(evidence);
    return { log, marginals: log === -Infinity ? null : distribute() };
  };
}
