"""Functions of counts as another processor takes them: it looks small counts up, and computes the terms of the others.

Those take additions, products, divisions and roundings only, which every processor does alike, so that its sums are the
same to the last bit. What takes logs is computed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import Floats, Ints, bits_of, entry, inner
from mapdag.terms.formulas import LOG_TABLE, RISING_ONCE, SHORT, XLOGX, Terms, constants_of, rise, term_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SMALL = 17  # counts below it take the log of a product
_PLAIN = 0.32  # parameters up to which all others take no log
_RATIO = 51.0  # counts of so many times the parameter take none
_MOST = 1 << 12  # counts to look up, at most

NOWHERE, FULL = -1, -2  # instead of a function: the other processor cannot compute it; there is no room for it

#: Of a function: its parameter, and what does not depend on the count; its kind; where the counts that are looked up
#: begin, and how many they are.
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

    scale: float  # as in `Terms`
    logs: Floats  # (128, 3) logs of numbers from 1 to 2, see `mapdag.terms.formulas`
    bases: Ints  # (counts, 2) rising factorials of 0
    powers: Floats  # (counts, 8) coefficients of the series that continues them
    start: int  # count from which on they are continued


class Collection(NamedTuple):
    """Different functions, collected."""

    slots: Ints  # (a power of two,) number of the function there; -1: none
    kinds: Ints  # (room,)
    numbers: Floats  # (room, 3) parameter; what `constants_of` says of it
    begins: Ints  # (room,) where the counts that are looked up begin
    lengths: Ints  # (room,) and how many they are
    taken: Ints  # (2,) functions; counts that are looked up


def new_collection(room: int) -> Collection:
    """Make room for so many different functions."""
    slots = np.full(1 << (2 * room).bit_length(), -1, dtype=np.int64)
    kinds, begins, lengths = (np.empty(room, dtype=np.int64) for _ in range(3))
    return Collection(slots, kinds, np.empty((room, 3)), begins, lengths, np.zeros(2, dtype=np.int64))


@inner
def _length_of(kind: int, param: float, total: int) -> int:
    """How many counts, from 0 on, are looked up since the terms of some of them take logs; -1: too many."""
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
    """Number of a function in a collection, `NOWHERE` or `FULL`; no count exceeds `total`."""
    slots, kinds, numbers, begins, lengths, taken = found
    mask = len(slots) - 1
    key = (bits_of(param) + np.uint64(kind)) * np.uint64(0x9E3779B97F4A7C15)
    i = np.int64(key >> np.uint64(24)) & mask
    while slots[i] >= 0:
        if numbers[slots[i], 0] == param and kinds[slots[i]] == kind:
            return slots[i]
        i = (i + 1) & mask
    length = _length_of(kind, param, total)
    if length < 0:
        return NOWHERE
    number = taken[0]
    if number == len(kinds):
        return FULL
    slots[i], kinds[number], begins[number], lengths[number] = number, kind, taken[1], length
    offset, first = constants_of(kind, param)
    numbers[number, 0], numbers[number, 1], numbers[number, 2] = param, offset, first
    taken[0] += 1
    taken[1] += length
    return number


@entry
def _look_up(found: Collection, first: int, values: Ints, terms: Terms) -> None:
    """Terms of the counts that are looked up, of the functions from `first` on."""
    _, kinds, numbers, begins, lengths, taken = found
    scale = terms.scale
    for i in range(first, taken[0]):
        begin = begins[i] - begins[first]
        mine = values[begin : begin + lengths[i]]
        rise(numbers[i, 0], scale, mine)
        for n in range(_SMALL, lengths[i]):
            mine[n, 0], mine[n, 1] = term_of(kinds[i], numbers[i, 0], (numbers[i, 1], numbers[i, 2]), n, terms)


def written(found: Collection, first: int, terms: Terms) -> tuple[NDArray[np.void], Ints]:
    """Functions that were collected, from `first` on, as `FUNCTION`; and the terms of the counts that are looked up."""
    size = int(found.taken[0])
    functions = np.zeros(size - first, dtype=FUNCTION)
    functions["parameter"], functions["offset"], functions["first"] = found.numbers[first:size].T
    for name, numbers in (("kind", found.kinds), ("begin", found.begins), ("length", found.lengths)):
        functions[name] = numbers[first:size]
    values = np.zeros((int(functions["length"].sum()), 2), dtype=np.int64)
    _look_up(found, first, values, terms)
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
