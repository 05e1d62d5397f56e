"""The dialect of a text table: its encoding, separator, header, and a sample of its records.

Fields may be separated by blanks, one or more, as R and many simulators write them. Such text is brought to single
blanks, which polars can parse. It may be there already: then it stays where it is.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from mapdag.data.content import HEAD, Content
from mapdag.data.problems import NoRows
from mapdag.data.quoting import close_up, find_fault
from mapdag.errors import DataError, ParameterError, Setting
from mapdag.notices import warn
from mapdag.wording import brief

_SEPARATORS = ",;\t|"
_SAMPLE = 1000
_BOMS = ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"),
         (codecs.BOM_UTF16_BE, "utf-16"))  # fmt: skip
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


def as_utf8(content: Content, encoding: str | None) -> Content:
    """Return the content in UTF-8 with newlines that polars knows; files that are so already stay where they are."""
    encoding = known_encoding(content.head, encoding)
    if encoding is not None:
        try:
            content = Content.of(content.name, content.load().decode(encoding).encode())
        except UnicodeError as error:
            raise not_in(encoding, content.name, error) from error
    elif not is_utf8(content.head, whole=content.size <= len(content.head)):
        content = latin(content)
    refuse_nul(content.name, content.head)
    if has_carriages(content.head):
        content = Content.of(content.name, with_newlines(content.load(), content.name))
    return content


def known_encoding(head: bytes, encoding: str | None) -> str | None:
    """Return the encoding that is asked for or that a text itself states, as Python calls it, if there is one."""
    if encoding is None:
        encoding = next((name for bom, name in _BOMS if head.startswith(bom)), None)
    if encoding is None:
        return None
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)  # some of them are for bytes
    except (LookupError, ValueError, TypeError):
        raise ParameterError(f"encoding must be one that Python knows, got {brief(encoding)}") from None
    if name in {"utf-16", "utf-32"} and not any(head.startswith(bom) for bom, _ in _BOMS):
        return f"{name}-{'le' if sys.byteorder == 'little' else 'be'}"  # which nothing in the text tells
    return name


def not_in(encoding: str, name: str, error: object) -> DataError:
    """Return the error for a text that is not in the encoding that was asked for."""
    return DataError(f"{name}: is not {encoding} text: {error}")


def refuse_nul(name: str, head: bytes) -> None:
    """Refuse what starts like no text."""
    if b"\x00" in head:
        told = f"{name} is not a text table (it holds NUL bytes); for UTF-16 text, pass "
        raise DataError(told, Setting("encoding", "utf-16"))


def has_carriages(head: bytes) -> bool:
    """Tell whether lines end in carriage returns alone."""
    return b"\r" in head and b"\n" not in head


def with_newlines(text: bytes, name: str) -> bytes:
    """Return text whose lines end in carriage returns alone with line feeds instead."""
    if b"\n" in text:
        raise DataError(f"{name}: lines end in carriage returns at first, in line feeds later; write one kind only")
    return text.replace(b"\r", b"\n")


def latin(content: Content) -> Content:
    """Return content that is not UTF-8 as what it then usually is: Windows-1252, or else Latin-1."""
    data = content.load()
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return Content.of(content.name, text.encode())


def is_utf8(head: bytes, *, whole: bool) -> bool:
    """Tell whether the start of a text is in UTF-8, or all of it."""
    # The cut at the end of a head may go through a character.
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(head, final=whole)
    except UnicodeDecodeError:
        return False
    return True


def _is_separator(given: object) -> bool:
    return isinstance(given, str) and len(given) == 1 and given.isascii() and given not in '"\r\n'


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


def check_header(content: Content, dialect: Dialect) -> None:
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


def split_by_blanks(content: Content, dialect: Dialect) -> tuple[Content, Dialect]:
    """Split a table that nothing else splits by blanks, if it is one."""
    if not splits_at_blanks(content, dialect):
        return content, dialect
    data = content.load()
    single = single_blanks(data)
    content = content if single == data else Content.of(content.name, single)
    return content, find_dialect(content, " ")


def splits_at_blanks(content: Content, dialect: Dialect) -> bool:
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
