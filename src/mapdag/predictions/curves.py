"""What to look at beside single figures: ROC curves and reliability tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.tables import Column, Table, Tabular

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ROC(Tabular):
    """The trade-off between catching a level and raising a false alarm, as the threshold falls.

    Attributes
    ----------
    level : str
    false_positives, true_positives : array
        Shares of the other rows, and of those with the level, whose probability is at least the threshold.
    thresholds : array
        The first is infinite: nothing is caught.
    """

    level: str
    false_positives: Floats = field(repr=False)
    true_positives: Floats = field(repr=False)
    thresholds: Floats = field(repr=False)

    @property
    def auc(self) -> float:
        """Area under the curve: how often a row with the level gets a higher probability than one without.

        NaN where all rows have the level, or none.
        """
        if np.isnan(self.true_positives[-1] + self.false_positives[-1]):
            return float("nan")
        heights = (self.true_positives[1:] + self.true_positives[:-1]) / 2
        return float((np.diff(self.false_positives) * heights).sum())

    def to_table(self, most: int | None = None) -> Table:
        """Return the points of the curve."""
        points = {
            "threshold": self.thresholds,
            "false_positives": self.false_positives,
            "true_positives": self.true_positives,
        }
        columns = [Column(name, values[:most], ".4f", right=True) for name, values in points.items()]
        left = len(self.thresholds) - len(self.thresholds[:most])
        return Table(columns, f"ROC of {self.level!r}, AUC {self.auc:.4f}", left=left)


@dataclass(frozen=True, eq=False)
class Calibration(Tabular):
    """Whether what is said to happen with probability p happens in a share p of the rows: a reliability table.

    Attributes
    ----------
    level : str, optional
        The level whose probability is looked at; None for the probability of whatever is predicted.
    edges : array (bins + 1,)
        The bins, closed on the right.
    rows : array (bins,)
        How many rows, or the sum of their weights.
    predicted, observed : array (bins,)
        Mean probability, and share of the rows in which it happened; NaN in empty bins.
    """

    level: str | None
    edges: Floats = field(repr=False)
    rows: Floats = field(repr=False)
    predicted: Floats = field(repr=False)
    observed: Floats = field(repr=False)

    @property
    def error(self) -> float:
        """Expected calibration error: the mean distance between `predicted` and `observed`, over rows."""
        used = self.rows > 0
        return mean(np.abs(self.predicted - self.observed)[used], self.rows[used])

    def to_table(self, most: int | None = None) -> Table:
        """Return the bins that hold any rows."""
        used = np.flatnonzero(self.rows)[:most]
        columns = [
            Column("above", self.edges[:-1][used], "g", right=True),
            Column("to", self.edges[1:][used], "g", right=True),
            Column("rows", self.rows[used], ",g", right=True),
            Column("predicted", self.predicted[used], ".4f", right=True),
            Column("observed", self.observed[used], ".4f", right=True),
        ]
        what = "what is predicted" if self.level is None else repr(self.level)
        return Table(columns, notes=[f"expected calibration error of {what}: {self.error:.4f}"])


def mean(values: NDArray[Any], weights: Floats | None = None) -> float:
    """Return the weighted mean; NaN where there is nothing to average."""
    return float(np.average(values, weights=weights)) if len(values) else float("nan")
