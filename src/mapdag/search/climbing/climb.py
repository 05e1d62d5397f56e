"""Hill climbing, compiled: bring the deltas up to date, take the best move, and so on."""

from __future__ import annotations

import numpy as np

from mapdag.kernels import Floats, entry, new_bools, new_floats, new_ints, no_words, part
from mapdag.search.cache.status import CONVERGED, OK, PAUSED
from mapdag.search.cache.store import COLUMN, WHOLE, Problem, Store, ensure_at, family_key, find_column
from mapdag.search.climbing.links import add_arc, contains, delete_arc, list_members
from mapdag.search.climbing.moves import NONE, REVERSE, TOLERANCE, Ground, best_move


@part
def _refresh(child: int, ground: Ground, problem: Problem, store: Store) -> int:
    """Bring the score and the deltas of one node's family up to date."""
    deltas, bounds, odds, which = ground.deltas, ground.bounds, problem.odds, problem.row
    allowed, _, max_parents = problem.rules
    n = len(deltas)
    parents = new_ints(n)
    size = list_members(ground.links.parents[child], parents)
    wanted = new_bools(n)
    for i in range(n):
        wanted[i] = size < max_parents and allowed[i, child]
    for i in range(size):
        wanted[parents[i]] = False
    # The family itself, then without each of its parents, then with each candidate.
    single = new_floats(store.scores.shape[1])
    known = new_floats(size + 1)
    status = ensure_at(child, parents, size, WHOLE, wanted, problem, store, single)
    known[size] = single[which]
    for i in range(size):
        if status == OK:
            status = ensure_at(child, parents, size, i, wanted, problem, store, single)
            known[i] = single[which]
    if status == OK:
        status = ensure_at(child, parents, size, COLUMN, wanted, problem, store, single)
    if status != OK:
        return status
    place = find_column(family_key(child, parents, size, WHOLE, problem.zobrist), store)
    column, here = store.scores[place, which], known[size]
    ground.own[child] = here
    for i in range(n):
        delta = column[i] - here + odds[i, child] if wanted[i] else -np.inf
        deltas[i, child] = 0.0 if abs(delta) < TOLERANCE else delta
    for i in range(size):
        delta = known[i] - here - odds[parents[i], child]
        deltas[parents[i], child] = 0.0 if abs(delta) < TOLERANCE else delta
    for i in range(n):
        bounds[i] = max(bounds[i], deltas[i, child])
    return OK


@entry
def apply_move(kind: int, start: int, end: int, ground: Ground) -> None:
    """Change the graph; the nodes whose families change become pending."""
    if kind == NONE:
        return
    _, bounds, _, pending, links = ground
    if contains(links.parents[end], start):
        delete_arc(links, start, end)
        for i in range(len(bounds)):
            bounds[i] = np.inf  # what closed a cycle may be legal now
    else:
        add_arc(links, start, end)
    pending[end] = True
    if kind == REVERSE:
        add_arc(links, end, start)
        pending[start] = True


@entry
def climb(budget: int, ground: Ground, problem: Problem, store: Store, trace: Floats) -> tuple[int, int]:
    """Take improving moves until there is none, or `budget` nodes were refreshed, or `trace` is full.

    Without room in `trace`, only bring the scores up to date (`CONVERGED` when they are).

    Returns
    -------
    status : int
    moves : int
        How many were written to `trace`, as (kind, start, end, delta).
    """
    nothing, pending = no_words(0), ground.pending
    moves = 0
    while True:
        for child in range(len(pending)):
            if pending[child]:
                if budget == 0:
                    return PAUSED, moves
                status = _refresh(child, ground, problem, store)
                if status != OK:
                    return status, moves
                pending[child] = False
                budget -= 1
        if len(trace) == 0:
            return CONVERGED, 0
        if moves == len(trace):
            return PAUSED, moves
        kind, start, end, delta = best_move(ground, problem.rules, nothing, np.uint64(0), 0.0)
        if kind == NONE:
            return CONVERGED, moves
        trace[moves, 0], trace[moves, 1], trace[moves, 2], trace[moves, 3] = kind, start, end, delta
        moves += 1
        apply_move(kind, start, end, ground)
