"""The sums of log terms that every likelihood is made of, exact to the last digits and free of order.

A decomposable likelihood of a family is ``sum over cells of f(n_ijk) - sum over configurations of g(n_ij)`` plus a
constant. Terms are added as fixed-point numbers (two 64-bit words), so a sum does not depend on the order of the cells,
hence not on the order of rows, levels or parents, nor on threads; and each term is computed once and then looked up.

Three functions of a count n, all in natural logs:

- ``XLOGX``: n log n;
- ``RISING``: log of the rising factorial a (a+1) ... (a+n-1), less ``log a`` (`ONCE`, for a <= 1) or less ``n log a``
  (`EACH`, for a > 1): what is left is small, and what is taken off is added back exactly by the caller;
- ``REGRET``: n log n + log C(n, k), with C the multinomial NML normaliser.

Nothing here knows what a table or a likelihood is.
"""

from __future__ import annotations

import math
import threading
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.kernels import bits_of, entry, inner, part

if TYPE_CHECKING:
    from numpy.typing import NDArray

XLOGX, RISING_ONCE, RISING_EACH, REGRET = 0, 1, 2, 3

EMPTY = np.int64(-(2**63))  # a look-up entry that is not computed yet
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
_LN2_HI, _LN2_LO = 0.6931471803691238, 1.9082149292705877e-10  # hi has 21 trailing zero bits: e * hi is exact
_LOG_BITS = 7
_LOW = 30  # bits of the low word of a fixed-point number
_COARSE = 2.0**40  # scale from which on the high word alone is exact enough for what changes with a
_SPLIT = 134217729.0  # 2^27 + 1, Veltkamp's constant


def _log_table() -> NDArray[np.float64]:
    """Reciprocals c of 1 + i/128, rounded to 8 bits, and -log c as an unevaluated sum of two doubles."""
    size = 1 << _LOG_BITS
    table = np.empty((size, 3))
    with localcontext() as context:
        context.prec = 40
        for i in range(size):
            c = round(2 * size / (1 + (i + 0.5) / size)) / (2 * size)
            exact = -Decimal(c).ln()
            table[i] = c, float(exact), float(exact - Decimal(float(exact)))
    return table


_LOG_TABLE = _log_table()


@inner
def _two_sum(x: float, y: float) -> tuple[float, float]:
    s = x + y
    t = s - x
    return s, (x - (s - t)) + (y - t)


@inner
def _two_product(x: float, y: float) -> tuple[float, float]:
    p = x * y
    t = _SPLIT * x
    xh = t - (t - x)
    xl = x - xh
    t = _SPLIT * y
    yh = t - (t - y)
    yl = y - yh
    return p, ((xh * yh - p) + xh * yl + xl * yh) + xl * yl


@inner
def _log_integer(n: int) -> tuple[float, float]:
    """Log of an integer 1 <= n < 2^44 as an unevaluated sum of two doubles, to about 2^-70."""
    m, e = math.frexp(float(n))
    m, e = 2.0 * m, e - 1
    i = int((m - 1.0) * (1 << _LOG_BITS))
    c = _LOG_TABLE[i, 0]
    z = m * c - 1.0  # exact: n has at most 44 bits, c has 9
    square, error = _two_product(z, z)
    tail = (
        z
        * square
        * (1 / 3 - z * (1 / 4 - z * (1 / 5 - z * (1 / 6 - z * (1 / 7 - z * (1 / 8 - z * (1 / 9 - z / 10)))))))
    )
    hi, lo = _two_sum(e * _LN2_HI, _LOG_TABLE[i, 1])
    lo += e * _LN2_LO + _LOG_TABLE[i, 2]
    hi, more = _two_sum(hi, z)
    lo += more
    hi, more = _two_sum(hi, -0.5 * square)
    lo += more - 0.5 * error + tail
    return _two_sum(hi, lo)


@inner
def _fixed(hi: float, lo: float, scale: float) -> tuple[int, int]:
    """Write hi + lo as ``high / scale + low / (scale * 2^_LOW)``, two whole numbers; scale is a power of two."""
    whole = math.floor(hi * scale)
    return np.int64(whole), np.int64(math.floor(((hi * scale - whole) + lo * scale) * (1 << _LOW) + 0.5))


@inner
def _add(x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
    return x[0] + y[0], x[1] + y[1]


@inner
def _xlogx(n: int, scale: float) -> tuple[int, int]:
    hi, lo = _log_integer(n)
    product, error = _two_product(float(n), hi)
    return _fixed(product, error + n * lo, scale)


@inner
def _fill(n: int, scale: float, words: Any, reals: Any) -> None:
    """Enter a whole number into the tables: both words of n log n; log n and 1/n."""
    words[n, 0], words[n, 1] = _xlogx(n, scale)
    reals[n, 0], reals[n, 1] = math.log(n), 1.0 / n


@inner
def _stirling_inverse(x: float) -> float:
    """Return what Stirling's formula for lgamma(1/x) leaves out, a series in x <= 1/16."""
    y = x * x
    return x * (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188))))


