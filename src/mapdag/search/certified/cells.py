"""Kernels of certified search: cells of small tables as sets of rows, one bit for each.

Many sets of variables have few cells. Then it is faster to intersect the rows of a cell with those of a level, 64 or
more at a time, than to go through the rows one by one. Sets are taken in order, so that the cells of all variables but
the last one serve many of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import Codes, Ints, Words, entry, inner, popcount

if TYPE_CHECKING:
    from mapdag.search.exact.tallies import Partitions

#: Cells of all variables of a set but its last one, at most, for its rows to be intersected.
MOST_CELLS = 128


class Levels(NamedTuple):
    """The rows of each level of each variable."""

    rows: Words  # (levels of all variables, words)
    begins: Ints  # (variables + 1,)


class Cells(NamedTuple):
    """One thread's cells, by 0, 1, 2, ... variables."""

    rows: Words  # (depths, cells, words)
    counts: Ints  # (depths, cells)
    sizes: Ints  # (depths,)


@entry
def find_levels(codes: Codes, cards: Ints) -> Levels:
    """Find the rows of each level."""
    n, n_rows = codes.shape
    begins = np.zeros(n + 1, np.int64)
    for v in range(n):
        begins[v + 1] = begins[v] + cards[v]
    rows = np.zeros((begins[n], (n_rows + 63) // 64), np.uint64)
    for v in range(n):
        for i in range(n_rows):
            rows[begins[v] + np.int64(codes[v, i]), i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    return Levels(rows, begins)


def new_cells(n_rows: int, depths: int) -> Cells:
    """Make room for one thread's cells, beginning with all rows in one."""
    words = (n_rows + 63) // 64
    cells = Cells(
        np.zeros((depths, MOST_CELLS, words), dtype=np.uint64),
        np.zeros((depths, MOST_CELLS), dtype=np.int64),
        np.zeros(depths, dtype=np.int64),
    )
    cells.rows[0, 0] = np.iinfo(np.uint64).max
    cells.rows[0, 0, -1:] >>= np.uint64(64 * words - n_rows)
    cells.counts[0, 0], cells.sizes[0] = n_rows, 1
    return cells


@inner
def refine(depth: int, node: int, levels: Levels, cells: Cells) -> None:
    """Divide the cells of some depth by one more variable into those of the next."""
    level_rows, begins = levels
    rows, counts, sizes = cells
    found = 0
    for c in range(sizes[depth]):
        mine = rows[depth, c]
        for level in range(begins[node], begins[node + 1]):
            other, both = level_rows[level], rows[depth + 1, found]
            total = 0
            for w in range(len(mine)):
                word = mine[w] & other[w]
                both[w] = word
                total += popcount(word)
            if total:
                counts[depth + 1, found] = total
                found += 1
    sizes[depth + 1] = found


@inner
def tally_last(depth: int, node: int, levels: Levels, cells: Cells, partitions: Partitions) -> tuple[int, int]:
    """Tally the cells of some depth divided by one more variable, without making them.

    Returns how many different counts there are and how many cells, as `mapdag.search.exact.tallies.split` does: its
    ``values`` get the counts, ``multiplicities`` how often each occurs.
    """
    level_rows, begins = levels
    rows, counts, sizes = cells
    multiplicities, values = partitions.multiplicities, partitions.values
    first, last = begins[node], begins[node + 1] - 1
    distinct, groups = 0, 0
    for c in range(sizes[depth]):
        mine = rows[depth, c]
        left = counts[depth, c]
        for level in range(first, last + 1):
            total = left  # what the other levels leave is that of the last one
            if level < last:
                other = level_rows[level]
                total = 0
                for w in range(len(mine)):
                    total += popcount(mine[w] & other[w])
                left -= total
            if total:
                if multiplicities[total] == 0:
                    values[distinct] = total
                    distinct += 1
                multiplicities[total] += 1
                groups += 1
            if left == 0:
                break
    return distinct, groups
