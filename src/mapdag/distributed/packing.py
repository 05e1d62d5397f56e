"""What workers do with their rows: find distinct values, then pack codes into bit planes, which stay where they are."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mapdag.counts.agenda import Turn
from mapdag.counts.passes import BLOCK_ROWS, Parts, count_blocks
from mapdag.data.columns import from_pandas
from mapdag.data.labels import code_dtype
from mapdag.data.problems import listed
from mapdag.errors import DataError


class Distinct(NamedTuple):
    """The distinct values of one column of a partition, in the order in which they come."""

    values: Any  # a pandas Series
    counts: NDArray[np.int64]  # rows of each
    first: NDArray[np.int64]  # first row of each, within the partition


@dataclass(frozen=True, eq=False)
class Summary:
    """What the driver learns of a partition."""

    n_rows: int
    columns: tuple[Distinct, ...]
    digest: str  # of all that


@dataclass(frozen=True, eq=False)
class Piece:
    """A partition as it was read: which of the distinct values each row has, column by column."""

    summary: Summary
    positions: tuple[NDArray[Any], ...]


def read_partition(frame: Any, names: Sequence[str], number: int) -> Piece:
    """Find the distinct values of a partition, a pandas DataFrame that must have these columns."""
    found = [str(name) for name in frame.columns]
    if found != list(names):
        lacking, extra = [name for name in names if name not in found], [name for name in found if name not in names]
        told = [f"lacks {listed(lacking)}"] * bool(lacking) + [f"has {listed(extra)} besides"] * bool(extra)
        raise DataError(
            f"partition {number} {' and '.join(told) or 'has them in another order'}: all partitions must have the "
            f"columns of the table, {listed(names)}"
        )
    columns, positions = [], []
    for place, name in enumerate(names):
        series = frame.iloc[:, place]
        index = from_pandas(name, series).index
        counts = np.bincount(index)
        first = np.zeros(len(counts), dtype=np.int64)
        first[index[::-1]] = np.arange(len(index) - 1, -1, -1)  # the last to be written is the first row
        used = np.flatnonzero(counts)
        used = used[np.argsort(first[used])]
        rank = np.zeros(len(counts), dtype=np.min_scalar_type(max(len(used) - 1, 0)))
        rank[used] = np.arange(len(used))
        values = series.iloc[first[used]].reset_index(drop=True)
        columns.append(Distinct(values, counts[used], first[used]))
        positions.append(rank[index])
    summary = Summary(len(frame), tuple(columns), _digest(columns))
    return Piece(summary, tuple(positions))


def _digest(columns: Sequence[Distinct]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for values, counts, first in columns:
        digest.update(repr((str(values.dtype), values.tolist(), counts.tolist(), first.tolist())).encode("utf-8", "replace"))
    return digest.hexdigest()


def summary_of(piece: Piece) -> Summary:
    """Return what the driver learns of a partition."""
    return piece.summary


def positions_of(piece: Piece) -> tuple[NDArray[Any], ...]:
    """Return which of its values each row of a partition has."""
    return piece.positions


def left_of(piece: Piece, gone: Mapping[int, NDArray[np.bool_]]) -> list[NDArray[np.int64]]:
    """Count the rows of every value of every column that have none of the values that are gone."""
    keep = _kept(piece, gone)
    return [
        np.bincount(positions[keep], minlength=len(column.counts))
        for positions, column in zip(piece.positions, piece.summary.columns, strict=True)
    ]


def _kept(piece: Piece, gone: Mapping[int, NDArray[np.bool_]]) -> NDArray[np.bool_]:
    keep = np.ones(piece.summary.n_rows, dtype=np.bool_)
    for column, missing in gone.items():
        keep &= ~missing[piece.positions[column]]
    return keep


class Order(NamedTuple):
    """How the rows of a partition become codes."""

    digest: str  # of the summary that this was made for
    columns: tuple[int, ...]  # those that are variables
    codes: tuple[NDArray[Any], ...]  # code of each value of each
    gone: dict[int, NDArray[np.bool_]]  # by column, values that are missing: rows that have one are left out
    cards: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class PackedRows:
    """The rows of a partition as bit planes, in blocks: what counting takes."""

    blocks: tuple[tuple[NDArray[np.uint64], int], ...]
    cards: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.blocks)

    def planes(self, i: int) -> tuple[NDArray[np.uint64], int]:
        """Planes of one block, and its number of rows."""
        return self.blocks[i]

    def codes(self, i: int) -> NDArray[Any]:
        """Codes of one block."""
        from mapdag.counts.planes import codes_of_planes

        planes, n = self.blocks[i]
        codes = np.empty((len(self.cards), n), dtype=code_dtype(self.cards))
        codes_of_planes(planes, np.concatenate([[0], np.cumsum(self.cards)]), codes)
        return codes


def pack_piece(piece: Piece, order: Order, number: int) -> PackedRows:
    """Pack the rows of a partition that remain."""
    if piece.summary.digest != order.digest:
        raise DataError(
            f"partition {number} is not what it was when the table was read: it changed meanwhile, or is made at random; "
            "read it again when nobody writes to it, or persist it first"
        )
    keep = _kept(piece, order.gone)
    codes = np.empty((len(order.columns), int(keep.sum())), dtype=code_dtype(order.cards))
    for row, column, recode in zip(codes, order.columns, order.codes, strict=True):
        row[:] = recode[piece.positions[column][keep]] if order.gone else recode[piece.positions[column]]
    starts = range(0, codes.shape[1], BLOCK_ROWS)
    return PackedRows(tuple(_planes(codes[:, i : i + BLOCK_ROWS], order.cards) for i in starts), order.cards)


def _planes(codes: NDArray[Any], cards: Sequence[int]) -> tuple[NDArray[np.uint64], int]:
    """Bit planes of one block, as `mapdag.counts.planes` takes them."""
    n = codes.shape[1]
    sizes = [(card - 1).bit_length() for card in cards]
    planes = np.zeros((sum(sizes), (n + 63) // 64 * 8), dtype=np.uint8)
    place = 0
    for column, size in zip(codes, sizes, strict=True):
        for digit in range(size):
            packed = np.packbits(column >> digit & 1, bitorder="little")
            planes[place, : len(packed)] = packed
            place += 1
    return planes.view(np.uint64), n


def sizes_of(rows: PackedRows) -> list[int]:
    """Return the rows of every block of a partition."""
    return [n for _, n in rows.blocks]


def codes_of(rows: PackedRows, i: int) -> NDArray[Any]:
    """Return the codes of one block of a partition."""
    return rows.codes(i)


def count_rows(partitions: Sequence[PackedRows], turn: Turn, cards: NDArray[np.int64]) -> Parts:
    """Count some partitions."""
    return narrowed(count_blocks(Joined(partitions), turn, cards))


class Joined:
    """The blocks of several partitions."""

    def __init__(self, partitions: Sequence[PackedRows]) -> None:
        self._blocks = [(rows, i) for rows in partitions for i in range(len(rows))]

    def __len__(self) -> int:
        return len(self._blocks)

    def codes(self, i: int) -> NDArray[Any]:
        """Codes of one block."""
        rows, number = self._blocks[i]
        return rows.codes(number)

    def planes(self, i: int) -> tuple[NDArray[np.uint64], int]:
        """Planes of one block, and its number of rows."""
        rows, number = self._blocks[i]
        return rows.planes(number)


def add_up(parts: Sequence[Parts]) -> Parts:
    """Add the counts of several groups of partitions."""
    from mapdag.counts.passes import add_parts

    return narrowed(add_parts([widened(each) for each in parts]))


def narrowed(parts: Parts) -> Parts:
    """Return counts in as few bytes as they need, to be sent."""
    dtype = np.min_scalar_type(int(parts.full.max(initial=0)))
    return parts._replace(full=parts.full.astype(dtype))


def widened(parts: Parts) -> Parts:
    """Return counts that can be added to."""
    return parts._replace(full=parts.full.astype(np.int64))


def total_of(partitions: Sequence[PackedRows], function: Any, columns: Sequence[int], arguments: Sequence[Any]) -> Any:
    """Sum of a function of the codes of each block."""
    blocks = Joined(partitions)
    found = [function(np.ascontiguousarray(blocks.codes(i)[list(columns)]), *arguments) for i in range(len(blocks))]
    return sum(found[1:], found[0]) if found else None


def add_totals(totals: Sequence[Any]) -> Any:
    """Add what groups of partitions give, those without rows left out."""
    found = [each for each in totals if each is not None]
    return sum(found[1:], found[0]) if found else None
