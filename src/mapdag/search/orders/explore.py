"""From one order to better ones, compiled: come to rest, turn arcs round at random, keep what is not worse.

Like a sweep, it may be interrupted wherever something is not known yet, or when it is time to look at limits, and goes
on where it was. A `Start` is its whole position; what it draws at random is a function of its seed alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import Floats, Ints, Words, entry, inner, lend, new_ints, no_words, popcount, trailing_zeros
from mapdag.search.cache.status import CONVERGED, OK
from mapdag.search.climbing.links import contains, flip
from mapdag.search.climbing.moves import tie_at
from mapdag.search.orders.exchange import exchange
from mapdag.search.orders.recombination import Graph, no_graph, recombine
from mapdag.search.orders.sweep import AT, Order, new_order, sweep
from mapdag.search.orders.trees import DONE, Trees

if TYPE_CHECKING:
    from mapdag.search.cache.store import Problem, Store

ROUND, ROUNDS = 0, 1  # what is in `Start.rounds`
SCORE, MOST_WORK = 0, 1  # what is in `Start.limits`


class Start(NamedTuple):
    """An exploration from one order."""

    order: Order
    kept: Order  # as it was before the last arc was turned round
    best: Graph  # put together from all graphs met
    now: Graph  # of the order, when it is at rest
    first: Words  # (nodes, words) who must come before each node
    random: Words  # (1,) state of the generator
    rounds: Ints  # arcs turned round so far, -1: not at rest yet; and how many there will be
    limits: Floats  # score of the order that is to be reached; estimated nanoseconds of counting that are enough


def new_start(n_nodes: int, first: Words) -> Start:
    """Make a start that is nowhere yet."""
    sequence = list(range(n_nodes))
    return Start(
        order=new_order(sequence),
        kept=new_order(sequence),
        best=no_graph(n_nodes),
        now=no_graph(n_nodes),
        first=first,
        random=np.zeros(1, dtype=np.uint64),
        rounds=np.zeros(2, dtype=np.int64),
        limits=np.zeros(2),
    )


@entry
def explore(start: Start, problem: Problem, store: Store, trees: Trees) -> int:
    """Come to rest, and turn arcs round as often as the start says; returns a status, `CONVERGED` when all is done."""
    return _explore(lend(start), lend(problem), lend(store), lend(trees))


@inner
def _explore(start: Start, problem: Problem, store: Store, trees: Trees) -> int:
    best, now, rounds, limits = start.best, start.now, start.rounds, start.limits
    while True:
        status = sweep(start.order, problem, store, trees)
        if status != CONVERGED:
            return status
        score = _look_at(start.order, trees, now)
        if rounds[ROUND] < 0 or score >= limits[SCORE] - tie_at(score):
            status = exchange(start.order, problem, store, now)
            if status != OK:
                return status
        if rounds[ROUND] < 0:
            _copy_graph(now, best)
            limits[SCORE] = score
        else:
            recombine(best, now, False)
            if score < limits[SCORE] - tie_at(score):
                _copy_order(start.kept, start.order)
                _look_at(start.order, trees, now)
            limits[SCORE] = max(limits[SCORE], score)
        rounds[ROUND] += 1
        if rounds[ROUND] >= rounds[ROUNDS] or trees.work[DONE] > limits[MOST_WORK]:
            return CONVERGED
        _copy_order(start.order, start.kept)
        _tuck(start)


@inner
def _look_at(order: Order, trees: Trees, now: Graph) -> float:
    """Note the graph of an order at rest; returns its score."""
    kept, best, nodes = trees.kept, trees.best, order.nodes
    parents, scores = now.parents, now.scores
    total, rest = 0.0, 0.0
    for x in range(len(nodes)):
        node = nodes[x]
        for w in range(parents.shape[1]):
            parents[x, w] = kept[node, w]
        scores[x] = best[node]
        larger = total + scores[x]  # the digits that a sum loses are kept apart
        if abs(total) >= abs(scores[x]):
            rest += (total - larger) + scores[x]
        else:
            rest += (scores[x] - larger) + total
        total = larger
    return total + rest


@inner
def _copy_graph(source: Graph, target: Graph) -> None:
    for x in range(len(source.scores)):
        target.scores[x] = source.scores[x]
        for w in range(source.parents.shape[1]):
            target.parents[x, w] = source.parents[x, w]


@inner
def _copy_order(source: Order, target: Order) -> None:
    for x in range(len(source.sequence)):
        target.sequence[x] = source.sequence[x]
        target.position[x] = source.position[x]
        target.nodes[x] = source.nodes[x]
        target.dirty[x] = source.dirty[x]
        for w in range(source.hinges.shape[2]):
            for kind in range(2):
                target.hinges[x, kind, w] = source.hinges[x, kind, w]
    target.cursor[:] = source.cursor


@inner
def _draw(random: Words, size: int) -> int:
    """Draw a number below `size` (splitmix64)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.int64(((z >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32))


@inner
def _drawn_arc(parents: Words, random: Words) -> tuple[int, int]:
    """Draw a node that has parents, and one of them; -1 where nobody has any."""
    n, words = parents.shape
    sizes = new_ints(n)
    ends = 0
    for x in range(n):
        sizes[x] = 0
        for w in range(words):
            sizes[x] += popcount(parents[x, w])
        ends += sizes[x] > 0
    if ends == 0:
        return -1, -1
    left, end = _draw(random, ends), 0
    while sizes[end] == 0 or left > 0:
        left -= sizes[end] > 0
        end += 1
    left = _draw(random, sizes[end])
    for w in range(words):
        word = parents[end, w]
        while word != 0:
            if left == 0:
                return (w << 6) + trailing_zeros(word), end
            left -= 1
            word &= word - np.uint64(1)
    return -1, -1


@inner
def _tuck(start: Start) -> None:
    """Turn an arc into a random node round: its end goes before its start with its ancestors; or the other way."""
    parents, random, order = start.now.parents, start.random, start.order
    sequence, position = order.sequence, order.position
    tail, head = _drawn_arc(parents, random)
    if tail < 0 or contains(start.first[head], tail):
        return
    begin, end = position[tail], position[head]
    moved = no_words(parents.shape[1])
    backwards = _draw(random, 2) == 1
    if backwards:  # the head and its ancestors
        wanted = parents[head].copy()
        flip(moved, head)
        for i in range(end - 1, begin, -1):
            x = sequence[i]
            if contains(wanted, x):
                flip(moved, x)
                for w in range(len(wanted)):
                    wanted[w] |= parents[x, w]
    else:  # the tail and its descendants
        flip(moved, tail)
        for i in range(begin + 1, end):
            x = sequence[i]
            for w in range(len(moved)):
                if parents[x, w] & moved[w]:
                    flip(moved, x)
                    break
    between = new_ints(end - begin + 1)
    size = 0
    for ahead in (backwards, not backwards):
        for i in range(begin, end + 1):
            if contains(moved, sequence[i]) == ahead:
                between[size] = sequence[i]
                size += 1
    if _obeys(between, start.first):
        for i in range(size):
            sequence[begin + i] = between[i]
            position[between[i]] = -1
        order.cursor[AT] = 0


@inner
def _obeys(sequence: Ints, first: Words) -> bool:
    """Whether no node comes before one that must come before it."""
    later = no_words(first.shape[1])
    for x in sequence:
        flip(later, x)
    for x in sequence:
        flip(later, x)
        for w in range(len(later)):
            if later[w] & first[x, w]:
                return False
    return True
