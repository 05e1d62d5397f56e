"""Blocks of rows as they were read: the distinct values of every column, and which of them each row has.

A block knows nothing of levels: what its values mean is decided once all blocks are there. So the same blocks serve
whatever is asked of the table.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.data.columns import from_polars, own_categorical
from mapdag.data.labels import MAX_LEVELS
from mapdag.data.packed.sealed import Broken, read_sealed, write_sealed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray


#: Rows of a block, at most.
BLOCK_ROWS = 2**18

_HEAD = 2**12  # rows that show all values, as a rule
_SHOWN = 3  # values of a column that are kept for messages where there are too many


def worst(ways: Iterable[str]) -> str:
    """Return the worst of the ways in which blocks were read: a text of which some cells are text is one of text.

    >>> worst(["integers", "text"])
    'text'
    """
    return min(ways, key=("cells", "text", "integers", "typed").index)


class DistinctColumn(NamedTuple):
    """The distinct values of one column of a block, in the order in which they come; what is missing is one of them.

    Attributes
    ----------
    distinct : polars or pandas Series
        Some of them, where they cannot be used.
    counts : int64 array
        The rows of each.
    first : int64 array
        The first row of each, within the block.
    note : str
        Why the values cannot be used: of what type they are, or "many" if there are too many.
    found : int
        How many distinct values there are.
    """

    distinct: Any
    counts: NDArray[np.int64]
    first: NDArray[np.int64]
    note: str = ""
    found: int = 0


def find_distinct(cells: pl.Series | Sequence[str], *, own: bool = False) -> tuple[DistinctColumn, NDArray[Any]]:
    """Find the distinct values of a column, and which of them each row has.

    Parameters
    ----------
    cells : polars.Series, or sequence of str
    own : bool
        Whether the pool of a Categorical is its own.
    """
    import polars as pl

    series = cells if isinstance(cells, pl.Series) else pl.Series(cells, dtype=pl.String)
    dtype = series.dtype
    if dtype.is_nested() or dtype == pl.Binary:
        return _unusable(f"values of type {dtype}", series.head(0), 0)
    first, counts, positions = as_they_come(_index(series, own=own))
    values = series.gather(first)
    if isinstance(dtype, pl.Categorical):
        values = values.cast(pl.String)
    if len(first) > MAX_LEVELS and values.dtype == pl.String:
        numbers = values.cast(pl.Float64, strict=False)
        if numbers.null_count() > MAX_LEVELS:  # neither categories nor numbers
            return _unusable("many", values, len(first))
    return DistinctColumn(values, counts, first, found=len(first)), positions


def as_they_come(index: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Number what rows have in the order in which it comes: the first row of each, its rows, and that of each row.

    >>> as_they_come(np.array([7, 2, 7]))
    (array([0, 1]), array([2, 1]), array([0, 1, 0], dtype=uint8))
    """
    counts = np.bincount(index)
    used = np.flatnonzero(counts)
    first = _first_rows(index[:_HEAD], len(counts))
    if (first[used] < 0).any():
        first = _first_rows(index, len(counts))
    used = used[np.argsort(first[used])]
    rank = np.zeros(len(counts), dtype=np.min_scalar_type(max(len(used) - 1, 0)))
    rank[used] = np.arange(len(used))
    return first[used], counts[used], rank[index]


