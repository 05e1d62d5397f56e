"""Which objective to choose where no truth is known: cross-validation by held-out log-likelihood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.checks import check_whole
from mapdag.data import Cuts, Dataset, as_dataset, split_options
from mapdag.data.preparation import prepare
from mapdag.errors import ParameterError, Setting
from mapdag.networks import fit
from mapdag.notices import unsaid
from mapdag.objective import DEFAULT, Goal, parse_all
from mapdag.predictions import Metrics, evaluate
from mapdag.progress import OnCount, shown
from mapdag.public import public
from mapdag.search import Plan, SearchOptions
from mapdag.tables import Column, Table, Tabular

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from mapdag.contracts import Objective

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
    alpha: float = 1.0,
    threads: int | None = None,
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
    alpha : float
        Imaginary sample size of the parameters' estimates.
    threads : int, optional
        As in `learn`.
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
    check_whole("folds", folds, least=2)
    reading, searching = split_options(options)
    plan = Plan.make(**searching, seed=seed, threads=threads, catch_interrupt=False)
    scores = np.empty((len(goals), folds))
    arcs = np.empty((len(goals), folds), dtype=np.int64)
    rows = np.empty(folds)
    predictions: list[list[Metrics]] = [[] for _ in goals]
    with shown(progress, lambda bar: bar.counter("folds")) as tell:
        for held_out, (train, test) in enumerate(_parts(data, reading, target, folds, np.random.default_rng(seed))):
            rows[held_out] = test.total
            for i, result in enumerate(plan.run(train, goals)):
                network = fit(result.dag, train, alpha=alpha)
                scores[i, held_out] = network.log_likelihood(test)
                arcs[i, held_out] = result.dag.n_arcs
                if target is not None:
                    predictions[i].append(evaluate(network, test, target))
            if tell is not None:
                tell(held_out + 1, folds)
    found = () if target is None else tuple(map(tuple, predictions))
    return CrossValidation(goals, scores, arcs, rows, target, found)


def _parts(
    data: Any, reading: dict[str, Any], target: str | None, folds: int, rng: np.random.Generator
) -> Iterator[tuple[Dataset, Dataset]]:
    """Give the rest and the fold, for each fold; where cuts are to be chosen, the rest alone decides.

    But not on those of the target: what is predicted is the same in all folds.
    """
    chosen_anew = not isinstance(data, Dataset) and reading.get("discretize") is not None
    prepared = prepare(data, **reading) if chosen_anew else None
    table = as_dataset(data, **reading) if prepared is None else prepared.dataset()
    if target is not None:
        table.index(target)  # an unknown name is refused before the work begins
        if prepared is not None and target in table.cuts:
            prepared = prepared.with_cuts(Cuts({target: table.cuts[target]}))
    for rest, fold in _deal(table, folds, rng):
        if prepared is not None:
            with unsaid():  # of the whole table it was said; and rows beyond the ends are to be expected
                table = prepared.dataset(rest)
        yield _part(table, rest), _part(table, fold)


def _deal(data: Dataset, folds: int, rng: np.random.Generator) -> Iterator[tuple[Counts, Counts]]:
    """Deal the observations into folds: how much each row counts in the rest, and in the fold.

    A row that stands for several observations (whole weights) is split between folds; one with a fractional weight is
    not.
    """
    if data.weights is None or data.weights.dtype.kind == "f":
        if folds > data.n_rows:
            raise ParameterError(f"folds must not exceed the number of rows ({data.n_rows}), got {folds}")
        each = np.ones(data.n_rows, dtype=np.int64) if data.weights is None else data.weights
        fold = rng.permutation(np.arange(data.n_rows) % folds)
        for held_out in range(folds):
            yield each * (fold != held_out), each * (fold == held_out)
        return
    if folds > data.total:
        raise ParameterError(f"folds must not exceed the number of observations ({data.total}), got {folds}")
    weights = data.weights.astype(np.int64)
    left = weights.copy()
    for held_out in range(folds):
        size = (int(data.total) - held_out - 1) // folds + 1  # the first folds get one more where they are not even
        mine = rng.multivariate_hypergeometric(left, size, method="marginals")
        left -= mine
        yield weights - mine, mine


def _part(data: Dataset, counts: Counts) -> Dataset:
    """Return the rows that count, each as much as it does."""
    if data.weights is None:
        return data.take(counts > 0)
    return Dataset(data.names, data.levels, data.codes, counts, data.codings)
