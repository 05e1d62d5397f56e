"""Functions of counts as another processor takes them: it looks small counts up, and computes the terms of the others.

Those take additions, products and roundings only, which every processor does alike, so that its sums are the same to the
last bit. What takes logs is computed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import Floats, Ints, bits_of, entry, inner
from mapdag.terms.formulas import LOG_TABLE, RISING_ONCE, SHORT, XLOGX, Terms, constants_of, term_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SMALL = 17  # counts below it take the log of a product
_PLAIN = 0.32  # parameters up to which all others take no log
_RATIO = 51.0  # counts of so many times the parameter take none
_MOST = 1 << 12  # counts to look up, at most

#: Of a function, as the other processor takes it: its parameter and what does not depend on the count; its kind, and
#: where the counts that are looked up begin, and how many they are.
FUNCTION = np.dtype(
    [
        ("parameter", "f8"),
        ("offset", "f8"),
        ("first", "f8"),
        ("kind", "i4"),
        ("begin", "i4"),
        ("length", "i4"),
        ("unused", "i4"),
    ]
)


class Constants(NamedTuple):
    """What terms of all functions need, for data of one size."""

    scale: float
    logs: Floats  # (128, 3) logs of numbers from 1 to 2, see `mapdag.terms.formulas`
    bases: Ints  # (counts, 2) rising factorials of 0
    powers: Floats  # (counts, 8) coefficients of the series that continues them
    start: int  # counts from which on they are continued


class Collection(NamedTuple):
    """Different functions, collected."""

    slots: Ints  # (a power of two,) number of the function there; -1: none
    kinds: Ints  # (functions,)
    numbers: Floats  # (functions, 3) parameter, offset, first
    lengths: Ints  # (functions,)
    taken: Ints  # (2,) functions, counts to look up


def new_collection(most: int) -> Collection:
    """Make room for so many different functions."""
    slots = np.full(1 << (2 * most).bit_length(), -1, dtype=np.int64)
    whole = np.empty((2, most), dtype=np.int64)
    return Collection(slots, whole[0], np.empty((most, 3)), whole[1], np.zeros(2, dtype=np.int64))


@inner
def _length_of(kind: int, param: float, total: int) -> int:
    """How many counts have terms that take logs, or are looked up all the same; -1: too many."""
    if kind == XLOGX:
        return 0
    if kind != RISING_ONCE or param * _RATIO >= _MOST:
        return -1
    length = _SMALL if param <= _PLAIN else SHORT
    if param > 1.0:
        length = max(length, np.int64(param * _RATIO) + 1)
    return min(length, total + 1)


@inner
def collect(kind: int, param: float, total: int, found: Collection) -> int:
    """Number of a function in a collection; -1 where the other processor cannot compute its terms."""
    slots, kinds, numbers, lengths, taken = found
    mask = len(slots) - 1
    key = (bits_of(param) + np.uint64(kind)) * np.uint64(0x9E3779B97F4A7C15)
    i = np.int64(key >> np.uint64(24)) & mask
    while slots[i] >= 0:
        if numbers[slots[i], 0] == param and kinds[slots[i]] == kind:
            return slots[i]
        i = (i + 1) & mask
    length = _length_of(kind, param, total)
    if length < 0:
        return -1
    number = taken[0]
    slots[i], kinds[number], lengths[number] = number, kind, length
    offset, first = constants_of(kind, param)
    numbers[number, 0], numbers[number, 1], numbers[number, 2] = param, offset, first
    taken[0] += 1
    taken[1] += length
    return number


@entry
def _look_up(found: Collection, begins: Ints, values: Ints, terms: Terms) -> None:
    """Terms of the counts that are looked up, of all functions."""
    for i in range(found.taken[0]):
        constants = found.numbers[i, 1], found.numbers[i, 2]
        for n in range(1, found.lengths[i]):
            high, low = term_of(found.kinds[i], found.numbers[i, 0], constants, n, terms)
            values[begins[i] + n, 0], values[begins[i] + n, 1] = high, low


def written(found: Collection, terms: Terms) -> tuple[NDArray[np.void], Ints]:
    """Functions that were collected, and the terms of the counts that are looked up."""
    size = int(found.taken[0])
    functions = np.zeros(size, dtype=FUNCTION)
    begins = np.cumsum(found.lengths[:size]) - found.lengths[:size]
    functions["parameter"], functions["offset"], functions["first"] = found.numbers[:size].T
    functions["kind"], functions["begin"], functions["length"] = found.kinds[:size], begins, found.lengths[:size]
    values = np.zeros((int(found.taken[1]), 2), dtype=np.int64)
    _look_up(found, begins, values, terms)
    return functions, values


@entry
def _fill_bases(terms: Terms) -> None:
    """Have all rising factorials of 0 in the tables that the series continues."""
    for n in range(SHORT, len(terms.bases)):
        term_of(RISING_ONCE, 1.0, constants_of(RISING_ONCE, 1.0), n, terms)


def constants_for(terms: Terms) -> Constants:
    """Return what terms need for data of one size."""
    _fill_bases(terms)
    return Constants(terms.scale, LOG_TABLE, terms.bases, terms.powers, SHORT)
