"""Counting with bitsets: one bit per row for each level of each variable, cells by popcount.

A cell of a family's table is ``popcount(child level & parent levels)``. Adding candidate parents is a product of two
bit matrices, (levels of the candidates) x (cells of the family), computed in register blocks of 4 x 2 and in blocks
of rows that stay in the cache. The last level of a candidate is never counted: it is what the others leave. Gaps of a
variable are a level after its last; families leave it out, so that rows with gaps are nowhere, and of candidates it is
what the others leave.
"""

from __future__ import annotations

import numpy as np

from mapdag.counts.table import Counted
from mapdag.kernels import (
    Codes,
    Counts,
    Ints,
    Words,
    entry,
    fetch_add,
    inner,
    new_bitsets,
    new_ints,
    new_pairs,
    no_counts,
    no_ints,
    popcount,
)

_ALIGN = 8  # words: one AVX-512 register
_PACKED = 1 << 20  # rows that one thread packs at a time, whole words
_FEW = 12  # levels up to which each of them is packed in a pass of its own
_CACHE_WORDS = 1 << 15  # family bitsets of one block: 256 KiB, within the second-level cache


@inner
def _pack_words(codes: Codes, level: int, words: int, out: Words) -> None:
    """Bitset of one level: 64 rows at a time are compared with it, which compilers turn into vectors."""
    wanted = codes.dtype.type(level)
    for w in range(words):
        word = np.uint64(0)
        for b in range(64):
            word |= np.uint64(codes[64 * w + b] == wanted) << np.uint64(b)
        out[w] = word


@inner
def padded(words: int) -> int:
    """How many words a bitset of so many has: whole registers."""
    return (words + _ALIGN - 1) // _ALIGN * _ALIGN


