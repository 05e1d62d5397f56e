"""Hill climbing, compiled: bring the deltas up to date, take the best move, and so on."""

from __future__ import annotations

import numpy as np

from mapdag.kernels import Floats, call_at, entry, inner, new_bools, new_floats, new_ints, no_words, part
from mapdag.search.cache.status import CONVERGED, OK, PAUSED
from mapdag.search.cache.store import COLUMN, WHOLE, Problem, Store, ensure_at, family_key, find_column, odds_of
from mapdag.search.climbing.ahead import mark_candidates
from mapdag.search.climbing.links import add_arc, contains, delete_arc, list_members
from mapdag.search.climbing.moves import NOISE, NONE, REVERSE, Ground, best_move


@part
def _refresh(child: int, ground: Ground, problem: Problem, store: Store) -> int:
    """Bring the score and the deltas of one node's family up to date."""
    deltas, bounds, exits = ground.deltas, ground.bounds, ground.exits
    odds, which = problem.odds, problem.row
    n = len(deltas)
    parents = new_ints(n)
    size = list_members(ground.links.parents[child], parents)
    wanted = new_bools(n)
    mark_candidates(child, parents, size, problem.rules, wanted)
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
    if abs(here) < np.inf:
        ground.tolerance[0] = max(ground.tolerance[0], NOISE * abs(here))
    tolerance = ground.tolerance[0]
    for i in range(n):
        delta = column[i] - here + odds_of(odds, i, child) if wanted[i] else -np.inf
        delta = 0.0 if abs(delta) < tolerance else delta
        deltas[i, child] = delta
        bounds[i] = max(bounds[i], delta)
    for i in range(size):
        delta = known[i] - here - odds_of(odds, parents[i], child)
        deltas[parents[i], child] = 0.0 if abs(delta) < tolerance else delta
        exits[parents[i]] = np.inf
    exits[child] = np.inf
    return OK


@entry
def apply_move(kind: int, start: int, end: int, ground: Ground) -> None:
    """Change the graph; the nodes whose families change become pending."""
    if kind == NONE:
        return
    bounds, pending, links = ground.bounds, ground.pending, ground.links
    if contains(links.parents[end], start):
        # What closed a cycle may be legal now: arcs from nodes that lose ancestors.
        bounds[start] = bounds[end] = np.inf
        for i in range(len(bounds)):
            if contains(links.ancestors[i], end):
                bounds[i] = np.inf
        delete_arc(links, start, end)
    else:
        add_arc(links, start, end)
    pending[end] = True
    if kind == REVERSE:
        add_arc(links, end, start)
        pending[start] = True


@inner
def _look_ahead(child: int, ground: Ground, problem: Problem, store: Store) -> int:
    """Have threads make what the next two nodes that are out of date will ask for; returns the second one, or -1."""
    pending = ground.pending
    nodes = new_ints(2)
    nodes[0], nodes[1] = child, -1
    for node in range(len(pending) - 1, child, -1):
        if pending[node]:
            nodes[1] = node
    size = 1 if nodes[1] < 0 else 2
    call_at(problem.ahead, nodes[:size], ground.links.parents, problem, store)
    return nodes[1]


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
        made = -1  # the node whose scores were made together with those of another
        for child in range(len(pending)):
            if pending[child]:
                if budget == 0:
                    return PAUSED, moves
                if problem.ahead and child != made:
                    made = _look_ahead(child, ground, problem, store)
                    if store.status[0] != OK:
                        return store.status[0], moves
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
