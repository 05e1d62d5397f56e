"""Which single-arc move to take: additions, deletions and reversals, in the order of the columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapdag.kernels import entry, inner, new_ints
from mapdag.search.graph import can_reverse, contains, list_members

ADD, DELETE, REVERSE, NONE = 0, 1, 2, 3
TOLERANCE = 2.0**-26  # differences of scores below this are ties; R bnlearn's value, which replications need


@entry
def arc_key(start: int, end: int) -> np.uint64:
    """Random key of an arc; a graph's hash is the exclusive or of its arcs' keys (splitmix64)."""
    z = (np.uint64(start) << np.uint64(32)) + np.uint64(end) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inner
def _is_tabu(graph_hash: np.uint64, tabu: Any) -> bool:
    for t in range(len(tabu)):
        if tabu[t] == graph_hash:
            return True
    return False


@entry
def best_move(deltas: Any, bounds: Any, graph: Any, rules: Any, tabu: Any, current: Any, baseline: float) -> Any:
    """Find the best legal move in the order of the columns.

    All additions are scanned, then all deletions, then all reversals, each by start, then by end; a move is taken only
    if it beats the best so far by more than `TOLERANCE`, so that the first of equals wins.

    Parameters
    ----------
    deltas : float64 array (N, N)
        ``deltas[i, j]`` is what toggling i -> j would add to the score.
    bounds : float64 array (N,)
        No legal addition i -> j is better than ``bounds[i]``; tightened here, so that most rows are never looked at.
    graph : tuple
        See `mapdag.search.graph`.
    rules : (allowed, fixed, max_parents)
        `allowed[i, j]`: i -> j may be there; `fixed[i, j]`: i -> j may not be deleted.
    tabu : uint64 array
        Hashes of graphs not to be visited.
    current : uint64
        Hash of the graph.
    baseline : float
        What a move has to beat.

    Returns
    -------
    kind, start, end, delta
    """
    parents, children, ancestors, n_parents = graph
    allowed, fixed, max_parents = rules
    n = len(deltas)
    kind, start, end, best = NONE, -1, -1, baseline
    for i in range(n):
        if not bounds[i] - best > TOLERANCE:
            continue
        legal = -np.inf
        for j in range(n):
            delta = deltas[i, j]
            if not delta > legal and not delta - best > TOLERANCE:
                continue
            if i == j or not allowed[i, j] or n_parents[j] >= max_parents or contains(ancestors[i], j):
                continue
            if contains(parents[j], i) or contains(parents[i], j):
                continue
            legal = max(legal, delta)
            if delta - best > TOLERANCE and not _is_tabu(current ^ arc_key(i, j), tabu):
                kind, start, end, best = ADD, i, j, delta
        bounds[i] = legal
    members = new_ints(n)
    for i in range(n):
        for m in range(list_members(children[i], members)):
            j = members[m]
            if not fixed[i, j] and deltas[i, j] - best > TOLERANCE and not _is_tabu(current ^ arc_key(i, j), tabu):
                kind, start, end, best = DELETE, i, j, deltas[i, j]
    for i in range(n):
        if n_parents[i] >= max_parents:
            continue
        for m in range(list_members(children[i], members)):
            j = members[m]
            delta = deltas[i, j] + deltas[j, i]
            if not delta - best > TOLERANCE or not allowed[j, i] or not can_reverse(graph, i, j):
                continue
            if not _is_tabu(current ^ arc_key(i, j) ^ arc_key(j, i), tabu):
                kind, start, end, best = REVERSE, i, j, delta
    return kind, start, end, best
