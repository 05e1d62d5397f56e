"""All graphs, one after the other: what exact search, rankings and posteriors are compared with."""

import itertools
import math

import mapdag as md
from mapdag.errors import CycleError
from mapdag.families import FamilyScores


def all_dags(names):
    """Every DAG on some nodes: 25 on three, 543 on four, 29,281 on five."""
    pairs = list(itertools.combinations(names, 2))
    for states in itertools.product((0, 1, 2), repeat=len(pairs)):
        arcs = [pair[:: 2 * state - 3][::-1] for pair, state in zip(pairs, states, strict=True) if state]
        try:
            yield md.DAG(names, arcs)
        except CycleError:
            continue


def scored(data, objective, keep=lambda _: True):
    """Every DAG that is kept and possible, with its score, added up from scores of families."""
    objective = md.parse(objective)
    families = FamilyScores(data, [objective.likelihood])
    index = {name: i for i, name in enumerate(data.names)}
    known = {}

    def family(node, parents):
        if (node, parents) not in known:
            known[node, parents] = float(families.family(index[node], [index[p] for p in parents])[0])
        return known[node, parents]

    for dag in all_dags(data.names):
        prior = objective.prior.log_prior(dag)
        if keep(dag) and prior > -math.inf:
            yield dag, math.fsum([prior, *(family(node, dag.parents(node)) for node in dag.nodes)])


def n_orders(dag):
    """Number of orders of the nodes that go with a graph."""
    return sum(all(o.index(a) < o.index(b) for a, b in dag.arcs) for o in itertools.permutations(dag.nodes))


def arc_probabilities(graphs, nodes):
    """Posterior probability of every arc, and the log of the sum, from graphs with the logs of their weights."""
    most = max(weight for _, weight in graphs)
    total = math.fsum(math.exp(weight - most) for _, weight in graphs)
    found = {
        arc: math.fsum(math.exp(weight - most) for dag, weight in graphs if dag.has_arc(*arc)) / total
        for arc in itertools.permutations(nodes, 2)
    }
    return found, most + math.log(total)
