"""The steps of structural EM: complete the rows by a network, learn a graph from them, judge it by what is known."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mapdag import compiling
from mapdag.errors import GraphError, Setting
from mapdag.graphs import DAG
from mapdag.networks import fit
from mapdag.networks.em import fit_em
from mapdag.networks.posteriors import work_beyond_lists
from mapdag.notices import warn
from mapdag.objective import find_hyperparameters, score, usual_values
from mapdag.objective.constraints import complete_start, make_rules
from mapdag.scores import PNAL
from mapdag.search.em.completed import best_completion, drawn_completion, expected_rows
from mapdag.search.em.result import EMResult, EMStep
from mapdag.search.frame.result import known_directions
from mapdag.search.orders.sample import draw, rows_of
from mapdag.wording import plural

if TYPE_CHECKING:
    from mapdag.contracts import Objective
    from mapdag.data import Dataset
    from mapdag.networks import EM, BayesianNetwork
    from mapdag.objective import Hyperparameters, Score
    from mapdag.search.frame.certificate import Certificate
    from mapdag.search.frame.result import Move, Result, Stopped
    from mapdag.search.plan import Plan

Impute = Literal["soft", "hard"]

_EM_STEPS, _EM_TOLERANCE = 10, 1e-4  # of the probabilities of each graph
_OBSERVED = 0.5  # rows in which a configuration is expected that counts as observed, under BDs
_CUT_SHORT = ("time_limit", "interrupted")
_SLACK = 1e-9  # relative: what rounding may take off a score
_WORK = 1 << 25  # entries of tables beyond what is compiled, in all rows, that the E step of a graph may need
_MANY, _SAMPLE = 40_000, 10_000  # rows from which on EM starts from what it finds in a sample of so many


class Stage(NamedTuple):
    """How the steps of a stage complete rows, and how they search."""

    impute: Impute
    plan: Plan


def stages_of(plan: Plan, impute: Impute) -> list[Stage]:
    """Return the stages that lead from a start to a result.

    The default search takes whole rows, which it counts fast: most probable completions, from one order of the nodes
    only until that gains nothing, then from all. Soft steps go on from there by hill climbing, with expected counts.
    """
    if plan.search != "orders":
        return [Stage(impute, plan)]
    quick = replace(plan, special={**plan.special, "effort": 0.0})
    climbing = replace(plan, search="hc", special={})
    stages = [Stage("hard", quick), Stage("hard", plan), Stage("soft", climbing)]
    return stages if impute == "soft" else stages[:2]


class _Judged(NamedTuple):
    """A graph, and what is to be said for it."""

    dag: DAG
    objective: Objective  # under which it is judged
    learned: Hyperparameters | None  # its values
    fitted: EM
    rows: Dataset  # as it completes them
    score: Score  # on these
    known: float  # the score of what is known


@dataclass
class _Path:
    """Where one start has come so far."""

    here: _Judged | None = None  # the best graph, which is the last
    certificate: Certificate | None = None  # about the rows that it completes
    moves: list[Move] = field(default_factory=list)  # that led to it
    steps: list[EMStep] = field(default_factory=list)
    families: int = 0
    device: str = "cpu"
    ended: Stopped = "converged"

    @property
    def known(self) -> float:
        return -math.inf if self.here is None else self.here.known


@dataclass
class Run:
    """Structural EM on one table, whose columns are arranged: what all starts share."""

    data: Dataset
    objective: Objective
    plan: Plan
    impute: Impute
    draws: int
    max_steps: int
    began: float
    stopped: Stopped = "converged"

    def best(self, starts: int) -> EMResult:
        """Start as often as asked for, and return the best result."""
        return self._result(self._best_path(starts, stages_of(self.plan, self.impute)))

    def _best_path(self, starts: int, stages: list[Stage]) -> _Path:
        """Go through the stages from each start; with many rows, from what that brings in a sample of them."""
        if self.plan.search == "orders" and rows_of(self.data) > _MANY:
            sample = draw(self.data, _SAMPLE / rows_of(self.data), threads=self._threads)
            if sample is not None and sample.has_gaps:
                other = replace(self, data=sample)
                found = other._best_path(starts, [stage for stage in stages if stage.impute == "hard"]).here  # noqa: SLF001
                self.stopped = other.stopped
                assert found is not None
                return self._once(found.dag, stages[1:], set(), found.fitted.network)
        best, met = _Path(), set[tuple[int, DAG]]()
        for number in range(starts):
            try:
                path = self._once(self._first(number), stages, met)
            except KeyboardInterrupt:
                if best.here is None or not self.plan.options.catch_interrupt:
                    raise
                self.stopped = "interrupted"
                break
            if path.known > best.known or best.here is None:
                best = path
            if self.stopped in _CUT_SHORT:
                break
        return best

    def _once(
        self, dag: DAG, stages: list[Stage], met: set[tuple[int, DAG]], start: BayesianNetwork | None = None
    ) -> _Path:
        """Go from a graph through the stages, unless one of them would begin as it did from another start (`met`)."""
        path = _Path()
        try:
            path.here = self._judged(dag, self._usual, start)
            for number, stage in enumerate(stages):
                if self.stopped in _CUT_SHORT or (number, path.here.dag) in met:
                    break
                met.add((number, path.here.dag))
                self._go(path, stage)
        except KeyboardInterrupt:
            if path.here is None or not self.plan.options.catch_interrupt:
                raise
            self.stopped = "interrupted"
        return path

    def _go(self, path: _Path, stage: Stage) -> None:
        """Go from graph to graph until nothing is gained, on completed rows or by what is known."""
        path.ended = "converged"
        for _ in range(self.max_steps):
            if self._step(path, stage) or self.stopped in _CUT_SHORT:
                return
        path.ended = "max_iter"

    def _step(self, path: _Path, stage: Stage) -> bool:
        """Learn a graph from the rows as the one so far completes them, and judge it; tells whether that is all."""
        here = path.here
        assert here is not None
        rows, value = here.rows, float(here.score)
        if stage.impute != self.impute:
            rows = self._completed(here.fitted.network, stage.impute)
            value = float(score(here.dag, rows, here.objective, **self.plan.options.constraints.options))
        learned = self._learn(stage.plan, rows, here.objective, here.dag)
        path.families += learned.families
        path.device = learned.device
        path.certificate = learned.certificate if rows is here.rows else None
        told = learned.score, here.known, here.fitted.log_likelihood, learned.dag.n_arcs, stage.impute
        path.steps.append(EMStep(value, *told))
        if not learned.score > value + (_SLACK * abs(value) if math.isfinite(value) else 0.0):
            return True
        if not math.isfinite(learned.score):
            return True
        if self._is_dense(learned.dag):
            warn(
                "structural EM ended early: under the next graph, which has "
                f"{plural(learned.dag.n_arcs, 'arc')}, too many missing values of a row depend on each other to be "
                "completed exactly; limit parents (",
                Setting("max_parents", 2),
                "), or take a sparser objective",
            )
            return True
        alpha = _alpha_of(here.objective)
        there = self._judged(learned.dag, here.objective, fit(learned.dag, rows, alpha=alpha))
        if not there.known > here.known + (_SLACK * abs(here.known) if math.isfinite(here.known) else 0.0):
            return True
        path.here, path.certificate = there, None
        path.moves += learned.trace
        return False

    def _is_dense(self, dag: DAG) -> bool:
        """Whether rows lack so many values that depend on each other that EM would take too long, or too much room."""
        return work_beyond_lists(dag, self.data, _WORK) > _WORK

    def _first(self, number: int) -> DAG:
        """Return the graph to start from."""
        start, climbing = self.plan.options.start, self.plan
        if self.plan.search == "orders":
            climbing = stages_of(self.plan, "soft")[-1].plan
        if number == 0:
            if start is not None:
                return start.reordered(self.data.names)
            try:
                return self._sparse(climbing, self.data, self.objective.prior + PNAL())
            except GraphError:  # required arcs between columns that no row has together
                return self._plainest()
        if number == 1 and start is None:
            return self._plainest()
        alone = fit_em(DAG(self.data.names), self.data, max_iter=1).network
        drawn = drawn_completion(alone, self.data, self.plan.options.seed + number, self._threads)
        return self._sparse(climbing, drawn, self.objective)

    def _sparse(self, plan: Plan, rows: Dataset, objective: Objective) -> DAG:
        """Learn a graph to start from, with one parent for each node where graphs are too dense for EM otherwise."""
        dag = self._learn(plan, rows, objective, None).dag
        if not self._is_dense(dag):
            return dag
        limits, plainest = plan.options.constraints, self._plainest()
        most = max(1, *(len(plainest.parents(name)) for name in plainest.nodes))
        most = most if limits.max_parents is None else min(limits.max_parents, most)
        return self._learn(plan.changed(constraints=replace(limits, max_parents=most)), rows, objective, None).dag

    def _plainest(self) -> DAG:
        """Return the graph without arcs, but for required ones."""
        rules = make_rules(self.plan.options.constraints, self._usual.prior, self.data.names)
        return complete_start(None, rules, self.data.names)

    @property
    def _usual(self) -> Objective:
        """The objective, with usual values where they are left to the data."""
        return usual_values(self.objective, self.data.n_columns)

    @property
    def _threads(self) -> int:
        return self.plan.options.n_threads

    def _left(self) -> float | None:
        """Return the seconds that are left, if there is a limit."""
        limit = self.plan.options.time_limit
        return None if limit is None else max(limit - (clock() - self.began), 1e-3)

    def _learn(self, plan: Plan, rows: Dataset, objective: Objective, start: DAG | None) -> Result:
        options = {"start": start if start is not None else plan.options.start, "time_limit": self._left()}
        (found,) = plan.changed(**options).run(rows, [objective], checked=True)
        if found.stopped in _CUT_SHORT:
            self.stopped = found.stopped
        return found

    def _completed(self, network: BayesianNetwork, impute: Impute) -> Dataset:
        if impute == "hard":
            return best_completion(network, self.data, self._threads)
        how = self.draws, self.plan.options.seed, self._threads
        recipe = self._usual.likelihood.recipe(self.data.total, self.data.n_columns)
        by_observed = recipe is not None and recipe.kind == "observed"
        return expected_rows(network, self.data, *how, least=self._least if by_observed else 0.0)

    @property
    def _least(self) -> float:
        """What a configuration that counts as observed is expected to have: half a row, of the lightest below 1."""
        weights = self.data.weights
        return _OBSERVED * (1.0 if weights is None else float(weights.min(initial=1)))

    def _fitted(self, dag: DAG, alpha: float, start: BayesianNetwork | None) -> EM:
        limits: dict[str, Any] = {"max_iter": _EM_STEPS, "tolerance": _EM_TOLERANCE, "threads": self._threads}
        return fit_em(dag, self.data, alpha=alpha, start=start, **limits)

    def _judged(self, dag: DAG, before: Objective, start: BayesianNetwork | None) -> _Judged:
        """Fit a graph, and score it by the rows as it completes them, and by what is known.

        `before`: the objective with all values, which are chosen anew where they are left to the data.
        """
        fitted = self._fitted(dag, _alpha_of(before), start)
        rows = self._completed(fitted.network, self.impute)
        learned, objective, joint = None, self.objective, 0.0
        if objective.is_auto:
            learned = find_hyperparameters(dag, rows, objective, threads=self._threads)
            objective, joint = learned.objective, learned.log_hyperprior
        value = score(dag, rows, objective, **self.plan.options.constraints.options)
        known = float(value) + joint - fitted.network.log_likelihood(rows) + fitted.log_likelihood
        return _Judged(dag, objective, learned, fitted, rows, value, known)

    def _result(self, path: _Path) -> EMResult:
        """Make the result of the best graph of a path; a certificate is about the rows that it completes."""
        here = path.here
        assert here is not None
        limits, bound = self.plan.options.constraints, path.certificate
        return EMResult(
            dag=here.dag,
            objective=here.objective,
            log_prior=here.score.log_prior,
            log_likelihood=here.score.log_likelihood,
            trace=tuple(path.moves),
            families=path.families,
            seconds=clock() - self.began,
            stopped=self.stopped if self.stopped in _CUT_SHORT else path.ended,
            data=here.rows,
            knowledge=known_directions(here.dag, make_rules(limits, here.objective.prior, self.data.names)),
            certificate=bound and replace(bound, score=float(here.score)),
            device=path.device,
            learned=here.learned,
            constraints=limits,
            network=here.fitted.network,
            incomplete=self.data,
            steps=tuple(path.steps),
            observed_score=here.known,
        )


def _alpha_of(objective: Objective) -> float:
    return float(getattr(objective.likelihood, "alpha", 1.0))


def clock() -> float:
    """Return the time, which stands still while kernels are compiled."""
    return time.perf_counter() - compiling.seconds()
