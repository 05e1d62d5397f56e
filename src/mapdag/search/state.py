"""A graph under search: its arrays, its scores, and what each single-arc move would change."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.graphs import DAG
from mapdag.search.moves import ADD, DELETE, NONE, REVERSE, TOLERANCE, add_arc, best_move, delete_arc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.contracts import Objective
    from mapdag.search.cache import FamilyCache
    from mapdag.search.constraints import Rules


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
        self._which = cache.index(objective.likelihood)
        self._odds = np.where(rules.allowed, objective.prior.log_odds(dag.nodes), 0.0)
        self.parents = [0] * n
        self.family_scores = np.zeros(n)
        self.deltas = np.full((n, n), -np.inf)
        self.graph = (
            np.zeros((n, n), dtype=np.bool_),
            np.zeros((n, (n + 63) // 64), dtype=np.uint64),
            np.zeros(n, dtype=np.int64),
        )
        self._keys = np.random.default_rng(0).integers(0, 2**64, (n, n), dtype=np.uint64)
        self.hash = np.uint64(0)
        for child in range(n):
            for p in dag.parent_indices(child):
                self._toggle(p, child)

    def dag(self) -> DAG:
        """Return the current graph as a value."""
        return DAG.from_parent_masks(self.nodes, self.parents, check=False)

    def refresh(self, child: int) -> None:
        """Bring scores and deltas of one node's family up to date."""
        parents = self.parents[child]
        here = self._cache.family(child, parents)[self._which]
        self.family_scores[child] = here
        room = parents.bit_count() < self.rules.max_parents
        candidates = self.rules.allowed[:, child] if room else np.zeros(len(self.nodes), dtype=np.bool_)
        gains = self._cache.column(child, parents, candidates)[self._which] - here + self._odds[:, child]
        for p in np.flatnonzero(self.graph[0][:, child]).tolist():
            gains[p] = self._cache.family(child, parents ^ (1 << p))[self._which] - here - self._odds[p, child]
        gains[np.abs(gains) < TOLERANCE] = 0.0
        self.deltas[:, child] = np.where(np.isnan(gains), -np.inf, gains)

    def best(self, baseline: float, tabu: NDArray[np.uint64]) -> tuple[int, int, int, float]:
        """Find the best legal move that beats `baseline` and leads to none of the `tabu` graphs."""
        rules = (self.rules.allowed, self.rules.fixed, self.rules.max_parents)
        if not self.objective.prior.is_arcwise:
            return self._best_by_graph(baseline, tabu)
        move: tuple[int, int, int, float] = best_move(
            self.deltas, self.graph, rules, self._keys, tabu, self.hash, baseline
        )
        return move

    def apply(self, kind: int, start: int, end: int) -> tuple[int, ...]:
        """Make a move; returns the nodes whose families changed."""
        self._toggle(start, end)
        if kind != REVERSE:
            return (end,)
        self._toggle(end, start)
        return (start, end)

    def legal_moves(self) -> list[tuple[int, int, int]]:
        """List every legal move, in the order in which `best` scans them."""
        arcs, _, n_parents = self.graph
        pairs = list(permutations(range(len(self.nodes)), 2))
        present = [(i, j) for i, j in pairs if arcs[i, j]]
        room = n_parents < self.rules.max_parents
        return [
            *((ADD, i, j) for i, j in pairs if self._can_add(i, j) and room[j]),
            *((DELETE, i, j) for i, j in present if not self.rules.fixed[i, j]),
            *((REVERSE, i, j) for i, j in present if self.rules.allowed[j, i] and room[i] and self._can_reverse(i, j)),
        ]

    def _toggle(self, start: int, end: int) -> None:
        present = self.graph[0][start, end]
        (delete_arc if present else add_arc)(self.graph, start, end)
        self.parents[end] ^= 1 << start
        self.hash ^= self._keys[start, end]

    def _reaches(self, start: int, end: int) -> bool:
        return bool((self.graph[1][end, start >> 6] >> np.uint64(start & 63)) & np.uint64(1))

    def _can_add(self, i: int, j: int) -> bool:
        arcs = self.graph[0]
        return bool(not arcs[i, j] and not arcs[j, i] and self.rules.allowed[i, j]) and not self._reaches(j, i)

    def _can_reverse(self, i: int, j: int) -> bool:
        others = np.flatnonzero(self.graph[0][:, j]).tolist()
        return not any(p != i and self._reaches(i, p) for p in others)

    def _best_by_graph(self, baseline: float, tabu: NDArray[np.uint64]) -> tuple[int, int, int, float]:
        """Like `best_move`, for priors that look at whole graphs: every neighbour is made and asked."""
        prior = self.objective.prior
        before = prior.remainder(self.dag())
        found: tuple[int, int, int, float] = (NONE, -1, -1, baseline)
        forbidden = set(tabu.tolist())
        for kind, i, j in self.legal_moves():
            turned = kind == REVERSE
            key = self.hash ^ self._keys[i, j] ^ (self._keys[j, i] if turned else np.uint64(0))
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
