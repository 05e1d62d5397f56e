"""The text of a table: its separator, header and a sample of its records; whether its quotes and line ends are regular.

Fields may be separated by blanks, one or more, as R and many simulators write them. Such text is brought to single
blanks, which polars can parse. It may be there already: then it stays where it is.

A quote opens at the start of a field, closes at its end, and is doubled in between. Whatever else there may be, polars
reads in a way of its own, and drops characters. So the quotes are looked at here before its word is taken for anything.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.data.content import HEAD, Content
from mapdag.data.problems import NoRows
from mapdag.errors import DataError, ParameterError
from mapdag.notices import warn
from mapdag.wording import brief

if TYPE_CHECKING:
    from numpy.typing import NDArray


_SEPARATORS = ",;\t|"
_SAMPLE = 1000
#: A quoted field, whose own quotes are doubled or escaped; or blanks, with the end of the line if they touch it.
_TOKEN = re.compile(rb'(?<![^\s])"[^"\\]*(?:(?:\\.|"")[^"\\]*)*"|[ \t]+(\r?\n|\r?\Z)?', re.DOTALL)

#: What a table with single blanks between its fields does not hold.
_UNEVEN = (b"  ", b"\t", b" \n", b" \r", b"\n ", b'\\"')

#: A first line that tells Excel the separator.
_STATED = re.compile(rf'("?)sep=([{_SEPARATORS}])\1\r?\n')

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f]")


@dataclass(frozen=True)
class Dialect:
    """What the start of a text table tells."""

    separator: str  # one character
    names: list[str]  # the header, blanks around the names taken off
    lines: int  # how many lines the header takes, those before it included: blank, or of the separator
    start: int  # how many bytes these are
    sample: list[list[str]]  # the first records, as far as they are seen whole
    row_names: bool = False  # whether R wrote row names, without a name of their own: `names` starts with an empty one


def _is_separator(given: object) -> bool:
    return isinstance(given, str) and len(given) == 1 and given.isascii() and given not in '"\r\n'


class Look(NamedTuple):
    """What a look at the start of a text table tells."""

    content: Content  # with single blanks, if blanks separate its fields
    dialect: Dialect
    blanks: bool  # whether they do, so that the rest is to be read with single blanks, too


def look_at(content: Content, separator: str | None) -> Look:
    """Look at the start of a UTF-8 text table; it may be all that is there."""
    dialect = find_dialect(content, separator)
    blanks = separator is None and _splits_at_blanks(content, dialect)
    if blanks:
        data = content.load()
        single, whole = single_blanks(data), content.size == len(data)
        if single != data:
            content = replace(Content.of(content.name, single), size=len(single) if whole else content.size)
        dialect = find_dialect(content, " ")
    _check_header(content, dialect)
    return Look(content, dialect, blanks)


def find_dialect(content: Content, separator: str | None) -> Dialect:
    """Find out the dialect of a UTF-8 text table."""
    if separator is not None and not _is_separator(separator):
        raise ParameterError(f"separator must be one ASCII character other than a quote, got {brief(separator)}")
    head = content.head
    if not head:
        raise DataError(f"{content.name} is empty")
    if not head.strip(b"\xef\xbb\xbf\r\n\t "):
        raise DataError(f"{content.name} starts with nothing but blanks")
    chosen, records, lines = _split(head, separator, whole=content.size <= len(head))
    while len(records) < 2 and len(head) < content.size:  # a header with very many names
        more = content.first(4 * len(head))
        if len(more) == len(head):  # all that there is of a text that is read piece by piece
            break
        head = more
        chosen, records, lines = _split(head, separator, whole=content.size <= len(head))
    names = [name.strip() for name in records[0]] if records else []
    if not any(names):
        raise DataError(f"{content.name} has no names in its first line")
    if any(_CONTROL.search(name) for name in names):
        raise DataError(f"{content.name} is not a text table: its first line holds control characters")
    if len(records) < 2:
        _check_text(head.decode("utf-8", errors="ignore"), chosen, content.name)
        raise NoRows(content.name, names, "has a header but no rows")
    row_names = _have_row_names(names, records[1:])
    if row_names:
        names = ["", *names]
    start = 0
    for _ in range(lines):
        start = head.find(b"\n", start) + 1
    return Dialect(chosen, names, lines, start, records[1:], row_names)


def _check_header(content: Content, dialect: Dialect) -> None:
    """Refuse names whose quotes or line ends make no sense."""
    header = content.first(dialect.start)
    if b'"' in header or b"\r" in header:
        _check_text(header.decode("utf-8-sig"), dialect.separator, content.name)


def _check_text(text: str, separator: str, name: str) -> None:
    fault = find_fault(close_up(text, separator), separator)
    if fault is not None:
        place = f"{name}, line {fault.line:,}, column {fault.column:,}"
        raise DataError(f"{place}: malformed quotes or line ends: {fault.why}")


def _have_row_names(names: Sequence[str], records: Sequence[Sequence[str]]) -> bool:
    """Tell whether every record has one field more than the header, and that not for a separator at the end."""
    longer = len(names) > 1 and all(len(record) == len(names) + 1 for record in records)
    return longer and any(record[-1].strip() for record in records)


def _split(head: bytes, separator: str | None, *, whole: bool) -> tuple[str, list[list[str]], int]:
    """Return the separator that fits best, the first records, and the number of lines up to the header's end."""
    text = head.decode("utf-8", errors="ignore").removeprefix("\ufeff")
    stated = _STATED.match(text)
    candidates = separator or (stated[2] if stated else _SEPARATORS)
    parsed = [_parse(text[stated.end() if stated else 0 :], candidate, whole=whole) for candidate in candidates]
    best = max(range(len(parsed)), key=lambda i: _consistency(parsed[i][0]))
    records, lines = parsed[best]
    return candidates[best], records, lines + (stated is not None)


