"""What a climb sees of its prior: the conditional inclusion probability of arcs, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.graphs import DAG
from mapdag.objective import parse
from mapdag.paper.experiments.noise import noise_table
from mapdag.search import learn
from mapdag.theory import inclusion_probabilities

if TYPE_CHECKING:
    from mapdag.search import Result


class ClimbPoint(NamedTuple):
    """The graph after some moves, and the mean prior probability that a pair of its nodes is adjacent."""

    prior: str
    step: int
    arcs: int
    inclusion: float


def inclusion_along_climb(
    priors: Sequence[str] = ("U", "MU(1/2)", "MU(c=1)"),
    *,
    likelihood: str = "BDeu(1)",
    nodes: int = 50,
    rows: int = 50,
    seed: int = 1,
) -> tuple[ClimbPoint, ...]:
    """Climb on a table of noise, and follow the mean inclusion probability of all pairs given the graph so far.

    See `mapdag.theory.inclusion_probabilities`.

    Examples
    --------
    >>> points = inclusion_along_climb(["U", "MU(1/2)"], nodes=10, rows=50)
    >>> [(point.prior, round(point.inclusion, 3)) for point in points if point.step == 0]
    [('U', 0.667), ('MU(1/2)', 0.5)]
    """
    data = noise_table(nodes, rows, seed=[seed, nodes, rows, 0])
    upper = np.triu_indices(nodes, 1)
    found = []
    for name in priors:
        objective = parse(f"{name}+{likelihood}")
        for step, dag in enumerate(_graphs(learn(data, objective, search="hc", order="columns"))):
            mean = float(inclusion_probabilities(objective.prior, dag)[upper].mean())
            found.append(ClimbPoint(name, step, dag.n_arcs, mean))
    return tuple(found)


def _graphs(result: Result) -> list[DAG]:
    """Replay a climb from the empty graph."""
    graphs = [DAG(result.dag.nodes)]
    for move in result.trace:
        step = {"add": DAG.with_arc, "delete": DAG.without_arc, "reverse": DAG.with_reversed}[move.kind]
        graphs.append(step(graphs[-1], move.start, move.end))
    return graphs
