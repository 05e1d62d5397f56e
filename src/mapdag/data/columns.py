"""One column of any origin, brought to one shape: its distinct values and, for every row, which of them it has.

Types are decided on the distinct values. What the values *mean* (levels, missing codes, problems) is for `levels`.
"""

from __future__ import annotations

import datetime as dt
import math
import numbers
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from mapdag.data.codings import TEXT, Coding
from mapdag.data.labels import clock_text, parse_decimal_commas, parse_numbers, spelling, text_of, texts_of
from mapdag.data.panics import without_reports
from mapdag.data.problems import rows_text

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from mapdag.data.codings import ValueType


#: "text" covers every label that came as text; "nested" is what cannot be a category at all.
Kind: TypeAlias = Literal["text", "number", "boolean", "temporal", "nested"]

#: What numpy's kinds of types hold.
TYPES: Mapping[str, ValueType] = {"b": "boolean", "i": "integer", "u": "integer", "f": "float"}

#: A range of integers up to this wide is tabulated rather than sorted.
_DENSE = 2**16

_SPAN = np.timedelta64  # a whole number, as numpy sees it

#: Where to look for the distinct values first: as a rule, few rows show all of them.
_FIRST = 2_000


@dataclass(eq=False)
class Column:
    """The distinct values of a column, and which of them each row has."""

    name: str
    kind: Kind
    index: NDArray[Any]  # the position of each row's value
    texts: Sequence[str | None] | None = None  # by position; None where missing, or in no row; they may repeat
    values: NDArray[Any] | None = None  # of a numeric column, NaN for None; their text is made only if somebody asks
    declared: Sequence[str] | None = None  # the levels that the column's own type declares, in order
    coding: Coding = TEXT  # what the table says the values are; what only looks like numbers is text
    note: str = ""  # what a nested column holds
    rows: NDArray[np.intp] | None = None  # where the rows were in the table, if some were left out
    times: NDArray[np.int64] | None = None  # how many rows of the table each one stands for, unless it is one
    first: NDArray[np.int64] | None = None  # and where the first of these was

    @cached_property
    def labels(self) -> Sequence[str | None]:
        """The values as text, by position."""
        if self.texts is not None:
            return self.texts
        return [] if self.values is None else [None if value != value else text_of(value) for value in self.values]  # noqa: PLR0124

    def numbers(self, missing: Collection[str]) -> NDArray[np.float64] | None:
        """Return the values as numbers by position (NaN: missing), or None if some value is not a number."""
        if self.values is not None:
            result = self.values.astype(np.float64)
            result[self._coded_as(missing)] = np.nan
            return result
        if self.kind != "text":
            return None
        texts = ["" if label is None or label in missing else label.strip() for label in self.labels]
        kept = [i for i, text in enumerate(texts) if text and text not in missing and spelling(text) not in missing]
        present = [texts[position] for position in kept]
        parsed = parse_numbers(present)
        if parsed is None:
            parsed = parse_decimal_commas(present)
        if parsed is None:
            return None
        result = np.full(len(texts), np.nan)
        result[kept] = parsed
        return result

    def _coded_as(self, missing: Collection[str]) -> list[int]:
        """Return the positions of numbers whose text means "missing"; only texts of those are made that come near."""
        assert self.values is not None
        parsed = [code for code in (parse_numbers([text]) for text in missing) if code is not None]
        if not parsed:
            return []
        codes = np.concatenate(parsed)
        narrow = np.float16 if self.values.dtype == np.float16 else np.float32
        codes = codes[np.abs(codes) < np.finfo(narrow).max]
        near = np.isin(self.values.astype(narrow), codes.astype(narrow))
        texts = {
            i: self.labels[i] if self.texts is not None else text_of(self.values[i])
            for i in np.flatnonzero(near).tolist()
        }
        return [i for i, text in texts.items() if text is not None and (text in missing or spelling(text) in missing)]

    @property
    def n_positions(self) -> int:
        """The number of positions, whether or not some row has them."""
        return len(self.labels if self.texts is not None or self.values is None else self.values)

    @property
    def n_rows(self) -> int:
        """The number of rows of the table."""
        return len(self.index) if self.times is None else int(self.times.sum())

    def tally(self) -> NDArray[np.int64]:
        """Count the rows of every position."""
        counts = np.bincount(self.index, weights=self.times, minlength=self.n_positions)
        return counts.astype(np.int64, copy=False)

    def told(self, marked: NDArray[np.bool_]) -> str:
        """Say how many rows are marked, and which come first."""
        return rows_text(marked, self.rows if self.times is None else self.first, self.times)

    def narrowed(self) -> Column:
        """Return the same column in as little memory as its positions need."""
        return replace(self, index=self.index.astype(np.min_scalar_type(max(self.n_positions - 1, 0))))

    def kept(self, rows: NDArray[np.intp]) -> Column:
        """Return some of the rows, with the values that these have; what the type declares stays declared."""
        index = self.index[rows]
        used = np.flatnonzero(np.bincount(index, minlength=self.n_positions))
        rank = np.zeros(self.n_positions, dtype=self.index.dtype)
        rank[used] = np.arange(len(used))
        return replace(
            self,
            index=rank[index],
            texts=None if self.texts is None else [self.texts[position] for position in used.tolist()],
            values=None if self.values is None else self.values[used],
            rows=rows if self.rows is None else self.rows[rows],
            times=None if self.times is None else self.times[rows],
            first=None if self.first is None else self.first[rows],
        )


