"""Whether the quotes and line ends of a text table are such that every reader reads it alike; and where they are not.

A quote opens at the start of a field, closes at its end, and is doubled in between. Whatever else there may be, polars
reads in a way of its own, and drops characters. So the quotes are looked at here before its word is taken for anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 2**20 - 2  # bytes at a time, which stay in the processor's cache; with those around them, whole words of bits
_QUOTE, _LINE, _CARRIAGE = ord('"'), ord("\n"), ord("\r")


class Marks(NamedTuple):
    """What a text has besides the values of its cells."""

    separators: int
    lines: int
    plain: bool  # whether each quote is next to one border of a field, half of them after it, the last before it

    def prove(self, records: int, width: int) -> bool:
        """Tell whether it is certain that quotes are regular, given how many records a reader has found.

        If it took all separators and line ends for borders, there are none between the quotes that it took for a pair.
        So the next quote after one that opens a field closes it; and there is no other, since there are as many.
        """
        return self.plain and self.separators == records * (width - 1) and self.lines == records


def count_marks(data: NDArray[np.uint8], separator: int, *, carriages: bool = True) -> Marks:
    """Count what stands between fields, and tell whether quotes stand next to it; `carriages`: if there are any.

    Bytes become bits, 64 to a word: what is next to what are shifts of words, which take an eighth of the time.
    """
    separators = quotes = before = 0
    lines = int(data[-1] != _LINE)  # the last one need not end
    plain = closed = True
    for block in _blocks(data):
        within = _within(len(block))
        split, line = _bits(block, separator), _bits(block, _LINE)
        separators += _ones(split & within)
        lines += _ones(line & within)
        quote = _bits(block, _QUOTE) & within
        words = np.flatnonzero(quote)
        if not len(words):
            continue
        border = split | line
        if carriages:
            border |= _bits(block, _CARRIAGE)
        opens = quote & _one_later(border)
        plain = plain and not (quote & ~(_one_later(border) ^ _one_sooner(border))).any()
        quotes += _ones(quote)
        before += _ones(opens)
        last = int(words[-1])
        closed = not int(opens[last]) >> (int(quote[last]).bit_length() - 1)
    return Marks(separators, lines, plain and quotes == 2 * before and closed)


def _bits(block: NDArray[np.uint8], byte: int) -> NDArray[np.uint64]:
    """Return which bytes are this one, a bit each."""
    packed = np.packbits(block == byte, bitorder="little")
    if len(packed) % 8:
        packed = np.concatenate([packed, np.zeros(-len(packed) % 8, dtype=np.uint8)])
    return packed.view("<u8")


@lru_cache(maxsize=4)
def _within(size: int) -> NDArray[np.uint64]:
    """Return the bits of a block but for the byte before and the byte after it."""
    inner = np.ones(size, dtype=np.uint8)
    inner[0] = inner[-1] = 0
    return _bits(inner, 1)


def _one_later(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Shift by one byte of the text towards its end."""
    shifted = bits << np.uint64(1)
    shifted[1:] |= bits[:-1] >> np.uint64(63)
    return shifted


def _one_sooner(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Shift by one byte of the text towards its start."""
    shifted = bits >> np.uint64(1)
    shifted[:-1] |= bits[1:] << np.uint64(63)
    return shifted


def _ones(bits: NDArray[np.uint64]) -> int:
    if hasattr(np, "bitwise_count"):  # since numpy 2.0
        return int(np.bitwise_count(bits).sum(dtype=np.int64))
    return int(np.count_nonzero(np.unpackbits(bits.view(np.uint8))))


def are_quotes_regular(data: NDArray[np.uint8], separator: int) -> bool:
    """Tell whether each quote opens at the start of a field, closes at its end, or is one of two within.

    Taken in pairs, the first of a pair follows a border or, if it is the second half of a doubled quote, a quote; and
    the second of a pair is before a border or a quote.
    """
    inside = 0
    for block in _blocks(data):
        quote = block[1:-1] == _QUOTE
        before = np.compress(quote, block[:-2])[inside::2]
        after = np.compress(quote, block[2:])[1 - inside :: 2]
        if not ((before == _QUOTE) | (before == separator) | (before == _LINE)).all():
            return False
        if not ((after == _QUOTE) | (after == separator) | (after == _LINE) | (after == _CARRIAGE)).all():
            return False
        inside = (inside + int(np.count_nonzero(quote))) % 2
    return not inside


def are_lines_regular(data: NDArray[np.uint8]) -> bool:
    """Tell whether every carriage return is before a line feed, or at the end."""
    return not any(((block[1:-1] == _CARRIAGE) & (block[2:] != _LINE)).any() for block in _blocks(data))


def _blocks(data: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
    """Cut into blocks, each with the byte before and the byte after it; around the whole, there are line ends."""
    edge = np.array([_LINE], dtype=np.uint8)
    data = np.asarray(data)
    for low in range(0, len(data), _BLOCK):
        block = data[max(low - 1, 0) : low + _BLOCK + 1]
        parts = [edge] * (low == 0) + [block] + [edge] * (low + _BLOCK >= len(data))
        yield np.concatenate(parts) if len(parts) > 1 else block


# What is not regular -------------------------------------------------------------------------------------------------


def close_up(text: str, separator: str) -> str:
    r"""Take off the blanks between a closing quote and the end of its field.

    >>> close_up('"x" ,1\n "y"\t\n', ",")
    '"x",1\n "y"\n'
    """
    blank = "" if separator in " \t" else r"[ \t]*"
    border = f"[{re.escape(separator)}\n]"
    field = re.compile(rf'((?:\A|(?<={border})){blank}"[^"]*(?:""[^"]*)*"){blank}(?={border}|\r|\Z)')
    return field.sub(r"\1", text)


class Fault(NamedTuple):
    """Where a text cannot be understood, and why."""

    line: int  # counted from 1
    column: int  # in characters, counted from 1
    why: str


def find_fault(text: str, separator: str) -> Fault | None:
    r"""Find the first quote or carriage return that makes no sense.

    >>> find_fault('a,b\nx,"yes', ",")
    Fault(line=2, column=3, why='a quote is opened here and never closed')
    >>> find_fault('a,b\n"x"y,z\n', ",")
    Fault(line=2, column=4, why="'y' follows a closing quote; a quote inside of a quoted field must be doubled")
    """
    opening = re.compile(r'"' if separator == " " else r' *"')
    bare = re.compile(rf"[^{re.escape(separator)}\r\n]*")
    line_end = re.compile(r"\r*(?:\n|\Z)")
    place = 0
    while place < len(text):
        match = opening.match(text, place)
        if match:
            end = _end_of_quoted(text, match.end())
            if end < 0:
                return _at(text, match.end() - 1, "a quote is opened here and never closed")
            place = end
        else:
            place = bare.match(text, place).end()  # type: ignore[union-attr]  # it matches nothing, too
        ended = line_end.match(text, place)
        if ended:
            place = max(ended.end(), place + 1)
        elif text[place] == "\r":
            return _at(text, place, "a carriage return alone, though other lines end in line feeds")
        elif text[place] != separator:
            why = "follows a closing quote; a quote inside of a quoted field must be doubled"
            return _at(text, place, f"{text[place]!r} {why}")
        else:
            place += 1
    return None


def _end_of_quoted(text: str, place: int) -> int:
    """Return the place after the quote that closes a field, or -1."""
    while True:
        place = text.find('"', place)
        if place < 0 or text[place + 1 : place + 2] != '"':
            return place + 1 if place >= 0 else -1
        place += 2


def _at(text: str, place: int, why: str) -> Fault:
    return Fault(text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place), why)
