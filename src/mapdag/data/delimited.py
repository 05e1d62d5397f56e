"""Reading text tables: polars parses, on types chosen from a sample, and what it cannot vouch for is checked here.

Cells become labels exactly as they are written. Polars parses integers twice as fast as strings, so columns that look
like it are read as such; the number of bytes in the file then proves that no cell was written in another way.
"""

from __future__ import annotations

import csv
import io
import re
from codecs import BOM_UTF8
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from mapdag.data.columns import Column, from_objects, from_polars, own_categorical
from mapdag.data.content import as_utf8, latin
from mapdag.data.dialect import (
    Dialect,
    Fault,
    are_lines_regular,
    are_quotes_regular,
    close_up,
    count_marks,
    find_fault,
    is_blank,
    look_at,
)
from mapdag.data.source import Source, check_row_names
from mapdag.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl
    from numpy.typing import NDArray

    from mapdag.data.content import Content
    from mapdag.data.meanings import ReadOptions

#: How cells were read: some as integers, all as text by polars, or all by the csv module.
Way: TypeAlias = Literal["integers", "text", "cells"]

_INTEGER = re.compile(r"0|-?[1-9]\d{0,7}", re.ASCII)

#: A column with more distinct labels than this in the sample is read as plain strings: pools are for few strings.
_MANY = 256

_BLANK_LINES = re.compile(rb"(?:\r*\n)*")  # a carriage return alone is no line end
_BLOCK = 2**22
_TAIL = 2**16


def from_text(content: Content, separator: str | None, encoding: str | None) -> Source:
    """Read a text table."""
    content = as_utf8(content, encoding)
    content, dialect, _ = look_at(content, separator)
    try:
        parsed = parse(content, dialect)
    except UnicodeDecodeError:
        return from_text(latin(content), separator, None)
    make = _from_cells if parsed.way == "cells" else _from_series
    source = Source(dialect.names, parsed.n_rows, parsed.columns, make, content.name, header=True)
    return _without_row_names(source) if dialect.row_names else source


class Parsed(NamedTuple):
    """The cells of a text table."""

    columns: list[Any]  # polars Series, or lists of text where the csv module had to read them
    n_rows: int
    way: Way  # how they were read


def parse(content: Content, dialect: Dialect, *, integers: bool = True, before: int = 0) -> Parsed:
    """Parse a text table, or a piece of one.

    Parameters
    ----------
    content : Content
        The bytes, in UTF-8; if they are not, that may be an error of decoding.
    dialect : Dialect
    integers : bool
        Whether to try to read integers as such.
    before : int
        Lines of the file before this piece.
    """
    held = content.holds(b'"\r', dialect.start)
    quoted, carriages = b'"' in held, b"\r" in held
    seen, blank = _without_blank_start(content, dialect)
    if _has_records(dialect) and _is_regular(content, seen, carriages=carriages):
        for as_integers in (True, False) if integers and not quoted else (False,):
            frame = _parsed(content, seen, integers=as_integers, quoted=quoted, carriages=carriages)
            if frame is not None:
                if blank and frame.width == 1:  # where they are missing values
                    frame = frame.clear(blank).extend(frame)
                return Parsed(frame.get_columns(), frame.height, "integers" if as_integers else "text")
    columns = _read_slowly(content, dialect, content.load().decode(), before)
    return Parsed(columns, len(columns[0]), "cells")


def are_varied(dialect: Dialect) -> list[bool]:
    """Tell for each column whether it has so many values that they are read as plain strings, and as numbers if so."""
    import polars as pl

    return [_type(dialect, position, integers=False) == pl.String for position in range(len(dialect.names))]


def _without_row_names(source: Source) -> Source:
    """Leave out the first column, for which the header has no name, if it can be row names: distinct on every row."""
    first: Any = source.parts[0]
    distinct = len(set(first)) if isinstance(first, list) else first.n_unique()
    alone = distinct == len(first)
    told = first[:2] if alone else [Counter(first).most_common(1)[0][0]]
    check_row_names(source.called, len(source.names), [str(value) for value in told], distinct=alone)
    return replace(source, names=source.names[1:], parts=source.parts[1:])


def _from_series(name: str, series: pl.Series, options: ReadOptions) -> Column:
    # Numbers in great variety: a label for each would take long, and nobody wants them.
    numeric = options.missing_texts(name) if options.takes_numbers(name) else None
    return from_polars(name, series, own=True, numeric=numeric)


def _from_cells(name: str, cells: list[str], _: ReadOptions) -> Column:
    return from_objects(name, cells)


def _has_records(dialect: Dialect) -> bool:
    """Tell whether any record of the sample has as many fields as the header; polars need not try if not."""
    return not dialect.sample or any(len(record) == len(dialect.names) for record in dialect.sample)


