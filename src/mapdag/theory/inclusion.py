"""What graph priors say about single arcs: inclusion probabilities, expected numbers, the paper's approximations."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from mapdag.checks import check_whole
from mapdag.errors import CapacityError, GraphError
from mapdag.graphs.acyclicity import reachable
from mapdag.graphs.nodes import as_index

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.contracts import Prior
    from mapdag.graphs import DAG


_MOST = 10_000  # nodes; their pairs take seconds, and matrices of a few GB


def expected_arcs(prior: Prior, nodes: int | Iterable[str]) -> float:
    """Number of arcs that a prior expects, taking the pairs of nodes as independent.

    N(N-1)/2 beta for MU. Arcs' directions exclude each other, cycles are not excluded: for any prior that is a product
    over pairs, as the paper computes it. Under U two of the three states of a pair have an arc.

    Parameters
    ----------
    prior : Prior
    nodes : int or iterable of str
        How many nodes there are, or their names where the prior speaks of them.

    Examples
    --------
    >>> from mapdag import CS, MU
    >>> round(expected_arcs(MU(c=1), 37), 9)
    37.0
    >>> round(expected_arcs(CS({"A->B": 0.8}), ["A", "B"]), 9)
    0.9
    """
    _check_product(prior, "its expected number of arcs has no closed form")
    if isinstance(nodes, Iterable):
        names = as_index(nodes).names
    else:
        size = check_whole("nodes", nodes)
        if size > _MOST:
            raise CapacityError(f"nodes must be at most {_MOST:,}: all pairs of them are gone through, got {size:,}")
        names = tuple(f"X{i + 1}" for i in range(size))
    odds = prior.log_odds(names)
    upper = np.triu_indices(len(names), 1)
    weight = np.exp(odds[upper]) + np.exp(odds.T[upper])
    required = prior.required_pairs(names)
    sure = np.zeros(odds.shape, dtype=np.bool_)
    for pair in required:
        sure[pair] = True
    return float(np.where(sure[upper], 1.0, weight / (1 + weight)).sum())


def inclusion_probabilities(prior: Prior, dag: DAG) -> NDArray[np.float64]:
    """Prior probability of an arc in either direction for each pair of nodes, given the rest of a graph.

    This is what a search that changes one arc at a time sees (section 3.2 of the paper): 2/3 under U and beta under MU
    where both directions are free; where a directed path joins the two nodes, one direction would close a cycle, and it
    is 1/2 under U and beta / (2 - beta) under MU.

    Parameters
    ----------
    prior : Prior
        Any that is a product over pairs.
    dag : DAG

    Returns
    -------
    array
        Symmetric, with zeros on the diagonal.

    Examples
    --------
    >>> from mapdag import DAG, MU, U
    >>> chain = DAG.from_modelstring("[A][B|A][C|B]")
    >>> inclusion_probabilities(U(), chain).round(3).tolist()
    [[0.0, 0.667, 0.5], [0.667, 0.0, 0.667], [0.5, 0.667, 0.0]]
    >>> inclusion_probabilities(MU(), DAG(["A", "B"])).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    _check_product(prior, "an arc's probability depends on all the others")
    odds = np.exp(prior.log_odds(dag.nodes))
    size = len(dag.nodes)
    found = np.zeros((size, size))
    required = prior.required_pairs(dag.nodes)
    below = [reachable(dag.child_masks, 1 << i) for i in range(size)]
    for i in range(size):
        for j in range(i):
            # An arc between them is the only path that does not count: it is what is being decided.
            down = _other_path(dag, below, i, j)
            up = _other_path(dag, below, j, i)
            weight = odds[i, j] * (not up) + odds[j, i] * (not down)
            found[i, j] = found[j, i] = 1.0 if (j, i) in required else weight / (1 + weight)
    return found


def _other_path(dag: DAG, below: list[int], i: int, j: int) -> bool:
    """Tell whether a directed path leads from i to j, the arc between them apart."""
    if not below[i] >> j & 1:
        return False
    children = dag.child_masks[i] & ~(1 << j)
    return any(children >> k & 1 and below[k] >> j & 1 for k in range(len(below)))


def _check_product(prior: Prior, why_not: str) -> None:
    if not prior.is_arcwise or prior.max_parents is not None:
        raise GraphError(f"{prior} is not a product over pairs: {why_not}")


def approximate_arc_probability(n: int) -> float:
    """Probability of ``i -> j`` under U as the paper approximates it (section 2.2): 1/4 + 1/(4 (N-1)).

    The exact one is `mapdag.graphs.arc_probability`.

    Examples
    --------
    >>> approximate_arc_probability(3)
    0.375
    """
    n = check_whole("n", n, least=2)
    return 0.25 + 0.25 / (n - 1)


def approximate_arc_correlation(n: int) -> float:
    """Correlation of arcs that share a node, as the paper approximates it.

    ``2 (3/4 - 1/(4 (N-1)))^2 (1/4 + 1/(4 (N-1)))``. The exact ones are in `mapdag.graphs.arc_correlation`: they are
    negative, and smaller in absolute value, so that this can only be a bound on that.

    Examples
    --------
    >>> round(approximate_arc_correlation(3), 3)
    0.293
    """
    n = check_whole("n", n, least=3)
    return 2 * math.pow(0.75 - 0.25 / (n - 1), 2) * (0.25 + 0.25 / (n - 1))
