"""A graph under search: its arrays, its scores, and what each single-arc move would change."""

from __future__ import annotations

import math
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from mapdag.graphs import DAG
from mapdag.search.cache.status import CONVERGED
from mapdag.search.climbing.ahead import with_help
from mapdag.search.climbing.climb import apply_move, climb
from mapdag.search.climbing.links import add_arc, can_reverse, no_links
from mapdag.search.climbing.moves import ADD, DELETE, NONE, REVERSE, TOLERANCE, Ground, Step, arc_key, best_move
from mapdag.search.warmup import wait_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.contracts import Objective
    from mapdag.search.cache import FamilyCache

_TRACE = 256  # moves that the compiled search makes at most before it comes back
_BUDGET = 64  # nodes that it refreshes at most before it comes back: time limits and Ctrl-C are looked at then

NO_GRAPHS: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)  # a tabu list


class GraphState:
    """Everything that hill climbing and its relatives know about the current graph.

    Parameters
    ----------
    dag : DAG
        Where to start; it obeys the rules.
    objective : Objective
    cache : FamilyCache
    """

    def __init__(self, dag: DAG, objective: Objective, cache: FamilyCache) -> None:
        n = len(dag.nodes)
        self.nodes = dag.nodes
        self.objective = objective
        self.rules = cache.rules(objective)
        self.desk = cache.desk()
        self._cache = cache
        self.problem = cache.problem(objective)
        if self.problem.inputs.work:
            self.problem = with_help(self.problem, self.desk.store)
        wait_for("climbing", "climb")
        self.ground = Ground(
            deltas=np.full((n, n), -np.inf),
            bounds=np.full(n, np.inf),
            exits=np.full(n, np.inf),
            own=np.zeros(n),
            pending=np.ones(n, dtype=np.bool_),
            links=no_links(n),
            tolerance=np.array([TOLERANCE]),
        )
        self.parents = [0] * n
        self.hash = np.uint64(0)
        for child in range(n):
            for p in dag.parent_indices(child):
                add_arc(self.ground.links, p, child)
                self._note(p, child)

    @property
    def likelihood(self) -> float:
        """Log-likelihood of the graph; all its families must be up to date."""
        return math.fsum(self.ground.own)

    @property
    def tolerance(self) -> float:
        """Differences of scores below this are ties."""
        return float(self.ground.tolerance[0])

    def dag(self) -> DAG:
        """Return the current graph as a value."""
        return DAG.from_parent_masks(self.nodes, self.parents, check=False)

    def refresh(self) -> bool:
        """Bring some more scores and deltas up to date; tells whether all are."""
        return self.climb(0)[0]

    def climb(self, most: int = _TRACE) -> tuple[bool, list[Step]]:
        """Climb for a while, at most so many moves; tells whether the top is reached, and which moves were made.

        With no moves at all: whether all scores and deltas are up to date.
        """
        trace = np.empty((min(most, _TRACE), 4))
        self._cache.staff()
        with self.desk.open() as store:
            status, made = climb(_BUDGET, self.ground, self.problem, store, trace)
        steps = [Step(int(kind), int(start), int(end), delta) for kind, start, end, delta in trace[:made].tolist()]
        for step in steps:
            self._follow(step)
        if status == CONVERGED and most:
            self._cache.dismiss()
        self.desk.help(status)
        return bool(status == CONVERGED), steps

    def best(self, baseline: float, tabu: NDArray[np.uint64]) -> Step:
        """Find the best legal move that beats `baseline` and leads to none of the `tabu` graphs."""
        if not self.objective.prior.is_arcwise:
            return self._best_by_graph(baseline, tabu)
        return best_move(self.ground, self.rules, tabu, self.hash, baseline)

    def apply(self, step: Step) -> None:
        """Make a move; the families that it changes are to be refreshed."""
        apply_move(step.kind, step.start, step.end, self.ground)
        self._follow(step)

    def legal_moves(self) -> list[tuple[int, int, int]]:
        """List every legal move, in the order in which `best` scans them."""
        pairs = list(permutations(range(len(self.nodes)), 2))
        present = [(i, j) for i, j in pairs if self.parents[j] >> i & 1]
        links = self.ground.links
        room = links.n_parents < self.rules.max_parents
        allowed, fixed = self.rules.allowed, self.rules.fixed
        return [
            *((ADD, i, j) for i, j in pairs if allowed[i, j] and room[j] and self._can_add(i, j)),
            *((DELETE, i, j) for i, j in present if not fixed[i, j]),
            *((REVERSE, i, j) for i, j in present if allowed[j, i] and room[i] and can_reverse(links, i, j)),
        ]

    def _follow(self, step: Step) -> None:
        """Follow a move of the compiled graph."""
        self._note(step.start, step.end)
        if step.kind == REVERSE:
            self._note(step.end, step.start)

    def _note(self, start: int, end: int) -> None:
        self.parents[end] ^= 1 << start
        self.hash ^= arc_key(start, end)

    def _can_add(self, i: int, j: int) -> bool:
        adjacent = self.parents[j] >> i & 1 or self.parents[i] >> j & 1
        return not adjacent and not int(self.ground.links.ancestors[i, j >> 6]) >> (j & 63) & 1

    def _best_by_graph(self, baseline: float, tabu: NDArray[np.uint64]) -> Step:
        """Like `best_move`, for priors that look at whole graphs: every neighbour is made and asked."""
        prior, deltas = self.objective.prior, self.ground.deltas
        before = prior.remainder(self.dag())
        found = Step(NONE, -1, -1, baseline)
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
            delta = deltas[i, j] + (deltas[j, i] if turned else 0.0) + after - before
            if delta - found.delta > self.tolerance:
                found = Step(kind, i, j, float(delta))
        return found