@inner
def _stirling(x: float) -> float:
    """Return what Stirling's formula leaves out: lgamma(x) - (x - 1/2) log x + x - log(2 pi)/2, for x >= 16."""
    return _stirling_inverse(1.0 / x)


@inner
def _rising_far(a: float, n: float) -> float:
    """Return log(a (a+1) ... (a+n-1)) - n log a for a >= max(n, 16), without cancellation."""
    return (a + n - 0.5) * math.log1p(n / a) - n + _stirling(a + n) - _stirling(a)


@inner
def _rising_short(kind: int, a: float, n: int, scale: float) -> tuple[int, int]:
    """Rising factorial of n <= 16 factors: their product, and one log."""
    product = 1.0
    if kind == RISING_ONCE:
        for i in range(1, n):
            product *= a + i
    else:
        for i in range(1, n):
            product *= 1.0 + i / a
    return _fixed(math.log(product), 0.0, scale)


@inner
def _rising(kind: int, a: float, offset: float, n: int, scale: float, words: Any, reals: Any) -> tuple[int, int]:
    """Rising factorial of a, n >= 1 factors, in logs, less log a (`RISING_ONCE`) or n log a (`RISING_EACH`).

    `offset` is what does not depend on n (see `_offset`).
    """
    if n <= 16:
        return _rising_short(kind, a, n, scale)
    if kind == RISING_EACH:
        return _fixed(_rising_far(a, float(n)), 0.0, scale)
    if a >= n:
        return _fixed(_rising_far(a, float(n)) + (n - 1) * math.log(a), 0.0, scale)
    # n log n - n carries the bulk exactly; the rest is of the order of log n.
    if n < len(words):
        if words[n, 0] == EMPTY:
            _fill(n, scale, words, reals)
        high, low, log_n, inverse = words[n, 0], words[n, 1], reals[n, 0], reals[n, 1]
    else:
        high, low = _xlogx(n, scale)
        log_n, inverse = math.log(n), 1.0 / n
    z = a * inverse
    if z < 0.02:
        # No division and no log: series of log(1 + z) and 1 / (1 + z).
        tail = 1 / 5 - z * (1 / 6 - z * (1 / 7 - z * (1 / 8 - z / 9)))
        step = z * (1 - z * (1 / 2 - z * (1 / 3 - z * (1 / 4 - z * tail))))
        inverse *= 1 - z * (1 - z * (1 - z * (1 - z * (1 - z * (1 - z * (1 - z))))))
    else:
        step = math.log1p(z)
        inverse = 1.0 / (a + n)
    rest = n * step + (a - 0.5) * (log_n + step) + _stirling_inverse(inverse) + offset
    high -= n * np.int64(scale)
    if scale >= _COARSE:
        return high + np.int64(math.floor(rest * scale + 0.5)), low
    more, less = _fixed(rest, 0.0, scale)
    return high + more, low + less


@inner
def _offset(kind: int, a: float) -> float:
    """Part of the log of a rising factorial of a that its length leaves alone."""
    return _HALF_LOG_2PI - a - math.lgamma(1.0 + a) if kind == RISING_ONCE else 0.0


@entry
def log_regret(n: int, k: float) -> float:
    """Log of the multinomial NML normaliser C(n, k), exactly.

    C(n, k) = sum over j of [n (n-1) ... (n-j+1) / n^j] [(k-1) k ... (k+j-2) / j!], which follows from the generating
    function (1 - T(z))^-k of n^n C(n, k) / n! (Kontkanen and Myllymaki 2007; T the tree function) by Lagrange
    inversion. All terms are positive, so nothing cancels, for any k.
    """
    term, total, shift = 1.0, 1.0, 0.0
    for j in range(n):
        ratio = ((n - j) / n) * ((k - 1.0 + j) / (j + 1.0))
        term *= ratio
        total += term
        if total > 1e200:
            term, total, shift = term * 1e-200, total * 1e-200, shift + 200 * math.log(10.0)
        if ratio < 1.0 and term * ratio < 1e-18 * total * (1.0 - ratio):
            break
    return math.log(total) + shift


@inner
def _term(kind: int, param: float, offset: float, n: int, scale: float, words: Any, reals: Any) -> tuple[int, int]:
    if kind in (RISING_ONCE, RISING_EACH):
        return _rising(kind, param, offset, n, scale, words, reals)
    if n < len(words):
        if words[n, 0] == EMPTY:
            _fill(n, scale, words, reals)
        high, low = words[n, 0], words[n, 1]
    else:
        high, low = _xlogx(n, scale)
    return _add((high, low), _fixed(log_regret(n, param), 0.0, scale)) if kind == REGRET else (high, low)