def _is_regular(content: Content, dialect: Dialect, *, carriages: bool) -> bool:
    """Tell whether line ends are such that polars sees them all, and nothing else that it overlooks."""
    if content.first(dialect.start + len(BOM_UTF8)).startswith(BOM_UTF8, dialect.start):  # part of the first cell
        return False
    if content.last(1) == dialect.separator.encode():  # polars does not see the empty field after it
        return False
    return not carriages or are_lines_regular(content.array()[dialect.start :])


def _without_blank_start(content: Content, dialect: Dialect) -> tuple[Dialect, int]:
    """Go past blank lines at the start of the rows, which polars does not see; also, how many they are."""
    size = 2**8
    while (start := content.first(dialect.start + size)[dialect.start :]) and not start.strip(b"\r\n"):
        if len(start) < size:
            break
        size *= 2
    blank = _BLANK_LINES.match(start)[0]  # type: ignore[index]  # it matches nothing, too
    lines = blank.count(b"\n")
    return replace(dialect, lines=dialect.lines + lines, start=dialect.start + len(blank)), lines


def _parsed(
    content: Content, dialect: Dialect, *, integers: bool, quoted: bool, carriages: bool
) -> pl.DataFrame | None:
    """Let polars parse, with integers as such or not; None if that does not give every cell as it is written."""
    import polars as pl

    types = [_type(dialect, position, integers=integers) for position in range(len(dialect.names))]
    if integers and not any(dtype.is_integer() for dtype in types):
        return None
    body, separator = content.array()[dialect.start :], ord(dialect.separator)
    marks = count_marks(body, separator, carriages=carriages) if quoted else None
    if marks and not marks.plain and not are_quotes_regular(body, separator):
        return None
    try:
        frame = pl.read_csv(
            content.stream() if content.data is None else content.data,
            has_header=False,
            skip_lines=dialect.lines,
            separator=dialect.separator,
            schema={str(position): dtype for position, dtype in enumerate(types)},
            glob=False,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    proved = not marks or not marks.plain or marks.prove(frame.height, frame.width)
    if not proved and not are_quotes_regular(body, separator):  # which takes longer, and would have proved it as well
        return None
    blank = _blank_lines(content, dialect, frame, marks.separators if marks else None)
    if blank is None or (integers and not _is_verbatim(content, dialect, frame, len(blank), carriages=carriages)):
        return None
    if len(blank):
        keep = np.ones(frame.height, dtype=bool)
        keep[blank] = False
        frame = frame.filter(keep)
    return frame


def _type(dialect: Dialect, position: int, *, integers: bool) -> pl.DataType:
    """Choose the type to parse a column as, by its sample."""
    import polars as pl

    cells = {record[position] for record in dialect.sample if position < len(record)}
    if integers and cells and all(_INTEGER.fullmatch(cell) for cell in cells):
        return pl.UInt8() if all(0 <= int(cell) < 2**8 for cell in cells) else pl.Int32()
    return pl.String() if len(cells) > _MANY else own_categorical()


def _blank_lines(
    content: Content, dialect: Dialect, frame: pl.DataFrame, separators: int | None
) -> NDArray[np.intp] | None:
    """Return the rows that are blank lines, or None if some record has too few fields.

    Polars fills both up with nulls, so only a null in the last column can mean either. `separators`: how many the text
    has, if they were counted.
    """
    gone = frame.to_series(frame.width - 1).is_null().to_numpy()
    if frame.width == 1:  # a blank line may be a missing value, unless it is at the end
        return np.arange(frame.height - int(np.argmin(gone[::-1])) if not gone.all() else 0, frame.height)
    if not gone.any():
        return np.empty(0, dtype=np.intp)
    data = content.array()
    end = data[-_TAIL:].tobytes()
    blank_at_end = max(end[len(end.rstrip(b"\r\n")) :].count(b"\n") - 1, 0)
    # No record has too many separators, or polars had stopped: all have enough if the sum is right.
    total = content.count(dialect.separator.encode(), dialect.start) if separators is None else separators
    within = sum(_count(series, dialect.separator) for series in frame.get_columns())  # inside of cells
    if total - within == (frame.height - blank_at_end) * (frame.width - 1):
        return np.arange(frame.height - blank_at_end, frame.height)
    ends, fields = _records(data[dialect.start :], ord(dialect.separator))
    if len(ends) != frame.height:
        return None
    odd = np.flatnonzero(fields != frame.width)
    starts = np.concatenate([[0], ends[:-1] + 1]) + dialect.start
    if any(data[starts[row] : ends[row] + dialect.start].tobytes().strip() for row in odd):
        return None
    return odd


def _count(series: pl.Series, letter: str) -> int:
    """Count the occurrences of a letter in the cells of a column."""
    import polars as pl

    if series.dtype == pl.String:
        return int(series.str.count_matches(letter, literal=True).sum())
    return 0 if series.dtype.is_integer() else _sum_over_labels(series, lambda label: label.count(letter))


def _sum_over_labels(series: pl.Series, figure: Callable[[str], int]) -> int:
    """Add up a figure of the labels of a column over its rows."""
    column = from_polars("", series, own=True)
    figures = np.array([0 if label is None else figure(label) for label in column.labels])
    return int(figures[column.index].sum()) if figures.any() else 0


def _records(data: NDArray[np.uint8], separator: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where every record ends and how many fields it has; quoted newlines and separators do not count."""
    ends, totals = [], []
    inside = total = 0
    for low in range(0, len(data), _BLOCK):
        block = np.asarray(data[low : low + _BLOCK])
        newline, split, quote = block == ord("\n"), block == separator, block == ord('"')
        if inside or quote.any():
            open_ = (np.cumsum(quote) + inside) & 1
            inside = int(open_[-1])
            newline &= open_ == 0
            split &= open_ == 0
        places = np.flatnonzero(newline)
        splits = np.flatnonzero(split)
        ends.append(places + low)
        totals.append(np.searchsorted(splits, places) + total)
        total += len(splits)
    if data[-1:].tobytes() != b"\n":
        ends.append(np.array([len(data)]))  # the last line has no newline
        totals.append(np.array([total]))
    counts = np.diff(np.concatenate([[0], *totals]))
    return np.concatenate(ends).astype(np.int64), counts.astype(np.int64) + 1


def _is_verbatim(content: Content, dialect: Dialect, frame: pl.DataFrame, blank: int, *, carriages: bool) -> bool:
    """Prove that every integer was written with the fewest digits.

    Any other way (a leading zero, a sign, a blank, quotes) takes more bytes, and nothing takes fewer. So the bytes of
    the shortest text of all cells, of the separators and of the line ends add up to the file's only if there is none.
    """
    import polars as pl

    size = (frame.height - blank) * (frame.width - 1) + frame.height - int(content.last(1) != b"\n")
    if carriages:
        size += content.count(b"\r", dialect.start)
    for series in frame.get_columns():
        if series.dtype == pl.UInt8:
            values = series.drop_nulls().to_numpy()
            most = values.max(initial=0)
            size += len(values) + sum(int(np.count_nonzero(values > shorter)) for shorter in (9, 99) if most > shorter)
        elif series.dtype == pl.String:
            size += int(series.str.len_bytes().sum())
        else:
            size += _sum_over_labels(series, lambda label: len(label.encode()))
    return content.size - dialect.start == size


def _read_slowly(content: Content, dialect: Dialect, text: str, before: int = 0) -> list[list[str]]:
    """Read with the csv module, which knows the line numbers; records of the wrong length are an error."""
    width = len(dialect.names)
    odd: list[tuple[int, int]] = []
    columns: list[list[str]] = [[] for _ in range(width)]
    shared: dict[str, str] = {}
    reader = csv.reader(
        io.StringIO(close_up(text, dialect.separator), newline="\n"),
        delimiter=dialect.separator,
        skipinitialspace=dialect.separator != " ",
        strict=True,
    )
    line = count = blank = 0
    try:
        for record in reader:
            first, line = line + 1, reader.line_num
            if first <= dialect.lines or (is_blank(record) and width > 1):
                continue
            blank = 0 if record else blank + 1
            record, count = record or [""], count + 1  # noqa: PLW2901 - a blank line of a table of one column
            if len(record) != width:
                odd.append((first + before, len(record)))
            elif not odd:
                for column, cell in zip(columns, record, strict=True):
                    column.append(shared.setdefault(cell, cell))
    except csv.Error as error:
        fault = find_fault(text, dialect.separator) or Fault(reader.line_num, 1, f"an endless field ({error})")
        place = f"{content.name}, line {fault.line + before:,}, column {fault.column:,}"
        raise DataError(f"{place}: malformed quotes or line ends: {fault.why}") from None
    if not odd:
        return [column[: len(column) - blank] for column in columns] if blank else columns
    first, fields = odd[0]
    found = "1 field" if fields == 1 else f"{fields:,} fields"
    message = f"{content.name}, line {first:,}: {found} instead of the header's {width:,}"
    more = f" ({len(odd):,} such lines)" if len(odd) > 1 else ""
    if len(odd) == count and all(fields == width + 1 for _, fields in odd):
        more = "; so has every line: a separator at its end?"
    raise DataError(f"{message}{more}; fields are separated by {dialect.separator!r}, unless you pass separator=")
