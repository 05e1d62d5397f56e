"""Rows: their weights, which of them remain, and which are distinct.

Rows are left out before anything is decided about the columns, so that a table reads as if it had never had them.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from mapdag.data.labels import parse_numbers
from mapdag.data.meanings import missing_positions
from mapdag.data.problems import Problems, rows_text
from mapdag.errors import DataError, ParameterError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.columns import Column
    from mapdag.data.meanings import ReadOptions
    from mapdag.data.source import Source

#: Integers where all are whole.
Weights: TypeAlias = "NDArray[np.int64] | NDArray[np.float64]"

#: What weights may be: numbers of observations, or what the plan of a survey makes of its rows.
Weighting: TypeAlias = Literal["counts", "survey", "distinct"]

#: Which rows belong together: the number of the group of each.
Groups: TypeAlias = "NDArray[np.int64]"

#: The sum of all weights stays below this, so that every count is exact as an integer and as a float.
MAX_TOTAL = 2**53

#: The largest number by which a row is known while distinct ones are looked for.
_KEY_LIMIT = 2**62


def read_weights(source: Source, weights: Any, options: ReadOptions) -> Weights | None:
    """Return the weight of every row, or None."""
    if weights is None:
        return None if source.weights is None else check_weights(source.weights, source.n_rows)
    if source.weights is not None:
        raise ParameterError("weights cannot be given for a dataset that has weights already")
    if not isinstance(weights, str):
        return check_weights(weights, source.n_rows)
    what = f"weights: column {weights!r}"
    column = source.pop(source.names.index(weights), options)
    values = column.numbers(options.missing_texts(weights))
    if values is None:
        wrong = next((label for label in column.labels if label and parse_numbers([label.strip()]) is None), "nothing")
        raise DataError(f"{what} must be numbers, got {wrong!r}")
    by_row = values[column.index]
    if np.isnan(by_row).any():
        raise DataError(f"{what} has missing values in {rows_text(np.isnan(by_row))}")
    return check_weights(by_row, source.n_rows, what)


def check_weights(weights: Any, n_rows: int, what: str = "weights") -> Weights:
    """Return the weights as int64 where all are whole, else as float64.

    None may be negative or not finite, and their sum must be less than 2**53: up to there every count is exact, beyond
    it sums would lose units as floats and then overflow as integers.

    >>> check_weights([2.0, 1.0], 2), check_weights([0.5, 1.0], 2)
    (array([2, 1]), array([0.5, 1. ]))
    """
    array = _as_numbers(weights)
    if array.ndim != 1 or len(array) != n_rows:
        raise DataError(f"{what} must be one number per row ({n_rows:,}), got shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise DataError(f"{what} must be numbers, got {array.dtype}")
    bad = ~np.isfinite(array)
    if bad.any():
        raise DataError(f"{what} must be finite: missing or infinite in {rows_text(bad)}")
    bad = array < 0
    if bad.any():
        raise DataError(f"{what} must not be negative: {array[bad][0]:g} in {rows_text(bad)}")
    total: int | float = int(array.max(initial=0))
    if total < MAX_TOTAL:  # else one of them is too much already, and may not fit the types below
        if array.dtype.kind == "f" and not np.all(array == np.floor(array)):
            array = array.astype(np.float64)
            total = float(array.sum())
        else:
            array = array.astype(np.int64)
            # Halves of 32 bits: their sums cannot overflow.
            total = (int((array >> 32).sum()) << 32) + int((array & 0xFFFFFFFF).sum())
    if total >= MAX_TOTAL:
        shown = f"{total:,}" if total < 2**64 else f"{total:.3g}"
        raise DataError(f"{what} must add up to less than 2**53 ({MAX_TOTAL:,}), got at least {shown}")
    return array


def check_groups(groups: Any, n_rows: int) -> Groups:
    """Return the numbers of groups as int64."""
    array = np.asarray(groups)
    if array.shape != (n_rows,) or array.dtype.kind not in "iu":
        shape = f"{array.dtype} of shape {array.shape}"
        raise DataError(f"groups must be one whole number per row ({n_rows:,}), got {shape}")
    return array.astype(np.int64)


def _as_numbers(weights: Any) -> NDArray[Any]:
    """Return an array; numbers that came as Python objects (integers beyond 64 bits do) become floats."""
    if np.ma.is_masked(weights):
        raise DataError("weights must be finite: some are masked")
    try:
        array = np.asarray(weights)
    except ValueError:  # lists of different lengths in it
        raise DataError(f"weights must be one number per row, got {type(weights).__name__} of several shapes") from None
    if array.dtype.kind != "O" or not all(isinstance(weight, numbers.Real) for weight in array.flat):
        return array
    try:
        return array.astype(np.float64)
    except OverflowError:  # an integer beyond the largest float
        return np.where(array > MAX_TOTAL, float(MAX_TOTAL), array).astype(np.float64)


#: Given which distinct values of some columns are missing, by name: how many rows remain for each value of each column.
Recount: TypeAlias = "Callable[[Mapping[str, NDArray[np.bool_]]], Mapping[str, NDArray[np.int64]]]"


class Remaining(NamedTuple):
    """The rows that remain."""

    keep: NDArray[np.bool_]  # which they are
    n_heavy: int  # how many rows have a weight
    missing: dict[str, int]  # how many of these lack a value, for the columns that have such rows
    empty: list[Column]  # columns without any value: they do not cost all the rows


def find_remaining(columns: Sequence[Column], weights: Weights | None, options: ReadOptions) -> Remaining:
    """Find the rows that have a weight and, if the others are to be dropped, no missing value."""
    heavy: NDArray[np.bool_] = np.ones(len(columns[0].index), dtype=bool) if weights is None else weights > 0
    found = Remaining(heavy.copy(), int(heavy.sum()), {}, [])
    for column in (each for each in columns if options.missing_of(each.name) == "drop"):
        positions = missing_positions(column, options)
        if not positions.any():
            continue
        gone = positions[column.index] & heavy
        count = int(gone.sum())
        if count == found.n_heavy:
            found.empty.append(column)
        elif count:
            found.missing[column.name] = count
            np.logical_and(found.keep, ~gone, out=found.keep)
    return found


def leave_out(
    columns: list[Column],
    weights: Weights | None,
    options: ReadOptions,
    problems: Problems,
    groups: Groups | None = None,
) -> tuple[list[Column], Weights | None, Groups | None, NDArray[np.intp] | None]:
    """Leave out the rows of weight 0 and, if so asked, those with missing values; also, which are left if not all.

    A column without any value is noted as a problem and left out instead of all the rows. The list that is passed gets
    emptied, for the sake of memory.
    """
    found = find_remaining(columns, weights, options)
    if not found.n_heavy:
        raise DataError("weights: all of them are zero, which leaves no rows")
    for column in found.empty:
        problems.add(column.name, f"holds no values: all {found.n_heavy:,} rows are missing")
        columns.remove(column)
    if found.keep.all():
        return columns, weights, groups, None
    if not found.keep.any():
        problems.raise_any()
        raise _none_left(found.missing, found.n_heavy)
    rows = np.flatnonzero(found.keep)
    left = (None if by_row is None else by_row[rows] for by_row in (weights, groups))
    return [column.kept(rows) for column in emptied(columns)], *left, rows  # type: ignore[return-value]


def recounted(columns: list[Column], options: ReadOptions, problems: Problems, recount: Recount) -> list[Column]:
    """Do the same for columns that hold distinct values, each standing for the rows that have it."""
    total, missing, gone = columns[0].n_rows, {}, {}
    for column in [each for each in columns if options.missing_of(each.name) == "drop"]:
        assert column.times is not None
        marked = missing_positions(column, options)[column.index]
        count = int(column.times[marked].sum())
        if count == total:
            problems.add(column.name, f"holds no values: all {total:,} rows are missing")
            columns.remove(column)
        elif count:
            gone[column.name], missing[column.name] = marked, count
    if not options.drops_rows:
        return columns
    left = recount(gone)
    if not gone:
        return columns
    if not left[columns[0].name].any():
        problems.raise_any()
        raise _none_left(missing, total)
    found = [replace(column, times=left[column.name]) for column in emptied(columns)]
    return [column.kept(np.flatnonzero(left[column.name])) for column in found]


def emptied(columns: list[Column]) -> Iterator[Column]:
    """Hand out the columns of a list, which forgets them."""
    while columns:
        yield columns.pop(0)


def _none_left(missing: Mapping[str, int], n_rows: int) -> DataError:
    worst = sorted(missing, key=lambda name: -missing[name])[:5]
    figures = ", ".join(f"{name!r} ({missing[name]:,})" for name in worst)
    told = f" leaves none of the {n_rows:,} rows: each has a missing value; most are in {figures}: pass "
    ways = Setting("missing", "level"), ", or ", Setting("drop", worst[:1])
    return DataError(Setting("missing", "drop"), told, *ways)


def distinct_rows(
    codes: NDArray[Any],
    cards: NDArray[np.int64] | Sequence[int],
    weights: Weights | None = None,
) -> tuple[NDArray[np.intp], Weights]:
    """Return the first position of every distinct row, in lexicographic order, and how often (or how much) it occurs.

    Parameters
    ----------
    codes : array of shape (columns, rows)
        One row per variable.
    cards : sequence of int
        The number of levels of each.
    weights : array of shape (rows,), optional
        What each row counts for; 1 by default.
    """
    key = row_keys(codes, cards)
    if weights is None:
        _, first, counts = np.unique(key, return_index=True, return_counts=True)
        return first, counts.astype(np.int64, copy=False)
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    sums: NDArray[Any] = np.zeros(len(first), dtype=weights.dtype)
    np.add.at(sums, inverse.reshape(-1), weights)
    return first, sums


def row_keys(codes: NDArray[Any], cards: NDArray[np.int64] | Sequence[int]) -> NDArray[np.int64]:
    """Return a number for each row, the same for those that are alike, in lexicographic order."""
    key = np.zeros(codes.shape[1], dtype=np.int64)
    size = 1
    for column, card in zip(codes, cards, strict=True):
        if size * int(card) > _KEY_LIMIT:
            # Ranks keep the order of the rows so far, and leave room for the columns to come.
            distinct, key = np.unique(key, return_inverse=True)
            key = key.reshape(-1).astype(np.int64, copy=False)
            size = len(distinct)
        key *= int(card)
        key += column
        size *= int(card)
    return key