class _Remembering(Column):
    """A column that keeps its numbers, for those who look at them again and again."""

    def numbers(self, missing: Collection[str]) -> NDArray[np.float64] | None:
        """Return what `Column.numbers` does, not to be written to."""
        known: dict[frozenset[str], NDArray[np.float64] | None] = self.__dict__.setdefault("_known", {})
        key = frozenset(missing)
        if key not in known:
            known[key] = super().numbers(key)
        return known[key]


def remembering(column: Column) -> Column:
    """Return the same column, which keeps its numbers."""
    return _Remembering(**{field.name: getattr(column, field.name) for field in fields(column)})


def is_a(value: object, package: str, name: str) -> bool:
    """Tell an object's class by name, so that its package need not be imported (nor installed)."""
    return any(c.__name__ == name and c.__module__.split(".")[0] == package for c in type(value).__mro__)


def nested(name: str, note: str, n_rows: int) -> Column:
    """Make a column of what cannot be categories."""
    return Column(name, "nested", np.zeros(n_rows, dtype=np.uint8), texts=[None], note=note)


def expand(column: Column, present: NDArray[np.bool_]) -> Column:
    """Give a column of the present values back its missing rows."""
    index = np.full(len(present), column.n_positions, dtype=np.uint32)
    index[present] = column.index
    values = None if column.values is None else np.append(column.values, np.float32(np.nan))
    texts = None if values is not None and column.texts is None else [*column.labels, None]
    return replace(column, index=index, texts=texts, values=values)


def from_numpy(name: str, values: NDArray[Any]) -> Column:
    """Make a column from an array; NaN and NaT are missing."""
    kind = values.dtype.kind
    if kind in "fmM":
        present = ~np.isnan(values) if kind == "f" else ~np.isnat(values)
        if not present.all():
            return expand(from_numpy(name, values[present]), present)
        distinct, inverse = np.unique(values, return_inverse=True)
        if kind == "f":
            return Column(name, "number", inverse.reshape(-1), values=distinct, coding=Coding("float"))
        return Column(name, "temporal", inverse.reshape(-1), texts=texts_of(distinct))
    if kind == "b":
        seen = np.bincount(values, minlength=2) > 0
        labels = [label if flag else None for label, flag in zip(("False", "True"), seen, strict=True)]
        return Column(name, "boolean", values.astype(np.uint8), texts=labels, coding=Coding("boolean"))
    if kind in "iu":
        return _from_integers(name, values)
    if kind == "S":
        distinct, inverse = np.unique(values, return_inverse=True)
        return Column(name, "text", inverse.reshape(-1), texts=_decoded(distinct.tolist()))
    if kind in "UTO":
        return from_objects(name, values.tolist())
    return nested(name, f"values of type {values.dtype}", len(values))


