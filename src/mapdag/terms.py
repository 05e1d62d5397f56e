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
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

XLOGX, RISING_ONCE, RISING_EACH, REGRET = 0, 1, 2, 3

_EMPTY = np.int64(-(2**63))  # a look-up entry that is not computed yet
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
_LN2_HI, _LN2_LO = 0.6931471803691238, 1.9082149292705877e-10  # hi has 21 trailing zero bits: e * hi is exact
_LOG_BITS = 7
_LOW = 30  # bits of the low word of a fixed-point number
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


@njit(cache=True, inline="always")
def _two_sum(x: float, y: float) -> tuple[float, float]:
    s = x + y
    t = s - x
    return s, (x - (s - t)) + (y - t)


@njit(cache=True)
def _two_product(x: float, y: float) -> tuple[float, float]:
    p = x * y
    t = _SPLIT * x
    xh = t - (t - x)
    xl = x - xh
    t = _SPLIT * y
    yh = t - (t - y)
    yl = y - yh
    return p, ((xh * yh - p) + xh * yl + xl * yh) + xl * yl


@njit(cache=True)
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


@njit(cache=True)
def _fixed(hi: float, lo: float, scale: float) -> tuple[int, int]:
    """Write hi + lo as ``high / scale + low / (scale * 2^_LOW)``, two whole numbers; scale is a power of two."""
    whole = math.floor(hi * scale)
    return np.int64(whole), np.int64(math.floor(((hi * scale - whole) + lo * scale) * (1 << _LOW) + 0.5))


