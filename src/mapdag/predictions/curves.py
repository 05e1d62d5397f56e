"""What to look at beside single figures: ROC curves and reliability tables; and how such values are shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ROC:
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

    def to_pandas(self) -> Any:
        """Return the points of the curve as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(
            {
                "threshold": self.thresholds,
                "false_positives": self.false_positives,
                "true_positives": self.true_positives,
            }
        )

    def __str__(self) -> str:
        return f"ROC of {self.level!r}: {len(self.thresholds):,} points, AUC {self.auc:.4f}"


@dataclass(frozen=True, eq=False)
class Calibration:
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
        gaps = np.abs(self.predicted - self.observed)[used]
        return mean(gaps, self.rows[used])

    def to_pandas(self) -> Any:
        """Return the table as a pandas DataFrame."""
        import pandas as pd

        bins = {"low": self.edges[:-1], "high": self.edges[1:]}
        return pd.DataFrame({**bins, "rows": self.rows, "predicted": self.predicted, "observed": self.observed})

    def __str__(self) -> str:
        cells = [["probability", "rows", "predicted", "observed"]]
        for i in np.flatnonzero(self.rows).tolist():
            span = f"{self.edges[i]:g} to {self.edges[i + 1]:g}"
            cells.append([span, f"{self.rows[i]:,g}", f"{self.predicted[i]:.4f}", f"{self.observed[i]:.4f}"])
        what = "what is predicted" if self.level is None else repr(self.level)
        return f"{aligned(cells)}\nexpected calibration error of {what}: {self.error:.4f}"

    def _repr_html_(self) -> str:
        return html(self)


def mean(values: NDArray[Any], weights: Floats | None = None) -> float:
    """Return the weighted mean; NaN where there is nothing to average."""
    if not len(values):
        return float("nan")
    return float(np.average(values, weights=weights))


def aligned(rows: list[list[str]]) -> str:
    """Align cells in columns, the first to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
    )


def html(value: object) -> str:
    """Return what a notebook shows: the text as it is printed."""
    # By name, as `mapdag.report` is a layer above this one.
    text: str = import_module("mapdag.report.html").tag("pre", str(value))
    return text