def is_blank(record: Sequence[str]) -> bool:
    """Tell a blank line from a record whose cells are all empty."""
    return not record or (len(record) < 2 and not record[0].strip())


def _parse(text: str, separator: str, *, whole: bool) -> tuple[list[list[str]], int]:
    """Return the first records, header first, and the number of lines up to the header's end."""
    reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=separator, skipinitialspace=separator != " ")
    records: list[list[str]] = []
    lines = 0
    try:
        for record in reader:
            if not is_blank(record):
                records.append(record)
                lines = lines or reader.line_num
            if len(records) > _SAMPLE:
                return records, lines
    except csv.Error:  # a field beyond the csv module's limit: what was seen so far must do
        if not records:  # not even the header is split
            rows = text.split("\n")
            lines = 1 + next((i for i, row in enumerate(rows) if row.strip()), 0)
            records = [[row] for row in rows[lines - 1 :] if row.strip()]
    # The last record of a head is cut short somewhere.
    return (records if whole or len(records) < 2 else records[:-1]), lines


def _consistency(records: list[list[str]]) -> tuple[bool, float, int]:
    """Prefer separators that split the header, and every record alike; then those that split more."""
    width = len(records[0]) if records else 0
    alike = sum(len(record) == width for record in records)
    if width > 1:  # row names may lack a name
        alike = max(alike, 1 + sum(len(record) == width + 1 for record in records))
    return width > 1, alike / max(len(records), 1), width


# Blanks -------------------------------------------------------------------------------------------------------------


def _splits_at_blanks(content: Content, dialect: Dialect) -> bool:
    """Tell whether blanks split a table that nothing else does: all of the first lines then have as many fields.

    A header of one word is the name of one column, whatever blanks there are below it. A tab in the header splits
    nothing else if no other line has as many: then it is one more blank.
    """
    tabs = dialect.separator == "\t" and not any(len(record) == len(dialect.names) for record in dialect.sample)
    if len(dialect.names) > 1 and not tabs:
        return False
    head = content.first(max(HEAD, 4 * dialect.start))
    cut = len(head) < content.size
    if cut:
        head = head[: head.rfind(b"\n") + 1]
    if len(head) <= dialect.start:
        return False
    trial = find_dialect(Content.of(content.name, single_blanks(head)), " ")
    # A quoted field may go on beyond the cut.
    width, records = len(trial.names), trial.sample[:-1] if cut else trial.sample
    if width < 2 or not records:
        return False
    alike = sum(len(record) == width for record in records)
    if alike == len(records):
        return True
    if len(dialect.names) == 1 and 2 * alike >= len(records):
        odd = next(len(record) for record in records if len(record) != width)
        warn(
            f"{content.name} was read as a table of one column, {dialect.names[0]!r}: split at the blanks, its header "
            f"has {width:,} fields, but some line has {odd:,}; mend it, or pass separator= if this is one column",
        )
    return False


def single_blanks(data: bytes) -> bytes:
    r"""Reduce the blanks between fields to one, take off those around lines, and double escaped quotes.

    >>> single_blanks(b'a   b\n  "x  y"\t1 \n')
    b'a b\n"x  y" 1\n'
    """
    if not data.startswith((b" ", b"\t")) and not data.endswith(b" ") and not any(mark in data for mark in _UNEVEN):
        return data
    if b'"' in data:
        return _TOKEN.sub(_token, data)
    # Much faster than an expression: every round halves the longest run.
    data = data.replace(b"\t", b" ")
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return data.replace(b" \r", b"\r").replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")


def _token(match: re.Match[bytes]) -> bytes:
    text, end = match[0], match[1]
    if text.startswith(b'"'):
        return text.replace(b'\\"', b'""')
    if end is not None:
        return end
    return b"" if match.string[max(match.start() - 1, 0) : match.start()] in {b"", b"\n"} else b" "


# Quotes and line ends: whether every reader reads them alike, and where they are not ---------------------------------

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
