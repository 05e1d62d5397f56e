"""Kernels of exact search: dynamic programming over all sets of nodes (Silander and Myllymaki 2006).

Sets of nodes are words, bit i for node i. The scores of a child are looked up at places: bit i for the child's i-th
candidate parent; `places` says which bits of a place go with which bits of a set, some bits at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapdag.kernels import entry, inner
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
