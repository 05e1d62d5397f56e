"""A graph under search: its arrays, its scores, and what each single-arc move would change."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.graphs import DAG
from mapdag.graphs.masks import members
from mapdag.search.climb import CONVERGED, apply_move, climb
from mapdag.search.graph import add_arc, can_reverse, empty_graph
from mapdag.search.moves import ADD, DELETE, NONE, REVERSE, TOLERANCE, arc_key, best_move
from mapdag.search.store import ASK, FULL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.contracts import Objective
    from mapdag.search.cache import FamilyCache
    from mapdag.search.constraints import Rules

_TRACE = 256  # moves that the compiled search makes at most before it comes back
_BUDGET = 64  # nodes that it refreshes at most before it comes back: time limits and Ctrl-C are looked at then


class State:
    """Everything that hill climbing and its relatives know about the current graph.

    Parameters
    ----------
    dag : DAG
        Where to start; it obeys the rules.
    objective : Objective
    cache : FamilyCache
    rules : Rules
    """

    def __init__(self, dag: DAG, objective: Objective, cache: FamilyCache, rules: Rules) -> None:
        n = len(dag.nodes)
        self.nodes = dag.nodes
        self.objective = objective
        self.rules = rules
        self._cache = cache
        odds = np.where(rules.allowed, objective.prior.log_odds(dag.nodes), 0.0)
        self._problem = (odds, cache.index(objective), cache.native, cache.zobrist, cache.ensure)
        self._rules = (rules.allowed, rules.fixed, rules.max_parents)
        self.scores = (np.full((n, n), -np.inf), np.full(n, np.inf), np.zeros(n))
        self.graph = empty_graph(n)
        self.parents = [0] * n
        self.hash = np.uint64(0)
        self.pending = np.ones(n, dtype=np.bool_)
        for child in range(n):
            for p in dag.parent_indices(child):
                add_arc(self.graph, p, child)
                self._note(p, child)

    @property
    def n_arcs(self) -> int:
        """Arcs of the graph."""
        return int(self.graph[3].sum())

    @property
    def deltas(self) -> NDArray[np.float64]:
        """What toggling each arc would add to the score, priors that look at whole graphs left aside."""
        return self.scores[0]

    @property
    def likelihood(self) -> float:
        """Log-likelihood of the graph; all its families must be settled."""
        return float(self.scores[2].sum())

    def dag(self) -> DAG:
        """Return the current graph as a value."""
        return DAG.from_parent_masks(self.nodes, self.parents, check=False)

    def settle(self) -> bool:
        """Bring some more scores and deltas up to date; tells whether all are."""
        return self.climb(0)[0]

    def climb(self, most: int = _TRACE) -> tuple[bool, list[tuple[int, int, int, float]]]:
        """Climb for a while, at most so many moves; tells whether the top is reached, and which moves were made.

        With no moves at all: whether all scores and deltas are up to date.
        """
        trace = np.empty((min(most, _TRACE), 4))
        status, made = climb(*(*self.arguments(), trace))
        moves = [(int(kind), int(start), int(end), delta) for kind, start, end, delta in trace[:made].tolist()]
        for kind, start, end, _ in moves:
            self._note(start, end)
            if kind == REVERSE:
                self._note(end, start)
        self._help(status)
        return bool(status == CONVERGED), moves

    def arguments(self) -> Any:
        """Return what the compiled search takes, but for the trace."""
        return self.pending, _BUDGET, self.scores, self.graph, self._rules, self._problem, self._cache.store

    def best(self, baseline: float, tabu: NDArray[np.uint64]) -> tuple[int, int, int, float]:
        """Find the best legal move that beats `baseline` and leads to none of the `tabu` graphs."""
        if not self.objective.prior.is_arcwise:
            return self._best_by_graph(baseline, tabu)
        move: tuple[int, int, int, float] = best_move(
            *self.scores[:2], self.graph, self._rules, tabu, self.hash, baseline
        )
        return move

    def apply(self, kind: int, start: int, end: int) -> None:
        """Make a move; the families that it changes are to be settled."""
        apply_move(kind, start, end, self.graph, self.scores[1], self.pending)
        self._note(start, end)
        if kind == REVERSE:
            self._note(end, start)

    def legal_moves(self) -> list[tuple[int, int, int]]:
        """List every legal move, in the order in which `best` scans them."""
        pairs = list(permutations(range(len(self.nodes)), 2))
        present = [(i, j) for i, j in pairs if self.parents[j] >> i & 1]
        room = self.graph[3] < self.rules.max_parents
        allowed, fixed = self.rules.allowed, self.rules.fixed
        return [
            *((ADD, i, j) for i, j in pairs if allowed[i, j] and room[j] and self._can_add(i, j)),
            *((DELETE, i, j) for i, j in present if not fixed[i, j]),
            *((REVERSE, i, j) for i, j in present if allowed[j, i] and room[i] and can_reverse(self.graph, i, j)),
        ]

    def _note(self, start: int, end: int) -> None:
        """Follow a change of the compiled graph."""
        self.parents[end] ^= 1 << start
        self.hash ^= arc_key(start, end)

    def _help(self, status: int) -> None:
        """Do what the compiled search cannot."""
        if status == FULL:
            self._cache.grow()
        elif status == ASK:
            child = int(np.flatnonzero(self.pending)[0])
            parents = list(members(self.parents[child]))
            wanted = self.rules.allowed[:, child] & (len(parents) < self.rules.max_parents)
            wanted[parents] = False
            self._cache.fetch(child, parents, wanted)

    def _can_add(self, i: int, j: int) -> bool:
        adjacent = self.parents[j] >> i & 1 or self.parents[i] >> j & 1
        return not adjacent and not self.graph[2][i, j >> 6] >> np.uint64(j & 63) & np.uint64(1)

    def _best_by_graph(self, baseline: float, tabu: NDArray[np.uint64]) -> tuple[int, int, int, float]:
        """Like `best_move`, for priors that look at whole graphs: every neighbour is made and asked."""
        prior = self.objective.prior
        before = prior.remainder(self.dag())
        found: tuple[int, int, int, float] = (NONE, -1, -1, baseline)
        forbidden = set(tabu.tolist())
        for kind, i, j in self.legal_moves():
            turned = kind == REVERSE
            key = self.hash ^ arc_key(i, j) ^ (arc_key(j, i) if turned else np.uint64(0))
            if int(key) in forbidden:
                continue
            masks = list(self.parents)
            masks[j] ^= 1 << i
            masks[i] ^= (1 << j) if turned else 0
            after = prior.remainder(DAG.from_parent_masks(self.nodes, masks, check=False))
            delta = self.deltas[i, j] + (self.deltas[j, i] if turned else 0.0) + after - before
            if delta - found[3] > TOLERANCE:
                found = (kind, i, j, float(delta))
        return found


def no_graphs() -> NDArray[Any]:
    """Return an empty tabu list."""
    return np.empty(0, dtype=np.uint64)
