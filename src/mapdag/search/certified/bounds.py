"""Kernels of certified search: scores less what cuts charge; families that decisions allow; good graphs of an order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import Bools, Floats, Ints, Words, entry, inner, new_bools, new_ints

if TYPE_CHECKING:
    from mapdag.search.certified.candidates import Families


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


@inner
def _first_fitting(child: int, known: Words, starts: Ints, sets: Words) -> int:
    """Return the first, hence best, family of a child whose parents are all among some nodes; -1 if there is none."""
    for f in range(starts[child], starts[child + 1]):
        fits = True
        for w in range(len(known)):
            fits = fits and sets[f, w] & ~known[w] == 0
        if fits:
            return f
    return -1


@entry
def choose_in_order(order: Ints, starts: Ints, sets: Words) -> Ints:
    """Return the best family of each child whose parents come before it; -1 where there is none."""
    known = np.zeros(sets.shape[1], np.uint64)
    found = new_ints(len(order))
    for i in range(len(order)):
        v = order[i]
        found[v] = _first_fitting(v, known, starts, sets)
        known[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
    return found


@inner
def _move_best(at: int, order: Ints, families: Families, found: Ints, least: float) -> float:
    """Move the node at some place of an order to where it gains most, and more than `least`; returns what it gains."""
    starts, sets, scores = families.starts, families.sets, families.scores
    n, one = len(order), np.uint64(1)
    node, best, place = order[at], 0.0, at
    known = np.zeros(sets.shape[1], np.uint64)
    for step in (-1, 1):
        # Those before the place, without the node itself; going left they lose one after the other, going right gain.
        for w in range(len(known)):
            known[w] = 0
        for i in range(at):
            known[order[i] >> 6] |= one << np.uint64(order[i] & 63)
        passed, i = 0.0, at + step
        while 0 <= i < n:
            other = order[i]
            bit = one << np.uint64(other & 63)
            if step < 0:
                known[other >> 6] &= ~bit
                known[node >> 6] |= one << np.uint64(node & 63)
                new = _first_fitting(other, known, starts, sets)
                known[node >> 6] &= ~(one << np.uint64(node & 63))
            else:
                new = _first_fitting(other, known, starts, sets)
                known[other >> 6] |= bit
            mine = _first_fitting(node, known, starts, sets)
            if new < 0 or mine < 0:
                break
            passed += scores[new] - scores[found[other]]
            gain = passed + scores[mine] - scores[found[node]]
            if gain > best + least:
                best, place = gain, i
            i += step
    step = 1 if place > at else -1
    for i in range(at, place, step):
        order[i] = order[i + step]
    order[place] = node
    return best


@entry
def improve_order(order: Ints, families: Families) -> Ints:
    """Move nodes of an order to better places, in place, until nothing gains; returns its best families.

    -1 stands for a family that is not there: the order is left as it is.
    """
    starts, sets = families.starts, families.sets
    while True:
        found = choose_in_order(order, starts, sets)
        gained, least = 0.0, 1e-9
        for v in range(len(order)):
            if found[v] < 0:
                return found
            least += 1e-12 * abs(families.scores[found[v]])  # more than what rounding makes of no gain at all
        for v in range(len(order)):
            at = 0
            while order[at] != v:
                at += 1
            gain = _move_best(at, order, families, found, least)
            if gain > 0.0:
                found = choose_in_order(order, starts, sets)
                gained += gain
        if gained <= 0.0:
            return found
