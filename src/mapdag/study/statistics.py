"""Tests on paired values: t, Wilcoxon, Holm's correction, Friedman's ranks and critical differences.

Tests are one-sided where the paper's are: the alternative is that the first of two is smaller (or larger).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from mapdag.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

Alternative = Literal["less", "greater", "two-sided"]

_EXACT = 200  # pairs up to which Wilcoxon's test is exact


def paired_t(a: ArrayLike, b: ArrayLike | float, alternative: Alternative = "less") -> float:
    """p-value of the paired t test that the mean of a - b is not negative (not positive, zero).

    A number for `b` makes it the test of one sample. NaN for fewer than two pairs; where all differences are the same,
    1 unless they speak for the alternative, then 0.

    Examples
    --------
    >>> round(paired_t([1.0, 2.0, 4.0], [2.0, 4.0, 5.0]), 4)
    0.0286
    """
    gaps = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    if len(gaps) < 2:
        return math.nan
    mean, error = float(gaps.mean()), float(gaps.std(ddof=1)) / math.sqrt(len(gaps))
    if error <= abs(mean) * 1e-14:
        speaks = {"less": mean < 0, "greater": mean > 0, "two-sided": mean != 0}[alternative]
        return 0.0 if speaks else 1.0
    from scipy.special import stdtr

    statistic, degrees = mean / error, len(gaps) - 1
    if alternative == "two-sided":
        return float(2 * stdtr(degrees, -abs(statistic)))
    return float(stdtr(degrees, statistic if alternative == "less" else -statistic))


def wilcoxon(a: ArrayLike, b: ArrayLike, alternative: Alternative = "less") -> float:
    """p-value of Wilcoxon's signed-rank test; pairs without a difference are left out, 1 if there are no others.

    Exact, also with ties: the distribution of the sum of the ranks whose sign is positive, over all signs. From 200
    pairs on its normal approximation.

    Examples
    --------
    >>> wilcoxon([1.0, 2.0, 3.0], [2.0, 4.0, 4.0])
    0.125
    """
    gaps = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    gaps = gaps[gaps != 0]
    if not len(gaps):
        return 1.0
    from scipy.stats import norm, rankdata

    # Twice the ranks, which are whole numbers with ties, too.
    ranks = np.rint(2 * rankdata(np.abs(gaps))).astype(np.int64)
    observed, total = int(ranks[gaps > 0].sum()), int(ranks.sum())
    if len(gaps) < _EXACT:
        chances = np.zeros(total + 1)
        chances[0] = 1.0
        for each in ranks.tolist():
            chances[each:] = (chances[each:] + chances[: total + 1 - each]) / 2
            chances[:each] /= 2
        less, greater = float(chances[: observed + 1].sum()), float(chances[observed:].sum())
    else:
        z = (observed - total / 2) / math.sqrt(float((ranks.astype(np.float64) ** 2).sum()) / 4)
        less, greater = float(norm.cdf(z)), float(norm.sf(z))
    if alternative == "two-sided":
        return min(1.0, 2 * min(less, greater))
    return less if alternative == "less" else greater


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust p-values of several tests by Holm's (1979) step-down method; NaNs stay, and are not counted.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    known = [i for i, p in enumerate(p_values) if not math.isnan(p)]
    adjusted = list(map(float, p_values))
    largest = 0.0
    for rank, i in enumerate(sorted(known, key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(known) - rank) * p_values[i]))
        adjusted[i] = largest
    return tuple(adjusted)


def wins(a: ArrayLike, b: ArrayLike, *, lower: bool = True, digits: int | None = None) -> int:
    """In how many pairs a is strictly better than b; with `digits`, after rounding both to so many decimals."""
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if digits is not None:
        first, second = np.round(first, digits), np.round(second, digits)
    return int((first < second).sum() if lower else (first > second).sum())


@dataclass(frozen=True)
class Ranks:
    """Average ranks of several objectives over cells, 1 for the best.

    Attributes
    ----------
    names : tuple of str
        From the best to the worst.
    ranks : tuple of float
    cells : int
    p : float
        Of Friedman's test that all are the same.
    critical : float
        Nemenyi's critical difference at 0.05: smaller differences between average ranks are not significant.
    """

    names: tuple[str, ...]
    ranks: tuple[float, ...]
    cells: int
    p: float
    critical: float

    @property
    def groups(self) -> tuple[tuple[int, int], ...]:
        """Runs of objectives (first, last) whose ranks do not differ significantly, longest ones only."""
        found: list[tuple[int, int]] = []
        for first in range(len(self.names)):
            last = first
            while last + 1 < len(self.names) and self.ranks[last + 1] - self.ranks[first] <= self.critical:
                last += 1
            if last > first and (not found or last > found[-1][1]):
                found.append((first, last))
        return tuple(found)


def rank(values: ArrayLike, names: Sequence[str], *, lower: bool = True) -> Ranks:
    """Rank objectives (columns) in each cell (row), ties sharing their ranks (Demsar, 2006).

    Examples
    --------
    >>> rank([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]], ["a", "b", "c"]).ranks
    (1.0, 2.5, 2.5)
    """
    table = np.asarray(values, dtype=np.float64)
    k = len(names)
    if table.ndim != 2 or table.shape[1] != k or k < 2 or len(table) < 1:
        raise ParameterError(f"ranks need at least two columns with names and a row, got shape {table.shape}")
    from scipy.stats import chi2, rankdata, studentized_range

    each = rankdata(table if lower else -table, axis=1)
    means = each.mean(axis=0)
    cells = len(table)
    spread = float(((each - (k + 1) / 2) ** 2).sum()) / (cells * (k - 1))
    # With the correction for ties: the variance of the ranks as they are.
    p = float(chi2.sf(cells * float(((means - (k + 1) / 2) ** 2).sum()) / spread, k - 1)) if spread > 0 else 1.0
    q = float(studentized_range.ppf(0.95, k, np.inf)) / math.sqrt(2)
    order = np.argsort(means, kind="stable")
    return Ranks(
        tuple(names[i] for i in order),
        tuple(float(means[i]) for i in order),
        cells,
        p,
        q * math.sqrt(k * (k + 1) / (6 * cells)),
    )
