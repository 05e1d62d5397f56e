"""DAGs drawn at random: sparse ones along a random order, and all DAGs with the same probability.

The latter exactly (Kuipers and Moffa 2015), with whole numbers: no rounding, no convergence. A DAG falls into
layers: its sources, the sources of what is left when they are taken away, and so on. Every node of a layer has a parent
in the layer before it, and any parents in the earlier ones. So there are

    (2^k - 1)^s 2^(k (m-s)) a(m, s)

DAGs with k given sources whose m other nodes have s sources among themselves, where a(m, s) counts the DAGs with m
nodes and s sources. The sizes of the layers are drawn from these numbers, then names and arcs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache

import numpy as np

from mapdag.checks import check_whole
from mapdag.errors import ParameterError
from mapdag.graphs.census import check_nodes, dag_numbers
from mapdag.graphs.dag import DAG
from mapdag.graphs.masks import mask_of
from mapdag.graphs.nodes import as_index
from mapdag.wording import brief


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
    limit = size if max_parents is None else check_whole("max_parents", max_parents)
    rng = _generator(seed)
    order = rng.permutation(size)
    masks = [0] * size
    # The number of parents among the i nodes before, then which: the same law as i independent arcs.
    for i, number in enumerate(rng.binomial(np.arange(size), chance).tolist()):
        if number and limit:
            parents = order[rng.choice(i, size=min(number, limit), replace=False)]
            masks[order[i]] = mask_of(parents.tolist())
    return DAG.from_parent_masks(index, masks, check=False)


def _generator(seed: int | np.random.Generator | None) -> np.random.Generator:
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ParameterError(f"seed must be a whole number, not negative, or a Generator, got {brief(seed)}") from None


def _arc_probability(size: int, expected_parents: float | None, probability: float | None) -> float:
    """Return the probability of an arc, from whichever of the two ways to say it was used."""
    if probability is not None:
        if expected_parents is not None:
            raise ParameterError("give expected_parents or probability, not both")
        return _between("probability", probability, 1)
    most = (size - 1) / 2 if size > 1 else 0.0
    if expected_parents is None:
        expected_parents = min(1.5, most)
    mean = _between("expected_parents", expected_parents, most, f" for {size} nodes")
    return mean / most if most else 0.0


def _between(name: str, value: float, most: float, where: str = "") -> float:
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not 0 <= value <= most:
        raise ParameterError(f"{name} must be between 0 and {most}{where}, got {brief(value)}")
    return float(value)


def uniform_dag(nodes: Iterable[str], *, seed: int | np.random.Generator | None = None) -> DAG:
    """Draw one of all DAGs with these nodes, each with the same probability.

    The first draw for a number of nodes computes and keeps what later ones need: a tenth of a second for 200 nodes,
    after which a draw takes a hundredth; seconds for 500 nodes and minutes for 1000.

    Parameters
    ----------
    nodes : iterable of str
        At most 1000.
    seed : int or numpy Generator, optional
        Same seed, same graph. A generator gives another graph with every call.

    See Also
    --------
    random_dag : sparse graphs, but not uniform.

    Examples
    --------
    >>> dag = uniform_dag(["A", "B", "C"], seed=1)
    >>> dag == uniform_dag(["A", "B", "C"], seed=1)
    True
    """
    index = as_index(nodes)
    size = len(index)
    check_nodes(size)
    rng = _generator(seed)
    order = rng.permutation(size).tolist()
    masks = [0] * size
    earlier, before, done = 0, 0, 0  # all layers but the last, the last, and how many nodes they have
    for width in _layers(size, rng):
        layer = order[done : done + width]
        for node in layer:
            parents = 0 if not before else _nonempty_part(before, rng)
            masks[node] = parents | _part(earlier, rng)
        earlier, before, done = earlier | before, mask_of(layer), done + width
    return DAG.from_parent_masks(index, masks, check=False)


@cache
def with_sources(n: int, k: int) -> int:
    """Return the number of DAGs with n labelled nodes of which exactly k are sources.

    Inclusion and exclusion over the sets that contain the sources: ``C(n, k) sum over j of (-1)^j C(n-k, j)
    2^((k+j)(n-k-j)) a(n-k-j)``.

    Examples
    --------
    >>> [with_sources(3, k) for k in (1, 2, 3)]
    [15, 9, 1]
    """
    dags = dag_numbers(n)
    exactly: int = sum(
        (-1) ** j * (math.comb(n - k, j) * dags[n - k - j] << (k + j) * (n - k - j)) for j in range(n - k + 1)
    )
    return math.comb(n, k) * exactly


def _layers(size: int, rng: np.random.Generator) -> list[int]:
    """Draw the sizes of the layers, sources first."""
    layers: list[int] = []
    left, k = size, 0
    while left:
        # Sources are few, as a rule: their number is found after a few terms, and the others are never computed.
        draw = _below(_ways(left, k), rng)
        s = 1
        while True:
            draw -= _choices(k, s, left) * with_sources(left, s)
            if draw < 0:
                break
            s += 1
        layers.append(s)
        left, k = left - s, s
    return layers


def _choices(k: int, s: int, m: int) -> int:
    """In how many ways k nodes are joined to m others of which s must have one of them as a parent."""
    return ((1 << k) - 1) ** s << k * (m - s) if k else 1


@cache
def _ways(m: int, k: int) -> int:
    """DAGs with k given sources and m other nodes; for k = 0, all with m nodes."""
    return with_sources(m + k, k) // math.comb(m + k, k) if k else dag_numbers(m)[m]


def _below(limit: int, rng: np.random.Generator) -> int:
    """Draw a whole number below `limit`, of any size."""
    bits = (limit - 1).bit_length()
    while True:
        number = int.from_bytes(rng.bytes((bits + 7) // 8), "little") >> -bits % 8
        if number < limit:
            return number


def _part(mask: int, rng: np.random.Generator) -> int:
    """Draw any subset of a mask."""
    return mask & int.from_bytes(rng.bytes((mask.bit_length() + 7) // 8), "little")


def _nonempty_part(mask: int, rng: np.random.Generator) -> int:
    """Draw any subset of a mask but the empty one."""
    while True:
        part = _part(mask, rng)
        if part:
            return part
