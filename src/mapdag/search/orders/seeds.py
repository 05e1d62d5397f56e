"""Seeds, compiled: two or three parents that are better than fewer of them, for each child.

Growing one parent at a time misses parents that help only together, and sets without the best single parent. So pairs
and triples of candidates are scored once, the best ones are listed, and `trees` grows from the first of them that a set
of predecessors has, too. With many nodes, only pairs are looked at of which one is among the best parents alone, and
only triples with two parents that are among the best alone or in pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import Bools, Floats, Int32s, Ints, inner, new_bools, new_floats, new_ints, new_scores
from mapdag.search.cache.status import OK
from mapdag.search.cache.store import COLUMN, WHOLE, ensure_at, family_key, find_column, odds_of
from mapdag.search.climbing.moves import tie_at

if TYPE_CHECKING:
    from mapdag.search.cache.store import Problem, Store

_ROOM = 256  # sets that are kept for each child, at most
_EVERY = 100  # nodes up to which all pairs are looked at
_LEADING = 2500.0  # nodes times candidates that are best alone: with more nodes, one of each pair is among these
_FEWEST = 8  # of these candidates
_TRIPLED = 100_000.0  # triples that are looked at, more or less
_ROWS = 5e9  # times rows, at most: with many rows, what helps at all is seen sooner, and counting takes long
_FEWEST_TRIPLED = 4  # candidates of which triples are looked at; where they would be fewer, none are


class Seeds(NamedTuple):
    """Sets of two or three parents of all children, the best first."""

    members: Int32s  # (children, sets, 3) ascending; the third is -1 in a pair
    value: Floats  # (children, sets) the score with all of them
    following: Int32s  # (children, sets) the tree node of the set; -1: none yet
    size: Ints  # (children,) how many there are; -1: not known yet
    paired: Bools  # (children,) candidates of the child that is being looked at, one of whom is in each pair
    tripled: Bools  # (children,) those two of whom are in each triple
    n_leading: int  # candidates that are best alone, of whom the latter are chosen
    n_paired: int  # how many there are, at most
    n_tripled: int


def new_seeds(n_children: int, n_rows: int) -> Seeds:
    """Make lists that are not known yet."""
    room = min(_ROOM, n_children * n_children // 2)
    leading = min(max(int(_LEADING / n_children), _FEWEST), n_children)
    triples = min(_TRIPLED, _ROWS / max(n_rows, 1))
    tripled = int((2.0 * triples) ** 0.5 / n_children)  # pairs of them with any third candidate, for each child
    return Seeds(
        members=np.full((n_children, room, 3), -1, dtype=np.int32),
        value=np.zeros((n_children, room)),
        following=np.full((n_children, room), -1, dtype=np.int32),
        size=np.full(n_children, -1, dtype=np.int64),
        paired=np.zeros(n_children, dtype=np.bool_),
        tripled=np.zeros(n_children, dtype=np.bool_),
        n_leading=leading,
        n_paired=n_children if n_children <= _EVERY else leading,
        n_tripled=min(tripled if tripled >= _FEWEST_TRIPLED else 0, n_children),
    )


@inner
def _lead(single: Floats, usable: Bools, most: int, leading: Bools) -> None:
    """Choose the candidates that are best alone, as many as there may be."""
    for c in range(len(leading)):
        leading[c] = False
    for _ in range(most):
        best = -1
        for c in range(len(leading)):
            if usable[c] and not leading[c] and (best < 0 or single[c] > single[best]):
                best = c
        if best < 0:
            return
        leading[best] = True


@inner
def _keep(child: int, one: int, two: int, three: int, value: float, seeds: Seeds) -> None:
    """Put a set into the list of a child, where it belongs, if there is room."""
    members, values = seeds.members[child], seeds.value[child]
    room, at = len(values), seeds.size[child]
    if at == room:
        if room == 0 or value <= values[room - 1]:
            return
        at -= 1
    else:
        seeds.size[child] += 1
    while at and value > values[at - 1]:
        for m in range(3):
            members[at, m] = members[at - 1, m]
        values[at] = values[at - 1]
        at -= 1
    members[at, 0], members[at, 1], members[at, 2], values[at] = one, two, three, value


@inner
def list_seeds(child: int, alone: float, wanted: Bools, problem: Problem, store: Store, seeds: Seeds) -> int:
    """List the pairs and triples of a child that are better than all their subsets; returns a status.

    Its score without parents is given, and its column is known. Interrupted, it begins anew. A child that must have
    some parent has no list.
    """
    odds, fixed, allowed = problem.odds, problem.rules.fixed, problem.rules.allowed
    n = len(wanted)
    for c in range(n):
        if fixed[c, child]:
            seeds.size[child] = 0
            return OK
    parents, single, usable = new_ints(1), new_floats(n), new_bools(n)
    column = store.scores[find_column(family_key(child, parents, 0, WHOLE, problem.zobrist), store), problem.row]
    for c in range(n):
        single[c] = column[c] + odds_of(odds, c, child) if allowed[c, child] else -np.inf
        usable[c] = allowed[c, child] and (single[c] > -np.inf or not problem.inherits)
    _lead(single, usable, seeds.n_paired, seeds.paired)
    status = _ask_for_pairs(child, usable, wanted, problem, store, seeds)
    if status != OK:
        return status
    seeds.size[child] = 0
    looks = problem.rules.max_parents > 2 and seeds.n_tripled > 2
    pair = new_scores(n, n if looks else 0)
    _list_pairs(child, alone, single, usable, pair, problem, store, seeds)
    if looks:
        _choose(alone, single, usable, pair, seeds)
        status = _list_triples(child, usable, pair, wanted, problem, store, seeds)
        if status != OK:
            seeds.size[child] = -1
    return status


@inner
def _ask_for_pairs(child: int, usable: Bools, wanted: Bools, problem: Problem, store: Store, seeds: Seeds) -> int:
    """Make sure that all pairs that are looked at are known; returns a status."""
    parents, scores = new_ints(1), new_floats(store.scores.shape[1])
    n = len(wanted)
    for a in range(n):
        if seeds.paired[a]:
            parents[0] = a
            for c in range(n):
                wanted[c] = usable[c] and c != a and (c > a or not seeds.paired[c])
            status = ensure_at(child, parents, 1, COLUMN, wanted, problem, store, scores)
            if status != OK:
                return status
    return OK


@inner
def _list_pairs(
    child: int,
    alone: float,
    single: Floats,
    usable: Bools,
    pair: Floats,
    problem: Problem,
    store: Store,
    seeds: Seeds,
) -> None:
    """List the pairs that are better than each of the two; `pair` gets the best score of each pair or a part of it."""
    odds, parents, n = problem.odds, new_ints(1), len(single)
    for a in range(n):
        if not seeds.paired[a]:
            continue
        parents[0] = a
        column = store.scores[find_column(family_key(child, parents, 1, WHOLE, problem.zobrist), store), problem.row]
        for c in range(n):
            if usable[c] and c != a and (c > a or not seeds.paired[c]):
                value = column[c] + odds_of(odds, a, child) + odds_of(odds, c, child)
                rest = max(alone, single[a], single[c])
                if value > rest + tie_at(value):
                    _keep(child, min(a, c), max(a, c), -1, value, seeds)
                if pair.shape[1]:
                    pair[a, c] = pair[c, a] = max(value, rest)


@inner
def _choose(alone: float, single: Floats, usable: Bools, pair: Floats, seeds: Seeds) -> None:
    """Choose two of whom are in each triple: by turns who is best in a pair, and who is best alone."""
    tripled = seeds.tripled
    n = len(single)
    joint, eligible = new_floats(n), new_bools(n)
    _lead(single, usable, seeds.n_leading, eligible)
    for c in range(n):
        tripled[c] = False
        joint[c] = -np.inf
        for a in range(n):
            if eligible[c] and a != c and usable[a]:
                top = max(single[a], single[c])
                joint[c] = max(joint[c], pair[a, c] - (top if top > -np.inf else alone))
    for k in range(seeds.n_tripled):
        best, found = -1, -np.inf
        for c in range(n):
            value = single[c] if k % 2 else joint[c]
            if eligible[c] and not tripled[c] and (best < 0 or value > found):
                best, found = c, value
        if best < 0:
            return
        tripled[best] = True


@inner
def _list_triples(
    child: int, usable: Bools, pair: Floats, wanted: Bools, problem: Problem, store: Store, seeds: Seeds
) -> int:
    """List the triples that are better than all their subsets; returns a status."""
    odds, tripled, scores = problem.odds, seeds.tripled, new_floats(store.scores.shape[1])
    n, parents = len(wanted), new_ints(2)
    for turn in range(2):  # make sure that all is known; then list
        for a in range(n):
            for b in range(a + 1, n):
                if not (tripled[a] and tripled[b]):
                    continue
                parents[0], parents[1] = a, b
                for c in range(n):
                    wanted[c] = usable[c] and (c > b or not tripled[c])
                if turn == 0:
                    status = ensure_at(child, parents, 2, COLUMN, wanted, problem, store, scores)
                    if status != OK:
                        return status
                    continue
                key = family_key(child, parents, 2, WHOLE, problem.zobrist)
                column = store.scores[find_column(key, store), problem.row]
                prior = odds_of(odds, a, child) + odds_of(odds, b, child)
                for c in range(n):
                    if wanted[c]:
                        value = column[c] + prior + odds_of(odds, c, child)
                        if value > max(pair[a, b], pair[a, c], pair[b, c]) + tie_at(value):
                            _keep_triple(child, a, b, c, value, seeds)
    return OK


@inner
def _keep_triple(child: int, one: int, two: int, other: int, value: float, seeds: Seeds) -> None:
    """Put a triple into the list of a child; the first two are ascending."""
    if other < one:
        _keep(child, other, one, two, value, seeds)
    elif other < two:
        _keep(child, one, other, two, value, seeds)
    else:
        _keep(child, one, two, other, value, seeds)
