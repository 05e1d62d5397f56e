"""Rows that are not one observation each: groups of rows that belong together, and the weights of a survey.

All that learns counts rows by their weights, so that nothing else has to know of either: the rows of a group weigh as
much as one observation, and survey weights are scaled to the effective size of the sample.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.columns import from_any
from mapdag.data.judgement import combinations_of, is_count_name
from mapdag.data.meanings import missing_positions
from mapdag.data.rows import check_weights
from mapdag.errors import DataError, ParameterError, Setting
from mapdag.notices import warn
from mapdag.wording import brief, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.data.columns import Column
    from mapdag.data.dataset import Dataset
    from mapdag.data.meanings import ReadOptions
    from mapdag.data.options import ReadingOptions
    from mapdag.data.rows import Groups, Weighting, Weights
    from mapdag.data.source import Source

_MEAN_FRACTION = 2.0  # weights with fractions that average more are hardly counts
_LEAST_ROWS = 30  # fewer are hardly a survey, whatever they weigh
_MEAN_COUNT = 5.0  # the same of whole weights
_FILLED = 0.25  # share of the combinations from which on a table of distinct rows is full of counts
_TYPICAL = 0.1  # of the mean: counts of rare combinations are mostly smaller, survey weights are not


def known_weighting(weighting: Weighting | None, weights: Weights | None) -> Weighting | None:
    """Return a kind of weights, checked. Without weights, "counts" says that each row is one observation."""
    if isinstance(weighting, str) and weighting == "distinct":
        raise ParameterError('weighting="distinct" needs the whole table in memory: read it first (mapdag.read)')
    if weighting is not None and not (isinstance(weighting, str) and weighting in ("counts", "survey")):
        raise ParameterError(f'weighting must be "counts", "survey" or "distinct", got {brief(weighting)}')
    if weighting == "survey" and weights is None:
        raise ParameterError('weighting="survey" says what weights= are, which must be given, too')
    return weighting


def read_groups(source: Source, asked: ReadingOptions, options: ReadOptions) -> Groups | None:
    """Return the group of every row, numbered from 0 in the order of their first rows, or None.

    A row without a group is one of its own.
    """
    groups = asked.get("groups")
    if groups is None:
        return source.groups
    if source.groups is not None:
        raise ParameterError("groups cannot be given for a dataset that has groups already")
    if isinstance(groups, str):
        what = f"groups: column {groups!r}"
        column = source.pop(source.names.index(groups), options)
    else:
        what = "groups"
        try:
            column = from_any(what, groups)
        except (TypeError, ValueError) as error:
            raise DataError(f"groups must be a column or one value per row, got {brief(groups)}") from error
        if column.n_rows != source.n_rows:
            raise DataError(f"groups must be one value per row ({source.n_rows:,}), got {column.n_rows:,}")
    if column.kind == "nested":
        raise DataError(f"{what} holds {column.note}, which cannot tell groups")
    missing = missing_positions(column, options)[column.index]
    if missing.any():
        warn(f"{what} has no value in {plural(int(missing.sum()), 'row')}: each of these counts as a group of its own")
    keys = np.where(missing, column.n_positions + np.arange(column.n_rows), column.index)
    return renumbered(keys)


def renumbered(groups: NDArray[Any]) -> Groups:
    """Number groups from 0, in the order of their first rows.

    >>> renumbered(np.array([7, 3, 7, 9]))
    array([0, 1, 0, 2])
    """
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.reshape(-1)]


def effective(weights: Weights | None, groups: Groups | None, weighting: Weighting | None) -> Weights | None:
    """Return weights whose sum is the effective size of the sample, or None where each row counts once.

    Groups: each weighs as much as one observation, its rows share that in proportion to their weights. Survey weights:
    the sum is Kish's effective sample size, (sum w)^2 / (sum w^2), over rows, or over the mean weights of groups.

    >>> effective(None, np.array([0, 0, 1]), None)
    array([0.5, 0.5, 1. ])
    >>> effective(np.array([3000, 1000]), None, "survey").sum().round(3)
    np.float64(1.6)
    """
    if groups is None and weighting != "survey":
        return weights
    if weights is None:
        assert groups is not None
        weights = np.ones(len(groups), dtype=np.int64)
    each = weights
    if weighting == "survey":
        if groups is not None:
            each = each / np.bincount(groups)[groups]
        units = each if groups is None else _sums(each, groups)
        if not (units == units[0]).all():
            found = each * (math.fsum(units) / math.fsum((units.astype(np.float64) ** 2).tolist()))
        else:
            found = each / units[0]
    else:
        found = each / _sums(each, groups)[groups]
    return None if (found == 1).all() else check_weights(found, len(found))


def _sums(weights: Weights, groups: Groups | None) -> Weights:
    """Return the sum of the weights of each group, the same in any order of the rows."""
    assert groups is not None
    if weights.dtype.kind == "i":
        return np.bincount(groups, weights=weights)
    order = np.argsort(groups, kind="stable")
    parts = np.split(weights[order], np.cumsum(np.bincount(groups))[:-1])
    return np.array([math.fsum(part) for part in parts])


def may_be_doubtful(weights: Weights | None) -> bool:
    """Tell whether weights average so much that they should be counts for certain, if they are counts."""
    if weights is None or len(weights) < _LEAST_ROWS:
        return False
    return float(weights.mean()) > (_MEAN_FRACTION if weights.dtype.kind == "f" else _MEAN_COUNT)


def doubts(weights: Weights, name: Any, columns: Sequence[Column]) -> str:
    """Say why weights are hardly counts of the rows of an aggregated table; nothing if they may be.

    Parameters
    ----------
    weights : array
    name : str, or anything else
        The column that they are from, if it is one.
    columns : sequence of Column
        All that tell rows apart, but for names of single rows.
    """
    mean = float(weights.mean())
    if not may_be_doubtful(weights):
        return ""
    told = f"they average {mean:,.4g}"
    if weights.dtype.kind == "f":
        return f"{told}, with fractions"
    distinct, cells = combinations_of(columns)
    if distinct < len(weights):
        return f"{told}, but the rows are not distinct ({distinct:,} of {len(weights):,})"
    if not is_count_name(name) and distinct < _FILLED * cells and float(np.median(weights)) >= _TYPICAL * mean:
        return f"{told}, and hardly any combination of values is rare"
    return ""


def refuse_doubtful(weights: Weights, name: Any, columns: Sequence[Column]) -> None:
    """Refuse weights without a stated kind, where that makes a difference."""
    why = doubts(weights, name, columns)
    if why:
        total = f"{float(weights.sum()):,.6g} observations in {plural(len(weights), 'row')}"
        raise DataError(
            f"weights can be counts of observations or survey weights: {why}. As counts they stand for {total}; "
            "survey weights are scaled to the effective sample size. Pass ",
            Setting("weighting", "survey"),
            " for survey (sampling, probability) weights, or ",
            Setting("weighting", "counts"),
            " if each row stands for that many observations",
        )


def rows_of(data: Dataset) -> str:
    """Say how many rows there are, and how many observations they count as.

    >>> from mapdag.data import read
    >>> rows_of(read({"a": ["x", "y", "y"], "who": [1, 1, 2]}, groups="who"))
    '3 rows in 2 groups, which count as one observation each'
    """
    rows = plural(data.n_rows, "row")
    grouped = "" if data.groups is None else f" in {plural(data.n_groups, 'group')}"
    size = f"{data.total:,.1f}".removesuffix(".0")
    if data.weighting == "survey":
        return f"{rows}{grouped} with survey weights, which count as {size} observations (Kish's effective sample size)"
    if grouped and not math.isclose(data.total, data.n_groups, rel_tol=1e-6):  # some rows of a group were taken
        return f"{rows}{grouped}, which count as {size} observations"
    if grouped:
        return f"{rows}{grouped}, which count as one observation each"
    return rows
