"""Kernels of a single-arc move: which one to take, and what it does to the graph.

A graph of N nodes is three arrays: `arcs[i, j]` tells whether i -> j is there, `ancestors[j]` is the bitset of all
nodes with a path to j, `n_parents[j]` counts. `deltas[i, j]` is what toggling i -> j would add to the score.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

ADD, DELETE, REVERSE, NONE = 0, 1, 2, 3
TOLERANCE = 2.0**-26  # differences of scores below this are ties; R bnlearn's value, which replications need


@njit(cache=True, nogil=True)
def has_path(ancestors: Any, start: int, end: int) -> bool:
    """Whether there is a directed path from `start` to `end`."""
    return (ancestors[end, start >> 6] >> np.uint64(start & 63)) & np.uint64(1) != 0


@njit(cache=True, nogil=True)
def _can_reverse(arcs: Any, ancestors: Any, start: int, end: int) -> bool:
    """Whether reversing start -> end leaves no cycle: no other path from start to end."""
    for p in range(arcs.shape[0]):
        if arcs[p, end] and p != start and has_path(ancestors, start, p):
            return False
    return True


@njit(cache=True, nogil=True)
def _is_tabu(graph_hash: np.uint64, tabu: Any) -> bool:
    for t in range(len(tabu)):
        if tabu[t] == graph_hash:
            return True
    return False


@njit(cache=True, nogil=True)
def best_move(deltas: Any, graph: Any, rules: Any, keys: Any, tabu: Any, current: Any, baseline: float) -> Any:
    """Find the best legal move in the order of the columns.

    All additions are scanned, then all deletions, then all reversals, each by start, then by end; a move is taken only
    if it beats the best so far by more than `TOLERANCE`, so that the first of equals wins.

    Parameters
    ----------
    deltas : float64 array (N, N)
    graph : (arcs, ancestors, n_parents)
    rules : (allowed, fixed, max_parents)
        `allowed[i, j]`: i -> j may be there; `fixed[i, j]`: i -> j may not be deleted.
    keys : uint64 array (N, N)
        Random keys of the arcs; a graph's hash is the exclusive or of its arcs' keys.
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
    arcs, ancestors, n_parents = graph
    allowed, fixed, max_parents = rules
    n = arcs.shape[0]
    kind, start, end, best = NONE, -1, -1, baseline
    for i in range(n):
        for j in range(n):
            if not deltas[i, j] - best > TOLERANCE or arcs[i, j] or arcs[j, i] or not allowed[i, j] or i == j:
                continue
            if n_parents[j] >= max_parents or has_path(ancestors, j, i) or _is_tabu(current ^ keys[i, j], tabu):
                continue
            kind, start, end, best = ADD, i, j, deltas[i, j]
    for i in range(n):
        for j in range(n):
            if not arcs[i, j] or fixed[i, j] or not deltas[i, j] - best > TOLERANCE:
                continue
            if not _is_tabu(current ^ keys[i, j], tabu):
                kind, start, end, best = DELETE, i, j, deltas[i, j]
    for i in range(n):
        for j in range(n):
            if not arcs[i, j] or not allowed[j, i] or n_parents[i] >= max_parents:
                continue
            delta = deltas[i, j] + deltas[j, i]
            if not delta - best > TOLERANCE or not _can_reverse(arcs, ancestors, i, j):
                continue
            if not _is_tabu(current ^ keys[i, j] ^ keys[j, i], tabu):
                kind, start, end, best = REVERSE, i, j, delta
    return kind, start, end, best


@njit(cache=True, nogil=True)
def add_arc(graph: Any, start: int, end: int) -> None:
    """Add start -> end; `end` and its descendants inherit the ancestors of `start`."""
    arcs, ancestors, n_parents = graph
    arcs[start, end] = True
    n_parents[end] += 1
    inherited = ancestors[start].copy()
    inherited[start >> 6] |= np.uint64(1) << np.uint64(start & 63)
    for node in range(arcs.shape[0]):
        if node == end or has_path(ancestors, end, node):
            for w in range(len(inherited)):
                ancestors[node, w] |= inherited[w]


@njit(cache=True, nogil=True)
def delete_arc(graph: Any, start: int, end: int) -> None:
    """Delete start -> end; the ancestors of `end` and of its descendants are found anew, parents first."""
    arcs, ancestors, n_parents = graph
    n, words = ancestors.shape
    arcs[start, end] = False
    n_parents[end] -= 1
    waiting = np.zeros(n, dtype=np.int64)  # affected parents not done yet, plus one
    for node in range(n):
        if node == end or has_path(ancestors, end, node):
            waiting[node] = 1
    for node in range(n):
        if waiting[node]:
            for p in range(n):
                if arcs[p, node] and waiting[p]:
                    waiting[node] += 1
    done = False
    while not done:
        done = True
        for node in range(n):
            if waiting[node] != 1:
                continue
            done = False
            waiting[node] = 0
            ancestors[node, :] = 0
            for p in range(n):
                if arcs[p, node]:
                    for w in range(words):
                        ancestors[node, w] |= ancestors[p, w]
                    ancestors[node, p >> 6] |= np.uint64(1) << np.uint64(p & 63)
            for child in range(n):
                if arcs[node, child] and waiting[child] > 1:
                    waiting[child] -= 1
