"""The one place that decides how a family is counted, by estimated cost per candidate."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapdag.counts import bitsets, histogram
from mapdag.kernels import entry, inner, new_ints, no_counts

AUTO, BITSETS, TABLES, SORTED = 0, 1, 2, 3

# Nanoseconds per unit of work, measured on one core of a Zen 4 server; only their ratios matter.
_WORD = 1 / 15  # popcount of one word with another
_ROW = 0.45  # one row into a full table
_SORTED_ROW = 4.0  # one row counted cell by cell, and its count scored
_ENTRY = 1.2  # one entry of a full table: cleared, added up, scored

_MOST_DENSE = 1 << 12  # cells of a family that the bitset kernel will enumerate


@inner
def declared_cells(family: Any, cards: Any) -> int:
    """Declared cells of a family's table; a huge number where there are more."""
    dense = 1
    for i in range(len(family)):
        dense = min(dense * cards[family[i]], 1 << 40)
    return dense


@inner
def cost_by_bitsets(n: int, cells: int, dense: int, levels: int) -> float:
    """Nanoseconds for one candidate by bitsets, where so many of the declared (`dense`) cells occur."""
    return cells * n / 64 * _WORD * (levels - 1) + _ENTRY * dense * levels


@inner
def cost_by_rows(n: int, cells: int, levels: int) -> float:
    """Nanoseconds for one candidate by going through the rows."""
    return min(_ROW * n + _ENTRY * cells * levels, _SORTED_ROW * n)


@entry
def choose(n: int, family: Any, candidates: Any, cards: Any, backend: int) -> Any:
    """How to count each candidate: by `BITSETS`, or through the rows (`TABLES`, which `refine_choice` may change)."""
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
def refine_choice(how: Any, n: int, n_cells: int, family: Any, candidates: Any, cards: Any) -> bool:
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
def estimate(n: int, family: Any, candidates: Any, cards: Any) -> float:
    """Nanoseconds that counting one family with each candidate will take."""
    dense = declared_cells(family, cards)
    total = 0.0
    for c in range(len(candidates)):
        levels = cards[candidates[c]]
        total += min(cost_by_bitsets(n, dense, dense, levels), cost_by_rows(n, min(dense, n), levels))
    return total


@inner
def with_first_levels(variables: Any, first_level: Any, cards: Any) -> Any:
    """First level and number of levels of each variable, as the bitset kernel wants them."""
    both = np.empty((len(variables), 2), np.int64)
    for i in range(len(variables)):
        both[i, 0], both[i, 1] = first_level[variables[i]], cards[variables[i]]
    return both


@entry
def count(data: Any, family: Any, rows: Any, order: Any, candidates: Any, how: int) -> Any:
    """Count one family extended by each candidate, all in the same way.

    `data` is (codes, bits, first_level, cards); `rows` and `order` are from `histogram`, where they are needed.
    """
    codes, bits, first_level, cards = data
    if how == BITSETS:
        members = with_first_levels(family, first_level, cards)
        return bitsets.count_extensions(bits, members, with_first_levels(candidates, first_level, cards))
    if how == TABLES:
        return histogram.tabulate(codes, rows, candidates, cards)
    return histogram.count_sorted(codes, order, rows[2], candidates, cards, None, no_counts(0))
