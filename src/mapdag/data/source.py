"""The source of a dataset: whatever the user passed, brought to named columns, and the choice among them.

Files are opened by `content`, text is read by `delimited`. Arrow is read by polars, from a file or a stream; only which
levels its dictionaries declare has to be asked of pyarrow, since polars forgets those that no row uses.
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.codings import TEXT
from mapdag.data.columns import Column, from_any, from_pandas, from_polars, is_a
from mapdag.data.content import HEAD, Content, failures, open_content
from mapdag.data.dataset import Dataset
from mapdag.data.labels import half_character, is_iterable
from mapdag.data.panics import without_reports
from mapdag.data.problems import Problems, listed, unknown_names
from mapdag.errors import CapacityError, DataError, ParameterError
from mapdag.notices import warn
from mapdag.wording import brief

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from mapdag.data.interventions import Interventions
    from mapdag.data.meanings import ReadOptions
    from mapdag.data.rows import Recount

#: As many as a graph has nodes.
MAX_COLUMNS = 2**15

_POLARS_WROTE = (b"Polars", b"_PL_CATEGORICAL")


@dataclass
class Source:
    """Named columns of any origin, made one by one when they are asked for."""

    names: list[str]  # as found; possibly empty or repeated
    n_rows: int
    parts: list[Any]  # what each column is made from
    make: Callable[[str, Any, ReadOptions], Column]  # how; what the user said about the columns may spare it work
    called: str = "the table"  # what it is called in messages
    weights: Any = None  # weights that it brings along
    groups: Any = None  # and which of its rows belong together
    weighting: Any = None  # and what the weights are
    interventions: Interventions | None = None  # and what was set in its rows
    recount: Recount | None = None  # counts the rows that remain, if columns hold distinct values instead of rows
    sample: Source | None = None  # some of its rows, in that case
    header: bool = False  # whether the names were the first line of a text file, so that they might be data

    def pop(self, position: int, options: ReadOptions) -> Column:
        """Make a column, and forget what it was made from."""
        part, self.parts[position] = self.parts[position], None
        return self.make(self.names[position], part, options)


def open_source(source: Any, separator: str | None = None, encoding: str | None = None) -> Source:
    """Open a table of any kind; one that is open stays as it is."""
    for option, given in (("separator", separator), ("encoding", encoding)):
        if given is not None and not isinstance(given, str):
            raise ParameterError(f"{option} must be a text, got {brief(given)}")
    if isinstance(source, Source):
        return source
    # callable(): a pandas DataFrame may have a column of that name.
    file = callable(getattr(source, "read", None))
    if not isinstance(source, str | os.PathLike | bytes | bytearray | memoryview) and not file:
        found = _from_memory(source)
    else:
        content = open_content(source)
        encoding = None if content.is_text else encoding
        if content.format != "text":
            found = _from_columnar(content)
        else:
            from mapdag.data.delimited import from_text

            found = from_text(content, separator, encoding)
    if not found.names:
        raise DataError(f"{found.called} has no columns")
    if not found.n_rows:
        raise DataError(f"{found.called} has no rows")
    return found


def names_in(columns: str | Iterable[str], what: str = "drop") -> list[str]:
    """Return the columns that an option names: those that are to be left out, unless it is another one."""
    if isinstance(columns, bytes | Mapping) or not is_iterable(columns):
        raise ParameterError(f"{what} must be a column or a list of columns, got {columns!r:.80}")
    return [columns] if isinstance(columns, str) else [str(name) for name in columns]


def check_width(source: Source, columns: int) -> None:
    """Refuse more columns than a graph has nodes."""
    if columns > MAX_COLUMNS:
        raise CapacityError(
            f"{source.called} has {columns:,} columns, at most {MAX_COLUMNS:,} are possible: leave some out by drop="
        )


def chosen_columns(
    source: Source,
    dropped: Sequence[str],
    about_rows: Mapping[str, Any] | None = None,
    problems: Problems | None = None,
) -> dict[str, int]:
    """Return the positions of the variables by name: all but the dropped ones and those about rows, such as weights.

    Columns without a name are left out and noted, or an error if there is nowhere to note them.
    """
    names = set(source.names)
    unknown = [name for name in dropped if name not in names]
    if unknown:
        raise unknown_names(unknown, source.names, "drop")
    for option, column in (about_rows or {}).items():
        if isinstance(column, str):
            if column not in source.names or column in dropped:
                raise unknown_names([column], [name for name in source.names if name not in dropped], option)
            dropped = [*dropped, column]
    left_out = set(dropped)
    kept = [position for position, name in enumerate(source.names) if name not in left_out]
    if "" in source.names and "" not in left_out:
        noted = Problems(dropped) if problems is None else problems
        noted.add("", f"has no name (column {source.names.index('') + 1:,} of {source.called}: row names, perhaps)")
        kept = [position for position in kept if source.names[position]]
        if problems is None or not kept:
            noted.raise_any()
    twice = [name for name, count in Counter(source.names[position] for position in kept).items() if count > 1]
    if twice:
        raise DataError(
            f"{source.called} has more than one column named {listed(twice)}: rename them, or leave them "
            "all out by drop=; if the first line holds data and not names, put a line of names before it"
        )
    if (half := half_character(source.names[position] for position in kept)) is not None:
        raise DataError(f"{source.called} has a column named {half!r}: half of a pair of characters")
    if not kept:
        raise DataError(f"no columns are left of {source.called}")
    check_width(source, len(kept))
    return {source.names[position]: position for position in kept}


def check_row_names(called: str, width: int, first: Sequence[str], *, distinct: bool) -> None:
    """Say that the first field of each line, for which the header has no name, is left out; or refuse it.

    Parameters
    ----------
    called : str
        The table.
    width : int
        How many fields each line has.
    first : sequence of str
        The first of these fields; if they are not distinct, one that occurs more than once.
    distinct : bool
        Whether they are, on all rows.
    """
    told = f"{called}: every line has {width:,} fields, but the header has {width - 1:,} names"
    if not distinct:
        raise DataError(
            f"{told}; the first field cannot be row names, as R writes them: {first[0]!r} is on more than one row. "
            "Write one name per column"
        )
    shown = listed(first)
    warn(f"{told}: the first field ({shown}, ...), distinct on every row, was taken for R's row names and left out")


# Tables in memory --------------------------------------------------------------------------------------------------


def _from_memory(source: Any) -> Source:
    if isinstance(source, Dataset):
        return _from_dataset(source)
    if is_a(source, "pandas", "DataFrame"):
        series = [source.iloc[:, position] for position in range(source.shape[1])]
        names = [str(name) for name in source.columns]
        return Source(names, len(source), series, _from_series)
    if is_a(source, "polars", "LazyFrame"):
        return _from_frame(source.collect())
    if is_a(source, "polars", "DataFrame"):
        return _from_frame(source)
    if isinstance(source, np.ndarray):
        return _from_array(source)
    if isinstance(source, Mapping):
        return _from_mapping(source)
    if isinstance(source, list | tuple):
        return _from_records(source)
    if hasattr(source, "__arrow_c_stream__") and type(source).__name__ != "Series":
        return _from_stream(source)
    raise DataError(
        "a table must be a path, a pandas or polars DataFrame, an Arrow table, a 2-d numpy array, a dict of columns, "
        f"a list of dicts or a Dataset, got {type(source).__module__}.{type(source).__qualname__}"
    )


def _from_series(name: str, series: Any, options: ReadOptions) -> Column:
    """Make a column from a pandas Series; one that is an Arrow array inside is read as such."""
    if type(series.dtype).__name__ != "ArrowDtype":
        return from_pandas(name, series)
    import pyarrow as pa

    column = _from_stream(pa.table({"": series.array.__arrow_array__()})).pop(0, options)
    return replace(column, name=name)


def _from_dataset(data: Dataset) -> Source:
    def make(name: str, codes: Any, _: ReadOptions) -> Column:
        levels, coding = data.levels[name], data.codings.get(name, TEXT)
        labels = (*levels, None) if data.has_gaps else levels
        return Column(name, "text", codes, labels, declared=levels, coding=coding)

    about_rows: dict[str, Any] = {"weights": data.weights, "groups": data.groups, "weighting": data.weighting}
    about_rows["interventions"] = data.interventions
    return Source(list(data.names), data.n_rows, list(data.codes), make, **about_rows)


def _from_sequences(names: Iterable[Any], n_rows: int, sequences: list[Any]) -> Source:
    return Source([str(name) for name in names], n_rows, sequences, lambda name, part, _: from_any(name, part))


def _from_array(array: np.ndarray[Any, Any]) -> Source:
    if array.dtype.names is not None and array.ndim == 1:
        return _from_sequences(array.dtype.names, len(array), [array[name] for name in array.dtype.names])
    if array.ndim == 2:
        return _from_sequences([f"X{i + 1}" for i in range(array.shape[1])], len(array), list(array.T))
    raise DataError(f"a numpy array must have shape (rows, columns) or be structured, got shape {array.shape}")


def _from_mapping(columns: Mapping[Any, Any]) -> Source:
    for name, values in columns.items():
        wrong = isinstance(values, str | bytes | Mapping | set | frozenset) or not hasattr(values, "__len__")
        if wrong or getattr(values, "ndim", 1) == 0:
            hint = ", which pandas' to_dict('list') makes" if isinstance(values, Mapping) else ""
            told = f"column {name!r} of the dict must be a sequence of values{hint}"
            raise DataError(f"{told}, got a {type(values).__name__}: {values!r:.80}")
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        shown = ", ".join(f"{name!r}: {len(values):,}" for name, values in list(columns.items())[:10])
        raise DataError(f"the columns of the dict differ in length: {shown}")
    return _from_sequences(columns, lengths.pop() if lengths else 0, list(columns.values()))


def _from_records(rows: Sequence[Any]) -> Source:
    """Bring a list of dicts to columns: names in order of first appearance, and what a dict lacks is missing."""
    wrong = [row for row in rows if not isinstance(row, Mapping)]
    if wrong:
        raise DataError(
            f"a list must hold dicts, one per row, got {type(wrong[0]).__name__} values, which name no columns: pass a "
            'dict of columns, {"name": [values], ...}, or a 2-d numpy array, whose columns become X1, X2, ...'
        )
    names = dict.fromkeys(name for row in rows for name in row)
    return _from_sequences(names, len(rows), [[row.get(name) for row in rows] for name in names])


# polars and Arrow --------------------------------------------------------------------------------------------------


def _from_frame(frame: pl.DataFrame, declared: Mapping[str, Sequence[str]] | None = None) -> Source:
    """Bring a polars DataFrame to columns; `declared` holds levels that polars does not know of."""
    levels = {**named_categories(frame), **(declared or {})}

    def make(name: str, series: pl.Series, _: ReadOptions) -> Column:
        column = from_polars(name, series)
        column.declared = levels.get(name, column.declared)
        return column

    return Source(list(frame.columns), frame.height, frame.get_columns(), make)


def named_categories(frame: pl.DataFrame) -> dict[str, list[str]]:
    """Levels of the Categoricals that have `polars.Categories` of their own, not shared with another column."""
    import polars as pl

    pools = {name: dtype.categories for name, dtype in frame.schema.items() if isinstance(dtype, pl.Categorical)}
    shared = Counter(pools.values())
    own = {name: pool for name, pool in pools.items() if not pool.is_global() and shared[pool] == 1}
    return {name: _categories(frame[name], pool) for name, pool in own.items()}


def _categories(column: Any, pool: Any) -> list[str]:
    """Return the categories of a pool; before polars 1.43, only a series tells them."""
    found: list[str] = (pool.to_series() if hasattr(pool, "to_series") else column.cat.get_categories()).to_list()
    return found


def _from_stream(source: Any) -> Source:
    """Bring anything that exports an Arrow stream to columns; dictionaries declare levels."""
    import polars as pl

    try:
        import pyarrow as pa
    except ImportError:
        pa = None
    table: pa.Table | None = None
    try:
        with without_reports():
            if pa is not None:
                table = pa.RecordBatchReader.from_stream(source).read_all()
            frame = pl.DataFrame(source if table is None else table.to_reader())
    except failures() as error:
        raise DataError(f"the Arrow table cannot be read: {error}") from error
    if table is None:
        _warn_of_lost_levels("the Arrow table", frame)
        return _from_frame(frame)
    return _from_frame(frame, _dictionary_labels(table.to_batches(), _dictionaries(table.schema, frame)))


def _from_columnar(content: Content) -> Source:
    """Read a Parquet or Arrow file; its dictionary columns declare levels."""
    import polars as pl

    try:
        with without_reports():
            if content.format == "parquet":
                frame = pl.read_parquet(content.stream(), glob=False)
            else:  # from memory: mapping a file would keep it open, and complains about compressed ones
                read = pl.read_ipc if content.format == "ipc" else pl.read_ipc_stream
                frame = read(io.BytesIO(content.load()))
        declared = levels_in_file(content, frame)
    except failures() as error:
        raise DataError(f"{content.name}: cannot be read as {content.format}: {error}") from error
    source = _from_frame(frame, declared)
    source.called = content.name
    return source


def levels_in_file(content: Content, frame: pl.DataFrame) -> dict[str, list[str]]:
    """Return the levels that the dictionary columns of a file declare."""
    try:
        from pyarrow import ipc, parquet
    except ImportError:
        ends = content.head + content.last(HEAD)
        if not any(mark in ends for mark in _POLARS_WROTE):
            _warn_of_lost_levels(content.name, frame)
        return {}
    if content.format == "parquet":
        with parquet.ParquetFile(content.stream()) as file:
            wanted = _dictionaries(file.schema_arrow, frame)
            return _dictionary_labels(file.iter_batches(columns=wanted), wanted) if wanted else {}
    opener = ipc.open_file if content.format == "ipc" else ipc.open_stream
    with _as_file(content) as file:
        schema = opener(file).schema
    wanted = _dictionaries(schema, frame)
    options = ipc.IpcReadOptions(included_fields=[schema.names.index(name) for name in wanted])
    if not wanted:
        return {}
    with _as_file(content) as file:
        reader = opener(file, options=options)
        batches = map(reader.get_batch, range(reader.num_record_batches)) if content.format == "ipc" else reader
        return _dictionary_labels(batches, wanted)


def _as_file(content: Content) -> Any:
    """Open what pyarrow then reads piece by piece."""
    import pyarrow as pa

    return pa.BufferReader(content.data) if content.path is None else pa.OSFile(os.fsencode(content.path))


def _dictionaries(schema: pa.Schema, frame: pl.DataFrame) -> list[str]:
    """Return the names of the dictionary columns that declare levels: those of polars' Categoricals do not."""
    import polars as pl
    import pyarrow as pa

    return [
        field.name
        for field in schema
        if pa.types.is_dictionary(field.type)
        and not isinstance(frame.schema[field.name], pl.Enum)
        and not any(key.startswith(b"_PL_CATEGORICAL") for key in field.metadata or {})
    ]


def _dictionary_labels(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> dict[str, list[str]]:
    """Return the levels that dictionaries declare, those of all batches in order of appearance, as labels of rows."""
    import polars as pl

    labels: dict[str, dict[str | None, None]] = {name: {} for name in names}
    for batch in batches:
        for name, found in labels.items():
            values = pl.Series(batch.column(name).dictionary)
            column = from_polars(name, values) if values.dtype != pl.String else None
            texts = values.to_list() if column is None else [column.labels[position] for position in column.index]
            found.update(dict.fromkeys(texts))
    return {name: [label for label in found if label is not None] for name, found in labels.items()}


def _warn_of_lost_levels(called: str, frame: pl.DataFrame) -> None:
    import polars as pl

    pools = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.Categorical)]
    if pools:
        warn(
            f"the levels of {listed(pools)} are those found in {called}: if it declares more, install pyarrow to "
            "have them read, or pass levels=",
        )
