"""Counting by going through the rows: time and memory follow the rows, whatever the number of configurations.

Rows are first numbered by the cell of the family that they fall into (configuration, then level of the child). Where
the extended tables have about as many cells as there are rows, candidates are counted into full tables, four at a
time; where they have more, rows are sorted by cell and each cell is counted apart, in an array as long as the
candidate's number of levels. Rows may carry weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mapdag.counts.bitsets import close_gaps
from mapdag.counts.table import Counted
from mapdag.kernels import (
    Codes,
    Counts,
    Ints,
    RowNumbers,
    entry,
    inner,
    new_ints,
    new_rows,
    no_counts,
    no_ints,
    no_ranks,
    part,
)


class Cells(NamedTuple):
    """The cell of a family that each row falls into."""

    ids: RowNumbers  # (rows,) rank of the row's cell among those that occur
    n_cells: int
    configuration_ends: Ints  # (observed configurations,) where each configuration's cells end


class RowOrder(NamedTuple):
    """Rows, cell by cell."""

    rows: RowNumbers  # (rows,) their numbers
    ends: Ints  # (cells,) where each cell ends


@inner
def _sorted_by(values: Codes, size: int, order: RowNumbers) -> RowNumbers:
    """Rows in a given order, sorted by a value below `size`; equals keep their order."""
    place = no_ints(size + 1)
    for i in range(len(order)):
        place[np.int64(values[i]) + 1] += 1
    for v in range(size):
        place[v + 1] += place[v]
    found = new_rows(len(order))
    for i in range(len(order)):
        row = order[i]
        v = np.int64(values[row])
        found[place[v]] = row
        place[v] += 1
    return found


@inner
def _split(ids: RowNumbers, size: int, codes: Codes, r: int) -> int:
    """Split groups by one more variable: `ids` becomes the rank of (id, code) among the pairs that occur.

    Ranks follow the lexicographic order of the pairs, so the result does not depend on the order of rows. Returns the
    number of groups.
    """
    n = len(ids)
    bound = size * r
    if bound <= 4 * n + 1024:
        rank = no_ranks(bound)
        width = np.uint64(r)
        for row in range(n):
            rank[np.uint64(ids[row]) * width + np.uint64(codes[row])] = 1
        count = 0
        for key in range(bound):
            if rank[key]:
                rank[key] = count
                count += 1
        for row in range(n):
            ids[row] = rank[np.uint64(ids[row]) * width + np.uint64(codes[row])]
        return count
    # Too many pairs to mark: sort the rows by code, then by id, and number the runs.
    order = new_rows(n)
    for row in range(n):
        order[row] = row
    order = _sorted_by(ids, size, _sorted_by(codes, r, order))
    count, last_id, last_code = 0, ids[order[0]], codes[order[0]]
    for i in range(n):
        row = order[i]
        if ids[row] != last_id or codes[row] != last_code:
            count += 1
            last_id, last_code = ids[row], codes[row]
        ids[row] = count
    return count + 1


@inner
def _combine(codes: Codes, family: Ints, cards: Ints, ids: RowNumbers, rank: RowNumbers) -> Cells:
    """Find the cell of each row among all declared ones, which `rank` has room for, and number those that occur."""
    for i in range(len(family)):
        column, r = codes[family[i]], np.uint32(cards[family[i]])
        for row in range(len(ids)):
            ids[row] = ids[row] * r + np.uint32(column[row])
    for row in range(len(ids)):
        rank[ids[row]] = 1
    r = cards[family[-1]]
    ends = new_ints(len(rank) // r)
    count, configurations = 0, 0
    for first in range(0, len(rank), r):
        before = count
        for cell in range(first, first + r):
            occurs = rank[cell]
            rank[cell] = count
            count += occurs
        ends[configurations] = count
        configurations += count > before
    for row in range(len(ids)):
        ids[row] = rank[ids[row]]
    return Cells(ids, np.int64(count), ends[:configurations])


@entry
def number_rows(codes: Codes, family: Ints, cards: Ints) -> Cells:
    """Find the cell of a family, its parents and last the child, that each row falls into."""
    n = codes.shape[1]
    ids = no_ranks(n)
    dense, most = 1, 4 * n + 1024
    for i in range(len(family)):
        dense = min(dense * cards[family[i]], most + 1)
    if dense <= most and n > 0:
        return _combine(codes, family, cards, ids, no_ranks(dense))
    size = 1
    for i in range(len(family) - 1):
        size = _split(ids, size, codes[family[i]], cards[family[i]])
    configuration = ids.copy()
    ends = no_ints(size)
    n_cells = _split(ids, size, codes[family[-1]], cards[family[-1]])
    for row in range(n):
        ends[configuration[row]] = max(ends[configuration[row]], np.int64(ids[row]) + 1)
    return Cells(ids, n_cells, ends)


@entry
def sort_rows(ids: RowNumbers, n_cells: int) -> RowOrder:
    """Sort the rows by the cell that each falls into."""
    ends = no_ints(n_cells)
    for row in range(len(ids)):
        ends[ids[row]] += 1
    place = new_ints(n_cells)
    total = 0
    for cell in range(n_cells):
        place[cell] = total
        total += ends[cell]
        ends[cell] = total
    order = new_rows(len(ids))
    for row in range(len(ids)):
        order[place[ids[row]]] = row
        place[ids[row]] += 1
    return RowOrder(order, ends)


@part
def cells_of_rows(codes: Codes, family: Ints, cards: Ints, first: int, last: int) -> RowNumbers:
    """Cell of the family that each of some rows falls into, among all that are declared."""
    ids = no_ranks(last - first)
    for member in family:
        x, r = codes[member, first:last], np.uint32(cards[member])
        for row in range(len(ids)):
            ids[row] = ids[row] * r + np.uint32(x[row])
    return ids


@inner
def _tabulate_four(
    ids: RowNumbers, codes: Codes, first: int, four: Ints, cards: Ints, starts: Ints, cells: Counts
) -> None:
    """Count four candidates at a time into full tables that begin at `starts`."""
    a, b, c, d = codes[four[0], first:], codes[four[1], first:], codes[four[2], first:], codes[four[3], first:]
    ra, rb = np.uint64(cards[four[0]]), np.uint64(cards[four[1]])
    rc, rd = np.uint64(cards[four[2]]), np.uint64(cards[four[3]])
    sa, sb, sc, sd = np.uint64(starts[0]), np.uint64(starts[1]), np.uint64(starts[2]), np.uint64(starts[3])
    for row in range(len(ids)):
        cell = np.uint64(ids[row])
        cells[sa + cell * ra + np.uint64(a[row])] += 1
        cells[sb + cell * rb + np.uint64(b[row])] += 1
        cells[sc + cell * rc + np.uint64(c[row])] += 1
        cells[sd + cell * rd + np.uint64(d[row])] += 1


@inner
def add_tables(
    ids: RowNumbers, codes: Codes, first: int, candidates: Ints, cards: Ints, starts: Ints, cells: Counts
) -> None:
    """Add rows from `first` on, numbered by cell, to full tables (cell, candidate's level) that begin at `starts`."""
    n_tables = len(candidates)
    for t in range(0, n_tables - 3, 4):
        _tabulate_four(ids, codes, first, candidates[t : t + 4], cards, starts[t : t + 4], cells)
    for t in range(n_tables // 4 * 4, n_tables):
        x, start, r = codes[candidates[t], first:], np.uint64(starts[t]), np.uint64(cards[candidates[t]])
        for row in range(len(ids)):
            cells[start + np.uint64(ids[row]) * r + np.uint64(x[row])] += 1


@inner
def tabulate(codes: Codes, numbered: Cells, candidates: Ints, cards: Ints) -> Counted:
    """Tables of one family extended by each candidate, counted in full."""
    ids, n_cells, configuration_ends = numbered
    n_tables = len(candidates)
    cell_ends, total_ends = new_ints(n_tables), new_ints(n_tables)
    n_positive, q_obs = new_ints(n_tables), new_ints(n_tables)
    starts = new_ints(n_tables)
    size, levels = 0, 0
    for t in range(n_tables):
        starts[t] = size
        size += n_cells * cards[candidates[t]]
        levels += cards[candidates[t]]
    cells = no_counts(size)
    totals = no_counts(len(configuration_ends) * levels)
    add_tables(ids, codes, 0, candidates, cards, starts, cells)
    place = 0
    for t in range(n_tables):
        r = cards[candidates[t]]
        start, cell = starts[t], 0
        for j in range(len(configuration_ends)):
            while cell < configuration_ends[j]:
                for m in range(r):
                    totals[place + m] += cells[start + m]
                start += r
                cell += 1
            place += r
        cell_ends[t], total_ends[t] = start, place
    close_gaps(cells, cell_ends, n_positive)
    close_gaps(totals, total_ends, q_obs)
    return Counted(cells[: cell_ends[-1]], cell_ends, totals[: total_ends[-1]], total_ends, n_positive, q_obs)


@inner
def _count_cell(
    codes: Codes, rows: RowNumbers, begin: int, end: int, weights: Counts | None, local: Counts, seen: Ints
) -> int:
    """Count the levels of `codes` among ``rows[begin:end]`` into `local`; `seen` gets the levels that occur.

    A view of these rows would be counted among the owners of `rows`, by all threads, cell by cell.
    """
    found = 0
    for i in range(begin, end):
        m = codes[rows[i]]
        if local[m] == 0:
            seen[found] = m
            found += 1
        if weights is None:
            local[m] += 1
        else:
            local[m] += weights[rows[i]]
    return found


@entry
def count_sorted(
    codes: Codes,
    order: RowOrder,
    configuration_ends: Ints,
    candidates: Ints,
    cards: Ints,
    weights: Counts | None,
    zero: Counts,
) -> Counted:
    """Positive counts of one family extended by each candidate.

    Parameters
    ----------
    codes : array (variables, rows)
    order, configuration_ends
        From `sort_rows` and `number_rows`.
    candidates : int64 array
    cards : int64 array (variables,)
    weights : array (rows,) or None
        One number per row, all positive.
    zero : array (0,)
        Its type is the type of the counts.
    """
    rows, group_ends = order
    room_cells, room_totals = 0, 0
    for c in range(len(candidates)):
        room_cells += min(len(group_ends) * cards[candidates[c]], len(rows))
        room_totals += min(len(configuration_ends) * cards[candidates[c]], len(rows))
    cells, totals = np.empty(room_cells, zero.dtype), np.empty(room_totals, zero.dtype)
    cell_ends, total_ends = new_ints(len(candidates)), new_ints(len(candidates))
    n_cells, n_totals = 0, 0
    for c in range(len(candidates)):
        x, levels = codes[candidates[c]], cards[candidates[c]]
        local, total = np.zeros(levels, zero.dtype), np.zeros(levels, zero.dtype)
        seen, met = new_ints(levels), new_ints(levels)
        row, group = 0, 0
        for j in range(len(configuration_ends)):
            n_met = 0
            while group < configuration_ends[j]:
                end = group_ends[group]
                found = _count_cell(x, rows, row, end, weights, local, seen)
                for i in range(found):
                    m = seen[i]
                    if total[m] == 0:
                        met[n_met] = m
                        n_met += 1
                    total[m] += local[m]
                    cells[n_cells] = local[m]
                    n_cells += 1
                    local[m] = 0
                row = end
                group += 1
            for i in range(n_met):
                totals[n_totals] = total[met[i]]
                n_totals += 1
                total[met[i]] = 0
        cell_ends[c], total_ends[c] = n_cells, n_totals
    n_positive, q_obs = new_ints(len(candidates)), new_ints(len(candidates))
    for c in range(len(candidates)):
        n_positive[c] = cell_ends[c] - (cell_ends[c - 1] if c else 0)
        q_obs[c] = total_ends[c] - (total_ends[c - 1] if c else 0)
    return Counted(cells[:n_cells], cell_ends, totals[:n_totals], total_ends, n_positive, q_obs)
