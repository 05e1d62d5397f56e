"""Kernels of certified search: scores less what cuts charge; which families decisions allow; the best graph of an order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mapdag.kernels import Bools, Floats, Ints, Words, entry, new_bools, new_ints


class Decisions(NamedTuple):
    """Arcs that must, or must not, be there."""

    starts: Ints
    ends: Ints
    present: Bools


@entry
def adjust(scores: Floats, ends: Ints, columns: Ints, values: Floats, multipliers: Floats) -> Floats:
    """Scores of families, less multiplier times coefficient of each row."""
    adjusted = scores.copy()
    for row in range(len(multipliers)):
        if multipliers[row] != 0.0:
            for i in range(ends[row], ends[row + 1]):
                adjusted[columns[i]] -= multipliers[row] * values[i]
    return adjusted


@entry
def allow(decisions: Decisions, owner: Ints, sets: Words, out: Bools) -> None:
    """Which families decisions about arcs allow."""
    starts, ends, present = decisions
    one = np.uint64(1)
    for f in range(len(owner)):
        out[f] = True
        for i in range(len(starts)):
            if owner[f] == ends[i]:
                has = (sets[f, starts[i] >> 6] >> np.uint64(starts[i] & 63)) & one
                out[f] &= (has != 0) == present[i]
            elif owner[f] == starts[i] and present[i]:
                out[f] &= (sets[f, ends[i] >> 6] >> np.uint64(ends[i] & 63)) & one == 0


@entry
def follow_arcs(arcs: Floats) -> Ints:
    """Order of the nodes that goes with weights of arcs: next comes whom the fewest arcs from those left go to."""
    n = len(arcs)
    order, left = new_ints(n), new_bools(n)
    for v in range(n):
        left[v] = True
    for i in range(n):
        pick, least = -1, np.inf
        for v in range(n):
            if left[v]:
                total = 0.0
                for u in range(n):
                    if left[u]:
                        total += arcs[u, v]
                if total < least:
                    pick, least = v, total
        order[i], left[pick] = pick, False
    return order


@entry
def choose_in_order(order: Ints, starts: Ints, sets: Words) -> Ints:
    """Return the first, hence best, family of each child whose parents come before it; -1 where there is none."""
    known = np.zeros(sets.shape[1], np.uint64)
    found = new_ints(len(order))
    for i in range(len(order)):
        v = order[i]
        found[v] = -1
        for f in range(starts[v], starts[v + 1]):
            fits = True
            for w in range(len(known)):
                fits = fits and sets[f, w] & ~known[w] == 0
            if fits:
                found[v] = f
                break
        known[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
    return found
