// Ways to find what follows from evidence; a plan, made in Python, says which one a network takes.
import { junction } from "./junction.js";
import { sampling } from "./samples.js";

/** Make a function of evidence, a Map from nodes to levels, that returns `{log, marginals, matching}`. */
export function makeEngine({ nodes }, { denseTable, namedCodes }, plan) {
  const cards = nodes.map((node) => node.r);
  const shares = () => ({ log: 0, marginals: nodes.map((node, i) => {
    const values = new Float64Array(node.r), total = node.observed.reduce((sum, n) => sum + n, 0) || 1;
    namedCodes(i).forEach((code, k) => { values[code] = node.observed[k] / total; });
    return values;
  }) });
  const engines = {
    exact: () => junction(cards, nodes.map((node, i) => ({ scope: [...node.parents, i], values: denseTable(i) })), plan.order),
    samples: () => sampling(cards, plan.samples, plan.rows),
    none: () => shares,
  };
  return engines[plan.kind]();
}