@njit(cache=True)
def _add(x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
    return x[0] + y[0], x[1] + y[1]


@njit(cache=True)
def _xlogx(n: int, scale: float) -> tuple[int, int]:
    hi, lo = _log_integer(n)
    product, error = _two_product(float(n), hi)
    return _fixed(product, error + n * lo, scale)


@njit(cache=True)
def _stirling(x: float) -> float:
    """Return what Stirling's formula leaves out: lgamma(x) - (x - 1/2) log x + x - log(2 pi)/2, for x >= 16."""
    y = 1.0 / (x * x)
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x


@njit(cache=True)
def _rising_far(a: float, n: float) -> float:
    """Return log(a (a+1) ... (a+n-1)) - n log a for a >= max(n, 16), without cancellation."""
    return (a + n - 0.5) * math.log1p(n / a) - n + _stirling(a + n) - _stirling(a)


@njit(cache=True)
def _rising(kind: int, a: float, n: int, scale: float) -> tuple[int, int]:
    """Rising factorial of a, n >= 1 factors, in logs, less log a (`RISING_ONCE`) or n log a (`RISING_EACH`)."""
    if n <= 16:
        product = 1.0
        if kind == RISING_ONCE:
            for i in range(1, n):
                product *= a + i
        else:
            for i in range(1, n):
                product *= 1.0 + i / a
        return _fixed(math.log(product), 0.0, scale)
    if kind == RISING_EACH:
        return _fixed(_rising_far(a, float(n)), 0.0, scale)
    if a >= n:
        return _fixed(_rising_far(a, float(n)) + (n - 1) * math.log(a), 0.0, scale)
    # n log n - n carries the bulk exactly; the rest is of the order of log n.
    x = a + n
    rest = n * math.log1p(a / n) + (a - 0.5) * math.log(x) - a + _HALF_LOG_2PI + _stirling(x) - math.lgamma(1.0 + a)
    high, low = _add(_xlogx(n, scale), _fixed(rest, 0.0, scale))
    return high - n * np.int64(scale), low


@njit(cache=True)
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


@njit(cache=True)
def _term(kind: int, param: float, n: int, scale: float) -> tuple[int, int]:
    if kind == XLOGX:
        return _xlogx(n, scale)
    if kind == REGRET:
        return _add(_xlogx(n, scale), _fixed(log_regret(n, param), 0.0, scale))
    return _rising(kind, param, n, scale)


@njit(cache=True)
def _term_real(kind: int, a: float, x: float, scale: float) -> tuple[int, int]:
    """Like `_term` for a count that is not whole (weighted rows); no NML there."""
    if kind == XLOGX:
        return _fixed(x * math.log(x), 0.0, scale)
    far = a >= 16.0 and a >= x
    if kind == RISING_EACH:
        value = _rising_far(a, x) if far else math.lgamma(a + x) - math.lgamma(a) - x * math.log(a)
    else:
        value = _rising_far(a, x) + (x - 1) * math.log(a) if far else math.lgamma(a + x) - math.lgamma(1.0 + a)
    return _fixed(value, 0.0, scale)


_LONGEST = 1 << 14  # counts above this are computed each time: they are few, and bring thousands of rows with them


@njit(cache=True)
def _find_slot(kind: int, param: float, keys: Any, slots: Any) -> int:
    """Slot of a function in the hash table; `slots[i, 1] == 0` says that it is free."""
    size = slots.shape[0]
    i = np.int64((param * 0.6180339887498949 % 1.0 + math.frexp(param)[0] + kind * 0.37) * 7919.0 * size) % size
    while slots[i, 1] != 0 and (keys[i, 0] != kind or keys[i, 1] != param):
        i = (i + 1) % size
    return i


@njit(cache=True)
def _make_room(i: int, kind: int, param: float, longest: int, memo: Any) -> int:
    """Give slot i a fresh run of at least `longest` entries; empty the memo first where it is full."""
    values, keys, slots, used = memo
    length = min(max(2 * longest, 64), _LONGEST)
    if used[0] + length > values.shape[0] or used[1] * 2 >= slots.shape[0]:
        used[:] = 0
        slots[:, 1] = 0
        i = _find_slot(kind, param, keys, slots)
    used[1] += 1
    keys[i, 0], keys[i, 1] = kind, param
    slots[i, 0], slots[i, 1] = used[0], length
    values[used[0] : used[0] + length, 0] = _EMPTY
    used[0] += length
    return i


@njit(cache=True, nogil=True)
def add_terms(counts: Any, ends: Any, kinds: Any, params: Any, sign: int, bits: int, memo: Any, out: Any) -> None:
    """Add ``sign * sum of f(count)`` over each run of `counts` to `out`, in two words of fixed point (see `_fixed`).

    Run t is ``counts[ends[t-1]:ends[t]]`` and its f is ``(kinds[t], params[t])``. `memo` belongs to one thread.
    """
    scale = 2.0**bits
    values, keys, slots = memo[0], memo[1], memo[2]
    start = 0
    for t in range(len(ends)):
        end = ends[t]
        if end == start:
            continue
        kind, param = kinds[t], params[t]
        i = _find_slot(kind, param, keys, slots)
        longest = counts[start:end].max()
        if slots[i, 1] <= longest and slots[i, 1] < _LONGEST:
            i = _make_room(i, kind, param, longest + 1, memo)
        base, length = slots[i, 0], slots[i, 1]
        high, low = np.int64(0), np.int64(0)
        for c in range(start, end):
            n = counts[c]
            if n >= length:
                high, low = _add((high, low), _term(kind, param, n, scale))
                continue
            if values[base + n, 0] == _EMPTY:
                values[base + n, 0], values[base + n, 1] = _term(kind, param, n, scale)
            high += values[base + n, 0]
            low += values[base + n, 1]
        out[t, 0] += sign * high
        out[t, 1] += sign * low
        start = end


@njit(cache=True, nogil=True)
def add_terms_real(counts: Any, ends: Any, kinds: Any, params: Any, sign: int, bits: int, out: Any) -> None:
    """`add_terms` for counts that are not whole numbers."""
    scale = 2.0**bits
    start = 0
    for t in range(len(ends)):
        for c in range(start, ends[t]):
            high, low = _term_real(kinds[t], params[t], counts[c], scale)
            out[t, 0] += sign * high
            out[t, 1] += sign * low
        start = ends[t]


class Terms:
    """Sums of terms for data of one size, with the memo of what was computed before.

    Parameters
    ----------
    total : float
        Number of rows, or the sum of their weights: no count may exceed it.
    """

    def __init__(self, total: float) -> None:
        # A family's sum stays below 32 n in absolute value, so that this many fractional bits never overflow.
        self.bits = 57 - max(1, math.ceil(math.log2(max(total, 2))))
        self.total = total
        self._memo = (
            np.empty((1 << 20, 2), dtype=np.int64),
            np.empty((2048, 2)),
            np.zeros((2048, 2), dtype=np.int64),
            np.zeros(2, dtype=np.int64),
        )

    def difference(
        self,
        tables: Any,
        cell_terms: tuple[NDArray[np.int64], NDArray[np.float64]],
        total_terms: tuple[NDArray[np.int64], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Sum of f over the cells minus sum of g over the configurations, for each table of a batch."""
        out = np.zeros((len(tables.cell_ends), 2), dtype=np.int64)
        if tables.cells.dtype.kind == "f":
            add_terms_real(tables.cells, tables.cell_ends, *cell_terms, 1, self.bits, out)
            add_terms_real(tables.totals, tables.total_ends, *total_terms, -1, self.bits, out)
        else:
            add_terms(tables.cells, tables.cell_ends, *cell_terms, 1, self.bits, self._memo, out)
            add_terms(tables.totals, tables.total_ends, *total_terms, -1, self.bits, self._memo, out)
        return np.ldexp(out[:, 0].astype(np.float64), -self.bits) + np.ldexp(
            out[:, 1].astype(np.float64), -self.bits - _LOW
        )
