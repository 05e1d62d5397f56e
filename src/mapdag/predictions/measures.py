"""`Metrics`: predicted probabilities beside what turned out to be the case, and how good they are.

Figures follow the usual definitions, those of scikit-learn where it has them. Nothing is clipped; rows that cannot be
judged are left out of all figures, and counted beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.checks import check_whole
from mapdag.data.columns import from_any
from mapdag.data.meanings import MISSING_CODE, NO_LEVEL, codes_by_position
from mapdag.data.problems import listed
from mapdag.errors import DataError, ParameterError
from mapdag.networks.propagation import first_best
from mapdag.predictions.curves import ROC, Calibration, mean
from mapdag.tables import SHOWN, Column, Table, Tabular

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.columns import Column as Values

    Floats = NDArray[np.float64]

_FIGURES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log loss",
    "brier": "Brier score",
    "auc": "AUC",
    "ece": "calibration error",
}


@dataclass(frozen=True, eq=False)
class Metrics(Tabular):
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
        if not parts:
            raise ParameterError("parts must be at least one")
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
        """The most probable level of every row that can be judged."""
        return most_probable(self._judged[1])

    # Figures ---------------------------------------------------------------------------------------------------

    @cached_property
    def confusion(self) -> Floats:
        """Rows by actual level (first axis) and predicted level (second axis)."""
        actual, _, weights = self._judged
        size = len(self.levels)
        counts = np.bincount(actual * size + self._predicted, weights, size * size)
        return counts.astype(np.float64).reshape(size, size)

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
    def guess(self) -> Metrics:
        """What always giving the shares of the levels among these rows would have come to: what to improve on."""
        actual, _, weights = self._judged
        shares = self._totals / max(float(self._totals.sum()), np.finfo(float).tiny)
        return Metrics(self.levels, actual, np.tile(shares, (len(actual), 1)), weights)

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

    # As tables -------------------------------------------------------------------------------------------------

    def summary(self) -> dict[str, float]:
        """Return the figures by name."""
        return {name: getattr(self, name) for name in ("rows", "impossible", "unknown", *_FIGURES)}

    def to_table(self, most: int | None = None) -> Table:
        """Return the figures, and beside them those of a guess."""
        guess = self.guess
        columns = [
            Column("figure", list(_FIGURES.values())[:most]),
            *(
                Column(name, np.array([getattr(of, figure) for figure in _FIGURES])[:most], ".4f", right=True)
                for name, of in (("value", self), ("guess", guess))
            ),
        ]
        left_out = {
            f"not predicted: {self.impossible:,g} more, which cannot happen whatever the level": self.impossible,
            f"not judged: {self.unknown:,g} more, whose actual level is not known": self.unknown,
        }
        title = f"{self.rows:,g} rows, {len(self.levels)} levels"
        return Table(columns, title, [note for note, rows in left_out.items() if rows], index=1)

    def by_level(self, most: int | None = None) -> Table:
        """Return how well each level is predicted."""
        predicted = self.confusion.sum(axis=0)
        with np.errstate(invalid="ignore"):
            precision = np.diag(self.confusion) / predicted
        figures = {"precision": precision, "recall": self._recall, "auc": self._areas}
        columns = [
            Column("level", list(self.levels[:most])),
            Column("rows", self._totals[:most], ",g", right=True),
            Column("predicted", predicted[:most], ",g", right=True),
            *(Column(name, values[:most], ".4f", right=True) for name, values in figures.items()),
        ]
        return Table(columns, left=len(self.levels) - len(self.levels[:most]), rest="more levels", index=1)

    def confusion_table(self) -> Table:
        """Return the confusion matrix: a row for each actual level, a column for each predicted one."""
        counts = zip(self.levels, self.confusion.T, strict=True)
        columns = [
            Column("actual", list(self.levels)),
            *(Column(name, each, ",g", right=True) for name, each in counts),
        ]
        return Table(columns, "predicted, by actual level", index=1)

    def __str__(self) -> str:
        return f"{self.to_table()}\n{self.by_level(SHOWN)}"

    def _repr_html_(self) -> str:
        return self.to_table()._repr_html_() + self.by_level(SHOWN)._repr_html_()

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

    def _code(self, level: Any) -> int:
        (code,) = codes_of(from_any("level", [level]), self.levels)
        if code == MISSING_CODE:
            raise DataError(f"level has the value {level!r}, but the levels are {listed(self.levels)}")
        return int(code)


def most_probable(probabilities: Floats) -> NDArray[np.intp]:
    """Return the code of the most probable level of every row; of equals, the first; -1 in rows that are NaN.

    Examples
    --------
    >>> most_probable(np.array([[0.2, 0.8], [0.5, 0.5], [np.nan, np.nan]]))
    array([ 1,  0, -1])
    """
    impossible = np.isnan(probabilities[:, 0])
    best = first_best(np.where(impossible[:, np.newaxis], 0.0, probabilities).T)
    return np.where(impossible, -1, best)


def codes_of(column: Values, levels: tuple[str, ...]) -> NDArray[np.intp]:
    """Return the codes of values that are levels, by row; -1 where they are missing."""
    codes = codes_by_position(column, levels)
    unknown = np.flatnonzero(codes == NO_LEVEL)
    if len(unknown):
        raise DataError(
            f"{column.name} has the value {column.labels[unknown[0]]!r}, but the levels are {listed(levels)}"
        )
    return codes[column.index]
