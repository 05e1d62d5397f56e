"""Counting by going through the rows: time and memory follow the rows, whatever the number of configurations.

Rows are sorted once by cell of the family (configuration, then level of the child); each candidate parent is then
counted cell by cell in an array as long as its number of levels. Rows may carry weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def refine(ids: Any, size: int, codes: Any, r: int) -> int:
    """Split groups by one more variable: `ids` becomes the rank of (id, code) among the pairs that occur.

    Ranks follow the lexicographic order of the pairs, so the result does not depend on the order of rows. Returns the
    number of groups.
    """
    n = len(ids)
    bound = size * r
    if bound <= 4 * n + 1024:
        rank = np.zeros(bound, dtype=np.int32)
        for row in range(n):
            rank[ids[row] * r + codes[row]] = 1
        count = 0
        for key in range(bound):
            if rank[key]:
                rank[key] = count
                count += 1
        for row in range(n):
            ids[row] = rank[ids[row] * r + codes[row]]
        return count
    keys = np.empty(n, dtype=np.int64)
    for row in range(n):
        keys[row] = np.int64(ids[row]) * r + codes[row]
    order = np.argsort(keys)
    count, previous = 0, keys[order[0]]
    for i in range(n):
        key = keys[order[i]]
        if key != previous:
            count += 1
            previous = key
        ids[order[i]] = count
    return count + 1


@njit(cache=True, nogil=True)
def sort_rows(codes: Any, family: Any) -> tuple[Any, Any, Any]:
    """Rows sorted by cell of a family.

    Parameters
    ----------
    codes : array (variables, rows)
    family : int64 array (variables, 2)
        Index and number of levels of the parents and, last, the child.

    Returns
    -------
    order : int32 array (rows,)
        Row numbers, cell by cell.
    cell_ends : int64 array (cells,)
        Where each observed cell ends in `order`.
    configuration_ends : int64 array (observed configurations,)
        Where each configuration's cells end in `cell_ends`.
    """
    n = codes.shape[1]
    ids = np.zeros(n, dtype=np.int32)
    size = 1
    for i in range(family.shape[0] - 1):
        size = refine(ids, size, codes[family[i, 0]], family[i, 1])
    configuration = ids.copy()
    n_configurations = size
    size = refine(ids, size, codes[family[-1, 0]], family[-1, 1])
    cell_ends = np.zeros(size, dtype=np.int64)
    configuration_ends = np.zeros(n_configurations, dtype=np.int64)
    for row in range(n):
        cell_ends[ids[row]] += 1
        configuration_ends[configuration[row]] = max(configuration_ends[configuration[row]], ids[row] + 1)
    place = np.empty(size, dtype=np.int64)
    total = 0
    for cell in range(size):
        place[cell] = total
        total += cell_ends[cell]
        cell_ends[cell] = total
    order = np.empty(n, dtype=np.int32)
    for row in range(n):
        order[place[ids[row]]] = row
        place[ids[row]] += 1
    return order, cell_ends, configuration_ends


@njit(cache=True, nogil=True)
def _count_cell(codes: Any, rows: Any, weights: Any, local: Any, seen: Any) -> int:
    """Count the levels of `codes` among `rows` into `local`; `seen` gets the levels that occur."""
    found = 0
    if weights is None and len(rows) >= 2 * len(local):
        for i in range(len(rows)):
            local[codes[rows[i]]] += 1
        for m in range(len(local)):
            if local[m] > 0:
                seen[found] = m
                found += 1
        return found
    for i in range(len(rows)):
        m = codes[rows[i]]
        if local[m] == 0:
            seen[found] = m
            found += 1
        if weights is None:
            local[m] += 1
        else:
            local[m] += weights[rows[i]]
    return found


@njit(cache=True, nogil=True)
def count_extensions(codes: Any, groups: Any, candidates: Any, weights: Any, zero: Any) -> tuple[Any, Any, Any, Any]:
    """Tables of one family extended by each candidate parent in turn.

    Parameters
    ----------
    codes : array (variables, rows)
    groups : tuple
        From `sort_rows`.
    candidates : int64 array (candidates, 2)
        Index and number of levels.
    weights : array (rows,) or None
        One number per row, all positive.
    zero : array (0,)
        Its type is the type of the counts.

    Returns
    -------
    cells, cell_ends, totals, total_ends
        Positive n_ijk and n_ij of each extended table, one after the other, and where each ends.
    """
    order, group_ends, configuration_ends = groups
    room_cells, room_totals = 0, 0
    for c in range(len(candidates)):
        room_cells += min(len(group_ends) * candidates[c, 1], len(order))
        room_totals += min(len(configuration_ends) * candidates[c, 1], len(order))
    cells, totals = np.empty(room_cells, zero.dtype), np.empty(room_totals, zero.dtype)
    cell_ends, total_ends = np.empty(len(candidates), np.int64), np.empty(len(candidates), np.int64)
    n_cells, n_totals = 0, 0
    for c in range(len(candidates)):
        x, levels = codes[candidates[c, 0]], candidates[c, 1]
        local, total = np.zeros(levels, zero.dtype), np.zeros(levels, zero.dtype)
        seen, met = np.empty(levels, np.int64), np.empty(levels, np.int64)
        row, group = 0, 0
        for j in range(len(configuration_ends)):
            n_met = 0
            while group < configuration_ends[j]:
                end = group_ends[group]
                found = _count_cell(x, order[row:end], weights, local, seen)
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
    return cells[:n_cells], cell_ends, totals[:n_totals], total_ends
