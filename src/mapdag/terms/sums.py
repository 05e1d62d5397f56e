"""Sums of log terms: exact to the last digits, free of order, each term computed once and then looked up.

A decomposable likelihood of a family is ``sum over cells of f(n_ijk) - sum over configurations of g(n_ij)`` plus a
constant. Terms are added in fixed point, so that a sum does not depend on the order of the cells, hence not on the
order of rows, levels or parents, nor on threads. Nothing here knows what a table or a likelihood is.
"""

from __future__ import annotations

import math
import threading

import numpy as np

from mapdag.kernels import Counts, Floats, Ints, bits_of, inner, part
from mapdag.terms.formulas import EMPTY, SHORT, Terms, constants_of, continued, fixed, real_term_of, term_of

_LONG = 1 << 13  # entries of a function's run in the memo when it is much used; at first they are SHORT
_POWERS = 8  # terms of the series that continues a rising factorial of a <= 1 from SHORT to at most _LONG factors
_MUCH, _VERY_MUCH = 40, 300  # runs of counts after which a function is much used; the latter where the series serves
_WHOLE = 1 << 17  # whole numbers whose logs are kept: counts above it are few, and bring many rows with them
_SLOTS = 1 << 14

# Columns of the memo's index: function, where its run begins and how long it is, how often it was used. The last row
# says how many values and how many slots are taken.
_KIND, _PARAM, _OFFSET, _START, _LENGTH, _USES, _FIRST = 0, 1, 2, 3, 4, 5, 6
_VALUES_TAKEN, _SLOTS_TAKEN = 0, 1


@inner
def _find(kind: int, param: float, index: Floats) -> int:
    """Slot of a function in the memo, or a free one (of length 0)."""
    mask = _SLOTS - 1
    key = (bits_of(param) + np.uint64(kind)) * np.uint64(0x9E3779B97F4A7C15)
    i = np.int64(key >> np.uint64(40)) & mask
    while index[i, _LENGTH] != 0 and (index[i, _PARAM] != param or index[i, _KIND] != kind):
        i = (i + 1) & mask
    return i


@inner
def _make_run(i: int, kind: int, param: float, values: Ints, index: Floats) -> int:
    """Begin the run of a function in a slot of the memo, or a longer one; returns the slot, maybe another one."""
    length = SHORT if index[i, _LENGTH] == 0 else _LONG
    if index[_SLOTS, _VALUES_TAKEN] + length > len(values) or 2 * index[_SLOTS, _SLOTS_TAKEN] > _SLOTS:
        for slot in range(len(index)):
            for field in range(index.shape[1]):
                index[slot, field] = 0
        i = _find(kind, param, index)
    start = np.int64(index[_SLOTS, _VALUES_TAKEN])
    index[_SLOTS, _VALUES_TAKEN] += length
    index[_SLOTS, _SLOTS_TAKEN] += 1
    index[i, _KIND], index[i, _PARAM] = kind, param
    index[i, _OFFSET], index[i, _FIRST] = constants_of(kind, param)
    index[i, _START], index[i, _LENGTH] = start, length
    for n in range(start, start + length):
        values[n, 0] = EMPTY
    values[start, 0], values[start, 1] = 0, 0  # a count of zero adds nothing
    return i


@inner
def find_slot(kind: int, param: float, values: Ints, index: Floats) -> int:
    """Slot of a function in the memo; it is made where there is none, and lengthened where it is much used."""
    i = _find(kind, param, index)
    index[i, _USES] += 1
    # Where the series serves, only few functions are worth long runs, which do not all stay in the cache.
    if index[i, _LENGTH] == 0 or index[i, _USES] == (_VERY_MUCH if index[i, _FIRST] else _MUCH):
        return _make_run(i, kind, param, values, index)
    return i


