"""Kernels of exact posteriors: sums over all orders of the nodes, and over all graphs, in logs.

Sets and places are those of `subsets`. Sums over orders are those of Koivisto and Sood (2004); sums over graphs go by
the sets of nodes without children, with signs (Tian and He 2009).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mapdag.kernels import Floats, Ints, entry, inner, new_floats, new_ints, trailing_zeros
from mapdag.search.exact.subsets import Families, place_of


class Known(NamedTuple):
    """What sums over graphs start from."""

    families: Families  # from `sum_within`
    clashes: Ints  # (nodes,) those that each must be adjacent to, either way
    orders: Floats  # (sets,) the sum over orders


@inner
def log_add(x: float, y: float) -> float:
    """Log of the sum of two numbers given as logs."""
    if x < y:
        x, y = y, x
    return x if y - x < -40.0 or y == -np.inf else x + math.log1p(math.exp(y - x))


@entry
def sum_within(scores: Floats, pinned: int) -> None:
    """Turn the scores of sets of parents into their sum within each set of predecessors, in place.

    Candidates that are `pinned` must be parents if they are predecessors.
    """
    bit = 1
    while bit < len(scores):
        if not pinned & bit:
            for start in range(0, len(scores), 2 * bit):
                for i in range(start, start + bit):
                    scores[i + bit] = log_add(scores[i + bit], scores[i])
        bit *= 2


@entry
def sum_around(scores: Floats, pinned: int) -> None:
    """Turn the weights of sets of predecessors into their sum over all that contain a set of parents, in place."""
    bit = 1
    while bit < len(scores):
        if not pinned & bit:
            for start in range(0, len(scores), 2 * bit):
                for i in range(start, start + bit):
                    scores[i] = log_add(scores[i], scores[i + bit])
        bit *= 2


@entry
def sum_orders(first: int, last: int, families: Families, sums: Floats) -> None:
    """Sum over all orders of each of the sets ``first, ..., last - 1``, smaller ones being known."""
    scores, starts, places = families
    for nodes in range(first, last):
        found = 0.0 if nodes == 0 else -np.inf
        for x in range(len(starts)):
            if nodes >> x & 1:
                before = nodes & ~(1 << x)
                found = log_add(found, sums[before] + scores[starts[x] + place_of(before, places[x])])
        sums[nodes] = found


@entry
def sum_orders_after(first: int, last: int, families: Families, sums: Floats) -> None:
    """Sum over all orders of what comes after each of the sets ``last - 1, ..., first``, larger ones being known."""
    scores, starts, places = families
    for nodes in range(last - 1, first - 1, -1):
        found = 0.0 if nodes == len(sums) - 1 else -np.inf
        for x in range(len(starts)):
            if not nodes >> x & 1:
                found = log_add(found, sums[nodes | 1 << x] + scores[starts[x] + place_of(nodes, places[x])])
        sums[nodes] = found


@entry
def weigh_predecessors(node: int, before: Floats, after: Floats, places: Ints, out: Floats) -> None:
    """Sum over all orders of all nodes but one, by its predecessors: ``out[place]``."""
    for place in range(len(out)):
        out[place] = -np.inf
    for nodes in range(len(before)):
        if not nodes >> node & 1:
            place = place_of(nodes, places)
            out[place] = log_add(out[place], before[nodes] + after[nodes | 1 << node])


@entry
def sum_parents(scores: Floats, weights: Floats, out: Floats) -> None:
    """Sum of score times weight over all sets that have each candidate: ``out[candidate]``."""
    for i in range(len(out)):
        out[i] = -np.inf
    for place in range(len(scores)):
        value = scores[place] + weights[place]
        rest = np.uint64(place)
        while rest:
            i = trailing_zeros(rest)
            rest &= rest - np.uint64(1)
            out[i] = log_add(out[i], value)


@inner
def _childless(nodes: int, known: Known, sets: Ints, weights: Floats) -> int:
    """All sets of nodes that can be added to some nodes without children of their own, and the logs of their weights.

    Nodes that clash must be adjacent, so that they cannot both be without children. Returns how many sets there are.
    """
    scores, starts, places = known.families
    clashes = known.clashes
    sets[0], weights[0] = 0, 0.0
    size = 1
    for x in range(len(starts)):
        if nodes >> x & 1:
            continue
        own = scores[starts[x] + place_of(nodes, places[x])]
        for i in range(size):
            sets[size + i] = sets[i] | 1 << x
            weights[size + i] = weights[i] + own if sets[i] & clashes[x] == 0 else -np.inf
        size *= 2
    return size


@entry
def sum_graphs(first: int, last: int, known: Known, sums: Floats) -> None:
    """Sum over all graphs on each set of nodes, as a share of the sum over all orders: what follows from some sets.

    A graph with m nodes without children is counted 2^m - 1 times, once for each set of some of them, with signs that
    add up to one. All terms are at most as large as what is asked for: the signs cost no more than log2(sets) bits.

    Parameters
    ----------
    first, last : int
        The sets ``first, ..., last - 1``, whose own sums are complete once all smaller ones were taken.
    known : Known
    sums : float64 array (sets,)
        All zero at first.
    """
    orders = known.orders
    sets, weights = new_ints(len(orders)), new_floats(len(orders))
    if first == 0:
        sums[0] = 1.0
    for nodes in range(first, last):
        if sums[nodes] == 0.0:
            continue
        size = _childless(nodes, known, sets, weights)
        for i in range(1, size):
            union = nodes | sets[i]
            if weights[i] == -np.inf or orders[union] == -np.inf:
                continue
            term = sums[nodes] * math.exp(weights[i] + orders[nodes] - orders[union])
            sums[union] += term if _is_odd(sets[i]) else -term


@inner
def _is_odd(nodes: int) -> bool:
    odd = False
    while nodes:
        nodes &= nodes - 1
        odd = not odd
    return odd


@entry
def weigh_graphs(first: int, last: int, known: Known, sums: Floats, after: Floats, out: Floats) -> None:
    """Sum over all graphs by the nodes that come before a node without children: ``out[node, nodes before]``.

    That is the derivative of the sum over all graphs by the log of what `sum_within` has for a node and its
    predecessors: `sum_graphs` backwards.

    Parameters
    ----------
    first, last : int
        The sets ``last - 1, ..., first``, all larger ones having been taken.
    known, sums
        As in `sum_graphs`, which comes first.
    after : float64 array (sets,)
        All zero at first: derivative by `sums`.
    out : float64 array (nodes, sets)
        All zero at first.
    """
    orders = known.orders
    sets, weights = new_ints(len(orders)), new_floats(len(orders))
    if last == len(after):
        after[last - 1] = 1.0
    for nodes in range(last - 1, first - 1, -1):
        if sums[nodes] == 0.0:
            continue
        size = _childless(nodes, known, sets, weights)
        for i in range(1, size):
            union = nodes | sets[i]
            if weights[i] == -np.inf or orders[union] == -np.inf or after[union] == 0.0:
                continue
            term = after[union] * math.exp(weights[i] + orders[nodes] - orders[union])
            if not _is_odd(sets[i]):
                term = -term
            after[nodes] += term
            rest = np.uint64(sets[i])
            while rest:
                out[trailing_zeros(rest), nodes] += sums[nodes] * term
                rest &= rest - np.uint64(1)


@entry
def share_parents(scores: Floats, within: Floats, weights: Floats, places: Ints, pinned: int, out: Floats) -> None:
    """Sum of the weights of all sets of predecessors, times the share of each candidate parent: ``out[candidate]``.

    The share is what sets of parents with the candidate contribute to ``within``, the sum over all sets of parents.
    """
    some = new_floats(len(scores))
    for c in range(len(out)):
        for place in range(len(scores)):
            some[place] = scores[place] if place >> c & 1 else -np.inf
        sum_within(some, pinned)
        out[c] = 0.0
        for nodes in range(len(weights)):
            if weights[nodes] != 0.0:
                place = place_of(nodes, places)
                if some[place] > -np.inf:
                    out[c] += weights[nodes] * math.exp(some[place] - within[place])
