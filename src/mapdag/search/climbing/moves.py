"""Which single-arc move to take: additions, deletions and reversals, in the order of the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import Bools, Floats, Words, entry, inner, mix, new_ints, part
from mapdag.search.climbing.links import Links, can_reverse, contains, list_members

if TYPE_CHECKING:
    from mapdag.objective.constraints import Rules

ADD, DELETE, REVERSE, NONE = 0, 1, 2, 3  # kinds of moves
TOLERANCE = 2.0**-26  # differences of scores below this are ties; R bnlearn's value, which replications need
NOISE = 2.0**-49  # and those below this share of the scores, which are rounded: it matters where counts are huge


def tie(score: float) -> float:
    """Differences of scores of this size that are not larger than what this returns are ties."""
    return max(TOLERANCE, NOISE * abs(score)) if abs(score) < np.inf else TOLERANCE


tie_at = inner(tie)  # the same, for kernels


class Step(NamedTuple):
    """A move, and what it adds to the score."""

    kind: int
    start: int
    end: int
    delta: float


class Ground(NamedTuple):
    """The graph that a climber stands on, and what each single-arc move from there would change."""

    deltas: Floats  # (nodes, nodes) what toggling each arc would add to the score
    bounds: Floats  # (nodes,) no legal addition i -> j is better than bounds[i]
    exits: Floats  # (nodes,) no deletion or reversal of an arc i -> j is better than exits[i]
    own: Floats  # (nodes,) score of each node's family
    pending: Bools  # (nodes,) whether these are out of date
    links: Links
    tolerance: Floats  # (1,) differences below this are ties, given how large the scores seen so far are


@entry
def arc_key(start: int, end: int) -> np.uint64:
    """Random key of an arc; a graph's hash is the exclusive or of its arcs' keys."""
    found: np.uint64 = mix((np.uint64(start) << np.uint64(32)) + np.uint64(end))
    return found


@inner
def _is_tabu(graph_hash: np.uint64, tabu: Words) -> bool:
    for t in range(len(tabu)):
        if tabu[t] == graph_hash:
            return True
    return False


@part
def _best_addition(ground: Ground, rules: Rules, tabu: Words, current: np.uint64, baseline: float) -> Step:
    """Find the best legal addition; the bounds on additions are tightened, so that most rows are never looked at."""
    deltas, bounds, tolerance = ground.deltas, ground.bounds, ground.tolerance[0]
    parents, _, ancestors, n_parents = ground.links
    allowed, max_parents = rules.allowed, rules.max_parents
    n = len(deltas)
    kind, start, end, best = NONE, -1, -1, baseline
    for i in range(n):
        if not bounds[i] - best > tolerance:
            continue
        legal = -np.inf
        for j in range(n):
            delta = deltas[i, j]
            if not delta > legal and not delta - best > tolerance:
                continue
            if i == j or not allowed[i, j] or n_parents[j] >= max_parents or contains(ancestors[i], j):
                continue
            if contains(parents[j], i) or contains(parents[i], j):
                continue
            legal = max(legal, delta)
            if delta - best > tolerance and not _is_tabu(current ^ arc_key(i, j), tabu):
                kind, start, end, best = ADD, i, j, delta
        bounds[i] = legal
    return Step(kind, start, end, best)


@entry
def best_move(ground: Ground, rules: Rules, tabu: Words, current: np.uint64, baseline: float) -> Step:
    """Find the best legal move in the order of the columns.

    All additions are scanned, then all deletions, then all reversals, each by start, then by end; a move is taken only
    if it beats the best so far by more than the tolerance, so that the first of equals wins. What bounds the moves from
    each node is tightened here, so that most nodes are never looked at.

    Parameters
    ----------
    ground : Ground
    rules : Rules
    tabu : uint64 array
        Hashes of graphs not to be visited.
    current : uint64
        Hash of the graph.
    baseline : float
        What a move has to beat.
    """
    deltas, exits, tolerance = ground.deltas, ground.exits, ground.tolerance[0]
    children, n_parents = ground.links.children, ground.links.n_parents
    allowed, fixed, max_parents, _ = rules
    n = len(deltas)
    kind, start, end, best = _best_addition(ground, rules, tabu, current, baseline)
    members = new_ints(n)
    for i in range(n):
        if not exits[i] - best > tolerance:
            continue
        possible = -np.inf
        for m in range(list_members(children[i], members)):
            j = members[m]
            possible = max(possible, deltas[i, j], deltas[i, j] + deltas[j, i])
            if not fixed[i, j] and deltas[i, j] - best > tolerance and not _is_tabu(current ^ arc_key(i, j), tabu):
                kind, start, end, best = DELETE, i, j, deltas[i, j]
        exits[i] = possible
    for i in range(n):
        if not exits[i] - best > tolerance or n_parents[i] >= max_parents:
            continue
        for m in range(list_members(children[i], members)):
            j = members[m]
            delta = deltas[i, j] + deltas[j, i]
            if not delta - best > tolerance or not allowed[j, i] or not can_reverse(ground.links, i, j):
                continue
            if not _is_tabu(current ^ arc_key(i, j) ^ arc_key(j, i), tabu):
                kind, start, end, best = REVERSE, i, j, delta
    return Step(kind, start, end, best)
