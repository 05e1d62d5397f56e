"""Which objective to choose where no truth is known: cross-validation by held-out log-likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.checks import check_whole
from mapdag.data import Cuts, Dataset, as_dataset, split_options, with_gaps
from mapdag.data.interventions import refuse_interventions
from mapdag.data.preparation import prepare
from mapdag.errors import ParameterError, Setting
from mapdag.families import check_gaps
from mapdag.networks import fit
from mapdag.notices import unsaid
from mapdag.objective import DEFAULT, Goal, parse_all
from mapdag.predictions import Metrics, evaluate
from mapdag.progress import OnCount, shown
from mapdag.public import public
from mapdag.search import Plan, SearchOptions
from mapdag.search.em.search import em_plan, learn_by_em, learned_once
from mapdag.search.frame.memory import tables_that_fit
from mapdag.search.repeats import tell_repeats
from mapdag.tables import Column, Table, Tabular
from mapdag.tasks import run_tasks
from mapdag.wording import brief

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from mapdag.contracts import Objective
    from mapdag.data.preparation import Prepared
    from mapdag.search import Result
    from mapdag.tasks import Lane

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True)
class CrossValidation(Tabular):
    """Held-out log-likelihood of several objectives, fold by fold.

    Attributes
    ----------
    objectives : tuple of Objective
    log_likelihood : array (objectives, folds)
        Log-likelihood of the held-out rows.
    n_arcs : array (objectives, folds)
        Arcs of the graphs learned from the other rows.
    rows : array (folds,)
        Held-out rows, or the sum of their weights.
    target : str, optional
        The column whose levels were predicted from all others.
    predictions : tuple (objectives) of tuples (folds) of Metrics
        How well, in the held-out rows; empty without a target.
    """

    objectives: tuple[Objective, ...]
    log_likelihood: Floats = field(repr=False)
    n_arcs: NDArray[np.int64] = field(repr=False)
    rows: Floats = field(repr=False)
    target: str | None = None
    predictions: tuple[tuple[Metrics, ...], ...] = field(default=(), repr=False)

    @property
    def per_row(self) -> Floats:
        """Held-out log-likelihood per row of each objective, over all folds."""
        mean: Floats = self.log_likelihood.sum(axis=1) / self.rows.sum()
        return mean

    @property
    def best(self) -> Objective:
        """Objective with the highest held-out log-likelihood; the first of equals."""
        return self.objectives[int(np.argmax(self.per_row))]

    @property
    def metrics(self) -> tuple[Metrics, ...]:
        """How well each objective predicts the target, over all folds."""
        if self.target is None:
            raise ParameterError("there are predictions of a target only: pass ", Setting("target", "..."))
        return tuple(Metrics.pooled(folds) for folds in self.predictions)

    def differences(self, to: int = 0) -> tuple[Floats, Floats]:
        """Paired differences per row to one of the objectives: their means over folds and standard errors."""
        gaps = (self.log_likelihood - self.log_likelihood[to]) / self.rows
        errors = gaps.std(axis=1, ddof=1) / np.sqrt(gaps.shape[1])
        return gaps.mean(axis=1), errors

    def to_table(self, most: int | None = None) -> Table:
        """Return a row for each objective, in their order: how well it predicts, and how far it is from the best."""
        best = int(np.argmax(self.per_row))
        means, errors = self.differences(best)
        errors[best] = np.nan
        chosen = slice(most)
        columns = [
            Column("objective", [str(each) for each in self.objectives[chosen]]),
            Column("log_likelihood_per_row", self.per_row[chosen], ".5f", right=True, head="log-lik/row"),
            Column("difference_to_best", means[chosen], _gap, right=True, head="to the best"),
            Column("standard_error", errors[chosen], _error, right=True, head="s.e."),
            Column("arcs", self.n_arcs.mean(axis=1)[chosen], ".1f", right=True),
        ]
        if self.target is not None:
            found = self.metrics[chosen]
            columns += [
                Column(name, np.array([getattr(each, name) for each in found]), ".4f", right=True, head=head)
                for name, head in _FIGURES.items()
            ]
        title = "" if self.target is None else f"with predictions of {self.target!r} from all other columns"
        return Table(columns, title, left=len(self.objectives) - len(self.objectives[chosen]))


#: Columns about the target.
_FIGURES = {"accuracy": "accuracy", "log_loss": "log loss", "brier": "Brier", "auc": "AUC", "ece": "ECE"}


def _gap(difference: float) -> str:
    return f"{difference:+.5f}" if difference else "best"


def _error(error: float) -> str:
    return "" if np.isnan(error) else f"{error:.5f}"


@public(SearchOptions)
def cross_validate(
    data: Any,
    objectives: Goal | Sequence[Goal] = DEFAULT,
    *,
    target: str | None = None,
    folds: int = 10,
    seed: int = 0,
    alpha: float | None = None,
    em: bool = False,
    relearn: bool = True,
    threads: int | None = None,
    cluster: Any = None,
    progress: OnCount | bool | None = None,
    **options: Unpack[SearchOptions],
) -> CrossValidation:
    """Compare objectives by the log-likelihood of rows that the network was not learned from.

    Parameters
    ----------
    data : Dataset, or anything that `mapdag.read` takes
    objectives : Objective, Likelihood or str, or a sequence of them
        All are tried on the same folds, and share one count of each family; that of `learn` unless given.
    target : str, optional
        A column to predict from all others in the held-out rows: accuracy, log loss, calibration and so on are then
        told, too.
    folds : int
        Parts that the rows are dealt into at random; each is held out once.
    seed : int
    alpha : float, optional
        Imaginary sample size of the parameters' estimates; unless given that of `Result.fit`.
    em : bool
        Learn by structural EM, for data with gaps. Held-out rows are judged by what is known of them in any case.
    relearn : bool
        Whether "auto" values of alpha, and of c or beta, are learned in each fold, from the rows that are not held
        out; otherwise they are learned once, from the whole table, held-out rows included.
    threads : int, optional
        As many as there are cores unless given. Folds are done side by side; where there are fewer, they share them.
    cluster : optional
        Where to do it instead, as in `bootstrap`.
    progress : bool or callable
        True shows a bar; a function is called with the number of folds done and all of them.
    **options
        As in `learn`. Where ``discretize`` chooses the cuts of continuous columns, it does so in each fold, from the
        rows that are not held out; the held-out ones are cut in the same places, those beyond the ends going to the
        end intervals. (A `Dataset` has been cut already, by all rows.) Levels of the other columns, and of the target,
        are those of the whole table.

    Examples
    --------
    >>> import mapdag as md
    >>> data = md.network("asia").sample(500, seed=1)
    >>> md.cross_validate(data, ["BDeu(1)", "LogLik"], folds=5, max_parents=3).best
    U+BDeu(alpha=1)
    >>> round(md.cross_validate(data, ["BDeu(1)"], target="dysp", folds=5).metrics[0].accuracy, 3)
    0.858
    """
    goals, _ = parse_all(objectives)
    folds = check_whole("folds", folds, least=2)
    reading, searching = split_options(options)
    if em:
        reading = with_gaps(data, reading)
    plan = (em_plan if em else Plan.make)(**searching, seed=seed, threads=threads, catch_interrupt=False)
    found: list[list[_Held]] = [[]] * folds  # by fold, one for each objective
    with shown(progress, lambda bar: bar.counter("folds")) as tell:
        rng = np.random.default_rng(plan.options.seed)
        job = _job(data, reading, target, _Learning(goals, plan, (alpha,) * len(goals), em), rng, folds)
        plan.check(job.table.names, goals)
        for goal in goals if not em else ():
            check_gaps(job.table, goal.likelihood, Setting("em", True))
        if not relearn:
            job = replace(job, learning=job.learning.once(job.table))
            goals = job.learning.goals
        most = tables_that_fit(job.table)
        tasks = run_tasks(job, folds, what="fold", threads=threads, most=most, cluster=cluster)
        with closing(tasks) as held:
            for done, (number, each) in enumerate(held, 1):
                found[number] = each
                if tell is not None:
                    tell(done, folds)
    by_goal = [[fold[i] for fold in found] for i in range(len(goals))]
    return CrossValidation(
        goals,
        np.array([[each.log_likelihood for each in row] for row in by_goal]),
        np.array([[each.n_arcs for each in row] for row in by_goal], dtype=np.int64),
        np.array([each.rows for each in by_goal[0]]),
        target,
        () if target is None else tuple(tuple(each.metrics for each in row if each.metrics) for row in by_goal),
    )


@dataclass(frozen=True)
class _Held:
    """What one objective makes of the rows of a fold."""

    log_likelihood: float
    n_arcs: int
    rows: float
    metrics: Metrics | None


@dataclass(frozen=True)
class _Learning:
    """How to learn from a part of the rows."""

    goals: tuple[Objective, ...]
    plan: Plan
    alphas: tuple[float | None, ...]  # of the estimates of probabilities, by objective
    em: bool

    def once(self, table: Dataset) -> _Learning:
        """Return the same with the values that a table gives where they are "auto"."""
        goals = tuple(learned_once(self.plan, table, goal, em=self.em) for goal in self.goals)
        alphas = tuple(
            getattr(after.likelihood, "alpha", None) if alpha is None and before.likelihood.is_auto else alpha
            for alpha, before, after in zip(self.alphas, self.goals, goals, strict=True)
        )
        return replace(self, goals=goals, alphas=alphas)

    def results(self, rows: Dataset, lane: Lane) -> Sequence[Result]:
        """Learn from some rows under each objective."""
        plan = self.plan.changed(threads=lane.threads, cancel=lane.cancel)
        if self.em:
            return [learn_by_em(plan, rows, goal) for goal in self.goals]
        return plan.run(rows, self.goals, checked=True)


@dataclass(frozen=True)
class _Folds:
    """What all folds share.

    Attributes
    ----------
    table : Dataset
    prepared : Prepared, optional
        The table before it is cut, where the rest of each fold is to decide on the cuts.
    dealt : int64 array (rows,) or (folds, rows)
        The fold of each row; or how much of it goes to each fold.
    """

    table: Dataset
    prepared: Prepared | None
    dealt: NDArray[np.int64]
    target: str | None
    learning: _Learning

    def do(self, number: int, lane: Lane) -> list[_Held]:
        """Learn from all rows but those of a fold, and look at these."""
        learning = self.learning
        train, test = self._parts(number)
        found = []
        for result, alpha in zip(learning.results(train, lane), learning.alphas, strict=True):
            network = fit(result.dag, train, alpha=result.fit_alpha if alpha is None else alpha)
            metrics = None if self.target is None else evaluate(network, test, self.target)
            found.append(_Held(network.log_likelihood(test), result.dag.n_arcs, test.total, metrics))
        return found

    def _parts(self, number: int) -> tuple[Dataset, Dataset]:
        """Give the rest and the fold."""
        table, dealt = self.table, self.dealt
        each = np.ones(table.n_rows, dtype=np.int64) if table.weights is None else table.weights
        mine = each * (dealt == number) if dealt.ndim == 1 else dealt[number]
        rest = each - mine
        if self.prepared is not None:
            with unsaid():  # of the whole table it was said; and rows beyond the ends are to be expected
                table = self.prepared.dataset(rest)
        return _part(table, rest), _part(table, mine)


def _job(
    data: Any, reading: dict[str, Any], target: str | None, learning: _Learning, rng: np.random.Generator, folds: int
) -> _Folds:
    """Read the table and deal its rows; where cuts are to be chosen, each rest alone will decide.

    But not on those of the target: what is predicted is the same in all folds.
    """
    if target is not None and not isinstance(target, str):
        raise ParameterError(f"target must be the name of a column, got {brief(target)}")
    chosen_anew = not isinstance(data, Dataset) and reading.get("discretize") is not None
    prepared = prepare(data, **reading) if chosen_anew else None
    table = as_dataset(data, **reading) if prepared is None else prepared.dataset()
    if prepared is None:
        tell_repeats(table)
    if target is not None:
        refuse_interventions(table, "a cross-validation of predictions")
        table.index(target)  # an unknown name is refused before the work begins
        if prepared is not None and target in table.cuts:
            prepared = prepared.with_cuts(Cuts({target: table.cuts[target]}))
    return _Folds(table, prepared, _deal(table, folds, rng), target, learning)


def _deal(data: Dataset, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Deal the observations into folds: the fold of each row, or how much of it goes to each fold.

    A row that stands for several observations (whole weights) is split between folds; one with a fractional weight is
    not. Rows of one group go to the same fold. Otherwise, each experiment is dealt evenly.
    """
    first = 0
    if data.groups is not None:
        which, number = np.unique(data.groups, return_inverse=True)
        if folds > len(which):
            raise ParameterError(f"folds must not exceed the number of groups ({len(which):,}), got {folds}")
        by_group: NDArray[np.int64] = rng.permutation(np.arange(len(which)) % folds)
        return by_group[number.reshape(-1)]
    if data.weights is None or data.weights.dtype.kind == "f":
        if folds > data.n_rows:
            raise ParameterError(f"folds must not exceed the number of rows ({data.n_rows}), got {folds}")
        dealt = np.empty(data.n_rows, dtype=np.int64)
        for rows in data.experiments():
            dealt[rows] = rng.permutation((first + np.arange(len(rows))) % folds)
            first += len(rows)
        return dealt
    if folds > data.total:
        raise ParameterError(f"folds must not exceed the number of observations ({data.total}), got {folds}")
    dealt = np.empty((folds, data.n_rows), dtype=np.int64)
    for rows in data.experiments():
        left = data.weights[rows].astype(np.int64)
        total = int(left.sum())
        for fold in range(folds):
            size = total // folds + ((fold - first) % folds < total % folds)  # some get one more where it is not even
            dealt[fold, rows] = drawn = rng.multivariate_hypergeometric(left, size, method="marginals")
            left -= drawn
        first += total
    return dealt


def _part(data: Dataset, counts: Counts) -> Dataset:
    """Return the rows that count, each as much as it does."""
    if data.weights is None:
        return data.take(counts > 0)
    return replace(data, weights=counts)
