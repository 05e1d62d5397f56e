"""Blocks of rows as they were read: the distinct values of every column, and which of them each row has.

A block knows nothing of levels: what its values mean is decided once all blocks are there. So the same blocks serve
whatever is asked of the table.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.labels import MAX_LEVELS
from mapdag.data.packed.planes import pack, plane_bytes, planes_of, unpack
from mapdag.data.packed.sealed import Broken, read_sealed, write_sealed
from mapdag.data.series import from_polars, own_categorical

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray

#: Rows of a block, at most.
BLOCK_ROWS = 2**18

_HEAD = 2**12  # rows that show all values, as a rule
_SHOWN = 3  # values of a column that are kept for messages where there are too many


@dataclass(frozen=True, eq=False)
class Part:
    """One column of a block.

    Attributes
    ----------
    values : polars.Series
        Its distinct values, in the order in which they come; nulls are one of them. Some, where they cannot be used.
    counts : int64 array
        The rows of each.
    first : int64 array
        The first row of each, within the block.
    positions : array, one per row
        Which of them each row has.
    note : str
        Why the values cannot be used: of what type they are, or "many" if there are too many.
    found : int
        How many distinct values there are.
    """

    values: pl.Series
    counts: NDArray[np.int64]
    first: NDArray[np.int64]
    positions: NDArray[Any]
    note: str = ""
    found: int = 0


def make_part(cells: pl.Series | Sequence[str], *, own: bool = False) -> Part:
    """Find the distinct values of a column; `own`: whether the pool of a Categorical is its own."""
    import polars as pl

    series = cells if isinstance(cells, pl.Series) else pl.Series(cells, dtype=pl.String)
    dtype = series.dtype
    if dtype.is_nested() or dtype == pl.Binary:
        return _unusable(f"values of type {dtype}", series.head(0), 0)
    index = _index(series, own=own)
    counts = np.bincount(index)
    used = np.flatnonzero(counts)
    first = _first_rows(index[:_HEAD], len(counts))
    if (first[used] < 0).any():
        first = _first_rows(index, len(counts))
    used = used[np.argsort(first[used])]
    rank = np.zeros(len(counts), dtype=np.min_scalar_type(max(len(used) - 1, 0)))
    rank[used] = np.arange(len(used))
    values = series.gather(first[used])
    if isinstance(dtype, pl.Categorical):
        values = values.cast(pl.String)
    if len(used) > MAX_LEVELS and values.dtype == pl.String:
        numbers = values.cast(pl.Float64, strict=False)
        if numbers.null_count() > MAX_LEVELS:  # neither categories nor numbers
            return _unusable("many", values, len(used))
    return Part(values, counts[used], first[used], rank[index], found=len(used))


def _first_rows(index: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Return the first row of each number, -1 where there is none."""
    first = np.full(size, -1, dtype=np.int64)
    first[index[::-1]] = np.arange(len(index) - 1, -1, -1)  # the last to be written is the first row
    return first


def _unusable(note: str, values: pl.Series, found: int) -> Part:
    few = values.head(_SHOWN)
    none = np.zeros(len(few), dtype=np.int64)
    return Part(few, none, none, np.empty(0, dtype=np.uint8), note, found)


def _index(series: pl.Series, *, own: bool) -> NDArray[Any]:
    """Return numbers for the values of a series, the same where values are."""
    import polars as pl

    if series.dtype != pl.String and not isinstance(series.dtype, pl.Categorical | pl.Enum):
        return from_polars("", series).index
    if series.dtype == pl.String or (isinstance(series.dtype, pl.Categorical) and not own):
        series = series.cast(pl.String).cast(own_categorical())
    physical = series.to_physical()
    if physical.null_count():
        physical = physical.cast(pl.UInt32).fill_null(int(physical.max() or 0) + 1)  # type: ignore[arg-type]
    return physical.to_numpy()


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of a table.

    Attributes
    ----------
    n_rows : int
    parts : sequence of Part
        A column each.
    facts : mapping
        What whoever read the rows wants to remember, as plain values.
    """

    n_rows: int
    parts: Sequence[Part]
    facts: Mapping[str, Any]

    def write(self, path: Path) -> None:
        """Write a file, all or nothing."""
        dictionaries = [_written(part) for part in self.parts]
        planes = [planes_of(len(part.counts)) if not part.note else 0 for part in self.parts]
        packed = [pack(part.positions, size) for part, size in zip(self.parts, planes, strict=True)]
        columns = [
            {"bytes": len(text), "planes": size, "note": part.note, "found": part.found}
            for text, size, part in zip(dictionaries, planes, self.parts, strict=True)
        ]
        facts = {"rows": self.n_rows, "columns": columns, "facts": dict(self.facts)}
        write_sealed(path, facts, [*dictionaries, *packed])


def _written(part: Part) -> bytes:
    import polars as pl

    buffer = io.BytesIO()
    pl.DataFrame({"value": part.values, "count": part.counts, "first": part.first}).write_ipc_stream(buffer)
    return buffer.getvalue()


class StoredBlock:
    """A block in a file; its columns are read when they are asked for."""

    def __init__(self, path: Path) -> None:
        facts, self._content = read_sealed(path)
        try:
            self.n_rows: int = facts["rows"]
            self.facts: dict[str, Any] = facts["facts"]
            self._columns: list[dict[str, Any]] = facts["columns"]
        except KeyError as error:
            raise Broken(path, "is not a block of rows") from error
        sizes = [column["bytes"] for column in self._columns]
        sizes += [column["planes"] * plane_bytes(self.n_rows) for column in self._columns]
        self._ends = np.cumsum([0, *sizes])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self._columns)

    def part(self, column: int) -> Part:
        """Return a column without its rows."""
        import polars as pl

        about = self._columns[column]
        frame = pl.read_ipc_stream(io.BytesIO(self._piece(column).tobytes()))
        none = np.empty(0, dtype=np.uint8)
        counts, first = (frame[name].to_numpy() for name in ("count", "first"))
        return Part(frame["value"], counts, first, none, about["note"], about["found"])

    def positions(self, column: int) -> NDArray[Any]:
        """Return which of its values each row has."""
        return unpack(self._piece(self.n_columns + column).reshape(-1, plane_bytes(self.n_rows)), self.n_rows)

    def _piece(self, number: int) -> NDArray[np.uint8]:
        return self._content[self._ends[number] : self._ends[number + 1]]
