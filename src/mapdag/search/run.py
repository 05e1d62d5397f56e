"""The frame around every search: preparation, limits, trace, progress, and the result at the end."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from mapdag.checks import check_positive, check_whole
from mapdag.errors import ParameterError
from mapdag.graphs import DAG
from mapdag.search.cache import FamilyCache
from mapdag.search.constraints import Constraints, complete_start, make_rules
from mapdag.search.limits import supported_start
from mapdag.search.moves import ADD, DELETE, NONE, REVERSE, TOLERANCE
from mapdag.search.result import Move, MoveKind, Result, Stopped
from mapdag.search.state import State, no_graphs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from typing_extensions import Self

    from mapdag.contracts import Objective
    from mapdag.data import Dataset

_MANY = 1 << 30
_KINDS: dict[int, MoveKind] = {ADD: "add", DELETE: "delete", REVERSE: "reverse"}


@dataclass(frozen=True)
class Progress:
    """What a search tells while it runs.

    Attributes
    ----------
    phase : str
        "scoring" while the first families are counted, "moving" while single arcs change, "searching" while the default
        search goes through orders of the nodes.
    done, total : int
        Nodes scored and to be scored; moves made, and 0; orders started from and, at most, to start from.
    score : float
        Of the current graph.
    n_arcs, families : int
        Arcs of the current graph, families counted so far.
    seconds : float
        Since the start.
    """

    phase: str
    done: int
    total: int
    score: float
    n_arcs: int
    families: int
    seconds: float


OnProgress: TypeAlias = Callable[[Progress], None]


class _Stop(Exception):  # noqa: N818 - not an error
    """Raised inside a run when a limit is reached."""

    def __init__(self, reason: Stopped) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, kw_only=True)
class Options:
    """What every search takes.

    Parameters
    ----------
    constraints : Constraints
        Required and forbidden arcs, tiers, a limit on parents.
    start : DAG, optional
        Where to start; the empty graph unless given.
    max_iter : int, optional
        Most moves to make.
    time_limit : float, optional
        Seconds after which the best graph so far is returned.
    seed : int
        For whatever is random.
    threads : int, optional
        Threads to count and score with, as many as there are cores unless given; the result does not depend on it.
    progress : callable, optional
        Called with a `Progress` after every step.
    catch_interrupt : bool
        Whether Ctrl-C ends the search with the best graph so far; otherwise it is raised.
    cancel : threading.Event, optional
        Ends the search when it is set, as Ctrl-C does.
    """

    constraints: Constraints = field(default_factory=Constraints)
    start: DAG | None = None
    max_iter: int | None = None
    time_limit: float | None = None
    seed: int = 0
    threads: int | None = None
    progress: OnProgress | None = None
    catch_interrupt: bool = True
    cancel: threading.Event | None = None

    def __post_init__(self) -> None:
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit)
        for name in ("max_iter", "threads"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), least=1)
        check_whole("seed", self.seed)
        if self.start is not None and not isinstance(self.start, DAG):
            raise ParameterError(f"start must be a DAG, got {self.start!r}")

    def make_cache(self, data: Dataset, objectives: list[Objective]) -> FamilyCache:
        """Cache of family scores for some objectives."""
        threads = self.threads or os.cpu_count() or 1
        return FamilyCache(data, objectives, constraints=self.constraints, threads=threads)


class Run:
    """One search from start to result; used as a context that catches limits and Ctrl-C.

    Parameters
    ----------
    objective : Objective
    cache : FamilyCache
        Knows the data, and the objective's likelihood.
    options : Options
    """

    def __init__(self, objective: Objective, cache: FamilyCache, options: Options) -> None:
        self._began = time.perf_counter()
        self._families_before = cache.families
        self.objective = objective
        self.cache = cache
        self.options = options
        nodes = cache.data.names
        self.rules = make_rules(options.constraints, objective.prior, nodes)
        start = complete_start(options.start, self.rules, nodes)
        self.start = supported_start(start, objective, cache.data, self.rules) if options.start is not None else start
        self.rng = np.random.default_rng(options.seed)
        self.stopped: Stopped = "converged"
        self.trace: list[Move] = []
        self.score = -np.inf
        self.best_score = -np.inf
        self.state = State(self.start, objective, cache, self.rules)
        self._best = tuple(self.state.parents)
        self._n_arcs = self.start.n_arcs

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        if isinstance(error, _Stop):
            self.stopped = error.reason
        elif kind is KeyboardInterrupt and self.options.catch_interrupt:
            self.stopped = "interrupted"
        else:
            return False
        return True

    def begin(self) -> None:
        """Score the start graph and all its neighbours."""
        self.check_time()
        phase = "scoring"
        if self.start.n_arcs == 0 and self.rules.max_parents > 0:
            for done in self.cache.pair_up(self.rules.allowed):
                phase = "moving"  # what is left to score is next to nothing
                self.tell("scoring", done, len(self.state.nodes))
                self.check_time()
        self._settle(phase)
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
            done, moves = self.state.climb(most if self.options.progress is None else 1)
            for move in moves:
                self._write_down(*move)
            if moves:
                self._keep_if_best()
                self.tell("moving", len(self.trace), 0)
            self._check_limits()

    def move(self, kind: int, start: int, end: int, delta: float) -> None:
        """Make one move, write it down, and bring the deltas up to date."""
        self.state.apply(kind, start, end)
        self._write_down(kind, start, end, delta)
        self._keep_if_best()
        self.tell("moving", len(self.trace), 0)
        self._settle("moving")
        self._check_limits()

    def jump(self, dag: DAG, *, note: bool = True) -> None:
        """Go on from another graph, which obeys the rules; unless it is only another way to get there, note it."""
        before = self.score
        self.state = State(dag, self.objective, self.cache, self.rules)
        self._settle("moving")
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
        self._check_limits()

    def _climb_by_graph(self) -> None:
        nothing = no_graphs()
        while True:
            kind, start, end, delta = self.state.best(0.0, nothing)
            if kind == NONE:
                return
            self.move(kind, start, end, delta)

    def _settle(self, phase: str) -> None:
        done = False
        while not done:
            done = self.state.settle()
            if phase == "scoring":
                left = int(self.state.pending.sum())
                self.tell(phase, len(self.state.nodes) - left, len(self.state.nodes))
            self.check_time()

    def _write_down(self, kind: int, start: int, end: int, delta: float) -> None:
        self.score += delta
        self._n_arcs += (kind == ADD) - (kind == DELETE)
        names = self.state.nodes
        self.trace.append(Move(_KINDS[kind], names[start], names[end], delta, self.score, self._n_arcs))

    def _keep_if_best(self) -> None:
        """Remember the current graph if it is the best so far."""
        if self.score - self.best_score > TOLERANCE:
            self._best, self.best_score = tuple(self.state.parents), self.score

    def best(self) -> DAG:
        """Best graph so far."""
        return DAG.from_parent_masks(self.state.nodes, self._best, check=False)

    def is_supported(self, node: int, dag: DAG) -> bool:
        """Whether the family of a node is not thinner than allowed."""
        return bool(self.cache.family(node, dag.parent_indices(node))[self.cache.index(self.objective)] > -np.inf)

    def result(self) -> Result:
        """Return the best graph, its score added up anew from its families."""
        dag = self.best()
        which = self.cache.index(self.objective)
        parts = [float(self.cache.family(i, dag.parent_indices(i))[which]) for i in range(len(dag.nodes))]
        return Result(
            dag=dag,
            objective=self.objective,
            log_prior=self.objective.prior.log_prior(dag),
            log_likelihood=math.fsum(parts),
            trace=tuple(self.trace),
            families=self.cache.families - self._families_before,
            seconds=time.perf_counter() - self._began,
            stopped=self.stopped,
            knowledge=self._knowledge(dag),
            data=self.cache.data,
        )

    def _knowledge(self, dag: DAG) -> tuple[tuple[str, str], ...]:
        """Arcs that the constraints or the prior do not allow the other way round."""
        index = {name: i for i, name in enumerate(dag.nodes)}
        return tuple((a, b) for a, b in dag.arcs if not self.rules.allowed[index[b], index[a]])

    def _check_limits(self) -> None:
        if self.options.max_iter is not None and len(self.trace) >= self.options.max_iter:
            raise _Stop("max_iter")
        self.check_time()

    def check_time(self) -> None:
        """Stop if the time is up, or somebody asks for it."""
        if self.options.cancel is not None and self.options.cancel.is_set():
            raise _Stop("interrupted")
        limit = self.options.time_limit
        if limit is not None and time.perf_counter() - self._began > limit:
            raise _Stop("time_limit")

    def tell(self, phase: str, done: int, total: int) -> None:
        """Report progress to whoever wants to know."""
        if self.options.progress is not None:
            seconds = time.perf_counter() - self._began
            self.options.progress(Progress(phase, done, total, self.score, self._n_arcs, self.cache.families, seconds))
