"""Tables in memory (pandas, polars, Arrow, numpy, dicts, records, datasets), brought to named columns."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.columns import Column, from_masked, from_numpy, from_objects, from_pandas, from_polars
from mapdag.data.dataset import Dataset
from mapdag.errors import DataError

if TYPE_CHECKING:
    import polars as pl

    from mapdag.data.settle import Rules

__all__ = ["Table", "from_frame", "from_memory", "from_stream"]


@dataclass
class Table:
    """Named columns of any origin, made one by one when they are asked for.

    Parameters
    ----------
    names : list of str
        As found; possibly empty or repeated.
    n_rows : int
        Their length.
    parts : list
        What each column is made from.
    make : function (name, part, rules) -> Column
        How.
    source : str
        What the table is called in messages.
    weights : array, optional
        Weights that the source brings along.
    header : bool
        Whether the names were the first line of a text file, so that they might be data.
    """

    names: list[str]
    n_rows: int
    parts: list[Any]
    make: Callable[[str, Any, Rules], Column]
    source: str = "the table"
    weights: Any = None
    header: bool = False

    def pop(self, position: int, rules: Rules) -> Column:
        """Make a column, and forget what it was made from."""
        part, self.parts[position] = self.parts[position], None
        return self.make(self.names[position], part, rules)


def _is_a(value: object, package: str, *classes: str) -> bool:
    """Tell an object's class by name, so that its package need not be imported (nor installed)."""
    return any(c.__name__ in classes and c.__module__.split(".")[0] == package for c in type(value).__mro__)


def from_memory(source: Any) -> Table:
    """Bring a table in memory to columns."""
    if isinstance(source, Dataset):
        return _from_dataset(source)
    if _is_a(source, "pandas", "DataFrame"):
        parts = [source.iloc[:, position] for position in range(source.shape[1])]
        return Table([str(name) for name in source.columns], len(source), parts, _pandas_part)
    if _is_a(source, "polars", "LazyFrame"):
        return from_frame(source.collect())
    if _is_a(source, "polars", "DataFrame"):
        return from_frame(source)
    if isinstance(source, np.ndarray):
        return _from_array(source)
    if isinstance(source, Mapping):
        return _from_mapping(source)
    if isinstance(source, list | tuple):
        return _from_records(source)
    if hasattr(source, "__arrow_c_stream__") and type(source).__name__ != "Series":
        return from_stream(source)
    raise DataError(
        "a table must be a path, a pandas or polars DataFrame, an Arrow table, a 2-d numpy array, a dict of columns, "
        f"a list of dicts or a Dataset, got {type(source).__module__}.{type(source).__qualname__}"
    )


def from_frame(frame: pl.DataFrame, declared: Mapping[str, Sequence[str]] | None = None) -> Table:
    """Bring a polars DataFrame to columns; `declared` holds levels that polars does not know of."""
    levels = {**_named_categories(frame), **(declared or {})}

    def make(name: str, series: pl.Series, rules: Rules) -> Column:
        del rules
        column = from_polars(name, series)
        if name in levels:
            column.declared = levels[name]
        return column

    return Table(list(frame.columns), frame.height, frame.get_columns(), make)


def _named_categories(frame: pl.DataFrame) -> dict[str, list[str]]:
    """Levels of the Categoricals that have `polars.Categories` of their own, not shared with another column."""
    import polars as pl

    pools = {name: dtype.categories for name, dtype in frame.schema.items() if isinstance(dtype, pl.Categorical)}
    shared = Counter(pools.values())
    own = {name: pool for name, pool in pools.items() if not pool.is_global() and shared[pool] == 1}
    return {name: pool.to_series().to_list() for name, pool in own.items()}


def from_stream(source: Any) -> Table:
    """Bring anything that exports an Arrow stream to columns; dictionaries declare levels."""
    import polars as pl

    from mapdag.data.arrow import Tap

    tap = Tap(source)
    try:
        frame = pl.DataFrame(tap)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"the Arrow table cannot be read: {error}") from error
    if tap.error is not None:
        raise DataError(f"the dictionaries of the Arrow table cannot be read: {tap.error}") from tap.error
    return from_frame(frame, {frame.columns[position]: levels for position, levels in tap.levels.items()})


def _pandas_part(name: str, part: Any, rules: Rules) -> Column:
    del rules
    return from_pandas(name, part)


def _from_dataset(data: Dataset) -> Table:
    def make(name: str, codes: Any, rules: Rules) -> Column:
        del rules
        return Column(name, "text", codes, labels=data.levels[name], declared=data.levels[name])

    return Table(list(data.names), data.n_rows, list(data.codes), make, weights=data.weights)


def _from_array(array: np.ndarray[Any, Any]) -> Table:
    if array.dtype.names is not None and array.ndim == 1:
        names, parts = list(array.dtype.names), [array[name] for name in array.dtype.names]
    elif array.ndim == 2:
        names, parts = [f"X{i + 1}" for i in range(array.shape[1])], list(array.T)
    else:
        raise DataError(f"a numpy array must have shape (rows, columns) or be structured, got shape {array.shape}")
    return Table(names, len(array), parts, _any_part)


def _from_mapping(columns: Mapping[Any, Any]) -> Table:
    parts = []
    for name, values in columns.items():
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            raise DataError(f"column {name!r} of the dict must be a sequence of values, got {values!r:.80}")
        parts.append(values)
    lengths = {len(values) for values in parts}
    if len(lengths) > 1:
        shown = ", ".join(f"{name!r}: {len(values):,}" for name, values in list(columns.items())[:10])
        raise DataError(f"the columns of the dict differ in length: {shown}")
    return Table([str(name) for name in columns], lengths.pop() if lengths else 0, parts, _any_part)


def _from_records(rows: Sequence[Any]) -> Table:
    """Bring a list of dicts to columns: names in order of first appearance, and what a dict lacks is missing."""
    if not all(isinstance(row, Mapping) for row in rows):
        wrong = next(row for row in rows if not isinstance(row, Mapping))
        raise DataError(
            f"a list must hold dicts, one per row, got {type(wrong).__name__} values, which name no columns: pass a "
            'dict of columns, {"name": [values], ...}, or a 2-d numpy array, whose columns become X1, X2, ...'
        )
    names = dict.fromkeys(name for row in rows for name in row)
    parts = [[row.get(name) for row in rows] for name in names]
    return Table([str(name) for name in names], len(rows), parts, _any_part)


def _any_part(name: str, part: Any, rules: Rules) -> Column:
    """Make a column from an array, a Series of either kind, or any other sequence."""
    del rules
    if _is_a(part, "polars", "Series"):
        return from_polars(name, part)
    if type(part).__module__.split(".")[0] == "pandas":
        return from_pandas(name, sys.modules["pandas"].Series(part))
    if isinstance(part, np.ma.MaskedArray):
        return from_masked(name, part)
    if isinstance(part, np.ndarray):
        return from_numpy(name, part) if part.ndim == 1 else from_objects(name, part.tolist())
    if hasattr(part, "tolist") or hasattr(part, "to_pylist"):
        return from_objects(name, part.tolist() if hasattr(part, "tolist") else part.to_pylist())
    return from_objects(name, list(part))
