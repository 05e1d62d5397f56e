"""Search over orders of the nodes, compiled: each node in turn is moved to its best position.

An order is a tuple of arrays over the nodes: `sequence`, the nodes in order; `position` of each (-1: its parents are
not known yet); `nodes`, the tree node (see `mapdag.search.tree`) with the best parents of each among its predecessors;
`dirty`, those whose position may not be the best.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapdag.kernels import call_at, entry, inner, trailing_zeros
from mapdag.search.climb import CONVERGED, PAUSED
from mapdag.search.graph import flip
from mapdag.search.moves import TOLERANCE
from mapdag.search.store import OK, STATUS


def new_order(sequence: list[int]) -> tuple[Any, ...]:
    """Make an order whose nodes have no parents yet."""
    n = len(sequence)
    positions, nodes = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    return np.array(sequence, dtype=np.int64), positions, nodes, np.ones(n, dtype=np.bool_)


@inner
def _trace_at(child: int, before: Any, search: Any, store: Any, tree: Any) -> Any:
    """Node of the tree with the best parents of a node among those of a set; -1 where that is not known yet."""
    rules, problem, address = search
    call_at(address, (child, before, rules, problem, store, tree))
    return tree[9][2] if store[7][STATUS] == OK else np.int64(-1)


@inner
def _settle(child: int, node: int, order: Any, kept: Any) -> None:
    """Note the new parents of a node; it and the parents that it won or lost become dirty."""
    nodes, dirty = order[2], order[3]
    old = nodes[child]
    if old == node:
        return
    nodes[child] = node
    if old < 0:
        return
    dirty[child] = True
    for w in range(kept.shape[1]):
        word = kept[node, w] ^ kept[old, w]
        while word != 0:
            dirty[(w << 6) + trailing_zeros(word)] = True
            word &= word - np.uint64(1)


@inner
def _place(first: int, last: int, moved: int, order: Any, search: Any, store: Any, tree: Any) -> bool:
    """Find the parents of the nodes from one position to another; if one node `moved`, of those that it concerns."""
    sequence, position = order[0], order[1]
    before = np.zeros(tree[2].shape[1], np.uint64)
    for i in range(last + 1):
        child = sequence[i]
        if i >= first:
            if moved < 0 or child == moved or tree[10][moved, child]:
                node = _trace_at(child, before, search, store, tree)
                if node < 0:
                    return False
                _settle(child, node, order, tree[2])
            position[child] = i
        flip(before, child)
    return True


@inner
def _best_slot(x: int, step: int, order: Any, search: Any, store: Any, tree: Any) -> Any:
    """Best new position of a node to one side of it.

    Returns
    -------
    position : int
        -1 where something is not known yet.
    gain : float
    """
    sequence, position, nodes, _ = order
    best, relevant = tree[1], tree[10]
    allowed, fixed, _ = search[0]
    before = np.zeros(tree[2].shape[1], np.uint64)
    here = position[x]
    for i in range(here):
        flip(before, sequence[i])
    found, slot = TOLERANCE, here
    change, stays = -best[nodes[x]], np.int64(-1)
    i = here + step
    while 0 <= i < len(sequence):
        other = sequence[i]
        ahead, behind = (x, other) if step > 0 else (other, x)
        if fixed[ahead, behind] and not allowed[behind, ahead]:
            break  # a required arc: they cannot trade places
        if step < 0:
            flip(before, other)
        if relevant[x, other]:
            # Going left, the other one gets x as a predecessor; going right, it loses x.
            if step < 0:
                flip(before, x)
            node = _trace_at(other, before, search, store, tree)
            if step < 0:
                flip(before, x)
            if node < 0:
                return -1, 0.0
            change += best[node] - best[nodes[other]]
        if step > 0:
            flip(before, other)
        if relevant[other, x] or relevant[x, other]:
            if relevant[other, x] or stays < 0:
                stays = _trace_at(x, before, search, store, tree)
                if stays < 0:
                    return -1, 0.0
            gain = change + best[stays]
            if gain > found:
                found, slot = gain, i
        i += step
    return slot, found if slot != here else 0.0


@inner
def _improve(x: int, order: Any, search: Any, store: Any, tree: Any) -> Any:
    """Move one node to its best position; returns what that gained, or -1 where something is not known yet."""
    left, gain_left = _best_slot(x, -1, order, search, store, tree)
    if left < 0:
        return -1.0
    right, gain_right = _best_slot(x, 1, order, search, store, tree)
    if right < 0:
        return -1.0
    here = order[1][x]
    slot, gain = (left, gain_left) if gain_left >= gain_right else (right, gain_right)
    if slot != here:
        sequence, step, i = order[0], 1 if slot > here else -1, here
        while i != slot:
            sequence[i] = sequence[i + step]
            i += step
        sequence[slot] = x
        _place(min(here, slot), max(here, slot), x, order, search, store, tree)
    order[3][x] = False
    return gain


@entry
def sweep(order: Any, budget: int, search: Any, store: Any, tree: Any) -> Any:
    """Move dirty nodes to their best positions until none is left or `budget` of them were looked at.

    Nodes whose parents are not known are placed first. `search` is (rules, problem, address of `trace`).
    """
    dirty = order[3]
    for i in range(len(dirty)):
        if order[1][order[0][i]] < 0:
            if not _place(i, len(dirty) - 1, -1, order, search, store, tree):
                return store[7][STATUS]
            break
    left = True
    while left:
        left = False
        for x in range(len(dirty)):
            if not dirty[x]:
                continue
            if budget == 0:
                return PAUSED
            budget -= 1
            left = True
            if _improve(x, order, search, store, tree) < 0:
                return store[7][STATUS]
    return CONVERGED