def no_bits(n_levels: int, n_rows: int) -> Words:
    """Bitsets of so many levels, padded to whole registers, all zero."""
    return np.zeros((n_levels, -(-n_rows // (64 * _ALIGN)) * _ALIGN), dtype=np.uint64)


@entry
def pack(codes: Codes, first_level: Ints, following: Ints, bits: Words) -> None:
    """Bitsets of all levels of all variables, one row each; threads take turns.

    Parameters
    ----------
    codes : array (variables, rows)
    first_level : int64 array (variables + 1,)
    following : int64 array (1,)
        Which block of rows of which variable is next; threads share it, and each takes one after the other.
    bits : uint64 array (levels, words)
        From `no_bits`.
    """
    n_variables, n = codes.shape
    parts = max((n + _PACKED - 1) // _PACKED, 1)
    while True:
        turn: int = fetch_add(following, 0, 1)
        if turn >= n_variables * parts:
            return
        v, part = turn // parts, turn % parts
        begin, end = part * _PACKED, min((part + 1) * _PACKED, n)
        base, levels = first_level[v], first_level[v + 1] - first_level[v]
        packed = 0
        if levels <= _FEW:
            packed = (end - begin) // 64
            for m in range(levels):
                _pack_words(codes[v, begin:], m, packed, bits[base + m, begin // 64 :])
        # What is left, or all rows where a pass for each level would take longer.
        for row in range(begin + 64 * packed, end):
            bits[base + np.int64(codes[v, row]), row >> 6] |= np.uint64(1) << np.uint64(row & 63)


@inner
def _family_cells(bits: Words, family: Ints, begin: int, end: int, cells: Words, index: Ints, counts: Counts) -> int:
    """Bitsets of the family's cells within one block of words; only the cells that occur there.

    `family` lists (first level, levels) of the parents, then of the child; a cell's dense index has the child's level
    as its lowest digit. Returns how many cells occur; `index` gets their dense indices, `counts` their additional rows.
    """
    depth = family.shape[0]
    width = end - begin
    path, level = new_bitsets(depth, width), no_ints(depth)
    found, d = 0, 0
    while d >= 0:
        if level[d] == family[d, 1]:
            level[d] = 0
            d -= 1
            if d >= 0:
                level[d] += 1
            continue
        last = d == depth - 1
        source = bits[family[d, 0] + level[d], begin:end]
        target = cells[found] if last else path[d]
        size = 0
        if d == 0:
            for w in range(width):
                target[w] = source[w]
                size += popcount(source[w])
        else:
            above = path[d - 1]
            for w in range(width):
                word = source[w] & above[w]
                target[w] = word
                size += popcount(word)
        if size == 0:
            level[d] += 1
        elif last:
            cell = 0
            for i in range(depth):
                cell = cell * family[i, 1] + level[i]
            index[found] = cell
            counts[cell] += size
            found += 1
            level[d] += 1
        else:
            d += 1
    return found


@inner
def _multiply(
    bits: Words, rows: Ints, begin: int, end: int, cells: Words, index: Ints, found: int, product: Counts
) -> None:
    """Add popcount(level & cell) over one block to the product of levels and cells.

    ``rows[i]`` has the bitset of a level and its row of the product; `rows` comes in multiples of four.
    """
    # Flat arrays, and places in them: a view of a row would be counted among the owners of `bits`, by all threads.
    flat, mine = bits.ravel(), cells.ravel()
    long, wide, first = np.uint64(bits.shape[1]), np.uint64(cells.shape[1]), np.uint64(begin)
    dense = len(index)
    width = end - begin
    for i in range(0, len(rows), 4):
        a, b = np.uint64(rows[i, 0]) * long + first, np.uint64(rows[i + 1, 0]) * long + first
        c, d = np.uint64(rows[i + 2, 0]) * long + first, np.uint64(rows[i + 3, 0]) * long + first
        pa, pb, pc, pd = rows[i, 1] * dense, rows[i + 1, 1] * dense, rows[i + 2, 1] * dense, rows[i + 3, 1] * dense
        for j in range(0, found - 1, 2):
            x, y = np.uint64(j) * wide, np.uint64(j + 1) * wide
            ax = bx = cx = dx = ay = by = cy = dy = 0
            for w in range(np.uint64(width)):
                ax += popcount(flat[a + w] & mine[x + w])
                bx += popcount(flat[b + w] & mine[x + w])
                cx += popcount(flat[c + w] & mine[x + w])
                dx += popcount(flat[d + w] & mine[x + w])
                ay += popcount(flat[a + w] & mine[y + w])
                by += popcount(flat[b + w] & mine[y + w])
                cy += popcount(flat[c + w] & mine[y + w])
                dy += popcount(flat[d + w] & mine[y + w])
            p, q = index[j], index[j + 1]
            product[pa + p] += ax
            product[pb + p] += bx
            product[pc + p] += cx
            product[pd + p] += dx
            product[pa + q] += ay
            product[pb + q] += by
            product[pc + q] += cy
            product[pd + q] += dy
        if found % 2:
            x = np.uint64(found - 1) * wide
            ax = bx = cx = dx = 0
            for w in range(np.uint64(width)):
                ax += popcount(flat[a + w] & mine[x + w])
                bx += popcount(flat[b + w] & mine[x + w])
                cx += popcount(flat[c + w] & mine[x + w])
                dx += popcount(flat[d + w] & mine[x + w])
            p = index[found - 1]
            product[pa + p] += ax
            product[pb + p] += bx
            product[pc + p] += cx
            product[pd + p] += dx


@inner
def rows_to_count(candidates: Ints) -> tuple[Ints, int]:
    """Bitset and row of the product of all levels but the last of each candidate, and the number of rows.

    Padded to a multiple of four with a row that nobody reads.
    """
    size, total = 0, 0
    for c in range(len(candidates)):
        size += candidates[c, 1] - 1
        total += candidates[c, 1]
    rows = new_pairs((size + 3) // 4 * 4)
    i, row = 0, 0
    for c in range(len(candidates)):
        for m in range(candidates[c, 1] - 1):
            rows[i, 0], rows[i, 1] = candidates[c, 0] + m, row + m
            i += 1
        row += candidates[c, 1]
    while i < len(rows):
        rows[i, 1] = total
        i += 1
    return rows, total


@inner
def add_rows(bits: Words, family: Ints, rows: Ints, first: int, last: int, counts: Counts, product: Counts) -> None:
    """Add the counts of some words of rows: of the family's cells, and of these with each level of the candidates.

    `rows` is from `rows_to_count`; sums over words in any order, by any threads, are the same.
    """
    dense = len(counts)
    block = min(max(_CACHE_WORDS // dense // _ALIGN * _ALIGN, 8 * _ALIGN), last - first)
    cells, index = new_bitsets(dense + 1, block), new_ints(dense)
    for begin in range(first, last, max(block, 1)):
        end = min(begin + block, last)
        found = _family_cells(bits, family, begin, end, cells, index, counts)
        _multiply(bits, rows, begin, end, cells, index, found, product)


@inner
def add_extensions(bits: Words, family: Ints, candidates: Ints, counts: Counts, product: Counts) -> None:
    """Add the rows of bitsets to the cells of one family, and to those of each level of some candidates.

    Parameters
    ----------
    bits : array (levels, words)
        From `pack`.
    family, candidates : int64 arrays (variables, 2)
        First level and number of levels of the parents and, last, the child; and of the candidates, gaps included.
    counts : array (cells of the family,)
    product : array ((levels of the candidates + 1) * cells of the family,)
        Row by row. The last level of each candidate is left to `complete`; the row at the end is for nobody.
    """
    rows, _ = rows_to_count(candidates)
    add_rows(bits, family, rows, 0, bits.shape[1], counts, product)


@inner
def count_extensions(bits: Words, family: Ints, candidates: Ints, levels: Ints, own: Counts) -> Counted:
    """Tables of one family extended by each candidate parent in turn; arguments as in `add_extensions`, `complete`."""
    dense, every = 1, 1
    for i in range(family.shape[0]):
        dense *= family[i, 1]
    for i in range(candidates.shape[0]):
        every += candidates[i, 1]
    counts, product = no_counts(dense), no_counts(every * dense)
    add_extensions(bits, family, candidates, counts, product)
    return complete(counts, product, candidates, family[-1, 1], levels, own)


@inner
def close_gaps(counts: Counts, ends: Ints, positive: Ints) -> None:
    """Leave out the zeros of tables that end at `ends`, which is brought up to date; `positive` gets what is left.

    Scoring is faster without them. Nothing here depends on a count, so that nothing needs to be predicted.
    """
    size, begin = np.uint64(0), np.uint64(0)
    for t in range(len(ends)):
        before, end = size, np.uint64(ends[t])
        for k in range(begin, end):
            count = counts[k]
            counts[size] = count
            size += np.uint64(count > 0)
        ends[t], positive[t], begin = size, size - before, end


@inner
def complete(counts: Counts, product: Counts, candidates: Ints, r: int, levels: Ints, own: Counts) -> Counted:
    """Fill in the last level of each candidate, add up the configurations, and leave out what is empty.

    What a candidate has beyond its `levels` are gaps: they count nowhere. `own` as in `count` of
    `mapdag.counts.choice`.
    """
    dense = len(counts)
    n_tables = len(candidates)
    cell_ends, total_ends = new_ints(n_tables), new_ints(n_tables)
    n_positive, q_obs = new_ints(n_tables), new_ints(n_tables)
    totals = no_counts((len(product) - dense) // r)
    row, place = 0, 0
    for t in range(n_tables):
        end = row + candidates[t, 1] * dense
        rest = product[end - dense : end]
        for c in range(dense):
            rest[c] = counts[c]
        for start in range(row, end - dense, dense):
            mine = product[start : start + dense]
            for c in range(dense):
                rest[c] -= mine[c]
        if candidates[t, 1] > levels[t]:
            for c in range(dense):
                if len(own):
                    own[t, c] = counts[c] - rest[c]
                rest[c] = 0
        elif len(own):
            for c in range(dense):
                own[t, c] = counts[c]
        for configuration in range(row, end, r):
            total = np.int32(0)
            for k in range(configuration, configuration + r):
                total += product[k]
            totals[place] = total
            place += 1
        row = end
        cell_ends[t], total_ends[t] = row, place
    close_gaps(product, cell_ends, n_positive)
    close_gaps(totals, total_ends, q_obs)
    return Counted(product[: cell_ends[-1]], cell_ends, totals[: total_ends[-1]], total_ends, n_positive, q_obs)
