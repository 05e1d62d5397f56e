"""Parents traded for others, compiled: what growing and shrinking one by one does not find.

The best parent of a node alone need not be among its best two. Where an order is at rest, each parent of a node is
taken out in turn, and whoever of its predecessors is best in its place comes in, as long as that gains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mapdag.kernels import Bools, Ints, inner, look, new_bools, new_floats, new_ints
from mapdag.search.cache.status import OK, PAUSED
from mapdag.search.cache.store import COLUMN, HALT, WHOLE, ensure_at, family_key, find_column, odds_of
from mapdag.search.climbing.links import flip, list_members
from mapdag.search.climbing.moves import tie_at

if TYPE_CHECKING:
    from mapdag.search.cache.store import Problem, Store
    from mapdag.search.orders.graph import Graph
    from mapdag.search.orders.sweep import Order


@inner
def _without(parents: Ints, size: int, skip: int, rest: Ints) -> None:
    """List all parents but one."""
    for i in range(size - 1):
        rest[i] = parents[i + (i >= skip)]


@inner
def _put_in(rest: Ints, size: int, node: int, parents: Ints) -> None:
    """List parents and one more, in order, so that their log-odds are summed in one way."""
    at = size
    while at and rest[at - 1] > node:
        parents[at] = rest[at - 1]
        at -= 1
    parents[at] = node
    for i in range(at):
        parents[i] = rest[i]


@inner
def _trade(
    child: int, parents: Ints, size: int, before: Bools, problem: Problem, store: Store, now: Graph
) -> tuple[int, bool]:
    """Trade the parent of a node with which that gains most, if any; returns a status, and whether one was traded."""
    odds, fixed, allowed = problem.odds, problem.rules.fixed, problem.rules.allowed
    n = len(before)
    rest, wanted, scores = new_ints(size), new_bools(n), new_floats(store.scores.shape[1])
    found, skip, who, value = tie_at(now.scores[child]), -1, -1, 0.0
    for i in range(size):
        if fixed[parents[i], child]:
            continue
        _without(parents, size, i, rest)
        for c in range(n):
            wanted[c] = before[c] and allowed[c, child]
        for k in range(size):
            wanted[parents[k]] = False
        status = ensure_at(child, rest, size - 1, COLUMN, wanted, problem, store, scores)
        if status != OK:
            return status, False
        prior = 0.0
        for k in range(size - 1):
            prior += odds_of(odds, rest[k], child)
        place = find_column(family_key(child, rest, size - 1, WHOLE, problem.zobrist), store)
        column = store.scores[place, problem.row]
        for c in range(n):
            if wanted[c]:
                gain = column[c] + prior + odds_of(odds, c, child) - now.scores[child]
                if gain > found:
                    found, skip, who, value = gain, i, c, column[c]
    if who < 0:
        return OK, False
    _without(parents, size, skip, rest)
    flip(now.parents[child], parents[skip])
    flip(now.parents[child], who)
    _put_in(rest, size - 1, who, parents)
    prior = 0.0
    for k in range(size):
        prior += odds_of(odds, parents[k], child)
    now.scores[child] = value + prior
    return OK, True


@inner
def exchange(order: Order, problem: Problem, store: Store, now: Graph) -> int:
    """Trade parents of all nodes for other predecessors in an order, as long as that gains; returns a status.

    Interrupted, it has changed `now`, which is to be made anew then; when all is known, it does the same.
    """
    sequence = order.sequence
    n = len(sequence)
    before, parents = new_bools(n), new_ints(n)
    for i in range(n):
        before[i] = False
    for i in range(n):
        child = sequence[i]
        size = list_members(now.parents[child], parents)
        traded = size > 1  # of one parent alone, the best is there
        while traded:
            if look(store.used, HALT):
                return PAUSED
            status, traded = _trade(child, parents, size, before, problem, store, now)
            if status != OK:
                return status
        before[child] = True
    return OK
