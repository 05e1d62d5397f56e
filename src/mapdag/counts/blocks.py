"""Counting one block of rows: what it adds to full tables, and to tables of which only what occurs is kept.

Full tables of one pass over the rows are one array, in which every family has its place (`Jobs`), so that whatever was
counted elsewhere is added to it by one sum of arrays. Counts are in 64 bits: blocks are small, their number is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.counts.bitsets import add_extensions, close_gaps
from mapdag.counts.choice import BITSETS, declared_cells, with_first_levels
from mapdag.counts.rows import add_tables, cells_of_rows
from mapdag.counts.table import Counted
from mapdag.kernels import Codes, Ints, entry, new_ints, no_ints

if TYPE_CHECKING:
    from mapdag.counts.cores import Rows


class Jobs(NamedTuple):
    """Families, each with some candidates, that are counted into full tables."""

    members: Ints  # parents and, last, child of each family, one family after the other
    member_ends: Ints  # (families,)
    candidates: Ints  # of each family, one family after the other
    candidate_ends: Ints  # (families,)
    ways: Ints  # (families,) BITSETS or TABLES
    starts: Ints  # (families + 1,) where the counts of each begin


@entry
def add_block(rows: Rows, jobs: Jobs, sums: Ints) -> None:
    """Add one block of rows to the full tables of some families.

    By bitsets, the cells of the family come first, then, for each candidate, its levels times these cells, the last
    level left to `complete`, and a row for nobody. Through the rows, each candidate has the cells times its levels.
    """
    codes, bits, first_level, cards, _ = rows
    members, member_ends, candidates, candidate_ends, ways, starts = jobs
    for j in range(len(ways)):
        family = members[member_ends[j - 1] if j else 0 : member_ends[j]]
        mine = candidates[candidate_ends[j - 1] if j else 0 : candidate_ends[j]]
        out = sums[starts[j] : starts[j + 1]]
        dense = declared_cells(family, cards)
        if ways[j] == BITSETS:
            of_family = with_first_levels(family, first_level, cards)
            of_candidates = with_first_levels(mine, first_level, cards)
            add_extensions(bits, of_family, of_candidates, out[:dense], out[dense:])
            continue
        tables = new_ints(len(mine))
        place = 0
        for t in range(len(mine)):
            tables[t] = place
            place += dense * cards[mine[t]]
        ids = cells_of_rows(codes, family, cards, 0, codes.shape[1])
        add_tables(ids, codes, 0, mine, cards, tables, out)


@entry
def complete(jobs: Jobs, cards: Ints, sums: Ints) -> None:
    """Fill in the last level of each candidate that was counted by bitsets: what the others leave."""
    members, member_ends, candidates, candidate_ends, ways, starts = jobs
    for j in range(len(ways)):
        if ways[j] != BITSETS:
            continue
        family = members[member_ends[j - 1] if j else 0 : member_ends[j]]
        dense = declared_cells(family, cards)
        out = sums[starts[j] : starts[j + 1]]
        row = dense
        for t in range(candidate_ends[j - 1] if j else 0, candidate_ends[j]):
            end = row + dense * cards[candidates[t]]
            for c in range(dense):
                left = out[c]
                for before in range(row + c, end - dense, dense):
                    left -= out[before]
                out[end - dense + c] = left
            row = end


@entry
def positive_counts(sums: Ints, tables: Ints) -> Counted:
    """Positive counts of full tables and of their configurations.

    ``tables[t]`` says where a table begins, and how many cells there are in each of three directions: of the parents
    that come before the child, the child's, and of the parents that come after it.
    """
    n_cells, n_totals = 0, 0
    for t in range(len(tables)):
        n_cells += tables[t, 1] * tables[t, 2] * tables[t, 3]
        n_totals += tables[t, 1] * tables[t, 3]
    cells, totals = new_ints(n_cells), no_ints(n_totals)
    cell_ends, total_ends = new_ints(len(tables)), new_ints(len(tables))
    n_positive, q_obs = new_ints(len(tables)), new_ints(len(tables))
    n_cells, n_totals = 0, 0
    for t in range(len(tables)):
        start, outer, r, inner = tables[t, 0], tables[t, 1], tables[t, 2], tables[t, 3]
        for _ in range(outer):
            for _ in range(r):
                for k in range(inner):
                    cells[n_cells] = sums[start]
                    totals[n_totals + k] += sums[start]
                    start += 1
                    n_cells += 1
            n_totals += inner
        cell_ends[t], total_ends[t] = n_cells, n_totals
    close_gaps(cells, cell_ends, n_positive)
    close_gaps(totals, total_ends, q_obs)
    end = len(tables) - 1
    return Counted(cells[: cell_ends[end]], cell_ends, totals[: total_ends[end]], total_ends, n_positive, q_obs)


class Sparse(NamedTuple):
    """A table of which only what occurs is kept: keys in ascending order, and how often each occurs.

    A key is the position of a cell in the full table, in as many words of 64 bits as that takes, the highest first.
    """

    keys: tuple[Any, ...]  # uint64 arrays (cells,)
    counts: Any  # int64 array (cells,)


def count_sparse(codes: Codes, words: tuple[tuple[int, ...], ...], cards: Ints, widths: Ints) -> Sparse:
    """Count the rows of one block that have no gaps in a table of the variables of several `words`.

    Positions in that table are by `widths`, a level more for each variable that has gaps.
    """
    members = [variable for word in words for variable in word]
    with_gaps = [variable for variable in members if widths[variable] > cards[variable]]
    if with_gaps:
        codes = codes[:, (codes[with_gaps] < cards[with_gaps, None]).all(axis=0)]
    keys = []
    for word in words:
        key = np.zeros(codes.shape[1], dtype=np.uint64)
        for variable in word:
            key *= np.uint64(widths[variable])
            key += codes[variable]
        keys.append(key)
    if len(keys) == 1:
        found, counts = np.unique(keys[0], return_counts=True)
        return Sparse((found,), counts.astype(np.int64))
    return add_sparse([Sparse(tuple(keys), np.ones(codes.shape[1], dtype=np.int64))])


def add_sparse(tables: list[Sparse]) -> Sparse:
    """Add tables of the same variables."""
    counts = np.concatenate([table.counts for table in tables])
    keys = [np.concatenate(word) for word in zip(*(table.keys for table in tables), strict=True)]
    if not len(counts):
        return Sparse(tuple(keys), counts)
    order = np.lexsort(keys[::-1])
    keys = [word[order] for word in keys]
    new = np.zeros(len(order), dtype=np.bool_)
    new[0] = True
    for word in keys:
        new[1:] |= word[1:] != word[:-1]
    first = np.flatnonzero(new)
    return Sparse(tuple(word[first] for word in keys), np.add.reduceat(counts[order], first))
