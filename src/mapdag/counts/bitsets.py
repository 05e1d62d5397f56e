"""Counting with bitsets: one bit per row for each level of each variable, cells by popcount.

A cell of a family's table is ``popcount(child level & parent levels)``. Adding candidate parents is a product of two
bit matrices, (cells of the family) x (levels of the candidates), computed in register blocks of 2 x 4 and in blocks
of rows that stay in the cache. The last level of a candidate is never counted: it is what the others leave.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

_ALIGN = 8  # words: one AVX-512 register
_CACHE_WORDS = 1 << 15  # family bitsets of one block: 256 KiB, within the second-level cache


@intrinsic
def _popcount(_context: Any, _word: Any = None) -> Any:
    """Number of set bits of a word: one instruction where the CPU has it."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate


@njit(cache=True, nogil=True)
def pack(codes: Any, first_level: Any) -> Any:
    """Bitsets of all levels of all variables, one row each, padded with zeros to whole registers."""
    n_variables, n = codes.shape
    words = (n + 63) // 64
    bits = np.zeros((first_level[n_variables], (words + _ALIGN - 1) // _ALIGN * _ALIGN), dtype=np.uint64)
    for v in range(n_variables):
        base = first_level[v]
        for row in range(n):
            bits[base + codes[v, row], row >> 6] |= np.uint64(1) << np.uint64(row & 63)
    return bits


@njit(cache=True, nogil=True)
def _family_cells(bits: Any, family: Any, begin: int, end: int, cells: Any, index: Any, counts: Any) -> int:
    """Bitsets of the family's cells within one block of words; only the cells that occur there.

    `family` lists (first level, levels) of the parents, then of the child; a cell's dense index has the child's level
    as its lowest digit. Returns how many cells occur; `index` gets their dense indices, `counts` their additional rows.
    """
    depth = family.shape[0]
    width = end - begin
    path = np.empty((depth, width), dtype=np.uint64)
    level = np.zeros(depth, dtype=np.int64)
    found, d = 0, 0
    while d >= 0:
        if level[d] == family[d, 1]:
            level[d] = 0
            d -= 1
            if d >= 0:
                level[d] += 1
            continue
        source = family[d, 0] + level[d]
        last = d == depth - 1
        size = 0
        for w in range(width):
            word = bits[source, begin + w]
            if d > 0:
                word &= path[d - 1, w]
            path[d, w] = word
            size += _popcount(word)
        if size == 0:
            level[d] += 1
        elif last:
            cell = 0
            for i in range(depth):
                cell = cell * family[i, 1] + level[i]
            cells[found, :width] = path[d]
            index[found] = cell
            counts[cell] += size
            found += 1
            level[d] += 1
        else:
            d += 1
    return found


@njit(cache=True, nogil=True)
def _multiply(bits: Any, levels: Any, begin: int, end: int, cells: Any, index: Any, found: int, product: Any) -> None:
    """Add popcount(level & cell) over one block to ``product[level, cell]``; `levels` comes in multiples of four."""
    width = end - begin
    for i in range(0, len(levels), 4):
        a, b = bits[levels[i], begin:end], bits[levels[i + 1], begin:end]
        c, d = bits[levels[i + 2], begin:end], bits[levels[i + 3], begin:end]
        for j in range(0, found - 1, 2):
            x, y = cells[j], cells[j + 1]
            ax = bx = cx = dx = ay = by = cy = dy = 0
            for w in range(width):
                ax += _popcount(a[w] & x[w])
                bx += _popcount(b[w] & x[w])
                cx += _popcount(c[w] & x[w])
                dx += _popcount(d[w] & x[w])
                ay += _popcount(a[w] & y[w])
                by += _popcount(b[w] & y[w])
                cy += _popcount(c[w] & y[w])
                dy += _popcount(d[w] & y[w])
            p, q = index[j], index[j + 1]
            product[i, p] += ax
            product[i + 1, p] += bx
            product[i + 2, p] += cx
            product[i + 3, p] += dx
            product[i, q] += ay
            product[i + 1, q] += by
            product[i + 2, q] += cy
            product[i + 3, q] += dy
        if found % 2:
            x = cells[found - 1]
            ax = bx = cx = dx = 0
            for w in range(width):
                ax += _popcount(a[w] & x[w])
                bx += _popcount(b[w] & x[w])
                cx += _popcount(c[w] & x[w])
                dx += _popcount(d[w] & x[w])
            p = index[found - 1]
            product[i, p] += ax
            product[i + 1, p] += bx
            product[i + 2, p] += cx
            product[i + 3, p] += dx


@njit(cache=True, nogil=True)
def _candidate_levels(candidates: Any) -> Any:
    """Bitset rows to count: all levels but the last of each candidate, padded to a multiple of four."""
    size = 0
    for c in range(len(candidates)):
        size += candidates[c, 1] - 1
    levels = np.empty((size + 3) // 4 * 4, dtype=np.int64)
    i = 0
    for c in range(len(candidates)):
        for m in range(candidates[c, 1] - 1):
            levels[i] = candidates[c, 0] + m
            i += 1
    levels[i:] = levels[0] if size else 0
    return levels


@njit(cache=True, nogil=True)
def count_extensions(bits: Any, family: Any, candidates: Any) -> tuple[Any, Any, Any, Any]:
    """Tables of one family extended by each candidate parent in turn.

    Parameters
    ----------
    bits : array (levels, words)
        From `pack`.
    family, candidates : int64 arrays (variables, 2)
        First level and number of levels of the parents and, last, the child; and of the candidates.

    Returns
    -------
    cells, cell_ends, totals, total_ends
        Positive n_ijk and n_ij of each extended table, one after the other, and where each ends.
    """
    words = bits.shape[1]
    r = family[-1, 1]
    dense = 1
    for i in range(family.shape[0]):
        dense *= family[i, 1]
    block = max(_CACHE_WORDS // dense // _ALIGN * _ALIGN, 8 * _ALIGN)
    block = min(block, words)
    levels = _candidate_levels(candidates)
    product = np.zeros((len(levels), dense), dtype=np.int64)
    counts = np.zeros(dense, dtype=np.int64)
    cells = np.empty((dense, block), dtype=np.uint64)
    index = np.empty(dense, dtype=np.int64)
    for begin in range(0, words, block):
        end = min(begin + block, words)
        found = _family_cells(bits, family, begin, end, cells, index, counts)
        _multiply(bits, levels, begin, end, cells, index, found, product)
    return _collect(counts, product, candidates, r)


@njit(cache=True, nogil=True)
def _collect(counts: Any, product: Any, candidates: Any, r: int) -> tuple[Any, Any, Any, Any]:
    """Gather the positive counts of each extended table from the dense product."""
    observed = 0
    for cell in range(len(counts)):
        observed += counts[cell] > 0
    room = 0
    for c in range(len(candidates)):
        room += candidates[c, 1]
    cells = np.empty(room * observed, dtype=np.int64)
    totals = np.empty(room * observed, dtype=np.int64)
    cell_ends = np.empty(len(candidates), dtype=np.int64)
    total_ends = np.empty(len(candidates), dtype=np.int64)
    n_cells, n_totals, row = 0, 0, 0
    rest = np.empty(r, dtype=np.int64)
    for c in range(len(candidates)):
        last = candidates[c, 1] - 1
        for j in range(0, len(counts), r):
            rest[:] = counts[j : j + r]
            for m in range(last + 1):
                total = 0
                for k in range(r):
                    n = rest[k]
                    if m < last:
                        n = product[row + m, j + k]
                        rest[k] -= n
                    if n > 0:
                        cells[n_cells] = n
                        n_cells += 1
                        total += n
                if total > 0:
                    totals[n_totals] = total
                    n_totals += 1
        row += last
        cell_ends[c], total_ends[c] = n_cells, n_totals
    return cells[:n_cells], cell_ends, totals[:n_totals], total_ends
