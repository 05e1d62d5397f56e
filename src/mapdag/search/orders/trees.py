"""Parents of a node among its predecessors, by growing and shrinking, remembered in trees.

A tree belongs to one child. Its nodes are sets of parents; a branch adds the candidate that improves the score most.
The best parents among any set of predecessors are found by following, at each node, the first branch whose candidate is
one of the predecessors, then taking back what is no longer needed. Whatever was computed for one set of predecessors
serves all others: that makes searching over orders cheap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mapdag.counts.choice import cost_by_bitsets, cost_by_rows
from mapdag.kernels import Bools, Floats, Int32s, Ints, Words, address_of, entry, inner, look, new_floats
from mapdag.search.cache.status import CROWDED, OK, PAUSED
from mapdag.search.cache.store import (
    COLUMN,
    HALT,
    WHOLE,
    Problem,
    Store,
    ensure_at,
    family_key,
    find_column,
    known,
    odds_of,
)
from mapdag.search.climbing.links import contains, flip, put_in
from mapdag.search.climbing.moves import tie_at
from mapdag.search.orders.seeds import Seeds, list_seeds, new_seeds

NODES, BRANCHES, FOUND = 0, 1, 2  # what is in `Trees.used`
DONE, PAUSE = 0, 1  # what is in `Trees.work`
ADDED, TAKEN = 0, 1  # what is in `Trees.hinge`


class Trees(NamedTuple):
    """The trees of all children."""

    own: Floats  # (nodes,) score of each tree node's family, as grown
    best: Floats  # (nodes,) after shrinking; not a number: not known yet
    kept: Words  # (nodes, words) the parents left after shrinking
    start: Ints  # (nodes,) where its branches are
    n_branches: Ints  # (nodes,) and how many
    candidate: Int32s  # (branches,) whom a branch adds, the best first
    value: Floats  # (branches,) the score then
    following: Int32s  # (branches,) the tree node it leads to; -1: none yet
    planted: Ints  # (children,) the first tree node of each child; -1: none yet
    roots: Ints  # (children,) the same, once its seeds are known, too
    seeds: Seeds
    used: Ints  # how many nodes and branches there are, and the node that was found last
    # (2, words) of the last trace, see `ADDED` and `TAKEN`: the nodes that may change what was found when they become
    # predecessors, as long as no other one of them does; and when they are none any more
    hinge: Words
    parents: Ints  # (children,) of the family that is being looked at
    wanted: Bools  # (children,) the candidates whose scores it needs
    work: Floats  # estimated nanoseconds of counting that the nodes seen are worth, cached or not; and when to pause
    cost: Floats  # (nodes,) what each of them is worth
    seen: Ints  # (nodes,) by which exploration it was last seen
    turn: Ints  # one number: that of the exploration under way
    heads: Ints  # (children,) the node that was found last for the first time in this exploration; -1: none
    behind: Ints  # (nodes,) the one before it, of the same child; -1: none
    noted: Ints  # (nodes,) the exploration in which it was last found
    n_rows: float
    trace: int  # address of `trace`
    # (nodes, words) the candidates that may be added to each node: who makes a family impossible does so for every
    # larger one, too, and is not counted there (but see `Problem.inherits`)
    possible: Words


def new_trees(n_children: int, n_rows: int, size: int, branches: int) -> Trees:
    """Make empty trees with room for so many nodes and branches."""
    words = (n_children + 63) // 64
    return Trees(
        own=np.full(size, np.nan),
        best=np.full(size, np.nan),
        kept=np.zeros((size, words), dtype=np.uint64),
        start=np.zeros(size, dtype=np.int64),
        n_branches=np.zeros(size, dtype=np.int64),
        candidate=np.zeros(branches, dtype=np.int32),
        value=np.zeros(branches),
        following=np.full(branches, -1, dtype=np.int32),
        planted=np.full(n_children, -1, dtype=np.int64),
        roots=np.full(n_children, -1, dtype=np.int64),
        seeds=new_seeds(n_children, n_rows),
        used=np.zeros(3, dtype=np.int64),
        hinge=np.zeros((2, words), dtype=np.uint64),
        parents=np.zeros(n_children, dtype=np.int64),
        wanted=np.zeros(n_children, dtype=np.bool_),
        work=np.zeros(2),
        cost=np.zeros(size),
        seen=np.zeros(size, dtype=np.int64),
        turn=np.zeros(1, dtype=np.int64),
        heads=np.full(n_children, -1, dtype=np.int64),
        behind=np.full(size, -1, dtype=np.int64),
        noted=np.full(size, -1, dtype=np.int64),
        n_rows=float(n_rows),
        trace=0,
        possible=np.zeros((size, words), dtype=np.uint64),
    )


def turn_over(trees: Trees) -> None:
    """Make trees ready for another exploration: they stay what they are, only the work is counted anew."""
    trees.turn[0] += 1
    trees.work[:] = 0.0
    trees.heads[:] = -1


def larger_trees(trees: Trees, size: int, branches: int) -> Trees:
    """Make trees with the same content, and room for so many nodes and branches."""
    larger = new_trees(len(trees.roots), int(trees.n_rows), size, branches)
    for old, new in zip(trees, larger, strict=True):
        if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
            new[: len(old)] = old
    return larger._replace(trace=trees.trace, seeds=trees.seeds)


@inner
def _cost(child: int, parents: Ints, size: int, wanted: Bools, cards: Ints, n: float) -> float:
    """Estimated nanoseconds to count one family with each wanted candidate."""
    cells = float(cards[child])
    for i in range(size):
        cells = min(cells * cards[parents[i]], n)
    total = 0.0
    for c in range(len(wanted)):
        if wanted[c]:
            total += min(cost_by_bitsets(n, cells, cells, cards[c]), cost_by_rows(n, cells, cards[c]))
    return total


@inner
def _grow(child: int, size: int, problem: Problem, store: Store, trees: Trees) -> tuple[int, int]:
    """Make the node of the set of parents that is looked at, with a branch for each candidate that improves its score.

    Returns
    -------
    status, node
    """
    fixed, odds, max_parents = problem.rules.fixed, problem.odds, problem.rules.max_parents
    candidate, value, following, parents = trees.candidate, trees.value, trees.following, trees.parents
    wanted, possible = trees.wanted, trees.possible
    n = len(fixed)
    node, first = trees.used[NODES], trees.used[BRANCHES]
    if node == len(trees.own) or first + n > len(value):
        return CROWDED, -1
    if trees.work[DONE] > trees.work[PAUSE] or look(store.used, HALT):
        return PAUSED, -1
    scores = new_floats(store.scores.shape[1])
    status = ensure_at(child, parents, size, WHOLE, wanted, problem, store, scores)
    if status == OK and size < max_parents:
        status = ensure_at(child, parents, size, COLUMN, wanted, problem, store, scores)
    if status != OK:
        return status, -1
    trees.cost[node] = _cost(child, parents, size, wanted, problem.inputs.rows.cards, trees.n_rows)
    trees.seen[node] = -1
    prior = 0.0
    for i in range(size):
        prior += odds_of(odds, parents[i], child)
    here = scores[problem.row] + prior
    last, least = first, tie_at(here)
    if size < max_parents:
        column = store.scores[find_column(family_key(child, parents, size, WHOLE, problem.zobrist), store), problem.row]
        for c in range(n):
            if not wanted[c]:
                continue
            if column[c] > -np.inf or not problem.inherits:
                flip(possible[node], c)
            score = column[c] + prior + odds_of(odds, c, child)
            if not (score - here > least or fixed[c, child]):
                continue
            rank = np.inf if fixed[c, child] else score
            at = last
            while at > first and rank > (np.inf if fixed[candidate[at - 1], child] else value[at - 1]):
                candidate[at], value[at] = candidate[at - 1], value[at - 1]
                at -= 1
            candidate[at], value[at] = c, score
            last += 1
    for k in range(first, last):
        following[k] = -1
    trees.noted[node] = -1
    trees.own[node], trees.best[node], trees.start[node], trees.n_branches[node] = here, np.nan, first, last - first
    trees.used[NODES] += 1
    trees.used[BRANCHES] = last
    return OK, node


@inner
def _shrink(node: int, child: int, size: int, problem: Problem, store: Store, trees: Trees) -> int:
    """Take back parents while that does not lower the score; kept with the node."""
    fixed, odds, parents, kept = problem.rules.fixed, problem.odds, trees.parents, trees.kept
    here = trees.own[node]
    prior = 0.0
    for i in range(size):
        prior += odds_of(odds, parents[i], child)
    scores = new_floats(store.scores.shape[1])
    while size:
        found, drop = here - tie_at(here), -1
        for i in range(size):
            if fixed[parents[i], child]:
                continue
            status = ensure_at(child, parents, size, i, trees.wanted, problem, store, scores)
            if status != OK:
                return status
            score = scores[problem.row] + prior - odds_of(odds, parents[i], child)
            if score > found:
                found, drop = score, i
        if drop < 0:
            break
        here = found
        prior -= odds_of(odds, parents[drop], child)
        size -= 1
        for i in range(drop, size):
            parents[i] = parents[i + 1]
    for w in range(kept.shape[1]):
        kept[node, w] = 0
    for i in range(size):
        flip(kept[node], parents[i])
    trees.best[node] = here
    return OK


@inner
def _insert(node: int, parents: Ints, size: int) -> None:
    """Add a parent. They are kept in order, so that their log-odds are summed in one way."""
    at = size
    while at and parents[at - 1] > node:
        parents[at] = parents[at - 1]
        at -= 1
    parents[at] = node


@inner
def _grow_from(above: int, child: int, size: int, problem: Problem, store: Store, trees: Trees) -> tuple[int, int]:
    """Make the node of the set of parents that is looked at; those that may be added are among those of a smaller set.

    Returns
    -------
    status, node
    """
    wanted, parents, allowed = trees.wanted, trees.parents, problem.rules.allowed
    for c in range(len(wanted)):
        wanted[c] = allowed[c, child] if above < 0 else contains(trees.possible[above], c)
    for i in range(size):
        wanted[parents[i]] = False
    return _grow(child, size, problem, store, trees)


@inner
def _descend(
    node: int, child: int, size: int, before: Words, problem: Problem, store: Store, trees: Trees
) -> tuple[int, int]:
    """Follow branches from a node, whose parents are looked at, as far as predecessors lead, and shrink what was grown.

    Returns
    -------
    status, node
    """
    candidate, following, parents = trees.candidate, trees.following, trees.parents
    start, n_branches = trees.start, trees.n_branches
    while True:
        _see(node, trees)
        branch, end = start[node], start[node] + n_branches[node]
        while branch < end and not contains(before, candidate[branch]):
            put_in(trees.hinge[ADDED], candidate[branch])
            branch += 1
        if branch == end:
            break
        put_in(trees.hinge[TAKEN], candidate[branch])
        _insert(candidate[branch], parents, size)
        size += 1
        above = node
        node = np.int64(following[branch])
        if node < 0:
            status, node = _grow_from(above, child, size, problem, store, trees)
            if status != OK:
                return status, node
            following[branch] = node
    if not known(trees.best[node]):
        for c in range(len(trees.wanted)):
            trees.wanted[c] = False
        status = _shrink(node, child, size, problem, store, trees)
        if status != OK:
            return status, node
    _note(node, child, trees)
    return OK, node


@inner
def _note(node: int, child: int, trees: Trees) -> None:
    """Keep in mind that a node was found in this exploration: `windows` chooses among these."""
    if trees.noted[node] != trees.turn[0]:
        trees.noted[node] = trees.turn[0]
        trees.behind[node] = trees.heads[child]
        trees.heads[child] = node


@inner
def _see(node: int, trees: Trees) -> None:
    """Count what a node is worth, once in each exploration, whoever made it."""
    if trees.seen[node] != trees.turn[0]:
        trees.seen[node] = trees.turn[0]
        trees.work[DONE] += trees.cost[node]


@inner
def _plant(child: int, problem: Problem, store: Store, trees: Trees) -> int:
    """Make the root of a child, and list what else to grow from; returns a status."""
    seeds = trees.seeds
    status, node = OK, trees.planted[child]
    if node < 0:
        status, node = _grow_from(-1, child, 0, problem, store, trees)
        if status != OK:
            return status
        trees.planted[child] = node
    if seeds.size[child] < 0 and problem.rules.max_parents > 1:
        status = list_seeds(child, trees.own[node], trees.wanted, problem, store, seeds)
        if status != OK:
            return status
    trees.roots[child] = node
    return OK


@inner
def _grow_seed(child: int, before: Words, problem: Problem, store: Store, trees: Trees) -> tuple[int, int]:
    """Find the best parents of a node that growing from the best seed among some predecessors leads to.

    Returns
    -------
    status : int
    node : int
        -1 where there is no seed.
    """
    seeds, parents = trees.seeds, trees.parents
    members = seeds.members[child]
    for k in range(seeds.size[child]):
        size = 3 if members[k, 2] >= 0 else 2
        missing = -1
        for m in range(size):
            if not contains(before, members[k, m]):
                missing = members[k, m]
                break
        if missing >= 0:
            put_in(trees.hinge[ADDED], missing)
            continue
        for m in range(size):
            put_in(trees.hinge[TAKEN], members[k, m])
            parents[m] = members[k, m]
        node = np.int64(seeds.following[child, k])
        if node < 0:
            status, node = _grow_from(trees.roots[child], child, size, problem, store, trees)
            if status != OK:
                return status, node
            seeds.following[child, k] = node
        return _descend(node, child, size, before, problem, store, trees)
    return OK, np.int64(-1)


@entry
def trace(child: int, before: Words, problem: Problem, store: Store, trees: Trees) -> None:
    """Find the best parents of a node among the nodes of a set.

    The tree's node goes to `used`, what became of it to the store's `status`.
    """
    for w in range(trees.hinge.shape[1]):
        trees.hinge[ADDED, w] = trees.hinge[TAKEN, w] = 0
    status = OK if trees.roots[child] >= 0 else _plant(child, problem, store, trees)
    node = trees.roots[child]
    if status == OK:
        status, node = _descend(node, child, 0, before, problem, store, trees)
    if status == OK:
        status, other = _grow_seed(child, before, problem, store, trees)
        if status == OK and other >= 0 and trees.best[other] > trees.best[node] + tie_at(trees.best[node]):
            node = other
    trees.used[FOUND] = node
    store.status[0] = status


def with_address(trees: Trees, problem: Problem, store: Store) -> Trees:
    """Return trees that know where `trace` is, for the arrays of one search."""
    return trees._replace(trace=address_of(trace, 0, np.empty(1, dtype=np.uint64), problem, store, trees))
