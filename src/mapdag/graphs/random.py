"""Random DAGs for tests, benchmarks and simulations. Learning and sampling data are in other layers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mapdag.errors import ParameterError
from mapdag.graphs.dag import DAG
from mapdag.graphs.masks import mask_of
from mapdag.graphs.nodes import as_index


def random_dag(
    nodes: Iterable[str],
    *,
    expected_parents: float | None = None,
    probability: float | None = None,
    max_parents: int | None = None,
    seed: int | np.random.Generator | None = None,
) -> DAG:
    """Draw an order of the nodes at random, then each arc along it independently with the same probability.

    This is *not* uniform over DAGs: a graph is the more likely, the more orders it agrees with. For that see
    `uniform_dag`.

    Parameters
    ----------
    nodes : iterable of str
        The node names.
    expected_parents : float, optional
        The mean number of parents, over all nodes, without `max_parents`; 1.5 (or all arcs, if there are too
        few nodes for that) unless `probability` is given. It sets the probability to `2 expected_parents / (N
        - 1)`.
    probability : float, optional
        The probability of each of the N(N - 1)/2 arcs along the order.
    max_parents : int, optional
        A node that draws more keeps a random choice of this many.
    seed : int or numpy Generator, optional
        Same seed, same graph.

    Examples
    --------
    >>> dag = random_dag(["A", "B", "C", "D"], expected_parents=1, seed=1)
    >>> dag == random_dag(["A", "B", "C", "D"], expected_parents=1, seed=1)
    True
    """
    index = as_index(nodes)
    size = len(index)
    chance = _arc_probability(size, expected_parents, probability)
    if max_parents is not None and max_parents < 0:
        raise ParameterError(f"max_parents must not be negative, got {max_parents}")
    limit = size if max_parents is None else max_parents
    rng = np.random.default_rng(seed)
    order = rng.permutation(size)
    masks = [0] * size
    # The number of parents among the i nodes before, then which: the same law as i independent arcs.
    for i, number in enumerate(rng.binomial(np.arange(size), chance).tolist()):
        if number and limit:
            parents = order[rng.choice(i, size=min(number, limit), replace=False)]
            masks[order[i]] = mask_of(parents.tolist())
    return DAG.from_parent_masks(index, masks, check=False)


def _arc_probability(size: int, expected_parents: float | None, probability: float | None) -> float:
    """Return the probability of an arc, from whichever of the two ways to say it was used."""
    if probability is not None:
        if expected_parents is not None:
            raise ParameterError("give expected_parents or probability, not both")
        if not 0 <= probability <= 1:
            raise ParameterError(f"probability must be between 0 and 1, got {probability}")
        return probability
    most = (size - 1) / 2 if size > 1 else 0.0
    if expected_parents is None:
        expected_parents = min(1.5, most)
    if not 0 <= expected_parents <= most:
        raise ParameterError(f"expected_parents must be between 0 and {most} for {size} nodes, got {expected_parents}")
    return expected_parents / most if most else 0.0
