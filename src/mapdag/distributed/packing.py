"""What workers do with their rows: find distinct values, then pack codes into bit planes, which stay where they are.

A partition is some `Piece`s, one after the other: blocks of rows as they were read. The driver learns what is in them
from their `Summary`, and sends an `Order` for each, which says how their values become codes.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.counts.passes import BLOCK_ROWS, sealed
from mapdag.data.labels import code_dtype
from mapdag.data.packed.planes import pack, planes_of
from mapdag.data.problems import NoRows, listed
from mapdag.data.series import from_pandas
from mapdag.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Distinct(NamedTuple):
    """The distinct values of one column of a piece, in the order in which they come."""

    distinct: Any  # a pandas or polars Series
    counts: NDArray[np.int64]  # rows of each
    first: NDArray[np.int64]  # first row of each, within the piece
    note: str = ""  # why they cannot be used, as in `mapdag.data.packed.blocks.Part`
    found: int = 0


@dataclass(frozen=True, eq=False)
class Summary:
    """What the driver learns of a piece."""

    n_rows: int
    columns: tuple[Distinct, ...]
    digest: str  # of all that
    about: Mapping[str, Any]  # what the file tells of itself


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows as they were read: which of the distinct values each row has, column by column."""

    summary: Summary
    positions: tuple[NDArray[Any], ...]


class Order(NamedTuple):
    """How the rows of a piece become codes."""

    digest: str  # of the summary that this was made for
    columns: tuple[int, ...]  # those that are variables
    codes: tuple[NDArray[Any], ...]  # code of each value of each
    gone: dict[int, NDArray[np.bool_]]  # by column, values that are missing: rows that have one are left out
    cards: tuple[int, ...]  # levels of each
    widths: tuple[int, ...]  # and different codes: one more where it has gaps


