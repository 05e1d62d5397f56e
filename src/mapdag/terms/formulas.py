"""The log terms that every likelihood is made of, each to the last digits, as numbers in fixed point.

Three functions of a count n, all in natural logs:

- ``XLOGX``: n log n;
- ``RISING``: log of the rising factorial a (a+1) ... (a+n-1), less ``log a`` (`ONCE`, for a <= 1) or less ``n log a``
  (`EACH`, for a > 1): what is left is small, and what is taken off is added back exactly by the caller;
- ``REGRET``: n log n + log C(n, k), with C the multinomial NML normaliser.

A number in fixed point is two 64-bit words, ``high / scale + low / (scale * 2^30)``: sums of such have no order.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import NamedTuple

import numpy as np

from mapdag.kernels import Floats, Ints, entry, inner, part

XLOGX, RISING_ONCE, RISING_EACH, REGRET = 0, 1, 2, 3

EMPTY = np.int64(-(2**63))  # a look-up entry that is not computed yet
SHORT = 64  # factors from which on the rising factorial of a <= 1 is continued by a series

_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
_LN2_HI, _LN2_LO = 0.6931471803691238, 1.9082149292705877e-10  # hi has 21 trailing zero bits: e * hi is exact
_LOG_BITS = 7
_LOW = 30  # bits of the low word of a fixed-point number
_COARSE = 2.0**40  # scale from which on the high word alone is exact enough for what changes with a
_SPLIT = 134217729.0  # 2^27 + 1, Veltkamp's constant


class Terms(NamedTuple):
    """What one thread needs to compute terms for data of one size, and what it remembers of them."""

    scale: float  # of the high words: a power of two
    values: Ints  # (terms, 2) remembered terms, one function's run after the other
    slots: Floats  # (slots + 1, 7) the functions that have a run, see `mapdag.terms.sums`
    words: Ints  # (counts, 2) n log n of whole numbers; EMPTY: not yet
    reals: Floats  # (counts, 2) log n and 1/n of these
    bases: Ints  # (counts, 2) rising factorials of 0; EMPTY: not yet
    powers: Floats  # (counts, 8) coefficients of the series that continues them for a > 0


def _log_table() -> Floats:
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


LOG_TABLE = _log_table()


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
    c = LOG_TABLE[i, 0]
    z = m * c - 1.0  # exact: n has at most 44 bits, c has 9
    square, error = _two_product(z, z)
    tail = (
        z
        * square
        * (1 / 3 - z * (1 / 4 - z * (1 / 5 - z * (1 / 6 - z * (1 / 7 - z * (1 / 8 - z * (1 / 9 - z / 10)))))))
    )
    hi, lo = _two_sum(e * _LN2_HI, LOG_TABLE[i, 1])
    lo += e * _LN2_LO + LOG_TABLE[i, 2]
    hi, more = _two_sum(hi, z)
    lo += more
    hi, more = _two_sum(hi, -0.5 * square)
    lo += more - 0.5 * error + tail
    return _two_sum(hi, lo)


@inner
def fixed(hi: float, lo: float, scale: float) -> tuple[int, int]:
    """Write hi + lo as ``high / scale + low / (scale * 2^_LOW)``, two whole numbers; scale is a power of two."""
    whole = math.floor(hi * scale)
    return np.int64(whole), np.int64(math.floor(((hi * scale - whole) + lo * scale) * (1 << _LOW) + 0.5))


@inner
def _add(x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
    return x[0] + y[0], x[1] + y[1]


@inner
def _xlogx(n: int, scale: float) -> tuple[int, int, float]:
    """Both words of n log n; and log n, which is the same on every machine, unlike that of its library."""
    hi, lo = _log_integer(n)
    product, error = _two_product(float(n), hi)
    high, low = fixed(product, error + n * lo, scale)
    return high, low, hi


@inner
def _fill(n: int, scale: float, words: Ints, reals: Floats) -> None:
    """Enter a whole number into the tables: both words of n log n; log n and 1/n."""
    words[n, 0], words[n, 1], reals[n, 0] = _xlogx(n, scale)
    reals[n, 1] = 1.0 / n


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
    return fixed(math.log(product), 0.0, scale)


@inner
def rise(a: float, scale: float, words: Ints) -> None:
    """Enter the rising factorials of a, less log a, of up to 16 factors: as `_rising_short`, one after the other."""
    product = 1.0
    for n in range(1, min(len(words), 17)):
        words[n, 0], words[n, 1] = fixed(math.log(product), 0.0, scale)
        product *= a + n


@inner
def _rising(kind: int, a: float, offset: float, n: int, scale: float, words: Ints, reals: Floats) -> tuple[int, int]:
    """Rising factorial of a, n >= 1 factors, in logs, less log a (`RISING_ONCE`) or n log a (`RISING_EACH`).

    `offset` is what does not depend on n (see `_offset`).
    """
    if n <= 16:
        return _rising_short(kind, a, n, scale)
    if kind == RISING_EACH:
        return fixed(_rising_far(a, float(n)), 0.0, scale)
    if a >= n:
        return fixed(_rising_far(a, float(n)) + (n - 1) * math.log(a), 0.0, scale)
    # n log n - n carries the bulk exactly; the rest is of the order of log n.
    if n < len(words):
        if words[n, 0] == EMPTY:
            _fill(n, scale, words, reals)
        high, low, log_n, inverse = words[n, 0], words[n, 1], reals[n, 0], reals[n, 1]
    else:
        high, low, log_n = _xlogx(n, scale)
        inverse = 1.0 / n
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
    more, less = fixed(rest, 0.0, scale)
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
def _term(kind: int, param: float, offset: float, n: int, scale: float, words: Ints, reals: Floats) -> tuple[int, int]:
    if kind != XLOGX and kind != REGRET:  # noqa: PLR1714 - no tuple to look into, where time counts
        return _rising(kind, param, offset, n, scale, words, reals)
    if n < len(words):
        if words[n, 0] == EMPTY:
            _fill(n, scale, words, reals)
        high, low = words[n, 0], words[n, 1]
    else:
        high, low, _ = _xlogx(n, scale)
    return _add((high, low), fixed(log_regret(n, param), 0.0, scale)) if kind == REGRET else (high, low)


@inner
def _first_factors(a: float, offset: float) -> float:
    """Log of (1 + a) (1 + a/2) ... (1 + a/(m-1)) for m = SHORT factors."""
    m = float(SHORT)
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
def continued(a: float, first: float, n: int, scale: float, bases: Ints, powers: Floats) -> tuple[int, int]:
    """Rising factorial of a <= 1, less log a: that of 0, and a power series in a for what a changes."""
    b = a * a
    even = (powers[n, 0] + a * powers[n, 1]) + b * (powers[n, 2] + a * powers[n, 3])
    odd = (powers[n, 4] + a * powers[n, 5]) + b * (powers[n, 6] + a * powers[n, 7])
    rest = first + a * (even + b * b * odd)
    if scale >= _COARSE:
        return bases[n, 0] + np.int64(math.floor(rest * scale + 0.5)), bases[n, 1]
    more, less = fixed(rest, 0.0, scale)
    return bases[n, 0] + more, bases[n, 1] + less


@inner
def term_of(kind: int, param: float, constants: tuple[float, float], n: int, terms: Terms) -> tuple[int, int]:
    """One term, in two words of fixed point, by the one formula for it: sums must not depend on who asks, and when."""
    # Only what is needed is passed on: to hand over all of `terms` counts the owners of each array.
    scale, words, reals, bases = terms.scale, terms.words, terms.reals, terms.bases
    offset, first = constants
    if first != 0.0 and SHORT <= n < len(bases):
        if bases[n, 0] == EMPTY:
            bases[n, 0], bases[n, 1] = _rising(RISING_ONCE, 0.0, _HALF_LOG_2PI, n, scale, words, reals)
        return continued(param, first, n, scale, bases, terms.powers)
    return _term(kind, param, offset, n, scale, words, reals)


@inner
def real_term_of(kind: int, a: float, x: float) -> float:
    """Like `term_of`, as a double, for a count that is not whole (weighted rows); no NML there."""
    if kind == XLOGX:
        return x * math.log(x)
    far = a >= 16.0 and a >= x
    if kind == RISING_EACH:
        return _rising_far(a, x) if far else math.lgamma(a + x) - math.lgamma(a) - x * math.log(a)
    return _rising_far(a, x) + (x - 1) * math.log(a) if far else math.lgamma(a + x) - math.lgamma(1.0 + a)


@inner
def to_float(high: int, low: int, scale: float) -> float:
    """Value of a number in two words of fixed point."""
    return high / scale + low / (scale * (1 << _LOW))
