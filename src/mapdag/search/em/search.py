"""Structural EM (Friedman 1998): complete the rows by what a network expects, learn from them, and again."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mapdag import compiling
from mapdag.checks import check_whole, is_one_of
from mapdag.data import ScannedDataset, as_dataset, split_options, with_gaps
from mapdag.errors import DataError, GraphError, ParameterError
from mapdag.networks import fit
from mapdag.networks.em import fit_em
from mapdag.objective import DEFAULT, find_hyperparameters, parse, score, usual_values
from mapdag.objective.constraints import complete_start, make_rules
from mapdag.public import public
from mapdag.scores import PNAL
from mapdag.search.em.completed import best_completion, completions, drawn_completion, expected_rows
from mapdag.search.frame.result import Result, known_directions
from mapdag.search.plan import LearnOptions, Plan
from mapdag.wording import brief, plural

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mapdag.contracts import Objective
    from mapdag.data import Dataset
    from mapdag.graphs import DAG
    from mapdag.networks import EM, BayesianNetwork
    from mapdag.objective import Goal, Hyperparameters, Score
    from mapdag.search.frame.certificate import Certificate
    from mapdag.search.frame.result import Move, Stopped

_EM_STEPS, _EM_TOLERANCE = 10, 1e-4  # of the probabilities of each graph
DRAWS, STEPS = 64, 20
_BY_ROWS = ("exact", "certified")  # searches that go through rows themselves
_OBSERVED = 0.5  # rows in which a configuration is expected that counts as observed, under BDs
_CUT_SHORT = ("time_limit", "interrupted")
_SLACK = 1e-9  # relative: what rounding may take off a score


@dataclass(frozen=True)
class EMStep:
    """One step of structural EM.

    Attributes
    ----------
    before, after : float
        Expected score, on the rows as the network before completes them, of the graph before and of the one that was
        learned from them: it never falls, but for rounding.
    score : float
        Score of the graph before, for what is known (Cheeseman and Stutz 1996): the expected score, less the
        log-likelihood of the completed rows, plus that of what is known.
    log_likelihood : float
        Of what is known, under the network before.
    n_arcs : int
        Of the graph after.
    """

    before: float
    after: float
    score: float
    log_likelihood: float
    n_arcs: int


@dataclass(frozen=True, repr=False)
class EMResult(Result):
    """A graph that structural EM has learned; see `structural_em`.

    Attributes
    ----------
    data : Dataset
        The rows as the network completes them; counts of it are expected counts (a `Completed` table, or filled rows if
        imputation was hard). So whatever else a result can do, its score, fit and report, is about these.
    network : BayesianNetwork
        The graph with the probabilities that EM found.
    incomplete : Dataset
        The rows with their gaps.
    steps : tuple of EMStep
        How it went, of the start that led here.
    observed_score : float
        Score of the graph for what is known. The graph is the best one by it: of those before each of `steps` and,
        where steps ran out, of the last one that was learned; and of several starts.
    """

    network: BayesianNetwork = field(kw_only=True)
    incomplete: Dataset = field(kw_only=True)
    steps: tuple[EMStep, ...] = field(kw_only=True)
    observed_score: float = field(kw_only=True)

    def __str__(self) -> str:
        told = f"structural EM: {plural(len(self.steps), 'step')} from {self.incomplete.gaps!r}"
        drawn = getattr(self.data, "drawn", 0)
        how = f"; {plural(drawn, 'gap')} by draws" if drawn else ""
        return f"{super().__str__()}\n{told}{how}"

    def _given_values(self) -> str:
        values = f"{self.learned.values}, and " if self.learned else ""
        return f", given {values}the rows as they are completed"


@public(LearnOptions)
def structural_em(
    data: Any,
    objective: Goal = DEFAULT,
    *,
    impute: Literal["soft", "hard"] = "soft",
    draws: int = DRAWS,
    starts: int | None = None,
    max_steps: int = STEPS,
    **options: Unpack[LearnOptions],
) -> EMResult:
    """Learn a graph from data with gaps under any objective (Friedman 1998).

    Each step completes the rows by what the network so far expects, learns a graph from them, and fits its
    probabilities by EM; until a search gains nothing, a graph comes back, or steps run out. The graph with the highest
    score for what is known is returned, which need not be the last one. Values must be missing at random, that is, for
    reasons that what is known explains.

    Parameters
    ----------
    data : Dataset, or anything that `mapdag.read` takes
        Gaps are kept as such (``missing="keep"``) unless `missing` says otherwise.
    objective : Objective, Likelihood or str
        As in `mapdag.learn`; one that takes fractions of rows unless `impute` is "hard" (fNML and qNML do not).
    impute : {"soft", "hard"}
        Count all completions of a row by their probabilities, or the most probable one only, as R bnlearn does: that is
        faster, and makes the data look surer than they are.
    draws : int
        Expected counts are exact, but for gaps of a row that depend on each other and may hold more than a thousand
        joint levels, or fewer where there is no room for all rows (8 million in all): there as many draws stand for
        them, spread evenly, a power of two. ``data.drawn`` of the result says how many gaps that were. Exact and
        certified search go through rows: they get all completions, or so many draws where these are more than 50,000.
    starts : int, optional
        How often to start: from what PNAL learns from the rows that are complete in a family, which many gaps may lead
        astray; from the empty graph; then from gaps filled at random. Or from `start`, and then at random. The best by
        `EMResult.observed_score` is returned. 2 unless given; 1 with `start`, or where there are no gaps.
    max_steps : int
        Most steps of each start.
    **options
        As in `mapdag.learn`, for the search in each step, which begins with the graph of the last: hill climbing unless
        ``search`` says otherwise. ``time_limit`` and Ctrl-C are about the whole.

    Returns
    -------
    EMResult

    Examples
    --------
    >>> import mapdag as md
    >>> rows = md.network("asia").sample(500, seed=1).to_pandas()
    >>> rows.loc[::3, "lung"] = None
    >>> found = md.structural_em(rows, "BDeu(1)", missing="keep", levels=dict(md.network("asia").levels))
    >>> found.converged, found.network.dag == found.dag
    (True, True)
    """
    reading, searching = split_options(options)
    if not is_one_of(impute, ("soft", "hard")):
        raise ParameterError(f"impute must be 'soft' or 'hard', got {brief(impute)}")
    draws = check_whole("draws", draws, least=1)
    starts = None if starts is None else check_whole("starts", starts, least=1)
    max_steps = check_whole("max_steps", max_steps, least=1)
    if draws & (draws - 1):
        raise ParameterError(f"draws must be a power of two, got {draws}")
    goal = parse(objective)
    plan = em_plan(**searching)
    table = as_dataset(data, **with_gaps(data, reading))
    plan.check(table.names, [goal])
    return learn_by_em(plan, table, goal, impute=impute, draws=draws, starts=starts, max_steps=max_steps)


def em_plan(**options: Any) -> Plan:
    """Check the options of the search in each step, hill climbing unless they say otherwise."""
    engine = options.pop("engine", None)
    if engine is not None and not is_one_of(engine, ("cores",)):
        raise ParameterError(
            'engine must be "cores" in structural EM: what rows are expected to hold is counted in memory'
        )
    return Plan.make(**{"search": "hc", **options})


def learn_by_em(
    plan: Plan,
    table: Dataset,
    goal: Objective,
    *,
    impute: str = "soft",
    draws: int = DRAWS,
    starts: int | None = None,
    max_steps: int = STEPS,
) -> EMResult:
    """Do as `structural_em` does, by a plan, options and constraints being checked."""
    if isinstance(table, ScannedDataset):
        raise DataError(
            "structural EM needs all rows in memory, and those of a scanned table are in files: pass data.to_dataset() "
            "if they fit, or data.sample(n); or learn under PNAL, which goes by counts"
        )
    if goal.likelihood.whole_counts and impute == "soft":
        raise DataError(
            f"{goal.likelihood} is defined for whole counts, but completions by their probabilities are fractions of "
            "rows: pass impute='hard' to mapdag.structural_em, or take another score"
        )
    arranged, alike = plan.arrange(table)
    run = _Run(arranged, goal, replace(plan, order="columns"), impute, draws, max_steps)
    found = run.best(starts or (2 if table.has_gaps and plan.options.start is None else 1))
    dag, network = found.dag.reordered(table.names), found.network.reordered(table.names)
    completed = found.data.select(table.names)
    return replace(found, dag=dag, network=network, data=completed, incomplete=table, alike=alike)


def _alpha_of(objective: Objective) -> float:
    return float(getattr(objective.likelihood, "alpha", 1.0))


def _clock() -> float:
    """Return the time, which stands still while kernels are compiled."""
    return time.perf_counter() - compiling.seconds()


@dataclass
class _Path:
    """Where one start has come so far."""

    dag: DAG
    met: set[frozenset[tuple[str, str]]]  # graphs that were there before
    objective: Objective  # with all values, chosen anew in each step where they are left to the data
    start: BayesianNetwork | None = None  # probabilities to start the next fit from
    learned: Result | None = None  # by the last search
    moves: list[Move] = field(default_factory=list)  # that led to the graph
    steps: list[EMStep] = field(default_factory=list)
    families: int = 0
    best: EMResult | None = None


class _Judged(NamedTuple):
    """A graph, and what is to be said for it."""

    dag: DAG
    objective: Objective  # under which it is judged
    learned: Hyperparameters | None  # its values
    fitted: EM
    rows: Dataset  # as it completes them
    score: Score  # on these
    known: float  # the score of what is known
    moves: tuple[Move, ...]  # that led to it


@dataclass
class _Run:
    """What all starts share."""

    data: Dataset
    objective: Objective
    plan: Plan
    impute: str
    draws: int
    max_steps: int
    began: float = field(default_factory=_clock)
    stopped: Stopped = "converged"

    def best(self, starts: int) -> EMResult:
        """Start as often as asked for, and return the best result."""
        found: EMResult | None = None
        for number in range(starts):
            try:
                each = self.once(self._first(number))
            except KeyboardInterrupt:
                if found is None or not self.plan.options.catch_interrupt:
                    raise
                return replace(found, stopped="interrupted", seconds=_clock() - self.began)
            if found is None or each.observed_score > found.observed_score:
                found = each
            if self.stopped in _CUT_SHORT:
                break
        assert found is not None
        return found

    def _first(self, number: int) -> DAG:
        """Return the graph to start from."""
        from mapdag.graphs import DAG

        start = self.plan.options.start
        if number == 0:
            if start is not None:
                return start.reordered(self.data.names)
            try:
                return self._learn(self.data, self.objective.prior + PNAL(), None).dag
            except GraphError:  # required arcs between columns that no row has together
                return self._plainest()
        if number == 1 and start is None:
            return self._plainest()
        alone = fit_em(DAG(self.data.names), self.data, max_iter=1).network
        drawn = drawn_completion(alone, self.data, self.plan.options.seed + number, self._threads)
        return self._learn(drawn, self.objective, None).dag

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
        return None if limit is None else max(limit - (_clock() - self.began), 1e-3)

    def _learn(self, rows: Dataset, objective: Objective, start: DAG | None) -> Result:
        options = {"start": start if start is not None else self.plan.options.start, "time_limit": self._left()}
        (found,) = self.plan.changed(**options).run(rows, [objective], checked=True)
        if found.stopped in _CUT_SHORT:
            self.stopped = found.stopped
        return found

    def _completed(self, network: BayesianNetwork) -> Dataset:
        if self.impute == "hard":
            return best_completion(network, self.data, self._threads)
        how = self.draws, self.plan.options.seed, self._threads
        if self.plan.search in _BY_ROWS:
            return completions(network, self.data, *how)
        recipe = self._usual.likelihood.recipe(self.data.total, self.data.n_columns)
        by_observed = recipe is not None and recipe.kind == "observed"
        return expected_rows(network, self.data, *how, least=_OBSERVED if by_observed else 0.0)

    def _fitted(self, dag: DAG, alpha: float, start: BayesianNetwork | None) -> EM:
        limits: dict[str, Any] = {"max_iter": _EM_STEPS, "tolerance": _EM_TOLERANCE, "threads": self._threads}
        return fit_em(dag, self.data, alpha=alpha, start=start, **limits)

    def once(self, dag: DAG) -> EMResult:
        """Go from graph to graph until it stays the same, or has been there before."""
        path, ended = _Path(dag, {frozenset(dag.arcs)}, self._usual), "max_iter"
        try:
            for _ in range(self.max_steps):
                if self._step(path):
                    ended = "converged"
                    break
                if self.stopped in _CUT_SHORT:
                    break
            else:  # the last graph that was learned may be the best
                self._keep(path, self._judged(path), bound=None)
        except KeyboardInterrupt:
            if path.best is None or not self.plan.options.catch_interrupt:
                raise
            self.stopped = "interrupted"
        assert path.best is not None
        why: Stopped = self.stopped if self.stopped in _CUT_SHORT else ended  # type: ignore[assignment]
        return replace(path.best, stopped=why, seconds=_clock() - self.began, steps=tuple(path.steps))

    def _step(self, path: _Path) -> bool:
        """Judge the graph so far, learn the next one from the rows as it completes them; tells whether that is all."""
        here = self._judged(path)
        learned = path.learned = self._learn(here.rows, here.objective, path.dag)
        path.families += learned.families
        before = float(here.score)
        path.steps.append(EMStep(before, learned.score, here.known, here.fitted.log_likelihood, learned.dag.n_arcs))
        self._keep(path, here, bound=learned.certificate)
        graph = frozenset(learned.dag.arcs)
        gained = learned.score > before + (_SLACK * abs(before) if math.isfinite(before) else 0.0)
        if not gained or graph in path.met or not math.isfinite(learned.score):
            return True
        path.met.add(graph)
        path.moves += learned.trace
        path.dag = learned.dag
        path.objective = here.objective
        path.start = fit(path.dag, here.rows, alpha=_alpha_of(here.objective))
        return False

    def _judged(self, path: _Path) -> _Judged:
        """Fit the graph so far, and score it by the rows as it completes them, and by what is known."""
        fitted = self._fitted(path.dag, _alpha_of(path.objective), path.start)
        rows = self._completed(fitted.network)
        learned, objective, joint = None, self.objective, 0.0
        if objective.is_auto:
            learned = find_hyperparameters(path.dag, rows, objective, threads=self._threads)
            objective, joint = learned.objective, learned.log_hyperprior
        value = score(path.dag, rows, objective, **self.plan.options.constraints.options)
        known = float(value) + joint - fitted.network.log_likelihood(rows) + fitted.log_likelihood
        return _Judged(path.dag, objective, learned, fitted, rows, value, known, tuple(path.moves))

    def _keep(self, path: _Path, here: _Judged, *, bound: Certificate | None) -> None:
        """Remember a graph if it is the best so far by what is known; `bound` is about the rows that it completes."""
        assert path.learned is not None
        if path.best is None or here.known > path.best.observed_score:
            judged: dict[str, Any] = {"dag": here.dag, "objective": here.objective, "learned": here.learned}
            rules = make_rules(self.plan.options.constraints, here.objective.prior, self.data.names)
            judged["knowledge"] = known_directions(here.dag, rules)
            judged["certificate"] = bound and replace(bound, score=float(here.score))
            as_found = replace(path.learned, **judged, trace=here.moves, families=path.families)
            path.best = self._result(as_found, here.score, here.fitted.network, here.rows, here.known)

    def _result(self, learned: Result, value: Any, network: BayesianNetwork, rows: Dataset, known: float) -> EMResult:
        """Make the result of a graph and the rows that it completes."""
        given = {each.name: getattr(learned, each.name) for each in fields(Result)}
        given |= {"log_prior": value.log_prior, "log_likelihood": value.log_likelihood, "data": rows}
        return EMResult(**given, network=network, incomplete=self.data, steps=(), observed_score=known)