@inner
def _new_term(n: int, slot: int, terms: Terms) -> tuple[int, int]:
    """Compute one term, and remember it where there is room."""
    index, values = terms.slots, terms.values
    constants = index[slot, _OFFSET], index[slot, _FIRST]
    high, low = term_of(np.int64(index[slot, _KIND]), index[slot, _PARAM], constants, n, terms)
    if n < index[slot, _LENGTH]:
        place = np.int64(index[slot, _START]) + n
        values[place, 0], values[place, 1] = high, low
    return high, low


@part
def sum_terms(counts: Counts, start: int, end: int, slot: int, terms: Terms) -> tuple[int, int]:
    """Sum of f(count) over ``counts[start:end]``, zeros included, in two words of fixed point.

    f is the function in `slot`, from `find_slot`.
    """
    scale, values, index, bases, powers = terms.scale, terms.values, terms.slots, terms.bases, terms.powers
    base, length = np.int64(index[slot, _START]), np.int64(index[slot, _LENGTH])
    param, first = index[slot, _PARAM], index[slot, _FIRST]
    most = len(bases) if first != 0.0 else 0
    high, low = np.int64(0), np.int64(0)
    for c in range(start, end):
        n = np.int64(counts[c])
        if n < length and values[base + n, 0] != EMPTY:
            high += values[base + n, 0]
            low += values[base + n, 1]
            continue
        if length <= n < most and bases[n, 0] != EMPTY:
            more, less = continued(param, first, n, scale, bases, powers)
        else:
            more, less = _new_term(n, slot, terms)
        high += more
        low += less
    return high, low


@inner
def sum_real_terms(counts: Counts, start: int, end: int, kind: int, param: float, scale: float) -> tuple[int, int]:
    """Sum of f(count) for counts that are not whole numbers, in two words of fixed point like `sum_terms`."""
    high, low = np.int64(0), np.int64(0)
    for c in range(start, end):
        if counts[c] > 0:
            more, less = fixed(real_term_of(kind, param, counts[c]), 0.0, scale)
            high += more
            low += less
    return high, low


def new_terms(total: float, fractions: int = 0) -> Terms:
    """Make what one thread needs to sum terms for data of one size.

    Parameters
    ----------
    total : float
        Number of rows, or the sum of their weights: no count may exceed it.
    fractions : int
        How many counts there are at most in one table, if they are not whole.
    """
    # A family's sum stays below 32 n in absolute value, so that this many fractional bits never overflow. Of counts
    # below one the term can be as large as the log of the smallest float, however small the total is.
    most = max(total, 32 * fractions, 2)
    whole, continued_to = int(min(total, _WHOLE)) + 1, int(min(total, _LONG)) + 1
    # Signed sums of i^-k / k, SHORT <= i < n: the coefficients of the series for n factors.
    powers = np.zeros((continued_to, _POWERS))
    inverse = 1.0 / np.arange(SHORT, max(continued_to - 1, SHORT))
    term = np.ones(len(inverse))
    for k in range(_POWERS):
        term *= inverse
        powers[SHORT + 1 :, k] = np.cumsum(term) * ((-1.0) ** k / (k + 1))
    return Terms(
        scale=2.0 ** (57 - math.ceil(math.log2(most))),
        values=np.empty((1 << 20, 2), dtype=np.int64),
        slots=np.zeros((_SLOTS + 1, 7)),
        words=np.full((whole, 2), EMPTY),
        reals=np.empty((whole, 2)),
        bases=np.full((continued_to, 2), EMPTY),
        powers=powers,
    )


_own = threading.local()


def terms_of_thread(total: float, fractions: int = 0) -> Terms:
    """Return `new_terms` of this thread: the same as the last time where the size is, with all that it remembers.

    What is made of them is to be used in this thread only.
    """
    kept = getattr(_own, "kept", None)
    if kept is None or kept[0] != (total, fractions):
        kept = _own.kept = (total, fractions), new_terms(total, fractions)
    terms: Terms = kept[1]
    return terms
