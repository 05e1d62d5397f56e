"""Search over orders of the nodes, compiled: each node in turn is moved to its best position.

A search may be interrupted wherever something is not known yet: room must be made, or Python asked. It goes on where it
was, so that when it is interrupted, and how often, leaves no trace. An `Order` is its whole position.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import Bools, Ints, Words, call_at, inner, look, new_words, no_words, trailing_zeros
from mapdag.search.cache.status import CONVERGED, OK, PAUSED
from mapdag.search.cache.store import HALT
from mapdag.search.climbing.links import contains, flip
from mapdag.search.climbing.moves import NOISE, TOLERANCE
from mapdag.search.orders.trees import ADDED, FOUND, TAKEN, Trees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.search.cache.store import Problem, Store


AT, MOVED = 0, 1  # what is in `Order.cursor`
_LOOK = 2**12  # nodes moved after which limits are looked at
_MANY = 64  # moves of each node after which sums are trusted by half as much: so it ends, whatever they are


class Order(NamedTuple):
    """An order of the nodes under search, with the best parents of each among its predecessors."""

    sequence: Ints  # the nodes, in order
    position: Ints  # of each node in the sequence; -1: its parents are not known yet
    nodes: Ints  # for each node, the tree node (see `trees`) that has its parents
    hinges: Words  # (nodes, 2, words) for each node, whose coming or going may change its parents: see `Trees.hinge`
    dirty: Bools  # for each node, whether its position may not be the best
    cursor: Ints  # the node that is looked at, or will be next; how many were moved since the last rest


def new_order(sequence: Sequence[int]) -> Order:
    """Make an order whose nodes have no parents yet."""
    n = len(sequence)
    positions, nodes = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    hinges = np.zeros((n, 2, (n + 63) // 64), dtype=np.uint64)
    dirty, cursor = np.ones(n, dtype=np.bool_), np.zeros(2, dtype=np.int64)
    return Order(np.array(sequence, dtype=np.int64), positions, nodes, hinges, dirty, cursor)


@inner
def _trace_at(child: int, before: Words, problem: Problem, store: Store, trees: Trees) -> int:
    """Node of the tree with the best parents of a node among those of a set; -1 where that is not known yet."""
    call_at(trees.trace, child, before, problem, store, trees)
    return trees.used[FOUND] if store.status[0] == OK else np.int64(-1)


@inner
def _adopt(child: int, node: int, order: Order, trees: Trees) -> None:
    """Note the parents of a node that were just found; it and the parents that it won or lost become dirty."""
    nodes, dirty, hinges, kept = order.nodes, order.dirty, order.hinges, trees.kept
    for w in range(kept.shape[1]):
        hinges[child, ADDED, w], hinges[child, TAKEN, w] = trees.hinge[ADDED, w], trees.hinge[TAKEN, w]
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
def _hangs(child: int, node: int, hinges: Words) -> bool:
    """Whether the parents of a node may change when another one comes before it, or does not any more."""
    return contains(hinges[child, ADDED], node) or contains(hinges[child, TAKEN], node)


@inner
def _place(first: int, last: int, moved: int, order: Order, problem: Problem, store: Store, trees: Trees) -> bool:
    """Find the parents of the nodes from one position to another; if one node `moved`, of those that it concerns."""
    sequence, position = order.sequence, order.position
    hinges = order.hinges
    before = no_words(trees.kept.shape[1])
    for i in range(last + 1):
        child = sequence[i]
        if i >= first:
            if moved < 0 or child == moved or _hangs(child, moved, hinges):
                node = _trace_at(child, before, problem, store, trees)
                if node < 0:
                    return False
                _adopt(child, node, order, trees)
            position[child] = i
        flip(before, child)
    return True


@inner
def _best_slot(x: int, step: int, order: Order, problem: Problem, store: Store, trees: Trees) -> tuple[int, float]:
    """Best new position of a node to one side of it.

    Returns
    -------
    position : int
        -1 where something is not known yet.
    gain : float
    """
    sequence, nodes, hinges, best = order.sequence, order.nodes, order.hinges, trees.best
    allowed, fixed = problem.rules.allowed, problem.rules.fixed
    words = trees.kept.shape[1]
    before, own = no_words(words), new_words(words)
    here = order.position[x]
    for i in range(here):
        flip(before, sequence[i])
    # Going left, the others get x as a predecessor, which loses them; going right, they lose x, which gets them.
    theirs, mine = (ADDED, TAKEN) if step < 0 else (TAKEN, ADDED)
    for w in range(words):
        own[w] = hinges[x, mine, w]
    found, slot = 0.0, here
    change, stays = -best[nodes[x]], nodes[x]
    # What is added up is known to some digits only; where counts are huge, the rest of them is no gain.
    noise, terms = NOISE * 2.0 ** (order.cursor[MOVED] // (_MANY * len(sequence))), abs(change)
    i = here + step
    while 0 <= i < len(sequence):
        other = sequence[i]
        ahead, behind = (x, other) if step > 0 else (other, x)
        if fixed[ahead, behind] and not allowed[behind, ahead]:
            break  # a required arc: they cannot trade places
        if step < 0:
            flip(before, other)
        gives = contains(hinges[other, theirs], x)
        if gives:
            if step < 0:
                flip(before, x)
            node = _trace_at(other, before, problem, store, trees)
            if step < 0:
                flip(before, x)
            if node < 0:
                return -1, 0.0
            change += best[node] - best[nodes[other]]
            terms += abs(best[node] - best[nodes[other]])
        if step > 0:
            flip(before, other)
        takes = contains(own, other)
        if takes:
            stays = _trace_at(x, before, problem, store, trees)
            if stays < 0:
                return -1, 0.0
            for w in range(words):
                own[w] = trees.hinge[mine, w]
        if gives or takes:
            gain = change + best[stays]
            if gain > found and gain > TOLERANCE and not gain < noise * terms:
                found, slot = gain, i
        i += step
    return slot, found if slot != here else 0.0


@inner
def _improve(x: int, order: Order, problem: Problem, store: Store, trees: Trees) -> bool:
    """Move one node to its best position; tells whether that could be done, or something is not known yet.

    In the latter case nothing has changed but what is known: doing it again does the same.
    """
    left, gain_left = _best_slot(x, -1, order, problem, store, trees)
    if left < 0:
        return False
    right, gain_right = _best_slot(x, 1, order, problem, store, trees)
    if right < 0:
        return False
    here = order.position[x]
    slot = left if gain_left >= gain_right else right
    if slot != here:
        sequence, step, i = order.sequence, 1 if slot > here else -1, here
        while i != slot:
            sequence[i] = sequence[i + step]
            i += step
        sequence[slot] = x
        order.cursor[MOVED] += 1
        # All parents that this asks for were found on the way to the best position: it cannot be interrupted.
        _place(min(here, slot), max(here, slot), x, order, problem, store, trees)
    order.dirty[x] = False
    return True


@inner
def sweep(order: Order, problem: Problem, store: Store, trees: Trees) -> int:
    """Move dirty nodes to their best positions, round after round, until none is left.

    Nodes whose parents are not known are placed first. Returns a status.
    """
    sequence, position, dirty, cursor = order.sequence, order.position, order.dirty, order.cursor
    n = len(dirty)
    first, last = n, -1
    for i in range(n):
        if position[sequence[i]] < 0:
            first, last = min(first, i), i
    if last >= 0 and not _place(first, last, -1, order, problem, store, trees):
        return store.status[0]
    clean = 0  # nodes in a row that are not dirty
    looked = cursor[MOVED]
    while clean < n:
        x = cursor[AT]
        if dirty[x]:
            if look(store.used, HALT) or cursor[MOVED] - looked >= _LOOK:
                return PAUSED
            if not _improve(x, order, problem, store, trees):
                return store.status[0]
            clean = 0
        else:
            clean += 1
        cursor[AT] = x + 1 if x + 1 < n else 0
    cursor[AT] = cursor[MOVED] = 0
    return CONVERGED
