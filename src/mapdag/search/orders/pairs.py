"""Pairs of parents that are better than each of the two alone, for each child, compiled.

Growing one parent at a time misses parents that help only together, and pairs without the best single parent. So all
pairs of candidates are scored once, the best ones are listed, and `trees` grows from the first of them that a set of
predecessors has, too. With many nodes, only pairs are looked at of which one is among the best parents alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import Bools, Floats, Int32s, Ints, inner, new_floats, new_ints
from mapdag.search.cache.status import OK
from mapdag.search.cache.store import COLUMN, WHOLE, ensure_at, family_key, find_column, odds_of
from mapdag.search.climbing.moves import tie_at

if TYPE_CHECKING:
    from mapdag.search.cache.store import Problem, Store

_ROOM = 256  # pairs that are kept for each child, at most
_LEADING = 2500.0  # nodes times candidates of which pairs are looked at
_FEWEST = 8  # of these candidates


class Pairs(NamedTuple):
    """Pairs of parents of all children, the best first."""

    one: Int32s  # (children, pairs)
    other: Int32s  # (children, pairs)
    value: Floats  # (children, pairs) the score with both
    following: Int32s  # (children, pairs) the tree node of the pair; -1: none yet
    size: Ints  # (children,) how many there are; -1: not known yet
    leading: Bools  # (children,) candidates of the child that is being looked at, one of whom is in each pair
    most: int  # of these


def new_pairs(n_children: int) -> Pairs:
    """Make lists that are not known yet."""
    room = min(_ROOM, n_children * n_children // 2)
    return Pairs(
        one=np.zeros((n_children, room), dtype=np.int32),
        other=np.zeros((n_children, room), dtype=np.int32),
        value=np.zeros((n_children, room)),
        following=np.full((n_children, room), -1, dtype=np.int32),
        size=np.full(n_children, -1, dtype=np.int64),
        leading=np.zeros(n_children, dtype=np.bool_),
        most=min(max(int(_LEADING / n_children), _FEWEST), n_children),
    )


@inner
def _lead(child: int, single: Floats, allowed: Bools, pairs: Pairs) -> None:
    """Choose the candidates that are best alone, as many as there may be."""
    leading = pairs.leading
    n = len(leading)
    for c in range(n):
        leading[c] = False
    for _ in range(pairs.most):
        best = -1
        for c in range(n):
            if allowed[c, child] and not leading[c] and single[c] > -np.inf and (best < 0 or single[c] > single[best]):
                best = c
        if best < 0:
            return
        leading[best] = True


@inner
def _keep(child: int, one: int, other: int, value: float, pairs: Pairs) -> None:
    """Put a pair into the list of a child, where it belongs, if there is room."""
    ones, others, values = pairs.one[child], pairs.other[child], pairs.value[child]
    room, at = len(values), pairs.size[child]
    if at == room:
        if room == 0 or value <= values[room - 1]:
            return
        at -= 1
    else:
        pairs.size[child] += 1
    while at and value > values[at - 1]:
        ones[at], others[at], values[at] = ones[at - 1], others[at - 1], values[at - 1]
        at -= 1
    ones[at], others[at], values[at] = one, other, value


@inner
def list_pairs(child: int, alone: float, wanted: Bools, problem: Problem, store: Store, pairs: Pairs) -> int:
    """List the pairs of a child that are better than each of the two, and than none; returns a status.

    Its score without parents is given, and its column is known. Interrupted, it begins anew. A child that must have
    some parent has no list.
    """
    odds, fixed, allowed = problem.odds, problem.rules.fixed, problem.rules.allowed
    n = len(wanted)
    for c in range(n):
        if fixed[c, child]:
            pairs.size[child] = 0
            return OK
    parents, single, scores = new_ints(1), new_floats(n), new_floats(store.scores.shape[1])
    column = store.scores[find_column(family_key(child, parents, 0, WHOLE, problem.zobrist), store), problem.row]
    for c in range(n):
        single[c] = column[c] + odds_of(odds, c, child) if allowed[c, child] else -np.inf
    leading = pairs.leading
    _lead(child, single, allowed, pairs)
    for turn in range(2):  # make sure that all is known; then list
        if turn:
            pairs.size[child] = 0
        for a in range(n):
            if not leading[a]:
                continue
            parents[0] = a
            for c in range(n):
                wanted[c] = single[c] > -np.inf and c != a and (c > a or not leading[c])
            if turn == 0:
                status = ensure_at(child, parents, 1, COLUMN, wanted, problem, store, scores)
                if status != OK:
                    return status
                continue
            column = store.scores[
                find_column(family_key(child, parents, 1, WHOLE, problem.zobrist), store), problem.row
            ]
            for c in range(n):
                if wanted[c]:
                    value = column[c] + odds_of(odds, a, child) + odds_of(odds, c, child)
                    if value > max(alone, single[a], single[c]) + tie_at(value):
                        _keep(child, a, c, value, pairs)
    return OK