def _decoded(values: Sequence[bytes]) -> list[str]:
    """Return byte strings as text: UTF-8 or, if one of them is not, Latin-1."""
    try:
        return [value.decode() for value in values]
    except UnicodeDecodeError:
        return [value.decode("latin-1") for value in values]


def from_masked(name: str, values: np.ma.MaskedArray[Any, Any]) -> Column:
    """Make a column from a masked array; what is masked is missing."""
    if values.dtype.kind not in "biufmMS" or values.ndim != 1:
        return from_objects(name, values.tolist())
    return expand(from_numpy(name, values.compressed()), ~np.ma.getmaskarray(values))


def _from_integers(name: str, values: NDArray[Any]) -> Column:
    if not len(values):
        return Column(name, "number", values, texts=[], values=np.empty(0), coding=Coding("integer"))
    low, high = int(values.min()), int(values.max())
    if high - low >= _DENSE:
        distinct, inverse = np.unique(values, return_inverse=True)
        labels: list[str | None] = [str(value) for value in distinct.tolist()]
        return Column(name, "number", inverse.reshape(-1), texts=labels, values=distinct, coding=Coding("integer"))
    # The difference would overflow in narrow types; bytes from 0 need none.
    wide = values if values.dtype.itemsize >= 4 else values.astype(np.int32)
    index = values if low == 0 and values.dtype == np.uint8 else (wide - wide.min()).astype(np.uint16)
    seen = np.bincount(index[:_FIRST], minlength=high - low + 1) > 0
    if not seen.all():
        seen = np.bincount(index, minlength=high - low + 1) > 0
    labels = [str(low + position) if flag else None for position, flag in enumerate(seen)]
    floats = np.where(seen, low + np.arange(float(len(seen))), np.nan)
    return Column(name, "number", index, texts=labels, values=floats, coding=Coding("integer"))


def is_missing(value: Any) -> bool:
    """Tell whether a value is one of those that stand for none."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float | np.floating | np.datetime64 | np.timedelta64) and value != value  # noqa: PLR0124


def from_objects(name: str, values: Sequence[Any]) -> Column:
    """Make a column from any Python values; None and NaN are missing."""
    positions: dict[tuple[type, Any], int] = {}
    try:
        # The class is part of the key: True == 1 == 1.0, but their labels differ.
        index = np.fromiter(
            (positions.setdefault((value.__class__, value), len(positions)) for value in values),
            dtype=np.int64,
            count=len(values),
        )
    except TypeError:  # a value without a hash: a list, a dict, a set
        unhashable = next((value for value in values if type(value).__hash__ is None), values[0])
        return nested(name, f"{type(unhashable).__name__} values", len(values))
    distinct = [None if is_missing(value) else value for _, value in positions]
    present = [value for value in distinct if value is not None]
    if any(isinstance(value, bytes | tuple | frozenset) for value in present):
        return nested(name, f"{type(present[0]).__name__} values", len(values))
    labels = [None if value is None else text_of(value) for value in distinct]
    if present and all(isinstance(value, bool | np.bool_) for value in present):
        return Column(name, "boolean", index, texts=labels, coding=Coding("boolean"))
    if present and all(isinstance(value, numbers.Real) and not isinstance(value, bool | _SPAN) for value in present):
        floats = np.array([np.nan if value is None else _as_float(value) for value in distinct])
        whole = all(isinstance(value, numbers.Integral) for value in present)
        return Column(
            name, "number", index, texts=labels, values=floats, coding=Coding("integer" if whole else "float")
        )
    times = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)
    temporal = present and all(isinstance(value, times) for value in present)
    return Column(name, "temporal" if temporal else "text", index, texts=labels)


def _as_float(value: Any) -> float:
    """Return a number as a float; whole ones may be beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


# Series of polars, of pandas, and whatever else holds values in a row ------------------------------------------------

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
