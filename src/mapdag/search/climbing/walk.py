"""A walk from graph to graph: its start, its moves, its trace, the best graph on the way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mapdag.graphs import DAG
from mapdag.objective.constraints import complete_start
from mapdag.search.climbing.moves import ADD, DELETE, NOISE, NONE, REVERSE
from mapdag.search.climbing.state import NO_GRAPHS, GraphState
from mapdag.search.frame.result import Move, MoveKind, make_result
from mapdag.search.frame.watch import Watch
from mapdag.search.limits import supported_start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.contracts import Objective
    from mapdag.search.cache import FamilyCache
    from mapdag.search.cache.store import Problem
    from mapdag.search.climbing.moves import Step
    from mapdag.search.frame.options import Options
    from mapdag.search.frame.result import Result

_MANY = 1 << 30
_KINDS: dict[int, MoveKind] = {ADD: "add", DELETE: "delete", REVERSE: "reverse"}


class Walk:
    """One search from its start to its result; what may be stopped goes on ``with walk.watch:``.

    Parameters
    ----------
    objective : Objective
    cache : FamilyCache
        Knows the data, the objective, and the constraints.
    options : Options
    """

    def __init__(self, objective: Objective, cache: FamilyCache, options: Options) -> None:
        self.watch = Watch(options)
        self._families_before = cache.families
        self.objective = objective
        self.cache = cache
        self.options = options
        self.nodes = cache.data.names
        self.rules = cache.rules(objective)
        start = complete_start(options.start, self.rules, self.nodes)
        is_given = options.start is not None
        self.start = supported_start(start, objective, cache.data, self.rules, is_given=is_given)
        self.rng = np.random.default_rng(options.seed)
        self.trace: list[Move] = []
        self.score = -np.inf
        self.best_score = -np.inf
        self.state = GraphState(self.start, objective, cache)
        self._best = tuple(self.state.parents)
        self._n_arcs = self.start.n_arcs

    def begin(self) -> None:
        """Score the start graph and all its neighbours."""
        self.watch.check()
        phase = "scoring"
        if self.start.n_arcs == 0 and self.rules.max_parents > 0:
            for done in self.cache.pair_up(self.rules.allowed):
                phase = "moving"  # what is left to score is next to nothing
                self.tell("scoring", done, len(self.nodes))
                self.watch.check()
        self._refresh(phase)
        self.score = self.state.likelihood + self.objective.prior.log_prior(self.start)
        self._keep_if_best()

    def climb(self) -> None:
        """Take the best move until none improves the score."""
        if not self.objective.prior.is_arcwise:
            self._climb_by_graph()
            return
        done = False
        while not done:
            most = _MANY if self.options.max_iter is None else self.options.max_iter - len(self.trace)
            done, steps = self.state.climb(most if self.options.progress is None else 1)
            for step in steps:
                self._write_down(step)
            if steps:
                self._keep_if_best()
                self.tell("moving", len(self.trace), 0)
            self.watch.check_moves(len(self.trace))

    def move(self, step: Step) -> None:
        """Make one move, write it down, and bring the deltas up to date."""
        self.state.apply(step)
        self._write_down(step)
        self._refresh("moving")
        if self._is_best():
            # A long walk adds up what its moves were rounded by, and takes it for progress.
            self.score = self.state.likelihood + self.objective.prior.log_prior(self.state.dag())
            self._keep_if_best()
        self.tell("moving", len(self.trace), 0)
        self.watch.check_moves(len(self.trace))

    def jump(self, dag: DAG, *, note: bool = True) -> None:
        """Go on from another graph, which obeys the rules; unless it is only another way to get there, note it."""
        before = self.score
        self.state = GraphState(dag, self.objective, self.cache)
        self._refresh("moving")
        self.score = self.state.likelihood + self.objective.prior.log_prior(dag)
        self._n_arcs = dag.n_arcs
        if note:
            self.trace.append(Move("restart", "", "", self.score - before, self.score, dag.n_arcs))
        self._keep_if_best()

    def adopt(self, masks: Sequence[int], score: float) -> None:
        """Take over a better graph, found by other means than single-arc moves; the state stays where it is."""
        n_arcs = sum(mask.bit_count() for mask in masks)
        self.trace.append(Move("reorder", "", "", score - self.best_score, score, n_arcs))
        self._best, self.best_score = tuple(masks), score
        self.score, self._n_arcs = score, n_arcs
        self.watch.check_moves(len(self.trace))

    def best(self) -> DAG:
        """Best graph so far."""
        return DAG.from_parent_masks(self.nodes, self._best, check=False)

    def is_supported(self, node: int, dag: DAG) -> bool:
        """Whether the family of a node is not thinner than allowed."""
        return bool(self.cache.family(node, dag.parent_indices(node))[self.cache.index(self.objective)] > -np.inf)

    @property
    def problem(self) -> Problem:
        """What the compiled search takes besides the store."""
        return self.state.problem

    def tell(self, phase: str, done: int, total: int) -> None:
        """Report progress to whoever wants to know."""
        self.watch.families = self.cache.families
        self.watch.tell(phase, done, total, score=self.score, n_arcs=self._n_arcs)

    def result(self) -> Result:
        """Return the best graph, its score added up anew from its families."""
        self.cache.dismiss()
        found = make_result(self.best(), self.objective, self.cache, self.watch, families=0, trace=self.trace)
        return replace(found, families=self.cache.families - self._families_before)  # those of the result included

    def _climb_by_graph(self) -> None:
        while True:
            step = self.state.best(0.0, NO_GRAPHS)
            if step.kind == NONE:
                return
            self.move(step)

    def _refresh(self, phase: str) -> None:
        done = False
        while not done:
            done = self.state.refresh()
            if phase == "scoring":
                left = int(self.state.ground.pending.sum())
                self.tell(phase, len(self.nodes) - left, len(self.nodes))
            self.watch.check()

    def _write_down(self, step: Step) -> None:
        self.score += step.delta
        self._n_arcs += (step.kind == ADD) - (step.kind == DELETE)
        start, end = self.nodes[step.start], self.nodes[step.end]
        self.trace.append(Move(_KINDS[step.kind], start, end, step.delta, self.score, self._n_arcs))

    def _keep_if_best(self) -> None:
        """Remember the current graph if it is the best so far."""
        if self._is_best():
            self._best, self.best_score = tuple(self.state.parents), self.score

    def _is_best(self) -> bool:
        """Whether the score is higher than any before, by more than it may be rounded."""
        return self.score - self.best_score > max(self.state.tolerance, NOISE * abs(self.score))