def _first_rows(index: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Return the first row of each number, -1 where there is none."""
    first = np.full(size, -1, dtype=np.int64)
    first[index[::-1]] = np.arange(len(index) - 1, -1, -1)  # the last to be written is the first row
    return first


def _unusable(note: str, values: pl.Series, found: int) -> tuple[DistinctColumn, NDArray[Any]]:
    few = values.head(_SHOWN)
    none = np.zeros(len(few), dtype=np.int64)
    return DistinctColumn(few, none, none, note, found), np.empty(0, dtype=np.uint8)


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
    columns : sequence of DistinctColumn
    rows : sequence of arrays
        For each column, which of its values each row has.
    facts : mapping
        What whoever read the rows wants to remember, as plain values.
    """

    n_rows: int
    columns: Sequence[DistinctColumn]
    rows: Sequence[NDArray[Any]]
    facts: Mapping[str, Any]

    @classmethod
    def of(cls, n_rows: int, found: Sequence[tuple[DistinctColumn, NDArray[Any]]], facts: Mapping[str, Any]) -> Block:
        """Put columns together."""
        return cls(n_rows, [column for column, _ in found], [rows for _, rows in found], facts)

    def write(self, path: Path) -> None:
        """Write a file, all or nothing."""
        dictionaries = [_written(column) for column in self.columns]
        planes = [planes_of(len(column.counts)) if not column.note else 0 for column in self.columns]
        packed = [pack(rows, size) for rows, size in zip(self.rows, planes, strict=True)]
        columns = [
            {"bytes": len(text), "planes": size, "note": column.note, "found": column.found}
            for text, size, column in zip(dictionaries, planes, self.columns, strict=True)
        ]
        facts = {"rows": self.n_rows, "columns": columns, "facts": dict(self.facts)}
        write_sealed(path, facts, [*dictionaries, *packed])


def _written(column: DistinctColumn) -> bytes:
    import polars as pl

    buffer = io.BytesIO()
    pl.DataFrame({"value": column.distinct, "count": column.counts, "first": column.first}).write_ipc_stream(buffer)
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

    def column(self, column: int) -> DistinctColumn:
        """Return the distinct values of a column."""
        import polars as pl

        about = self._columns[column]
        frame = pl.read_ipc_stream(io.BytesIO(self._piece(column).tobytes()))
        counts, first = (frame[name].to_numpy() for name in ("count", "first"))
        return DistinctColumn(frame["value"], counts, first, about["note"], about["found"])

    def positions(self, column: int) -> NDArray[Any]:
        """Return which of its values each row has."""
        return unpack(self._piece(self.n_columns + column).reshape(-1, plane_bytes(self.n_rows)), self.n_rows)

    def _piece(self, number: int) -> NDArray[np.uint8]:
        return self._content[self._ends[number] : self._ends[number + 1]]


# Whole numbers in as few bits as they need: a bit plane for each of their binary digits ------------------------------

_WORD = 64  # bits: planes are whole words, so that they can be counted as such


def planes_of(size: int) -> int:
    """Return how many binary digits the numbers below `size` need.

    >>> [planes_of(size) for size in (1, 2, 3, 4, 5, 256, 257)]
    [0, 1, 2, 2, 3, 8, 9]
    """
    return max(size - 1, 0).bit_length()


def plane_bytes(n: int) -> int:
    """Return how many bytes a plane of so many numbers takes."""
    return -(-n // _WORD) * (_WORD // 8)


def pack(numbers: NDArray[Any], planes: int) -> bytes:
    """Return the planes of some unsigned numbers, the lowest digit first.

    >>> pack(np.array([0, 1, 2, 3], dtype=np.uint8), 2).hex()
    '0a000000000000000c00000000000000'
    """
    width = plane_bytes(len(numbers))
    packed = np.zeros((planes, width), dtype=np.uint8)
    for plane, bits in enumerate(packed):
        digits = numbers & numbers.dtype.type(1 << plane)  # any but zero is a one
        found = np.packbits(digits if digits.dtype == np.uint8 else digits != 0, bitorder="little")
        bits[: len(found)] = found
    return packed.tobytes()


def unpack(bits: NDArray[np.uint8], n: int) -> NDArray[Any]:
    """Return the numbers that were packed, given their planes as rows: in 8 bits, 16 or 32."""
    planes = len(bits)
    dtype = np.uint8 if planes <= 8 else np.uint16 if planes <= 16 else np.uint32
    numbers: NDArray[Any] = np.zeros(n, dtype=dtype)
    for low in range(0, planes, 8):
        # A word holds a digit of eight numbers, a byte each: all of them are put in place at once.
        words = np.zeros(bits.shape[1], dtype=np.uint64)
        for place, plane in enumerate(bits[low : low + 8]):
            words |= np.unpackbits(plane, bitorder="little").view(np.uint64) << np.uint64(place)
        octets = words.view(np.uint8)[:n]
        numbers = octets if planes <= 8 else numbers | (octets.astype(dtype) << dtype(low))
    return numbers
