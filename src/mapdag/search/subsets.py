"""Kernels of exact search: dynamic programming over all sets of nodes (Silander and Myllymaki 2006).

Sets of nodes are words, bit i for node i. The scores of a child are looked up at places: bit i for the child's i-th
candidate parent; `places` says which bits of a place go with which bits of a set, some bits at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapdag.kernels import entry, inner, new_floats, new_ints, popcount, trailing_zeros
from mapdag.search.families import CHUNK, CHUNKS


@inner
def place_of(nodes: int, places: Any) -> int:
    """Place of the candidates of one child that are in a set."""
    found = 0
    for c in range(CHUNKS):
        found |= places[c, nodes & ((1 << CHUNK) - 1)]
        nodes >>= CHUNK
    return found


@entry
def take_best(scores: Any, pinned: int) -> None:
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
def find_sinks(first: int, last: int, scores: Any, starts: Any, places: Any, best: Any) -> None:
    """Score of the best graph on each of the sets ``first, ..., last - 1``, smaller ones being known.

    The best graph on a set has a last node, with the best of parents among the others, and the best graph on these.

    Parameters
    ----------
    first, last : int
    scores : float64 array
        From `take_best`, child after child; those of child i begin at ``starts[i]``.
    starts : int64 array (nodes,)
    places : int64 array (nodes, chunks, 2^bits)
    best : float64 array (sets,)
    """
    for nodes in range(first, last):
        found = 0.0 if nodes == 0 else -np.inf
        for x in range(len(starts)):
            if nodes >> x & 1:
                before = nodes & ~(1 << x)
                found = max(found, best[before] + scores[starts[x] + place_of(before, places[x])])
        best[nodes] = found


@entry
def keep_undominated(scores: Any, pinned: int, most: int) -> Any:
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
            more_places[:size], more_values[:size] = places, values
            places, values = more_places, more_values
        places[size], values[size] = place, scores[place]
        size += 1
    return places[:size].copy(), values[:size].copy()


@entry
def find_sinks_in_lists(first: int, last: int, lists: Any, starts: Any, pins: Any, best: Any) -> None:
    """Like `find_sinks`, from lists of sets of parents, the best first: the first that fits is taken.

    Parameters
    ----------
    first, last, best
        As in `find_sinks`.
    lists : (sets, scores)
        Sets of nodes that may be parents, child after child.
    starts : int64 array (nodes + 1,)
        Where each child's list begins.
    pins : int64 array (nodes,)
        Nodes that must be parents of a child if they are its predecessors.
    """
    sets, scores = lists
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
