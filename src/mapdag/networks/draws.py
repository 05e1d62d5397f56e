"""Kernels that draw rows: a counter-based random generator, and the inverse of a distribution function.

The generator is Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011, "Parallel random numbers: as easy as 1, 2, 3"): a
function of a key and a counter without any state. Every number of a sample has a counter of its own, so it does not
matter who draws it, or when.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

_ROUNDS = 10
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (np.uint32(0x9E3779B9), np.uint32(0xBB67AE85))
_HALF = np.uint64(32)
_DROPPED = np.uint64(11)  # 64 random bits make one of the 2**53 multiples of 2**-53


class Plan(NamedTuple):
    """A network as the kernel wants it; nodes are positions.

    Parameters
    ----------
    order : int64 array
        The nodes, parents before children.
    cards : int64 array
        Levels of each node.
    parents, parent_ends : int64 array
        Parents of all nodes, one node after the other, and where each ends.
    cumulative : float64 array
        Distribution functions of all tables, one node after the other.
    starts : int64 array
        Where the table of each node starts.
    """

    order: Any
    cards: Any
    parents: Any
    parent_ends: Any
    cumulative: Any
    starts: Any


@njit(cache=True, nogil=True)
def uniforms(key: Any, node: int, first_row: int, out: Any) -> None:
    """Fill `out` with uniform numbers from [0, 1) for the rows of one node from an even `first_row` on.

    Rows 2i and 2i + 1 share the block with the counter (low half of i, high half of i, node, 0): the first two of its
    four words, low word first, make the number of the even row, the last two that of the odd one.
    """
    for pair in range(len(out) // 2):
        index = np.uint64((first_row >> 1) + pair)
        x0, x1 = np.uint32(index), np.uint32(index >> _HALF)
        x2, x3 = np.uint32(node), np.uint32(0)
        k0, k1 = key[0], key[1]
        for _ in range(_ROUNDS):
            low, high = np.uint64(x0) * _MULTIPLIERS[0], np.uint64(x2) * _MULTIPLIERS[1]
            x0 = np.uint32(np.uint32(high >> _HALF) ^ x1 ^ k0)
            x2 = np.uint32(np.uint32(low >> _HALF) ^ x3 ^ k1)
            x1, x3 = np.uint32(high), np.uint32(low)
            k0, k1 = np.uint32(k0 + _WEYL[0]), np.uint32(k1 + _WEYL[1])
        even = np.uint64(x0) | (np.uint64(x1) << _HALF)
        odd = np.uint64(x2) | (np.uint64(x3) << _HALF)
        out[2 * pair] = np.float64(even >> _DROPPED) * 2.0**-53
        out[2 * pair + 1] = np.float64(odd >> _DROPPED) * 2.0**-53


@njit(cache=True, nogil=True)
def draw_rows(plan: Plan, key: Any, first_row: int, codes: Any) -> None:
    """Fill `codes` (nodes x rows) with the rows of a sample from an even `first_row` on."""
    n = codes.shape[1]
    draws = np.empty(n + n % 2, dtype=np.float64)
    base = np.empty(n, dtype=np.int64)
    for node in plan.order:
        uniforms(key, node, first_row, draws)
        base[:] = 0
        for i in range(plan.parent_ends[node - 1] if node else 0, plan.parent_ends[node]):
            parent = plan.parents[i]
            card, column = plan.cards[parent], codes[parent]
            for row in range(n):
                base[row] = base[row] * card + column[row]
        r = plan.cards[node]
        for row in range(n):
            base[row] = plan.starts[node] + base[row] * r
        # All rows halve the range of their levels together: without branches, the loop becomes vector instructions.
        level, size = np.zeros(n, dtype=np.int64), r
        while size > 1:
            half = size >> 1
            for row in range(n):
                level[row] += half * np.int64(draws[row] >= plan.cumulative[base[row] + level[row] + half - 1])
            size -= half
        for row in range(n):
            codes[node, row] = level[row]
