"""What workers do with their rows: find distinct values, then pack codes into bit planes, which stay where they are.

A partition is some `RemotePiece`s, one after the other: blocks of rows as they were read. The driver learns what is in
them from their `Summary`, and sends a `Codebook` for each, which says how their values become codes.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.counts.passes import BLOCK_ROWS, Parts, add_parts, count_blocks, sealed
from mapdag.data.columns import from_pandas
from mapdag.data.labels import code_dtype
from mapdag.data.packed.blocks import DistinctColumn, as_they_come, pack, planes_of
from mapdag.data.packed.recoding import left_of
from mapdag.data.problems import NoRows, differing, listed
from mapdag.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.counts.agenda import Turn
    from mapdag.data.packed.recoding import Codebook, Gone


@dataclass(frozen=True, eq=False)
class Summary:
    """What the driver learns of a piece."""

    n_rows: int
    columns: tuple[DistinctColumn, ...]
    digest: str  # of all that
    about: Mapping[str, Any]  # what the file tells of itself

    def column(self, column: int) -> DistinctColumn:
        """Return the distinct values of a column."""
        return self.columns[column]


@dataclass(frozen=True, eq=False)
class RemotePiece:
    """Rows as they were read: which of the distinct values each row has, column by column."""

    summary: Summary
    rows: tuple[NDArray[Any], ...]


def read_frame(frame: Any, names: Sequence[str], called: str) -> tuple[RemotePiece, ...]:
    """Find the distinct values of a partition, a pandas DataFrame that must have these columns."""
    found = [str(name) for name in frame.columns]
    if found != list(names):
        told = differing(names, found) or "has its columns in another order"
        raise DataError(f"{called} {told}: all partitions must have the same columns, {listed(names)}")
    columns, positions = [], []
    for place, name in enumerate(names):
        series = frame.iloc[:, place]
        first, counts, rows = as_they_come(from_pandas(name, series).index)
        columns.append(DistinctColumn(series.iloc[first].reset_index(drop=True), counts, first))
        positions.append(rows)
    return (RemotePiece(_summary(len(frame), columns, {}), tuple(positions)),)


def read_file(path: Path, separator: str | None, encoding: str | None) -> tuple[RemotePiece, ...]:
    """Find the distinct values of a file, block by block; there are no blocks where there are no rows."""
    from mapdag.data.packed.packing import pack_file

    with tempfile.TemporaryDirectory(prefix="mapdag-") as folder:
        try:
            packed = pack_file(path, Path(folder), separator, encoding)
        except NoRows:  # others may have some
            return ()
        about = {**packed.about, "called": packed.called, "key": packed.key}
        return tuple(_stored_piece(packed.open(i), about) for i in range(len(packed.sizes)))


def _stored_piece(block: Any, about: Mapping[str, Any]) -> RemotePiece:
    columns = [block.column(i) for i in range(block.n_columns)]
    return RemotePiece(_summary(block.n_rows, columns, about), tuple(map(block.positions, range(block.n_columns))))


def _summary(n_rows: int, columns: Sequence[DistinctColumn], about: Mapping[str, Any]) -> Summary:
    digest = hashlib.blake2b(digest_size=16)
    for values, counts, first, *_ in columns:
        told = repr((str(values.dtype), list(values), counts.tolist(), first.tolist()))
        digest.update(told.encode("utf-8", "surrogatepass"))
    return Summary(n_rows, tuple(columns), digest.hexdigest(), about)


def summaries_of(pieces: Sequence[RemotePiece]) -> list[Summary]:
    """Return what the driver learns of a partition."""
    return [piece.summary for piece in pieces]


def positions_of(pieces: Sequence[RemotePiece]) -> list[tuple[NDArray[Any], ...]]:
    """Return which of its values each row of a partition has."""
    return [piece.rows for piece in pieces]


def rows_left(pieces: Sequence[RemotePiece], gone: Sequence[Gone]) -> list[list[NDArray[np.int64]]]:
    """Count, for every value of every column, the rows that have none of the values that are gone."""
    return [
        left_of(piece.rows.__getitem__, len(piece.rows), piece.summary.n_rows, mine)
        for piece, mine in zip(pieces, gone, strict=True)
    ]


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


def pack_pieces(pieces: Sequence[RemotePiece], codebooks: Sequence[tuple[str, Codebook]], called: str) -> PackedRows:
    """Pack the rows of a partition that remain; each codebook comes with the digest of the summary it was made for."""
    if [piece.summary.digest for piece in pieces] != [digest for digest, _ in codebooks]:
        raise DataError(
            f"{called} is not what it was when the table was read: it changed meanwhile, or is made at random; read it "
            "again when nobody writes to it, or persist it first"
        )
    blocks: list[tuple[NDArray[np.uint64], int]] = []
    for piece, (_, codebook) in zip(pieces, codebooks, strict=True):
        codes = codebook.apply(piece.rows.__getitem__, piece.summary.n_rows)
        blocks += [
            _planes([column[i : i + BLOCK_ROWS] for column in codes], codebook.widths)
            for i in range(0, len(codes[0]), BLOCK_ROWS)
        ]
    return PackedRows(tuple(blocks), codebooks[0][1].cards, codebooks[0][1].widths)


def _planes(codes: Sequence[NDArray[Any]], widths: Sequence[int]) -> tuple[NDArray[np.uint64], int]:
    """Bit planes of one block, as `mapdag.counts.planes` takes them."""
    n, sizes = len(codes[0]), [planes_of(width) for width in widths]
    packed = b"".join(pack(column, size) for column, size in zip(codes, sizes, strict=True))
    return np.frombuffer(packed, dtype=np.uint64).reshape(sum(sizes), (n + 63) // 64), n


def sizes_of(rows: PackedRows) -> list[int]:
    """Return the rows of every block of a partition."""
    return [n for _, n in rows.blocks]


# Counting ------------------------------------------------------------------------------------------------------------


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


def count_rows(partitions: Sequence[PackedRows], turn: Turn) -> Parts:
    """Count some partitions."""
    cards, widths = (np.array(sizes, dtype=np.int64) for sizes in (partitions[0].cards, partitions[0].widths))
    return narrowed(count_blocks(Joined(partitions), turn, cards, widths))


def add_up(parts: Sequence[Parts]) -> Parts:
    """Add the counts of several groups of partitions."""
    return narrowed(add_parts([widened(each) for each in parts]))


def narrowed(parts: Parts) -> Parts:
    """Return counts in as few bytes as they need, to be sent."""
    return parts._replace(full=parts.full.astype(np.min_scalar_type(int(parts.full.max(initial=0)))))


def widened(parts: Parts) -> Parts:
    """Return counts that can be added to."""
    return parts._replace(full=parts.full.astype(np.int64))


def codes_of(rows: PackedRows, i: int) -> NDArray[Any]:
    """Return the codes of one block of a partition."""
    return rows.codes(i)


def total_of(
    partitions: Sequence[PackedRows], columns: Sequence[int], function: Callable[..., Any], arguments: Sequence[Any]
) -> Any:
    """Sum of a function of the codes of each block; None where there are no rows."""
    blocks = Joined(partitions)
    found = [function(np.ascontiguousarray(blocks.codes(i)[list(columns)]), *arguments) for i in range(len(blocks))]
    return add_totals(found)


def add_totals(totals: Sequence[Any]) -> Any:
    """Add what groups of partitions give, those without rows left out."""
    found = [each for each in totals if each is not None]
    return sum(found[1:], found[0]) if found else None