def read_frame(frame: Any, names: Sequence[str], called: str) -> tuple[Piece, ...]:
    """Find the distinct values of a partition, a pandas DataFrame that must have these columns."""
    found = [str(name) for name in frame.columns]
    if found != list(names):
        lacking, extra = [name for name in names if name not in found], [name for name in found if name not in names]
        told = [f"lacks {listed(lacking)}"] * bool(lacking) + [f"has {listed(extra)} besides"] * bool(extra)
        raise DataError(
            f"{called} {' and '.join(told) or 'has its columns in another order'}: all partitions must have the same "
            f"columns, {listed(names)}"
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
        columns.append(Distinct(series.iloc[first[used]].reset_index(drop=True), counts[used], first[used]))
        positions.append(rank[index])
    return (Piece(_summary(len(frame), columns, {}), tuple(positions)),)


def read_file(path: Path, separator: str | None, encoding: str | None) -> tuple[Piece, ...]:
    """Find the distinct values of a file, block by block; there are no blocks where there are no rows."""
    from mapdag.data.packed.packing import pack_file

    with tempfile.TemporaryDirectory(prefix="mapdag-") as folder:
        try:
            packed = pack_file(path, Path(folder), separator, encoding)
        except NoRows:  # others may have some
            return ()
        about = {**packed.about, "called": packed.called, "key": packed.key}
        return tuple(_stored_piece(packed.block(i), about) for i in range(len(packed.sizes)))


def _stored_piece(block: Any, about: Mapping[str, Any]) -> Piece:
    parts = [block.part(i) for i in range(block.n_columns)]
    columns = [Distinct(each.values, each.counts, each.first, each.note, each.found) for each in parts]
    nothing = np.zeros(block.n_rows, dtype=np.uint8)
    positions = [nothing if part.note else block.positions(i) for i, part in enumerate(parts)]
    return Piece(_summary(block.n_rows, columns, about), tuple(positions))


def _summary(n_rows: int, columns: Sequence[Distinct], about: Mapping[str, Any]) -> Summary:
    digest = hashlib.blake2b(digest_size=16)
    for values, counts, first, *_ in columns:
        told = repr((str(values.dtype), list(values), counts.tolist(), first.tolist()))
        digest.update(told.encode("utf-8", "surrogatepass"))
    return Summary(n_rows, tuple(columns), digest.hexdigest(), about)


def summaries_of(pieces: Sequence[Piece]) -> list[Summary]:
    """Return what the driver learns of a partition."""
    return [piece.summary for piece in pieces]


def positions_of(pieces: Sequence[Piece]) -> list[tuple[NDArray[Any], ...]]:
    """Return which of its values each row of a partition has."""
    return [piece.positions for piece in pieces]


def left_of(pieces: Sequence[Piece], gone: Sequence[Mapping[int, NDArray[np.bool_]]]) -> list[list[NDArray[np.int64]]]:
    """Count, for every value of every column, the rows that have none of the values that are gone."""
    return [
        [
            np.bincount(positions[keep], minlength=len(column.counts))
            for positions, column in zip(piece.positions, piece.summary.columns, strict=True)
        ]
        for piece, keep in zip(pieces, map(_kept, pieces, gone), strict=True)
    ]


def _kept(piece: Piece, gone: Mapping[int, NDArray[np.bool_]]) -> NDArray[np.bool_]:
    keep = np.ones(piece.summary.n_rows, dtype=np.bool_)
    for column, missing in gone.items():
        keep &= ~missing[piece.positions[column]]
    return keep


@dataclass(frozen=True, eq=False)
class PackedRows:
    """The rows of a partition as bit planes, in blocks: what counting takes."""

    blocks: tuple[tuple[NDArray[np.uint64], int], ...]
    cards: tuple[int, ...]
    widths: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.blocks)

    def planes(self, i: int) -> tuple[NDArray[np.uint64], int]:
        """Planes of one block, and its number of rows."""
        return self.blocks[i]

    def codes(self, i: int) -> NDArray[Any]:
        """Codes of one block."""
        from mapdag.counts.planes import codes_of_planes

        planes, n = self.blocks[i]
        codes = np.empty((len(self.widths), n), dtype=code_dtype(self.widths))
        codes_of_planes(sealed(planes), np.concatenate([[0], np.cumsum(self.widths)]), codes)
        return codes


def pack_pieces(pieces: Sequence[Piece], orders: Sequence[Order], called: str) -> PackedRows:
    """Pack the rows of a partition that remain."""
    if [piece.summary.digest for piece in pieces] != [order.digest for order in orders]:
        raise DataError(
            f"{called} is not what it was when the table was read: it changed meanwhile, or is made at random; read it "
            "again when nobody writes to it, or persist it first"
        )
    blocks: list[tuple[NDArray[np.uint64], int]] = []
    for piece, order in zip(pieces, orders, strict=True):
        keep = _kept(piece, order.gone) if order.gone else slice(None)
        codes = [recode[piece.positions[c]][keep] for recode, c in zip(order.codes, order.columns, strict=True)]
        blocks += [
            _planes([column[i : i + BLOCK_ROWS] for column in codes], order.widths)
            for i in range(0, len(codes[0]), BLOCK_ROWS)
        ]
    return PackedRows(tuple(blocks), orders[0].cards, orders[0].widths)


def _planes(codes: Sequence[NDArray[Any]], widths: Sequence[int]) -> tuple[NDArray[np.uint64], int]:
    """Bit planes of one block, as `mapdag.counts.planes` takes them."""
    n, sizes = len(codes[0]), [planes_of(width) for width in widths]
    packed = b"".join(pack(column, size) for column, size in zip(codes, sizes, strict=True))
    return np.frombuffer(packed, dtype=np.uint64).reshape(sum(sizes), (n + 63) // 64), n


def sizes_of(rows: PackedRows) -> list[int]:
    """Return the rows of every block of a partition."""
    return [n for _, n in rows.blocks]