@inner
def _term_real(kind: int, a: float, x: float) -> float:
    """Like `_term` for a count that is not whole (weighted rows); no NML there."""
    if kind == XLOGX:
        return x * math.log(x)
    far = a >= 16.0 and a >= x
    if kind == RISING_EACH:
        return _rising_far(a, x) if far else math.lgamma(a + x) - math.lgamma(a) - x * math.log(a)
    return _rising_far(a, x) + (x - 1) * math.log(a) if far else math.lgamma(a + x) - math.lgamma(1.0 + a)


_SHORT, _LONG = 64, 1 << 13  # entries of a function's run in the memo, at first and when it is much used
_POWERS = 8  # terms of the series that continues a rising factorial of a <= 1 from _SHORT to at most _LONG factors
_MUCH, _VERY_MUCH = 40, 300  # runs of counts after which a function is much used; the latter where the series serves
_WHOLE = 1 << 17  # whole numbers whose logs are kept: counts above it are few, and bring many rows with them
_SLOTS = 1 << 14


# Columns of the memo's index: function, where its run begins and how long it is, how often it was used.
_KIND, _PARAM, _OFFSET, _START, _LENGTH, _USES, _FIRST = 0, 1, 2, 3, 4, 5, 6


@inner
def _hash_slot(kind: int, param: float, index: Any) -> int:
    """Slot of a function in the memo, or a free one (of length 0)."""
    mask = _SLOTS - 1
    key = (bits_of(param) + np.uint64(kind)) * np.uint64(0x9E3779B97F4A7C15)
    i = np.int64(key >> np.uint64(40)) & mask
    while index[i, _LENGTH] != 0 and (index[i, _PARAM] != param or index[i, _KIND] != kind):
        i = (i + 1) & mask
    return i


@inner
def _first_factors(a: float, offset: float) -> float:
    """Log of (1 + a) (1 + a/2) ... (1 + a/(m-1)) for m = _SHORT factors."""
    m = float(_SHORT)
    step = math.log1p(a / m)
    rest = m * step + a * math.log(m) + (a - 0.5) * step + _stirling(m + a) - _stirling(m)
    return rest + (offset - _HALF_LOG_2PI)


@inner
def constants_of(kind: int, param: float) -> tuple[float, float]:
    """Parts of a function's terms that do not depend on the count: what `term_of` takes."""
    offset = _offset(kind, param)
    # Where the series serves.
    return offset, _first_factors(param, offset) if kind == RISING_ONCE and param <= 1.0 else 0.0


@part
def _continued(a: float, first: float, n: int, scale: float, series: Any) -> tuple[int, int]:
    """Rising factorial of a <= 1, less log a: that of 0, and a power series in a for what a changes."""
    bases, powers = series
    b = a * a
    even = (powers[n, 0] + a * powers[n, 1]) + b * (powers[n, 2] + a * powers[n, 3])
    odd = (powers[n, 4] + a * powers[n, 5]) + b * (powers[n, 6] + a * powers[n, 7])
    rest = first + a * (even + b * b * odd)
    if scale >= _COARSE:
        return bases[n, 0] + np.int64(math.floor(rest * scale + 0.5)), bases[n, 1]
    more, less = _fixed(rest, 0.0, scale)
    return bases[n, 0] + more, bases[n, 1] + less


@inner
def _make_run(i: int, kind: int, param: float, values: Any, index: Any) -> int:
    """Begin the run of a function in a slot of the memo, or a longer one; returns the slot, maybe another one."""
    length = _SHORT if index[i, _LENGTH] == 0 else _LONG
    if index[_SLOTS, 0] + length > len(values) or 2 * index[_SLOTS, 1] > _SLOTS:
        for slot in range(_SLOTS + 1):
            for field in range(7):
                index[slot, field] = 0
        i = _hash_slot(kind, param, index)
    start = np.int64(index[_SLOTS, 0])
    index[_SLOTS, 0] += length
    index[_SLOTS, 1] += 1
    index[i, _KIND], index[i, _PARAM] = kind, param
    index[i, _OFFSET], index[i, _FIRST] = constants_of(kind, param)
    index[i, _START], index[i, _LENGTH] = start, length
    for n in range(start, start + length):
        values[n, 0] = EMPTY
    values[start, 0], values[start, 1] = 0, 0  # a count of zero adds nothing
    return i


