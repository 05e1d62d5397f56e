"""From one order to a better one, compiled: positions are improved until nothing gains, then parents are traded.

Like a sweep, it may be interrupted wherever something is not known yet, or when it is time to look at limits, and goes
on where it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import Floats, Words, entry, inner, lend, new_floats, new_ints
from mapdag.search.cache.status import CONVERGED, OK
from mapdag.search.climbing.links import flip
from mapdag.search.orders.exchange import exchange
from mapdag.search.orders.graph import Graph, no_graph
from mapdag.search.orders.lists import Families
from mapdag.search.orders.sweep import Order, new_order, sweep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.search.cache.store import Problem, Store
    from mapdag.search.orders.trees import Trees


class Start(NamedTuple):
    """An exploration from one order."""

    order: Order
    now: Graph  # of the order, when it is at rest


def new_start(sequence: Sequence[int]) -> Start:
    """Make a start from an order."""
    return Start(order=new_order(sequence), now=no_graph(len(sequence)))


@entry
def explore(start: Start, problem: Problem, store: Store, trees: Trees) -> int:
    """Come to rest, and trade parents; returns a status, `CONVERGED` when all is done."""
    return _explore(lend(start), lend(problem), lend(store), lend(trees))


@inner
def _explore(start: Start, problem: Problem, store: Store, trees: Trees) -> int:
    status = sweep(start.order, problem, store, trees)
    if status != CONVERGED:
        return status
    _look_at(start.order, trees, start.now)
    status = exchange(start.order, problem, store, start.now)
    return CONVERGED if status == OK else status


@inner
def _look_at(order: Order, trees: Trees, now: Graph) -> None:
    """Note the graph of an order at rest."""
    kept, best, nodes = trees.kept, trees.best, order.nodes
    for x in range(len(nodes)):
        now.scores[x] = best[nodes[x]]
        for w in range(now.parents.shape[1]):
            now.parents[x, w] = kept[nodes[x], w]


@entry
def collect(now: Graph, trees: Trees, everything: bool) -> Families:
    """Collect the families that an exploration has met; with `everything`, what trees grow from, too."""
    heads, behind, roots, seeds = trees.heads, trees.behind, trees.roots, trees.seeds
    n, words = now.parents.shape
    room = 0
    for x in range(n):
        room += 1
        node = heads[x]
        while node >= 0:
            room += 1
            node = behind[node]
        if everything:
            room += 1 + trees.n_branches[roots[x]] + max(seeds.size[x], 0)
    children, sets, scores = new_ints(room), np.zeros((room, words), np.uint64), new_floats(room)
    size = 0
    for x in range(n):
        begin = size
        sets[size], scores[size] = now.parents[x], now.scores[x]
        size += 1
        node = heads[x]
        while node >= 0:
            sets[size], scores[size] = trees.kept[node], trees.best[node]
            size += 1
            node = behind[node]
        if everything:
            size = _collect_grounds(x, size, sets, scores, trees)
        children[begin:size] = x
    return Families(children, sets, scores)


@inner
def _collect_grounds(child: int, size: int, sets: Words, scores: Floats, trees: Trees) -> int:
    """Collect what the trees of a child grow from: no parents, single ones, seeds."""
    root, seeds = trees.roots[child], trees.seeds
    scores[size] = trees.own[root]
    size += 1
    for k in range(trees.start[root], trees.start[root] + trees.n_branches[root]):
        flip(sets[size], trees.candidate[k])
        scores[size] = trees.value[k]
        size += 1
    for k in range(seeds.size[child]):
        for m in range(3):
            if seeds.members[child, k, m] >= 0:
                flip(sets[size], seeds.members[child, k, m])
        scores[size] = seeds.value[child, k]
        size += 1
    return size
