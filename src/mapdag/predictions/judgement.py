"""How good predictions are: probabilities of levels beside what turned out to be the case.

Figures follow the usual definitions, those of scikit-learn where it has them. Nothing is clipped; rows that cannot be
judged are left out of all figures, and counted beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mapdag.checks import check_whole
from mapdag.data.columns import from_any
from mapdag.data.labels import label_list, ordered
from mapdag.data.levels import ReadOptions, meanings_of
from mapdag.data.problems import listed, rows_text
from mapdag.errors import DataError, ParameterError, Setting
from mapdag.predictions.curves import ROC, Calibration, aligned, html, mean

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_TIE = 1e-12  # relative: as in `BayesianNetwork.predict`, levels that differ by rounding only are equally probable
_SUM = 1e-6  # how far from one the probabilities of a row may add up
_SHOWN = 20


@dataclass(frozen=True, eq=False)
class Metrics:
    """Predicted probabilities of the levels of a variable beside its actual levels, and how good they are.

    Rows without a prediction (the evidence is impossible under the network: NaN) or without an actual level are left
    out of all figures; `impossible` and `unknown` say how many there are.

    Attributes
    ----------
    levels : tuple of str
    actual : array (rows,)
        Codes of the actual levels; -1 where unknown.
    probabilities : array (rows, levels)
        Those of the levels; rows without a prediction are NaN.
    weights : array (rows,)
        What each row counts for.
    """

    levels: tuple[str, ...]
    actual: NDArray[np.intp] = field(repr=False)
    probabilities: Floats = field(repr=False)
    weights: Floats = field(repr=False)

    @classmethod
    def pooled(cls, parts: Sequence[Metrics]) -> Metrics:
        """Put the rows of several together, as of the folds of a cross-validation."""
        return cls(
            parts[0].levels,
            np.concatenate([part.actual for part in parts]),
            np.concatenate([part.probabilities for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )

    # Which rows count ------------------------------------------------------------------------------------------

    @property
    def unknown(self) -> float:
        """Rows without an actual level, or the sum of their weights."""
        return float(self.weights[self.actual < 0].sum())

    @property
    def impossible(self) -> float:
        """Rows with an actual level but without a prediction, or the sum of their weights."""
        return float(self.weights[np.isnan(self.probabilities[:, 0]) & (self.actual >= 0)].sum())

    @property
    def rows(self) -> float:
        """Rows that the figures are about, or the sum of their weights."""
        return float(self._judged[2].sum())

    @cached_property
    def _judged(self) -> tuple[NDArray[np.intp], Floats, Floats]:
        """Actual levels, probabilities and weights of the rows that can be judged."""
        keep = (self.actual >= 0) & ~np.isnan(self.probabilities[:, 0]) & (self.weights > 0)
        return self.actual[keep], self.probabilities[keep], self.weights[keep]

    @cached_property
    def _predicted(self) -> NDArray[np.intp]:
        """The most probable level of every row that can be judged; of equals, the first."""
        probabilities = self._judged[1]
        best = probabilities.max(axis=1, keepdims=True, initial=0.0)
        return np.argmax(probabilities >= best * (1 - _TIE), axis=1)

    # Figures ---------------------------------------------------------------------------------------------------

    @cached_property
    def confusion(self) -> Floats:
        """Rows by actual level (first axis) and predicted level (second axis)."""
        actual, _, weights = self._judged
        size = len(self.levels)
        return np.bincount(actual * size + self._predicted, weights, size * size).reshape(size, size)

    @property
    def accuracy(self) -> float:
        """Share of the rows whose most probable level is the actual one."""
        actual, _, weights = self._judged
        return mean(self._predicted == actual, weights)

    @property
    def balanced_accuracy(self) -> float:
        """Mean over the actual levels of the share that is predicted right; levels that no row has are left out."""
        return mean(self._recall[self._totals > 0])

    @property
    def log_loss(self) -> float:
        """Mean of minus the log of the probability of the actual level; infinite if one was held impossible."""
        actual, probabilities, weights = self._judged
        with np.errstate(divide="ignore"):
            return mean(-np.log(probabilities[np.arange(len(actual)), actual]), weights)

    @property
    def brier(self) -> float:
        """Mean squared distance of the probabilities to 0 or 1: the sum over levels, halved where there are two."""
        actual, probabilities, weights = self._judged
        gaps = probabilities - (actual[:, np.newaxis] == np.arange(len(self.levels)))
        return mean((gaps**2).sum(axis=1), weights) / (2 if len(self.levels) == 2 else 1)

    @property
    def auc(self) -> float:
        """Area under the ROC curve; of more than two levels, the mean over each against the others.

        Levels that no row has, or all rows have, are left out of the mean.
        """
        areas = self._areas
        return mean(areas[~np.isnan(areas)])

    @property
    def ece(self) -> float:
        """Expected calibration error of what is predicted, in ten bins."""
        return self.calibration().error

    @property
    def guess(self) -> tuple[float, float]:
        """Accuracy and log loss of always giving the shares of the levels among these rows: what to improve on."""
        share = self._totals / max(self._totals.sum(), np.finfo(float).tiny)
        if not share.any():
            return np.nan, np.nan
        return float(share.max()), float(-(share[share > 0] * np.log(share[share > 0])).sum())

    def roc(self, level: Any = None) -> ROC:
        """Return the ROC curve of a level against all others; of the last level unless given."""
        code = self._code(self.levels[-1] if level is None else level)
        actual, probabilities, weights = self._judged
        order = np.argsort(-probabilities[:, code], kind="stable")
        scores, hit = probabilities[order, code], actual[order] == code
        last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1) if len(scores) else np.empty(0, np.intp)
        caught, alarms = (np.concatenate([[0.0], np.cumsum(weights[order] * side)[last]]) for side in (hit, ~hit))
        with np.errstate(invalid="ignore"):  # 0 / 0, that is NaN, where there is nothing to catch, or nothing else
            thresholds = np.concatenate([[np.inf], scores[last]])
            return ROC(self.levels[code], alarms / alarms[-1], caught / caught[-1], thresholds)

    def calibration(self, level: Any = None, *, bins: int = 10) -> Calibration:
        """Return the reliability table of the probability of a level, or of whatever is predicted unless given."""
        bins = check_whole("bins", bins, least=1)
        actual, probabilities, weights = self._judged
        if level is None:
            said, happened = probabilities.max(axis=1, initial=0.0), self._predicted == actual
        else:
            code = self._code(level)
            said, happened = probabilities[:, code], actual == code
        edges = np.linspace(0.0, 1.0, bins + 1)
        where = np.searchsorted(edges[1:-1], said)
        rows, predicted, observed = (
            np.bincount(where, weights * values, bins).astype(float) for values in (np.ones(len(said)), said, happened)
        )
        with np.errstate(invalid="ignore"):
            name = None if level is None else self.levels[code]
            return Calibration(name, edges, rows, predicted / rows, observed / rows)

    # As a table ------------------------------------------------------------------------------------------------

    def summary(self) -> dict[str, float]:
        """Return the figures by name."""
        names = ("rows", "impossible", "unknown", "accuracy", "balanced_accuracy", "log_loss", "brier", "auc", "ece")
        accuracy, log_loss = self.guess
        return {**{name: getattr(self, name) for name in names}, "guess_accuracy": accuracy, "guess_log_loss": log_loss}

    def to_pandas(self, what: Literal["summary", "levels", "confusion"] = "summary") -> Any:
        """Return a pandas DataFrame: the figures in one row, those of every level, or the confusion matrix."""
        import pandas as pd

        if what == "summary":
            return pd.DataFrame([self.summary()])
        if what == "levels":
            return pd.DataFrame(self._by_level, index=pd.Index(self.levels, name="level"))
        if what == "confusion":
            rows, columns = (pd.Index(self.levels, name=name) for name in ("actual", "predicted"))
            return pd.DataFrame(self.confusion, index=rows, columns=columns)
        raise ParameterError(f'what must be "summary", "levels" or "confusion", got {what!r}')

    def __str__(self) -> str:
        accuracy, log_loss = self.guess
        lines = [
            f"{self.rows:,g} rows, {len(self.levels)} levels",
            f"accuracy           {self.accuracy:8.4f}  ({accuracy:.4f} by always saying the most frequent level)",
            f"balanced accuracy  {self.balanced_accuracy:8.4f}",
            f"log loss           {self.log_loss:8.4f}  ({log_loss:.4f} by the shares of the levels alone)",
            f"Brier score        {self.brier:8.4f}",
            f"AUC                {self.auc:8.4f}",
            f"calibration error  {self.ece:8.4f}",
        ]
        if self.impossible:
            lines.insert(
                1, f"not predicted: {self.impossible:,g} more, impossible under the network whatever the level"
            )
        if self.unknown:
            lines.insert(1, f"not judged: {self.unknown:,g} more, whose actual level is not known")
        table = self._by_level
        cells = [["level", *table]]
        for i, level in enumerate(self.levels[:_SHOWN]):
            counts = [f"{table[name][i]:,g}" for name in ("rows", "predicted")]
            cells.append([level, *counts, *(f"{table[name][i]:.4f}" for name in ("precision", "recall", "auc"))])
        more = len(self.levels) - _SHOWN
        return "\n".join([*lines, aligned(cells), *([f"... and {more:,} more levels"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        return html(self)

    @property
    def _totals(self) -> Floats:
        totals: Floats = self.confusion.sum(axis=1)
        return totals

    @property
    def _recall(self) -> Floats:
        with np.errstate(invalid="ignore"):
            recall: Floats = np.diag(self.confusion) / self._totals
        return recall

    @cached_property
    def _areas(self) -> Floats:
        """The area under the curve of every level."""
        return np.array([self.roc(level).auc for level in self.levels])

    @property
    def _by_level(self) -> dict[str, Floats]:
        predicted = self.confusion.sum(axis=0)
        with np.errstate(invalid="ignore"):
            precision = np.diag(self.confusion) / predicted
        figures = (self._totals, predicted, precision, self._recall, self._areas)
        return dict(zip(("rows", "predicted", "precision", "recall", "auc"), figures, strict=True))

    def _code(self, level: Any) -> int:
        (code,) = _codes_of([level], self.levels, "level")
        return int(code)


def metrics(
    actual: ArrayLike,
    probabilities: ArrayLike,
    *,
    levels: Sequence[Any] | None = None,
    weights: ArrayLike | None = None,
) -> Metrics:
    """Judge predicted probabilities by what turned out to be the case.

    Parameters
    ----------
    actual : sequence
        The actual levels: text, numbers or booleans, in a list, an array or a Series. Missing ones are not judged.
    probabilities : array (rows, levels)
        As `BayesianNetwork.predict_proba` and scikit-learn's classifiers give them; of two levels, those of the second
        will do. Rows that are NaN throughout have no prediction.
    levels : sequence, optional
        The levels in the order of the columns; the distinct actual ones in order unless given.
    weights : array (rows,), optional
        How many observations each row stands for.

    Returns
    -------
    Metrics

    Examples
    --------
    >>> import mapdag as md
    >>> asia = md.network("asia")
    >>> rows = asia.sample(1000, seed=1)
    >>> found = md.metrics(rows.to_polars()["dysp"], asia.predict_proba(rows, "dysp"), levels=asia.levels["dysp"])
    >>> print(found)
    1,000 rows, 2 levels
    accuracy             0.8690  (0.5850 by always saying the most frequent level)
    balanced accuracy    0.8751
    log loss             0.3711  (0.6786 by the shares of the levels alone)
    Brier score          0.1097
    AUC                  0.8803
    calibration error    0.0152
    level  rows  predicted  precision  recall     auc
    yes     415        472     0.8008  0.9108  0.8803
    no      585        528     0.9299  0.8393  0.8803
    >>> found.confusion
    array([[378.,  37.],
           [ 94., 491.]])
    """
    table = np.asarray(probabilities, dtype=np.float64)
    if table.ndim == 1:
        table = np.column_stack([1 - table, table])
    if table.ndim != 2:
        raise ParameterError(f"probabilities must have a row for each prediction, got shape {table.shape}")
    column = from_any("actual", actual)
    if levels is None:
        distinct = [label for label in meanings_of(column, ReadOptions(), None) if label is not None]
        levels = ordered(distinct)
    names = label_list(levels, "actual")
    if len(names) != table.shape[1]:
        raise ParameterError(
            f"probabilities must have one column for each of {len(names)} levels ({listed(names, 5)}), got "
            f"{table.shape[1]}: name the levels in their order by ",
            Setting("levels", ["..."]),
        )
    if len(column.index) != len(table):
        raise ParameterError(
            f"probabilities must have as many rows as actual ({len(column.index):,}), got {len(table):,}"
        )
    _check_probabilities(table)
    return Metrics(names, _codes_of(actual, names, "actual"), table, _checked_weights(weights, len(table)))


def _codes_of(values: Any, levels: tuple[str, ...], what: str) -> NDArray[np.intp]:
    """Return the codes of values that are levels; -1 where they are missing."""
    column = from_any(what, values)
    code_of: dict[str | None, int] = {None: -1, **{label: code for code, label in enumerate(levels)}}
    meanings = meanings_of(column, ReadOptions(declared={what: levels}), levels)
    unknown = [label for label in meanings if label not in code_of]
    if unknown or (what == "level" and meanings == [None]):
        raise DataError(f"{what} has the value {(unknown or [values[0]])[0]!r}, but the levels are {listed(levels)}")
    return np.array([code_of[label] for label in meanings], dtype=np.intp)[column.index]


def _check_probabilities(table: Floats) -> None:
    """Probabilities are between 0 and 1 and add up to 1, in rows that are not NaN throughout."""
    given = ~np.isnan(table).all(axis=1)
    with np.errstate(invalid="ignore"):
        wrong = given & ~((table >= 0).all(axis=1) & (np.abs(table.sum(axis=1) - 1) <= _SUM))
    if wrong.any():
        raise ParameterError(
            f"probabilities must be between 0 and 1 and add up to 1 (or be NaN throughout), which {rows_text(wrong)} "
            f"does not: {table[wrong][0].tolist()}"
        )


def _checked_weights(weights: ArrayLike | None, n_rows: int) -> Floats:
    if weights is None:
        return np.ones(n_rows)
    found = np.asarray(weights, dtype=np.float64)
    if found.shape != (n_rows,) or not np.isfinite(found).all() or (found < 0).any():
        raise ParameterError(f"weights must be {n_rows:,} numbers of at least 0, one per row, got {weights!r}")
    return found
