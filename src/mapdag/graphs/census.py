"""How many DAGs there are, and how many of them have given arcs: exact whole numbers and fractions.

One recursion carries everything. Robinson (1973) counts labelled DAGs by inclusion and exclusion over sets of sources;
that goes through unchanged when every arc carries a weight, and when a few arcs are required. Enumeration is in
`enumeration`, sampling in `random`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from mapdag.errors import CapacityError, ParameterError
from mapdag.graphs.dag import DAG
from mapdag.graphs.masks import members, transpose
from mapdag.graphs.nodes import as_index
from mapdag.wording import brief

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]


Coding = Literal["signed", "presence"]
Pattern = Literal["chain", "collider", "fork", "disjoint"]

MAX_NODES = 1000
"""Beyond this the numbers have more than half a million bits, and computing them takes minutes."""


def n_dags(n: int) -> int:
    """Return the number of DAGs with n labelled nodes.

    ``a(n) = sum over k of (-1)^(k+1) C(n, k) 2^(k (n-k)) a(n-k)`` (Robinson 1973; sequence A003024).

    Parameters
    ----------
    n : int

    Examples
    --------
    >>> [n_dags(n) for n in range(8)]
    [1, 1, 3, 25, 543, 29281, 3781503, 1138779265]
    >>> n_dags(200).bit_length()
    21032
    """
    return dag_numbers(n)[n]


def dag_numbers(n: int) -> tuple[int, ...]:
    """Return the numbers of DAGs with 0, 1, ..., n nodes."""
    check_nodes(n)
    return tuple(map(_dags, range(n + 1)))  # the small ones first, so that no call goes deep


@cache
def _dags(n: int) -> int:
    return sum((-1) ** (k + 1) * (math.comb(n, k) * _dags(n - k) << k * (n - k)) for k in range(1, n + 1)) if n else 1


def n_arcs_in_all(n: int) -> int:
    """Return the number of arcs in all DAGs with n labelled nodes together.

    The derivative of Robinson's recursion with a weight on every arc.

    Examples
    --------
    >>> [n_arcs_in_all(n) for n in range(5)]
    [0, 0, 2, 48, 2016]
    """
    check_nodes(n)
    return tuple(map(_arcs, range(n + 1)))[n]


@cache
def _arcs(n: int) -> int:
    total = 0
    for k in range(1, n + 1):
        pairs = k * (n - k)
        ways = (_arcs(n - k) << pairs) + (pairs * _dags(n - k) << pairs >> 1)
        total += (-1) ** (k + 1) * math.comb(n, k) * ways
    return total


def arc_probability(n: int, odds: Fraction | int = 1) -> Fraction:
    """Return the exact probability of an arc ``i -> j`` in a random DAG with n nodes.

    Parameters
    ----------
    n : int
    odds : Fraction or int
        Every arc multiplies the probability of a graph by this. 1 is the uniform distribution; ``(beta/2)/(1 - beta)``
        is the marginal uniform prior, normalised over DAGs.

    Examples
    --------
    >>> arc_probability(3), arc_probability(4)
    (Fraction(8, 25), Fraction(56, 181))
    >>> round(float(arc_probability(200)), 4)
    0.2516
    """
    check_nodes(n, least=2)
    if odds == 1:
        return Fraction(n_arcs_in_all(n), n * (n - 1) * n_dags(n))
    return probability_of(n, [(0, 1)], odds)


def arc_correlation(n: int, *, coding: Coding = "signed", incident: bool = True, odds: Fraction | int = 1) -> Fraction:
    """Return the exact correlation of two pairs of nodes in a random DAG.

    Parameters
    ----------
    n : int
    coding : {"signed", "presence"}
        A pair (i, j), i before j, counts +1 for ``i -> j``, -1 for ``i <- j`` and 0 for neither; or 1 for an arc in
        either direction and 0 for none.
    incident : bool
        Whether the pairs (i, j) and (j, k) share the node j, or are disjoint.
    odds : Fraction or int
        As in `arc_probability`.

    Examples
    --------
    >>> [arc_correlation(3, coding=coding) for coding in ("signed", "presence")]
    [Fraction(-1, 8), Fraction(-1, 24)]
    """
    if coding not in get_args(Coding):
        raise ParameterError(f"coding must be 'signed' or 'presence', got {coding!r}")
    check_nodes(n, least=3 if incident else 4)
    p = arc_probability(n, odds)
    if not incident:
        # Turning one pair round maps DAGs to DAGs with as many arcs, so that signs cancel.
        both = 4 * pattern_probability(n, "disjoint", odds) if coding == "presence" else Fraction(0)
    else:
        chain, collider, fork = (pattern_probability(n, each, odds) for each in ("chain", "collider", "fork"))
        both = 2 * chain - collider - fork if coding == "signed" else 2 * chain + collider + fork
    mean = Fraction(0) if coding == "signed" else 2 * p
    return (both - mean**2) / (2 * p - mean**2)


def pattern_probability(n: int, pattern: Pattern, odds: Fraction | int = 1) -> Fraction:
    """Return the exact probability of two arcs, whatever the rest of the DAG.

    Parameters
    ----------
    n : int
    pattern : {"chain", "collider", "fork", "disjoint"}
        ``i -> j -> k``, ``i -> j <- k``, ``i <- j -> k``, or ``i -> j`` and ``k -> l``.
    odds : Fraction or int
        As in `arc_probability`.

    Examples
    --------
    >>> [str(pattern_probability(3, pattern)) for pattern in ("chain", "collider", "fork")]
    ['2/25', '3/25', '3/25']
    """
    arcs = {
        "chain": ((0, 1), (1, 2)),
        "collider": ((0, 1), (2, 1)),
        "fork": ((1, 0), (1, 2)),
        "disjoint": ((0, 1), (2, 3)),
    }
    if pattern not in arcs:
        raise ParameterError(f"pattern must be one of {', '.join(arcs)}, got {pattern!r}")
    return probability_of(n, arcs[pattern], odds)


def probability_of(n: int, arcs: Iterable[tuple[int, int]], odds: Fraction | int = 1) -> Fraction:
    """Return the exact probability that a random DAG has all of these arcs, nodes being positions.

    Examples
    --------
    >>> probability_of(3, [(0, 1), (1, 2), (2, 0)])
    Fraction(0, 1)
    """
    required = tuple(sorted(set(arcs)))
    nodes = sorted({node for arc in required for node in arc})
    check_nodes(n, least=nodes[-1] + 1 if nodes else 0)
    weight = Fraction(odds)
    if weight <= 0:
        raise ParameterError(f"odds must be positive, got {odds}")
    place = {node: i for i, node in enumerate(nodes)}
    marked = tuple((place[a], place[b]) for a, b in required)
    total = _weight(n, 0, (), weight)
    return weight ** len(marked) * _weight(n - len(nodes), len(nodes), marked, weight) / total


@cache
def _weight(free: int, marked: int, arcs: tuple[tuple[int, int], ...], odds: Fraction) -> Fraction:
    """Sum of the weights of all DAGs with `free` nodes more than the `marked` ones, over which the arcs are required.

    Each arc weighs `odds`, the required ones 1. Inclusion and exclusion over sets of sources: marked ones in a mask, of
    the others their number. A required arc must not end in a source; one from a source to the rest is counted there.
    """
    everyone = (1 << marked) - 1
    sums: dict[tuple[int, int], Fraction] = {(0, 0): Fraction(1)}
    for u in range(free + 1):
        for mask in range(everyone + 1):
            if (mask, u) == (0, 0):
                continue
            total, size = Fraction(0), mask.bit_count() + u
            for sources in _submasks(mask):
                if any(sources >> b & 1 and mask >> a & 1 for a, b in arcs):
                    continue
                joined = sum(1 for a, b in arcs if sources >> a & 1 and mask >> b & 1)
                for t in range(0 if sources else 1, u + 1):
                    k = sources.bit_count() + t
                    ways = math.comb(u, t) * sums[mask ^ sources, u - t]
                    total += (-1) ** (k + 1) * ways * (1 + odds) ** (k * (size - k) - joined)
            sums[mask, u] = total
    return sums[everyone, free]


def _submasks(mask: int) -> list[int]:
    """Return every subset of a mask, itself and the empty one too."""
    found, each = [mask], mask
    while each:
        each = (each - 1) & mask
        found.append(each)
    return found


def check_nodes(n: int, *, least: int = 0) -> None:
    """Refuse numbers of nodes that make no sense here."""
    if not isinstance(n, int) or isinstance(n, bool) or n < least:
        raise ParameterError(f"n must be a whole number of at least {least}, got {brief(n)}")
    if n > MAX_NODES:
        raise CapacityError(f"n must be at most {MAX_NODES}: exact numbers of DAGs become too long, got {brief(n)}")


# Enumerating ---------------------------------------------------------------------------------------------------------

MOST_NODES = 7
_BLOCK = 1 << 21


def dag_codes(n: int) -> Iterator[Codes]:
    """Yield all DAGs with n nodes as whole numbers, in blocks; bit ``i n + j`` stands for the arc ``i -> j``.

    Parameters
    ----------
    n : int
        At most 7: 1,138,779,265 graphs, in seconds.

    Examples
    --------
    >>> sum(len(block) for block in dag_codes(5))
    29281
    """
    check_nodes(n)
    if n > MOST_NODES:
        raise CapacityError(
            f"n must be at most {MOST_NODES} to enumerate, got {n}: there are more than 2^{n_dags(n).bit_length() - 1} "
            "DAGs; count them (n_dags, arc_probability) or draw from them (uniform_dag)"
        )
    everyone = (1 << n) - 1
    smaller: dict[int, dict[int, Codes]] = {0: {0: np.zeros(1, dtype=np.int64)}}
    for nodes in sorted(range(everyone), key=int.bit_count):
        if nodes:
            smaller[nodes] = {
                sources: np.concatenate(list(_with_sources(n, nodes, sources, smaller)))
                for sources in range(1, nodes + 1)
                if sources & nodes == sources
            }
    if not n:
        yield smaller[0][0]
    for sources in range(1, everyone + 1):
        yield from _with_sources(n, everyone, sources, smaller)


def _with_sources(n: int, nodes: int, sources: int, smaller: dict[int, dict[int, Codes]]) -> Iterator[Codes]:
    """Yield the DAGs over some nodes whose sources are exactly these."""
    rest = nodes ^ sources
    for inner, graphs in smaller[rest].items():
        added = np.zeros(1, dtype=np.int64)
        for child in members(rest):
            choices = _arcs_into(n, sources, child)
            added = np.add.outer(added, choices[1:] if inner >> child & 1 else choices).ravel()
        step = max(1, _BLOCK // len(added))
        for start in range(0, len(graphs), step):
            yield np.add.outer(graphs[start : start + step], added).ravel()


def _arcs_into(n: int, sources: int, child: int) -> Codes:
    """Return every set of arcs from these nodes to one other, the empty one first."""
    choices = np.zeros(1, dtype=np.int64)
    for tail in members(sources):
        choices = np.concatenate([choices, choices | np.int64(1 << (tail * n + child))])
    return choices


def all_dags(nodes: Iterable[str]) -> Iterator[DAG]:
    """Yield every DAG with these nodes, at most 7 of them.

    Examples
    --------
    >>> sum(dag.n_arcs for dag in all_dags(["A", "B", "C"]))
    48
    """
    index = as_index(nodes)
    n = len(index)
    row = (1 << n) - 1
    for block in dag_codes(n):
        for code in block.tolist():
            children = [code >> (i * n) & row for i in range(n)]
            yield DAG.from_parent_masks(index, transpose(children), check=False)
