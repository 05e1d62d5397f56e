"""Which rows of a table remain: those that have a weight and, if the user wants it so, no missing value.

Rows are left out before anything is decided about the columns, so that a table reads as if it had never had them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from mapdag.data.problems import Problem, Problems
from mapdag.data.settle import missing_positions
from mapdag.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.columns import Column
    from mapdag.data.settle import Rules
    from mapdag.data.source import Weights

__all__ = ["remaining_rows"]


def remaining_rows(
    columns: list[Column], weights: Weights | None, rules: Rules, problems: Problems
) -> tuple[list[Column], Weights | None]:
    """Leave out the rows of weight 0 and, if so asked, those with missing values.

    A column without any value is noted as a problem and left out instead of all the rows. The list that is passed gets
    emptied, for the sake of memory.
    """
    keep: NDArray[np.bool_] = np.ones(len(columns[0].index), dtype=bool) if weights is None else weights > 0
    if not keep.any():
        raise DataError("weights: all of them are 0, which leaves no rows")
    if rules.missing == "drop":
        keep = _without_missing(columns, keep, rules, problems)
    if keep.all():
        return columns, weights
    rows = np.flatnonzero(keep)
    kept = []
    while columns:
        kept.append(columns.pop(0).kept(rows))
    return kept, None if weights is None else weights[keep]


def _without_missing(
    columns: list[Column], heavy: NDArray[np.bool_], rules: Rules, problems: Problems
) -> NDArray[np.bool_]:
    """Return which of the rows that have a weight have no missing value; columns of nothing else leave the list."""
    keep: NDArray[np.bool_] = heavy.copy()
    counts: dict[str, int] = {}
    for column in list(columns):
        positions = missing_positions(column, rules)
        if not positions.any():
            continue
        gone = positions[column.index] & heavy
        if np.array_equal(gone, heavy):
            problems.add(Problem(column.name, f"holds no values: all {int(heavy.sum()):,} rows are missing"))
            columns.remove(column)
        else:
            counts[column.name] = int(gone.sum())
            keep &= ~gone
    if keep.any():
        return keep
    problems.raise_any()
    worst = sorted(counts, key=lambda name: -counts[name])[:5]
    figures = ", ".join(f"{name!r} ({counts[name]:,})" for name in worst)
    raise DataError(
        f'missing="drop" leaves none of the {int(heavy.sum()):,} rows: each has a missing value; most are in '
        f'{figures}: pass missing="level", or drop={json.dumps(worst[:1], ensure_ascii=False)}'
    )
