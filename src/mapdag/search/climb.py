"""Hill climbing, compiled: bring the deltas up to date, take the best move, and so on.

The arrays of a search are grouped in tuples:

- `scores`: (deltas, bounds, own): what toggling each arc would add, bounds on the additions of each row, and the score
  of each node's family;
- `graph`: see `mapdag.search.graph`;
- `rules`: (allowed, fixed, max_parents);
- `problem`: (odds, likelihood's row, native, zobrist, address of `ensure`): the prior's log-odds, what the store needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapdag.kernels import entry, new_floats, new_ints, part
from mapdag.search.graph import add_arc, delete_arc, list_members
from mapdag.search.moves import NONE, REVERSE, TOLERANCE, best_move
from mapdag.search.store import COLUMN, OK, ensure_at, family_key, find_column

PAUSED, CONVERGED = 3, 4  # more to do; nothing more to do


@part
def refresh(child: int, scores: Any, graph: Any, rules: Any, problem: Any, store: Any) -> int:
    """Bring the score and the deltas of one node's family up to date."""
    deltas, bounds, own = scores
    allowed, _, max_parents = rules
    odds, which, _, zobrist, _ = problem
    n = len(deltas)
    parents = new_ints(n)
    size = list_members(graph[0][child], parents)
    wanted = np.empty(n, np.bool_)
    for i in range(n):
        wanted[i] = size < max_parents and allowed[i, child]
    for i in range(size):
        wanted[parents[i]] = False
    # The family itself, then without each of its parents.
    single = new_floats(store[2].shape[1])
    known = new_floats(size + 1)
    for i in range(-1, size):
        status = ensure_at(child, parents, size, i, wanted, problem, store, single)
        if status != OK:
            return status
        known[i + 1] = single[which]
    status = ensure_at(child, parents, size, COLUMN, wanted, problem, store, single)
    if status != OK:
        return status
    place = find_column(family_key(child, parents, size, -1, zobrist), store)
    column, here = store[2][place, which], known[0]
    own[child] = here
    for i in range(n):
        delta = column[i] - here + odds[i, child] if wanted[i] else -np.inf
        deltas[i, child] = 0.0 if abs(delta) < TOLERANCE else delta
    for i in range(size):
        delta = known[i + 1] - here - odds[parents[i], child]
        deltas[parents[i], child] = 0.0 if abs(delta) < TOLERANCE else delta
    for i in range(n):
        bounds[i] = max(bounds[i], deltas[i, child])
    return OK


@part
def _settle(pending: Any, budget: int, scores: Any, graph: Any, rules: Any, problem: Any, store: Any) -> int:
    """Refresh the pending nodes, at most `budget` of them; `OK` when none is left."""
    for child in range(len(pending)):
        if pending[child]:
            if budget == 0:
                return PAUSED
            status = refresh(child, scores, graph, rules, problem, store)
            if status != OK:
                return status
            pending[child] = False
            budget -= 1
    return OK


@entry
def apply_move(kind: int, start: int, end: int, graph: Any, bounds: Any, pending: Any) -> None:
    """Change the graph; the nodes whose families change become pending."""
    if kind == NONE:
        return
    if graph[0][end, start >> 6] >> np.uint64(start & 63) & np.uint64(1):
        delete_arc(graph, start, end)
        for i in range(len(bounds)):
            bounds[i] = np.inf  # what closed a cycle may be legal now
    else:
        add_arc(graph, start, end)
    pending[end] = True
    if kind == REVERSE:
        add_arc(graph, end, start)
        pending[start] = True


@entry
def climb(pending: Any, budget: int, scores: Any, graph: Any, rules: Any, problem: Any, store: Any, trace: Any) -> Any:
    """Take improving moves until there is none, or `budget` nodes were refreshed, or `trace` is full.

    Without room in `trace`, only bring the scores up to date (`CONVERGED` when they are).

    Returns
    -------
    status : int
    moves : int
        How many were written to `trace`, as (kind, start, end, delta).
    """
    nothing = np.zeros(0, np.uint64)
    moves = 0
    while True:
        status = _settle(pending, budget, scores, graph, rules, problem, store)
        if status != OK:
            return status, moves
        if len(trace) == 0:
            return CONVERGED, 0
        budget -= 2
        if budget < 0 or moves == len(trace):
            return PAUSED, moves
        kind, start, end, delta = best_move(scores[0], scores[1], graph, rules, nothing, np.uint64(0), 0.0)
        if kind == NONE:
            return CONVERGED, moves
        trace[moves, 0], trace[moves, 1], trace[moves, 2], trace[moves, 3] = kind, start, end, delta
        moves += 1
        apply_move(kind, start, end, graph, scores[1], pending)
