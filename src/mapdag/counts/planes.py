"""Rows that are stored as bit planes, one for each binary digit of a variable's codes: to bitsets, and to codes."""

from __future__ import annotations

import numpy as np

from mapdag.counts.bitsets import padded
from mapdag.kernels import Codes, Ints, Words, entry, part


@part
def _planes_of(levels: int) -> int:
    """How many binary digits the codes of so many levels have."""
    planes = 0
    while (1 << planes) < levels:
        planes += 1
    return planes


@entry
def bits_of_planes(planes: Words, n: int, first_level: Ints) -> Words:
    """Bitsets of all levels of all variables, as `mapdag.counts.bitsets.pack` makes them.

    Parameters
    ----------
    planes : array (planes, words)
        Those of each variable in turn, its lowest digit first; bits of rows beyond the last are zero.
    n : int
        How many rows there are.
    first_level : int64 array (variables + 1,)
    """
    words = planes.shape[1]
    bits = np.zeros((first_level[-1], padded(words)), dtype=np.uint64)
    last = ~np.uint64(0) >> np.uint64(-n & 63)  # the rows that there are of the last word
    place = 0
    for v in range(len(first_level) - 1):
        levels = first_level[v + 1] - first_level[v]
        own = _planes_of(levels)
        for m in range(levels):
            out = bits[first_level[v] + m]
            for w in range(words):
                out[w] = ~np.uint64(0)
            for p in range(own):
                plane = planes[place + p]
                flip = np.uint64(0) if m >> p & 1 else ~np.uint64(0)
                for w in range(words):
                    out[w] &= plane[w] ^ flip
            if words:
                out[words - 1] &= last
        place += own
    return bits


@entry
def codes_of_planes(planes: Words, first_level: Ints, codes: Codes) -> None:
    """Codes of all variables, into an array (variables, rows)."""
    place, n = 0, codes.shape[1]
    for v in range(len(codes)):
        out = codes[v]
        for row in range(n):
            out[row] = 0
        own = _planes_of(first_level[v + 1] - first_level[v])
        for p in range(own):
            plane = planes[place + p]
            for w in range(n // 64):
                word = plane[w]
                for b in range(64):
                    out[64 * w + b] |= codes.dtype.type((word >> np.uint64(b) & np.uint64(1)) << np.uint64(p))
            for row in range(n // 64 * 64, n):
                digit = plane[row >> 6] >> np.uint64(row & 63) & np.uint64(1)
                out[row] |= codes.dtype.type(digit << np.uint64(p))
        place += own
