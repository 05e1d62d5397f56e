"""Who counts what, by estimated cost: a block of threads of the device, all its threads, or this machine's cores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

SHARED, GLOBAL = 0, 1  # in the memory of a block of threads; in that of the device

# Nanoseconds for one row, measured on an H200.
_NEAR = 1 / 1_000  # into a table in the memory of a block of threads,
_FAR = 1 / 100  # or of the device


class Limits(NamedTuple):
    """What fits where, in counts, and what is worth the way."""

    block: int = 12 << 10  # that a block of threads has, where several share a processor
    most_block: int = 56 << 10  # that it may have
    most_passes: int = 6  # over the rows for one table, each for as many cells as that
    most_tables: int = 4  # that are counted together
    most_cells: int = 1 << 24  # of a table that is counted in full
    batch: int = 1 << 28  # of all tables that are counted at once
    block_bytes: int = 1 << 28  # of rows that are handed over at a time
    call: float = 200_000.0  # nanoseconds until anything is counted and scored there


def fits(rows: int, cells: int, levels: Ints, limits: Limits) -> NDArray[np.bool_]:
    """Whether a family of so many cells is counted in full with candidates of so many levels.

    Tables that would be mostly empty are for those who sort rows.
    """
    found: NDArray[np.bool_] = levels <= min(limits.most_cells, 16 * rows + 1024) // cells
    return found


def passes(sizes: Ints, limits: Limits) -> Ints:
    """How often the rows are gone through for tables of so many cells, each time for some cells; 0: `GLOBAL`."""
    found: Ints = -(-sizes // limits.most_block)
    return np.where(found <= limits.most_passes, found, 0)


def cost(rows: int, sizes: Ints, limits: Limits) -> float:
    """Nanoseconds to count tables of so many cells on the device, once it is asked."""
    near = passes(sizes, limits)
    return float(rows * (near.sum() * _NEAR + (near == 0).sum() * _FAR))
