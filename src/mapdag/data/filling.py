"""Values put into a user's own table, of the types that it has; numbers for intervals into which columns were cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def with_values(table: Any, found: Mapping[int, tuple[NDArray[np.bool_], list[Any]]]) -> Any:
    """Put values where a table has none, in the form in which it came.

    Parameters
    ----------
    table : array, pandas or polars frame
    found : mapping
        By position of the column: which rows have no value, and a value for each of these.
    """
    if not hasattr(table, "columns"):
        out = np.array(table)
        wide = [np.array(values).dtype for _, values in found.values()] if out.dtype.kind in "US" else []
        out = out.astype(np.result_type(out.dtype, *wide), copy=False)  # texts may be longer than those that are there
        for i, (gone, values) in found.items():
            out[gone, i] = values
        return out
    if hasattr(table, "with_columns"):
        return table.with_columns([_series(table[table.columns[i]], *each) for i, each in found.items()])
    frame = table.copy()
    for i, each in found.items():
        frame.isetitem(i, _column(frame.iloc[:, i], *each))
    return frame


def _series(series: Any, gone: NDArray[np.bool_], values: list[Any]) -> Any:
    """Put values into a polars Series, of its own type where that can hold them."""
    import polars as pl

    whole = series.to_list()
    for row, value in zip(np.flatnonzero(gone).tolist(), values, strict=True):
        whole[row] = value
    try:
        return pl.Series(series.name, whole, dtype=series.dtype)
    except (TypeError, pl.exceptions.PolarsError):  # levels that its type does not have
        return pl.Series(series.name, whole, strict=False)


def _column(series: Any, gone: NDArray[np.bool_], values: list[Any]) -> Any:
    """Put values into a pandas Series, of its own type where that can hold them."""
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        new = [value for value in dict.fromkeys(values) if value not in series.cat.categories]
        whole = series.cat.add_categories(new)
    else:
        whole = series.copy()
        try:
            values = pd.array(values, dtype=series.dtype)
        except (TypeError, ValueError):
            whole = series.astype(object)
    whole.iloc[np.flatnonzero(gone)] = values
    return whole


def numbers_within(
    intervals: NDArray[np.intp],
    observed: NDArray[np.float64],
    where: NDArray[np.intp],
    edges: tuple[float, ...],
    rng: np.random.Generator | None,
) -> list[float]:
    """Return a number for each interval: one of those that were observed in it, drawn at random, or their median.

    Where none was, a number between its edges, or the middle; NaN for -1, which is no interval.

    Parameters
    ----------
    intervals : int array
        What numbers are wanted for.
    observed, where : arrays
        The numbers that were observed, and the interval of each.
    edges : tuple of float
    rng : Generator, optional
        For draws; the median without.

    Examples
    --------
    >>> numbers_within(np.array([0, 1]), np.array([1.0, 2.0, 2.5]), np.array([0, 0, 0]), (0.0, 3.0, 5.0), None)
    [2.0, 4.0]
    """
    found = np.full(len(intervals), np.nan)
    for interval in np.unique(intervals[intervals >= 0]).tolist():
        mine, donors = intervals == interval, np.sort(observed[where == interval])
        if not len(donors):
            ends = [edge for edge in edges[interval : interval + 2] if np.isfinite(edge)] or [0.0]
            donors = np.array([(ends[0] + ends[-1]) / 2]) if rng is None else rng.uniform(ends[0], ends[-1], 1 << 10)
        median = donors[(len(donors) - 1) // 2]
        found[mine] = median if rng is None else rng.choice(donors, int(mine.sum()))
    whole = len(observed) > 0 and bool((observed == np.rint(observed)).all() and (found == np.rint(found)).all())
    return [int(number) for number in found] if whole else found.tolist()
