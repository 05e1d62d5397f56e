"""Which rows of a table remain: those that have a weight and, if the user wants it so, no missing value.

Rows are left out before anything is decided about the columns, so that a table reads as if it had never had them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.data.problems import Problem, Problems
from mapdag.data.settle import missing_positions
from mapdag.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.columns import Column
    from mapdag.data.settle import Rules
    from mapdag.data.source import Weights

__all__ = ["Left", "remaining_rows", "rows_left"]


class Left(NamedTuple):
    """The rows that remain.

    Parameters
    ----------
    keep : array of bool
        Which they are.
    n_heavy : int
        How many rows have a weight.
    missing : dict of str to int
        How many of these lack a value, for the columns that have such rows.
    empty : list of Column
        Columns without any value: they do not cost all the rows.
    """

    keep: NDArray[np.bool_]
    n_heavy: int
    missing: dict[str, int]
    empty: list[Column]


def rows_left(columns: Sequence[Column], weights: Weights | None, rules: Rules) -> Left:
    """Find the rows that have a weight and, if the others are to be dropped, no missing value."""
    heavy: NDArray[np.bool_] = np.ones(len(columns[0].index), dtype=bool) if weights is None else weights > 0
    left = Left(heavy.copy(), int(heavy.sum()), {}, [])
    if rules.missing != "drop":
        return left
    keep = left.keep
    for column in columns:
        positions = missing_positions(column, rules)
        if not positions.any():
            continue
        gone = positions[column.index] & heavy
        count = int(gone.sum())
        if count == left.n_heavy:
            left.empty.append(column)
        elif count:
            left.missing[column.name] = count
            keep &= ~gone
    return left


def remaining_rows(
    columns: list[Column], weights: Weights | None, rules: Rules, problems: Problems
) -> tuple[list[Column], Weights | None]:
    """Leave out the rows of weight 0 and, if so asked, those with missing values.

    A column without any value is noted as a problem and left out instead of all the rows. The list that is passed gets
    emptied, for the sake of memory.
    """
    left = rows_left(columns, weights, rules)
    if not left.n_heavy:
        raise DataError("weights: all of them are 0, which leaves no rows")
    for column in left.empty:
        problems.add(Problem(column.name, f"holds no values: all {left.n_heavy:,} rows are missing"))
        columns.remove(column)
    if left.keep.all():
        return columns, weights
    if not left.keep.any():
        problems.raise_any()
        raise _none_left(left)
    rows = np.flatnonzero(left.keep)
    kept = []
    while columns:
        kept.append(columns.pop(0).kept(rows))
    return kept, None if weights is None else weights[rows]


def _none_left(left: Left) -> DataError:
    worst = sorted(left.missing, key=lambda name: -left.missing[name])[:5]
    figures = ", ".join(f"{name!r} ({left.missing[name]:,})" for name in worst)
    return DataError(
        f'missing="drop" leaves none of the {left.n_heavy:,} rows: each has a missing value; most are in {figures}: '
        f'pass missing="level", or drop={json.dumps(worst[:1], ensure_ascii=False)}'
    )