@inner
def find_slot(kind: int, param: float, values: Any, index: Any) -> int:
    """Slot of a function in the memo; it is made where there is none, and lengthened where it is much used."""
    i = _hash_slot(kind, param, index)
    index[i, _USES] += 1
    # Where the series serves, only few functions are worth long runs, which do not all stay in the cache.
    if index[i, _LENGTH] == 0 or index[i, _USES] == (_VERY_MUCH if index[i, _FIRST] else _MUCH):
        return _make_run(i, kind, param, values, index)
    return i


@inner
def term_of(kind: int, param: float, constants: Any, n: int, terms: Any) -> tuple[int, int]:
    """One term, in two words of fixed point, by the one formula for it: sums must not depend on who asks, and when."""
    scale, _, _, words, reals, series = terms
    offset, first = constants
    if first != 0.0 and _SHORT <= n < len(series[0]):
        bases = series[0]
        if bases[n, 0] == EMPTY:
            bases[n, 0], bases[n, 1] = _rising(RISING_ONCE, 0.0, _HALF_LOG_2PI, n, scale, words, reals)
        return _continued(param, first, n, scale, series)
    return _term(kind, param, offset, n, scale, words, reals)


@inner
def _new_term(n: int, slot: int, terms: Any) -> tuple[int, int]:
    """Compute one term, and remember it where there is room."""
    values, index = terms[1], terms[2]
    constants = index[slot, _OFFSET], index[slot, _FIRST]
    high, low = term_of(np.int64(index[slot, _KIND]), index[slot, _PARAM], constants, n, terms)
    if n < index[slot, _LENGTH]:
        place = np.int64(index[slot, _START]) + n
        values[place, 0], values[place, 1] = high, low
    return high, low


@part
def sum_terms(counts: Any, start: int, end: int, slot: int, terms: Any) -> tuple[int, int]:
    """Sum of f(count) over ``counts[start:end]``, zeros included, in two words of fixed point (see `_fixed`).

    f is the function in `slot`, from `find_slot`.
    """
    scale, values, index, _, _, series = terms
    base, length = np.int64(index[slot, _START]), np.int64(index[slot, _LENGTH])
    param, first = index[slot, _PARAM], index[slot, _FIRST]
    most = len(series[0]) if first != 0.0 else 0
    high, low = np.int64(0), np.int64(0)
    for c in range(start, end):
        n = np.int64(counts[c])
        if n < length and values[base + n, 0] != EMPTY:
            high += values[base + n, 0]
            low += values[base + n, 1]
            continue
        if length <= n < most and series[0][n, 0] != EMPTY:
            more, less = _continued(param, first, n, scale, series)
        else:
            more, less = _new_term(n, slot, terms)
        high += more
        low += less
    return high, low


@inner
def sum_terms_real(counts: Any, start: int, end: int, kind: int, param: float, scale: float) -> tuple[int, int]:
    """Sum of f(count) for counts that are not whole numbers, in two words of fixed point like `sum_terms`."""
    high, low = np.int64(0), np.int64(0)
    for c in range(start, end):
        if counts[c] > 0:
            more, less = _fixed(_term_real(kind, param, counts[c]), 0.0, scale)
            high += more
            low += less
    return high, low


@inner
def to_float(high: int, low: int, scale: float) -> float:
    """Value of a number in two words of fixed point."""
    return high / scale + low / (scale * (1 << _LOW))


def _series(most: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Make the tables of `_continued`: logs of factorials, to be filled; signed sums of i^-k/k, _SHORT <= i < n."""
    powers = np.zeros((most, _POWERS))
    inverse = 1.0 / np.arange(_SHORT, max(most - 1, _SHORT))
    term = np.ones(len(inverse))
    for k in range(_POWERS):
        term *= inverse
        powers[_SHORT + 1 :, k] = np.cumsum(term) * ((-1.0) ** k / (k + 1))
    return np.full((most, 2), EMPTY), powers


def new_terms(total: float, fractions: int = 0) -> tuple[Any, ...]:
    """Make what one thread needs to sum terms for data of one size: (scale, values, index, words, reals, series).

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
    scale = 2.0 ** (57 - math.ceil(math.log2(most)))
    words = np.full((int(min(total, _WHOLE)) + 1, 2), EMPTY)
    # The last row of the index says how much of the values and how many slots are in use.
    memo = np.empty((1 << 20, 2), dtype=np.int64), np.zeros((_SLOTS + 1, 7))
    return scale, *memo, words, np.empty(words.shape), _series(int(min(total, _LONG)) + 1)


_own = threading.local()


def terms_of_thread(total: float, fractions: int = 0) -> tuple[Any, ...]:
    """Return `new_terms` of this thread: the same as the last time where the size is, with all that it remembers.

    What is made of them is to be used in this thread only.
    """
    kept = getattr(_own, "kept", None)
    if kept is None or kept[0] != (total, fractions):
        kept = _own.kept = (total, fractions), new_terms(total, fractions)
    terms: tuple[Any, ...] = kept[1]
    return terms
