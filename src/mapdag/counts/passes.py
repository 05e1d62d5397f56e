"""One pass over rows that come in blocks: every block is counted apart, and the counts are added up."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from mapdag.counts.cores import Rows
from mapdag.data.labels import code_dtype
from mapdag.tasks import threads_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.counts.agenda import Turn
    from mapdag.counts.blocks import Sparse

    Ints = NDArray[np.int64]

BLOCK_ROWS = 1 << 18  # rows of a block, about: its columns stay in the cache
_PENDING = 1 << 20  # cells of sparse tables that are kept before they are added up


class Blocks(Protocol):
    """Rows in blocks, made when they are asked for, and not kept.

    Blocks that are stored as bit planes should have a method ``planes(i)``, too, which is faster: an array of uint64
    (planes, words) as `mapdag.counts.planes` takes it, and the number of rows.
    """

    def __len__(self) -> int:
        """How many blocks there are."""

    def codes(self, i: int, /) -> NDArray[Any]:
        """Codes of one block, an array (columns, rows)."""


class Slices:
    """Blocks of a table in memory.

    Parameters
    ----------
    codes : array (columns, rows)
    rows : int
        Of each block.
    """

    def __init__(self, codes: NDArray[Any], rows: int = BLOCK_ROWS) -> None:
        self._codes = codes
        self._rows = rows

    def __len__(self) -> int:
        return (self._codes.shape[1] + self._rows - 1) // self._rows

    def codes(self, i: int) -> NDArray[Any]:
        """Codes of one block, an array (columns, rows)."""
        return self._codes[:, i * self._rows : (i + 1) * self._rows]


class Parts(NamedTuple):
    """Counts of some rows, to be added to those of others."""

    full: Ints  # of all full tables
    sparse: tuple[Sparse, ...]


def add_parts(parts: Sequence[Parts]) -> Parts:
    """Add the counts of different rows, all of the same turn; the first are changed."""
    from mapdag.counts.blocks import add_sparse

    full = parts[0].full
    for each in parts[1:]:
        full += each.full
    tables = zip(*(each.sparse for each in parts), strict=True)
    return Parts(full, tuple(add_sparse(list(same)) for same in tables) if len(parts) > 1 else parts[0].sparse)


def count_blocks(blocks: Blocks, turn: Turn, cards: Ints, widths: Ints | None = None, *, threads: int = 1) -> Parts:
    """Count what is asked for in all blocks, which several threads may share.

    Gaps are one more level of full tables where a variable has any (`widths`); rows with gaps are not in sparse ones.
    """
    wide = cards if widths is None else widths
    numbers, stop = iter(range(len(blocks))), threading.Event()

    def work() -> Parts:
        try:
            return _count(blocks, (i for i in numbers if not stop.is_set()), turn, cards, wide)
        except BaseException:  # whoever of them meets it first
            stop.set()
            raise

    threads = min(threads, len(blocks))
    if threads < 2:
        return work()
    with threads_for(threads) as pool:
        try:
            return add_parts([each.result() for each in [pool.submit(work) for _ in range(threads)]])
        except BaseException:  # Ctrl-C, too: no block more
            stop.set()
            raise


def _count(blocks: Blocks, numbers: Iterator[int], turn: Turn, cards: Ints, widths: Ints) -> Parts:
    """Count some blocks, one after the other."""
    from mapdag.counts.blocks import add_block, add_sparse, count_sparse

    jobs, full = turn.jobs(), np.zeros(turn.full, dtype=np.int64)
    empty = np.empty((len(widths), 0), dtype=code_dtype(widths.tolist()))
    sparse = [[count_sparse(empty, words, cards, widths)] for words in turn.sparse]
    pending = 0
    for i in numbers:
        rows = _rows(blocks, i, turn, widths, empty)
        if turn.ways:
            add_block(rows, jobs, full)
        for tables, words in zip(sparse, turn.sparse, strict=True):
            tables.append(count_sparse(rows.codes, words, cards, widths))
            pending += len(tables[-1].counts)
        if pending > _PENDING:
            sparse, pending = [[add_sparse(tables)] for tables in sparse], 0
    return Parts(full, tuple(add_sparse(tables) for tables in sparse))


def _rows(blocks: Blocks, i: int, turn: Turn, cards: Ints, empty: NDArray[Any]) -> Rows:
    """Rows of one block as kernels take them, gaps being a level like others; what nobody looks at is left empty."""
    from mapdag.counts.bitsets import no_bits, pack
    from mapdag.counts.choice import BITSETS
    from mapdag.counts.planes import bits_of_planes, codes_of_planes

    by_bits, by_codes = BITSETS in turn.ways, bool(turn.sparse) or set(turn.ways) != {BITSETS}
    first_level = np.concatenate([[0], np.cumsum(cards)])
    codes, bits = empty, np.empty((0, 0), dtype=np.uint64)
    stored = getattr(blocks, "planes", None)
    if stored is None:
        codes = np.array(blocks.codes(i), dtype=empty.dtype, order="C", copy=None)
        if by_bits:
            bits = no_bits(first_level[-1], codes.shape[1])
            pack(sealed(codes), first_level, np.zeros(1, dtype=np.int64), bits)
    else:
        planes, n = stored(i)
        planes = sealed(planes)
        bits = bits_of_planes(planes, n, first_level) if by_bits else bits
        if by_codes:
            codes = np.empty((len(cards), n), dtype=empty.dtype)
            codes_of_planes(planes, first_level, codes)
    return Rows(sealed(codes), bits, first_level, cards, cards)


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that cannot be written to: kernels are compiled for one type, whoever made the array."""
    view = array.view()
    view.setflags(write=False)
    return view
