"""Kernels of exact search: dynamic programming over all sets of nodes (Silander and Myllymaki 2006).

Sets of nodes are words, bit i for node i. The scores of a child are looked up at places: bit i for the child's i-th
candidate parent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mapdag.kernels import Floats, Ints, entry, inner, new_floats, new_ints, popcount, trailing_zeros
from mapdag.search.exact.scores import CHUNK, CHUNKS


class Families(NamedTuple):
    """A number for each family of all children."""

    scores: Floats  # by place, child after child
    starts: Ints  # (nodes,) where those of each child begin
    places: Ints  # (nodes, chunks, 2^bits) which bits of a place go with which bits of a set, some bits at a time


class ParentSets(NamedTuple):
    """For each child the sets of parents that may be chosen, the best first."""

    sets: Ints  # of nodes, child after child
    scores: Floats
    starts: Ints  # (nodes + 1,) where each child's list begins
    pins: Ints  # (nodes,) nodes that must be parents of a child if they are its predecessors


@inner
def place_of(nodes: int, places: Ints) -> int:
    """Place of the candidates of one child that are in a set."""
    found = 0
    for c in range(CHUNKS):
        found |= places[c, nodes & ((1 << CHUNK) - 1)]
        nodes >>= CHUNK
    return found


@entry
def take_best(scores: Floats, pinned: int) -> None:
    """Turn the scores of sets of parents into the best score within each set of predecessors, in place.

    Candidates that are `pinned` must be parents if they are predecessors.
    """
    bit = 1
    while bit < len(scores):
        if not pinned & bit:
            for start in range(0, len(scores), 2 * bit):
                low, high = scores[start : start + bit], scores[start + bit : start + 2 * bit]
                for i in range(bit):
                    high[i] = max(high[i], low[i])
        bit *= 2


@entry
def find_sinks(first: int, last: int, families: Families, best: Floats) -> None:
    """Score of the best graph on each of the sets ``first, ..., last - 1``, smaller ones being known.

    The best graph on a set has a last node, with the best of parents among the others, and the best graph on these.
    The scores are those of `take_best`.
    """
    scores, starts, places = families
    for nodes in range(first, last):
        found = 0.0 if nodes == 0 else -np.inf
        for x in range(len(starts)):
            if nodes >> x & 1:
                before = nodes & ~(1 << x)
                found = max(found, best[before] + scores[starts[x] + place_of(before, places[x])])
        best[nodes] = found


@entry
def keep_undominated(scores: Floats, pinned: int, most: int) -> tuple[Ints, Floats]:
    """Find the sets of at most so many parents that score higher than all their subsets: (places, their scores).

    No other set is ever chosen. A subset must have all `pinned` candidates of the set. The scores are overwritten.
    """
    places, values = new_ints(64), new_floats(64)
    size = 0
    for place in range(len(scores)):
        if popcount(np.uint64(place)) > most:
            continue
        best = -np.inf
        rest = np.uint64(place & ~pinned)
        while rest:
            best = max(best, scores[place ^ (1 << trailing_zeros(rest))])
            rest &= rest - np.uint64(1)
        if scores[place] <= best:
            scores[place] = best
            continue
        if size == len(places):
            more_places, more_values = new_ints(2 * size), new_floats(2 * size)
            for i in range(size):
                more_places[i], more_values[i] = places[i], values[i]
            places, values = more_places, more_values
        places[size], values[size] = place, scores[place]
        size += 1
    return places[:size].copy(), values[:size].copy()


@entry
def find_sinks_in_lists(first: int, last: int, lists: ParentSets, best: Floats) -> None:
    """Like `find_sinks`, from lists of sets of parents: the first that fits is taken."""
    sets, scores, starts, pins = lists
    for nodes in range(first, last):
        found = 0.0 if nodes == 0 else -np.inf
        for x in range(len(pins)):
            if not nodes >> x & 1:
                continue
            before = nodes & ~(1 << x)
            for i in range(starts[x], starts[x + 1]):
                if sets[i] & ~before == 0 and pins[x] & before & ~sets[i] == 0:
                    found = max(found, best[before] + scores[i])
                    break
        best[nodes] = found
