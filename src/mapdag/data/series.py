"""Columns of Series: of polars, of pandas, and of whatever else holds values in a row."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.codings import Coding
from mapdag.data.columns import TYPES, Column, expand, from_masked, from_numpy, from_objects, is_a, nested
from mapdag.data.labels import clock_text, texts_of
from mapdag.data.panics import without_reports

if TYPE_CHECKING:
    import polars as pl

#: Where to look for the distinct values first: as a rule, few rows show all of them.
_FIRST = 2_000
_SHORT = 200  # rows of a column that is read without polars


def from_any(name: str, part: Any) -> Column:
    """Make a column from an array, a Series of either kind, or any other sequence."""
    if is_a(part, "polars", "Series"):
        return from_polars(name, part)
    if type(part).__module__.split(".")[0] == "pandas":
        try:
            series = sys.modules["pandas"].Series(part)
        except (TypeError, ValueError, NotImplementedError):  # a table, or an index of several levels
            return nested(name, f"{type(part).__name__} values", len(part))
        return from_pandas(name, series)
    if isinstance(part, np.ma.MaskedArray):
        return from_masked(name, part)
    if isinstance(part, np.ndarray):
        return from_numpy(name, part) if part.ndim == 1 else from_objects(name, part.tolist())
    as_list = getattr(part, "tolist", None) or getattr(part, "to_pylist", None)
    return from_objects(name, list(part) if as_list is None else as_list())


def from_pandas(name: str, series: Any) -> Column:
    """Make a column from a pandas Series; the categories of a Categorical are its declared levels."""
    dtype = series.dtype
    if type(dtype).__name__ == "CategoricalDtype":
        labels = texts_of(series.cat.categories)
        codes = series.cat.codes.to_numpy()
        index = np.where(codes < 0, len(labels), codes)
        own = TYPES.get(series.cat.categories.dtype.kind, "text")
        return Column(name, "text", index, texts=[*labels, None], declared=labels, coding=Coding(own))
    if isinstance(dtype, np.dtype) and dtype.kind in "biufmM":
        return from_numpy(name, series.to_numpy())
    if dtype.kind in "biuf" and hasattr(dtype, "numpy_dtype"):  # with missing values of their own
        present = series.notna().to_numpy()
        return expand(from_numpy(name, series[present].to_numpy(dtype=dtype.numpy_dtype)), present)
    if dtype.kind == "O" and sys.modules["pandas"].api.types.infer_dtype(series, skipna=True) != "string":
        # factorize() would take True, 1 and 1.0 for one value.
        return from_objects(name, series.tolist())
    try:
        codes, distinct = series.factorize()
    except (TypeError, NotImplementedError):
        return nested(name, f"values of type {dtype}", len(series))
    column = from_objects(name, [*distinct.tolist(), None])
    return replace(column, index=column.index[codes])  # -1, missing, finds the None at the end


def own_categorical() -> pl.Categorical:
    """Return a Categorical type whose pool of strings nobody else shares."""
    import polars as pl

    return pl.Categorical(pl.Categories.random())


def from_polars(name: str, series: pl.Series, *, own: bool = False, numeric: Collection[str] | None = None) -> Column:
    """Make a column from a polars Series; only an Enum declares levels.

    A Categorical does not: the strings of its pool may come from any column of any table of the process.

    Parameters
    ----------
    name : str
        The column.
    series : polars.Series
        Its rows.
    own : bool
        Whether a Categorical's pool of strings is its own.
    numeric : collection of str, optional
        If given, text that holds continuous numbers becomes numbers at once, and these texts are missing.
    """
    import polars as pl

    dtype = series.dtype
    if isinstance(dtype, pl.Enum):
        labels = dtype.categories.to_list()
        index = series.to_physical().cast(pl.UInt32).fill_null(len(labels)).to_numpy()
        return Column(name, "text", index, texts=[*labels, None], declared=labels)
    if dtype == pl.String and numeric is not None:
        floats = series.cast(pl.Float64, strict=False)
        odd = (floats.is_null() | ~floats.is_finite()) & series.is_not_null()
        floats = floats.set(floats.is_nan(), None)
        others = series.filter(odd).unique().to_list()
        if all(text.strip() in numeric for text in others) and not _whole(floats):
            return from_polars(name, floats)
    if dtype == pl.String or isinstance(dtype, pl.Categorical):
        return _from_pool(name, series, own=own and dtype != pl.String)
    return _from_typed(name, series)


def _from_typed(name: str, series: pl.Series) -> Column:
    """Make a column from a polars Series of anything but text."""
    import polars as pl

    dtype = series.dtype
    if dtype == pl.Null:
        return Column(name, "text", np.zeros(len(series), dtype=np.uint8), texts=[None])
    if dtype.is_nested() or dtype == pl.Binary:
        return nested(name, f"values of type {dtype}", len(series))
    if dtype == pl.Object:
        return from_objects(name, series.to_list())
    if dtype.is_temporal():
        return _from_times(name, series)
    if dtype in (getattr(pl, "Int128", None), getattr(pl, "UInt128", None)):
        return _from_pool(name, series.cast(pl.String), own=False)
    if dtype.is_decimal():
        floats = series.cast(pl.Float64, strict=False)
        if not (floats.cast(dtype, strict=False).eq_missing(series)).all():  # more digits than a float has
            return _from_pool(name, series.cast(pl.String), own=False)
        series = floats
    if not series.null_count():
        return from_numpy(name, series.to_numpy())
    return expand(from_numpy(name, series.drop_nulls().to_numpy()), series.is_not_null().to_numpy())


def _from_times(name: str, series: pl.Series) -> Column:
    """Make a column from dates, times, or spans of time; polars may know some that it cannot write."""
    import polars as pl

    dtype, present = series.dtype, series.is_not_null().to_numpy()
    if isinstance(dtype, pl.Duration):
        return expand(from_numpy(name, series.drop_nulls().to_numpy()), present)
    clock = "" if dtype == pl.Date else "%H:%M:%S%.f"
    zone = "%:z" if isinstance(dtype, pl.Datetime) and dtype.time_zone else ""
    day = "" if dtype == pl.Time else "%Y-%m-%d"
    try:
        with without_reports():
            texts = series.dt.to_string(f"{day} {clock}".strip() + zone)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return nested(name, f"values of type {dtype} that are beyond all calendars", len(series))
    if texts.null_count() > series.null_count():
        return nested(name, f"values of type {dtype} that are beyond all calendars", len(series))
    column = _from_pool(name, texts, own=False)
    written = [None if label is None else clock_text(label) for label in column.labels]
    return replace(column, kind="temporal", texts=written)


def _whole(floats: pl.Series) -> bool:
    return bool((floats.drop_nulls() == floats.drop_nulls().floor()).all())


def _from_few(name: str, cells: Sequence[str | None]) -> Column:
    """Make a column from few cells: a table may have very many such columns, and each call of polars takes its time."""
    places: dict[str | None, int] = {}
    codes = np.array([places.setdefault(cell, len(places)) for cell in cells], dtype=np.uint32)
    return Column(name, "text", codes, texts=list(places) or [None])


def _from_pool(name: str, series: pl.Series, *, own: bool) -> Column:
    """Read the codes of a Categorical, made anew if its pool is not its own."""
    import polars as pl

    if len(series) <= _SHORT:
        return _from_few(name, series.to_list() if series.dtype == pl.String else series.cast(pl.String).to_list())
    if not own:
        series = series.cast(pl.String).cast(own_categorical())
    physical = series.to_physical()
    if physical.null_count():
        physical = physical.fill_null(int(physical.max() or 0) + 1)  # type: ignore[arg-type]
    codes = physical.to_numpy()
    labels: list[str | None] = [None] * (int(codes.max(initial=0)) + 1)
    positions, rows = np.unique(codes[:_FIRST], return_index=True)
    if len(positions) < len(labels):
        positions, rows = np.unique(codes, return_index=True)
    for position, label in zip(positions.tolist(), series.gather(rows).cast(pl.String).to_list(), strict=True):
        labels[position] = label
    return Column(name, "text", codes, texts=labels)
