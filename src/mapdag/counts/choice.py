"""The one place that decides how a family is counted, by estimated cost per candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mapdag.counts import bitsets, rows
from mapdag.counts.rows import Cells, RowOrder
from mapdag.kernels import Counts, Ints, entry, inner, new_ints, new_pairs, new_rows, no_counts

if TYPE_CHECKING:
    from mapdag.counts.cores import Rows
    from mapdag.counts.table import Counted

AUTO, BITSETS, TABLES, SORTED = 0, 1, 2, 3
WAYS = (BITSETS, TABLES, SORTED)

# Nanoseconds per unit of work, measured on one core of a Zen 4 server; only their ratios matter.
_WORD = 1 / 15  # popcount of one word with another
_ROW = 0.45  # one row into a full table
_SORTED_ROW = 4.0  # one row counted cell by cell, and its count scored
_ENTRY = 1.2  # one entry of a full table: cleared, added up, scored

_MOST_DENSE = 1 << 12  # cells of a family that the bitset kernel will enumerate


@inner
def declared_cells(family: Ints, cards: Ints) -> int:
    """Declared cells of a family's table; a huge number where there are more."""
    dense = 1
    for i in range(len(family)):
        dense = min(dense * cards[family[i]], 1 << 40)
    return dense


@inner
def cost_by_bitsets(n: float, cells: float, dense: float, levels: int) -> float:
    """Nanoseconds for one candidate by bitsets, where so many of the declared (`dense`) cells occur."""
    return cells * n / 64 * _WORD * (levels - 1) + _ENTRY * dense * levels


@inner
def cost_by_rows(n: float, cells: float, levels: int) -> float:
    """Nanoseconds for one candidate by going through the rows."""
    return min(_ROW * n + _ENTRY * cells * levels, _SORTED_ROW * n)


@entry
def choose(n: int, family: Ints, candidates: Ints, cards: Ints, backend: int) -> Ints:
    """How to count each candidate: by `BITSETS`, or through the rows (`TABLES`, which `choose_again` may change)."""
    how = new_ints(len(candidates))
    dense = declared_cells(family, cards)
    for c in range(len(candidates)):
        levels = cards[candidates[c]]
        if backend != AUTO:
            how[c] = backend
        elif dense > _MOST_DENSE:
            how[c] = TABLES
        else:
            by_bits = cost_by_bitsets(n, dense, dense, levels)
            how[c] = BITSETS if by_bits < cost_by_rows(n, min(dense, n), levels) else TABLES
    return how


@entry
def choose_again(how: Ints, n: int, n_cells: int, family: Ints, candidates: Ints, cards: Ints) -> bool:
    """Choose again what goes through the rows, now that the number of cells that occur is known.

    Candidates whose full tables would be mostly empty go to `SORTED`, others back to `BITSETS`. Tells whether any are
    `SORTED` now.
    """
    found = False
    dense = declared_cells(family, cards)
    for c in range(len(candidates)):
        if how[c] == TABLES:
            levels = cards[candidates[c]]
            by_rows = cost_by_rows(n, n_cells, levels)
            if dense <= _MOST_DENSE and cost_by_bitsets(n, n_cells, dense, levels) < by_rows:
                how[c] = BITSETS
            elif by_rows == _SORTED_ROW * n:
                how[c] = SORTED
        found = found or how[c] == SORTED
    return found


@entry
def estimate(n: int, family: Ints, candidates: Ints, cards: Ints) -> float:
    """Nanoseconds that counting one family with each candidate will take."""
    dense = declared_cells(family, cards)
    total = 0.0
    for c in range(len(candidates)):
        levels = cards[candidates[c]]
        total += min(cost_by_bitsets(n, dense, dense, levels), cost_by_rows(n, min(dense, n), levels))
    return total


@inner
def with_first_levels(variables: Ints, first_level: Ints, cards: Ints) -> Ints:
    """First level and number of levels of each variable, as the bitset kernel wants them."""
    both = new_pairs(len(variables))
    for i in range(len(variables)):
        both[i, 0], both[i, 1] = first_level[variables[i]], cards[variables[i]]
    return both


@inner
def no_cells() -> Cells:
    """Stand in for cells of rows that nobody looks at."""
    return Cells(new_rows(0), 1, new_ints(0))


@inner
def no_order() -> RowOrder:
    """Stand in for sorted rows that nobody looks at."""
    return RowOrder(new_rows(0), new_ints(0))


@entry
def count(data: Rows, family: Ints, cells: Cells, order: RowOrder, candidates: Ints, way: int, own: Counts) -> Counted:
    """Count one family extended by each candidate, all in the same way; `cells` and `order` where they are needed.

    `own`, zeros (candidates, levels of the child), gets the counts of the child in the rows in which each candidate is
    known, where the family has no parents; without rows, it is not wanted.
    """
    if way == BITSETS:
        members = with_first_levels(family, data.first_level, data.cards)
        more = with_first_levels(candidates, data.first_level, data.widths)
        return bitsets.count_extensions(data.bits, members, more, data.cards[candidates], own)
    if way == TABLES:
        return rows.tabulate(data.codes, cells, candidates, data.cards, data.widths, own)
    ends, nothing = cells.configuration_ends, no_counts(0)
    return rows.count_sorted(data.codes, order, ends, candidates, data.cards, None, nothing, own)
