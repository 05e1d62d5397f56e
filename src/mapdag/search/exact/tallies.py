"""Kernels of exact search: the counts of every set of variables, each set refined from a smaller one.

The cells of a family's table are the configurations of the child and its parents together, so that the counts of all
families are those of all sets of variables: a set is counted once for every family that it is the cells or the
configurations of. What likelihoods need of a set's counts is its tally: how many configurations have which count.

Sets are words, bit i for variable i, taken in the order of their numbers. A set is its predecessor (itself without its
lowest bit) refined by one variable, and the predecessor is always the last set of its size before it: one partition of
the rows for each size is enough. A row that is alone in its configuration stays alone in all refinements: such rows are
only counted, and cost nothing any more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mapdag.kernels import Codes, Int32s, Ints, RowNumbers, entry, inner, popcount, trailing_zeros


class Tallies(NamedTuple):
    """Counts of all sets of variables."""

    pool: Codes  # counts with their multiplicities, half of the bits each, set after set
    ends: Ints  # (sets,) where the tally of each ends
    n_groups: Int32s  # (sets,) configurations that occur
    total: float  # rows


class Wanted(NamedTuple):
    """Which sets are tallied. Whatever else is left out, with all that contains it."""

    most: int  # variables of a set
    families: Ints  # (variables,) each with all its possible parents: a set must be among one of these


class Partitions(NamedTuple):
    """One thread's partitions of the rows, by the configurations of 0, 1, 2, ... variables."""

    rows: RowNumbers  # (depths, rows) those that share their configuration with others
    ids: RowNumbers  # (depths, rows) numbers of these configurations
    sizes: Ints  # (depths, 3) how many such rows and configurations there are, and how many rows are alone
    counts: RowNumbers  # of the configurations of the next partition, in the making
    multiplicities: RowNumbers  # how often each count occurs
    values: Ints  # the counts that occur


def new_partitions(n_rows: int, n_nodes: int, most_levels: int) -> Partitions:
    """Make room for one thread's partitions."""
    shape = (n_nodes + 1, n_rows + 1)
    rows, ids = np.zeros(shape, dtype=np.uint32), np.zeros(shape, dtype=np.uint32)
    sizes = np.zeros((n_nodes + 1, 3), dtype=np.int64)
    rows[0, :n_rows] = np.arange(n_rows)
    sizes[0] = (n_rows, 1, 0) if n_rows > 1 else (0, 0, n_rows)
    counts = np.zeros((n_rows // 2 + 1) * most_levels + 1, dtype=np.uint32)
    multiplicities, values = np.zeros(n_rows + 2, dtype=np.uint32), np.zeros(n_rows + 2, dtype=np.int64)
    return Partitions(rows, ids, sizes, counts, multiplicities, values)


@inner
def split(depth: int, codes: Codes, levels: int, keep: bool, partitions: Partitions) -> int:
    """Split partition `depth` by one variable into the next; returns how many different counts there are.

    Unless `keep`, only the counts are found: ``values`` gets them, ``multiplicities[count]`` how often each occurs.
    """
    rows, ids, sizes, counts, multiplicities, values = partitions
    active, groups, alone = sizes[depth, 0], sizes[depth, 1], sizes[depth, 2]
    mine, group = rows[depth], ids[depth]
    width = np.uint64(levels)
    for i in range(active):
        counts[np.uint64(group[i]) * width + np.uint64(codes[mine[i]])] += 1
    distinct, left = 0, 0
    for key in range(groups * levels):
        count = counts[key]
        if count == 0:
            continue
        if count == 1:
            alone += 1
            counts[key] = 0
            continue
        if multiplicities[count] == 0:
            values[distinct] = count
            distinct += 1
        multiplicities[count] += 1
        left += 1
        counts[key] = left if keep else 0
    if alone:
        values[distinct] = 1
        multiplicities[1] = alone
        distinct += 1
    if keep:
        after, group_after = rows[depth + 1], ids[depth + 1]
        size = 0
        for i in range(active):
            rank = counts[np.uint64(group[i]) * width + np.uint64(codes[mine[i]])]
            if rank:
                after[size], group_after[size] = mine[i], rank - 1
                size += 1
        for key in range(groups * levels):
            counts[key] = 0
        sizes[depth + 1, 0] = size
    sizes[depth + 1, 1], sizes[depth + 1, 2] = left, alone
    return distinct


@inner
def pour(partitions: Partitions, distinct: int, pool: Codes, used: int) -> tuple[Codes, int]:
    """Put the distinct counts that `split` has found behind those in a pool, larger if need be; and forget them.

    Returns
    -------
    pool : unsigned array
    used : int
        How much of it is in use now.
    """
    multiplicities, values = partitions.multiplicities, partitions.values
    half = np.uint64(pool.itemsize * 4)
    if used + distinct > len(pool):
        larger = np.empty(2 * len(pool) + distinct, pool.dtype)
        for i in range(used):
            larger[i] = pool[i]
        pool = larger
    for i in range(distinct):
        value = values[i]
        pool[used] = (np.uint64(value) << half) | np.uint64(multiplicities[value])
        multiplicities[value] = 0
        used += 1
    return pool, used


@entry
def tally_block(
    first: int, codes: Codes, cards: Ints, wanted: Wanted, partitions: Partitions, out: Tallies
) -> tuple[Codes, int]:
    """Tally the sets ``first, first + 1, ...``, as many as `out` has `ends` (a power of two that divides `first`).

    Its `n_groups` and `ends` are filled; the type of its `pool` decides how counts and multiplicities are put together.

    Returns
    -------
    The pool, maybe another one with more room, and how many numbers of it are in use.
    """
    most, families = wanted
    pool, ends, n_groups, _ = out
    sizes, multiplicities, values = partitions.sizes, partitions.multiplicities, partitions.values
    used = 0
    # The partitions of the sets that come before the block: `first` with fewer and fewer of its lowest bits.
    depth = 0
    for v in range(len(cards) - 1, -1, -1):
        if first >> v & 1 and depth < most and first & ((1 << v) - 1):
            for i in range(split(depth, codes[v], cards[v], True, partitions)):
                multiplicities[values[i]] = 0
            depth += 1
    for t in range(len(ends)):
        full = first + t
        depth = popcount(np.uint64(full))
        distinct = 0
        n_groups[t] = 0
        useful = depth <= most and depth > 0
        if useful:
            useful = False
            for x in range(len(families)):
                useful = useful or (full & ~families[x]) == 0
        if full == 0:
            if codes.shape[1]:
                values[0] = codes.shape[1]
                multiplicities[values[0]] = 1
                distinct = 1
                n_groups[t] = 1
        elif useful:
            v = trailing_zeros(np.uint64(full))
            distinct = split(depth - 1, codes[v], cards[v], v > 0 and depth < most, partitions)
            n_groups[t] = sizes[depth, 1] + sizes[depth, 2]
        pool, used = pour(partitions, distinct, pool, used)
        ends[t] = used
    return pool, used
