"""Text tables that are read piece by piece: their dialect, and where to cut between records."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mapdag.data.content import HEAD, Content, shown
from mapdag.data.dialect import (
    Dialect,
    check_header,
    find_dialect,
    is_utf8,
    known_encoding,
    refuse_nul,
    splits_at_blanks,
)
from mapdag.data.dialect import single_blanks as single
from mapdag.data.packed.streams import FIRST, NotInEncoding, decoded, opened, read_bytes, start_of
from mapdag.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

_MOST = 2**26  # bytes of a piece


@dataclass(frozen=True)
class Piece:
    """Some whole records of a text."""

    data: bytes
    before: int  # lines of the text before it, the header included
    lines: int  # its own
    start: int  # where it begins in the text, in bytes of UTF-8

    @property
    def end(self) -> int:
        """Where the next one begins."""
        return self.start + len(self.data)


@dataclass(frozen=True)
class Text:
    """A text table in a file.

    Attributes
    ----------
    path : Path
    encoding : str
        What its bytes are.
    carriage : bool
        Whether lines end in a carriage return alone.
    dialect : Dialect
    blanks : bool
        Whether fields are separated by blanks, of which there may be several.
    """

    path: Path
    encoding: str
    carriage: bool
    dialect: Dialect
    blanks: bool

    @classmethod
    def of(cls, path: Path, separator: str | None, encoding: str | None) -> Text:
        """Look at the start of a text; `encoding` as in `read`."""
        name, found = shown(path), encoding
        with opened(path) as file:
            head = read_bytes(file, HEAD, name)
        if not head:
            raise DataError(f"{name} is empty")
        found = known_encoding(head, encoding) or ("utf-8" if is_utf8(head, whole=len(head) < HEAD) else "cp1252")
        if found == "utf-8":
            _check_utf8(head)
        start = next(decoded(path, found, carriage=False, size=FIRST), b"")
        refuse_nul(name, start[:HEAD])
        carriage = b"\r" in start[:HEAD] and b"\n" not in start[:HEAD]
        content = start_of(path, found, carriage)
        dialect = find_dialect(content, separator)
        blanks = separator is None and splits_at_blanks(content, dialect)
        if blanks:
            content = Content(name, *_single_start(content), data=single(content.data or b""))
            dialect = find_dialect(content, " ")
        check_header(content, dialect)
        return cls(path, found, carriage, dialect, blanks)

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return shown(self.path)

    def pieces(self, rows: int, start: int = 0, lines: int = 0) -> Iterator[Piece]:
        """Cut the records after the header into pieces of at most so many lines.

        Parameters
        ----------
        rows : int
            Most lines of a piece; a quoted line break does not end one.
        start, lines : int
            Where to go on, and how many lines are before that; the end of the header by default.
        """
        ahead = _Ahead(decoded(self.path, self.encoding, carriage=self.carriage, start=start))
        if not start:
            lines = self.dialect.lines
            while ahead.lines < lines and ahead.more():
                pass
            start = len(ahead.take(ahead.end_of_line(lines)))
        while ahead.size or ahead.more():
            data, n = ahead.take(self._cut(ahead, rows)), ahead.taken
            yield Piece(data, lines, n, start)
            start, lines = start + len(data), lines + n

    def _cut(self, ahead: _Ahead, rows: int) -> int:
        """Return where the next piece ends."""
        while ahead.lines < rows and ahead.size < _MOST and ahead.more():
            pass
        alone = len(self.dialect.names) == 1
        if not ahead.quoted and not alone and (ahead.lines or not ahead.is_open):
            return ahead.end_of_line(rows)
        while True:
            text = ahead.text()
            cut = _record_end(text, self.dialect.separator, rows, ended=not ahead.is_open)
            if cut and alone and (ahead.is_open or cut < len(text)):
                # Blank lines of a single column are missing values, unless nothing comes after them.
                full = len(text[:cut].rstrip(b"\r\n"))
                cut = text.find(b"\n", full) + 1 if full else 0
            if cut:
                return cut
            if not ahead.is_open or ahead.lines > rows:  # a piece of blank lines: it goes on to what comes after them
                rows *= 2
                continue
            if ahead.size > 4 * _MOST:
                raise DataError(f"{self.name}: malformed quotes, or an endless line of {ahead.size:,} bytes")
            ahead.more()


class _Ahead:
    """Text that was read ahead."""

    def __init__(self, source: Iterator[bytes]) -> None:
        self._source = source
        self._blocks: list[tuple[bytes, int]] = []  # each with its number of line ends
        self.is_open = True
        self.quoted = False
        self.size = self.lines = 0
        self.taken = 0  # lines that were handed out the last time

    def more(self) -> bool:
        """Read on, if there is more."""
        block = next(self._source, None)
        self.is_open = block is not None
        if block is not None:
            self._add(block)
        return self.is_open

    def _add(self, block: bytes) -> None:
        lines = block.count(b"\n")
        self._blocks.append((block, lines))
        self.quoted = self.quoted or b'"' in block
        self.size, self.lines = self.size + len(block), self.lines + lines

    def text(self) -> bytes:
        """Return all that was read ahead."""
        joined = b"".join(block for block, _ in self._blocks)
        self._blocks = [(joined, self.lines)]
        return joined

    def end_of_line(self, number: int) -> int:
        """Return where a line ends, or the last one, or the text if it is all there."""
        while self.lines < number and self.is_open and not self.lines:
            self.more()
        end, before = 0, 0
        for block, lines in self._blocks:
            if before + lines >= number:
                return end + _place_of_line(block, number - before)
            end, before = end + len(block), before + lines
        if not self.is_open:
            return end
        text = self.text()
        return text.rfind(b"\n") + 1

    def take(self, size: int) -> bytes:
        """Hand out the first bytes."""
        blocks, left, parts = self._blocks, size, []
        self._blocks, self.size, self.quoted = [], 0, False
        self.lines, before = 0, self.lines
        for block, _ in blocks:
            if left:
                parts.append(block if len(block) <= left else block[:left])
            if len(block) > left:
                self._add(block[left:] if left else block)
            left -= min(left, len(block))
        self.taken = before - self.lines
        return b"".join(parts)


def _place_of_line(block: bytes, number: int) -> int:
    """Return where a line of a text ends that has at least so many."""
    return int(np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))[number - 1]) + 1 if number else 0


# Where records end ---------------------------------------------------------------------------------------------------


def _record_end(text: bytes, separator: str, most: int, *, ended: bool) -> int:
    """Return where the last of the first records ends, at most so many of them, or 0 if none does."""
    bare = text if b'"' not in text else _without_quoted(text, separator)
    lines = np.flatnonzero(np.frombuffer(bare, dtype=np.uint8) == ord("\n"))
    if len(lines) >= most:
        return int(lines[most - 1]) + 1
    if ended:
        return len(text)
    return int(lines[-1]) + 1 if len(lines) else 0


def _without_quoted(text: bytes, separator: str) -> bytes:
    """Write something else for the line ends within quotes, which open at the start of a field only."""
    data = np.frombuffer(text, dtype=np.uint8)
    quote = data == ord('"')
    border = (data == ord(separator)) | (data == ord("\n")) | (data == ord("\r")) | quote
    places = np.flatnonzero(quote)
    opening, closing = places[::2], places[1::2]
    before = (opening == 0) | border[opening - 1]
    after = (closing == len(data) - 1) | border[np.minimum(closing + 1, len(data) - 1)]
    if before.all() and after.all():  # in turns, each opens, closes, or is one of two: those before a line end count
        inside = (np.cumsum(quote, dtype=np.uint32) & 1).astype(bool)
        masked = data.copy()
        masked[inside & (data == ord("\n"))] = ord(" ")
        return masked.tobytes()
    field = rf'(?:\A|(?<=[{re.escape(separator)}\n]))[ ]*"[^"]*(?:""[^"]*)*(?:"|\Z)'.encode()
    return re.sub(field, lambda match: match[0].replace(b"\n", b" "), text)


def _check_utf8(head: bytes) -> None:
    """Refuse a start that is not in UTF-8, though somebody said so: of the rest, each piece is looked at when read."""
    if not is_utf8(head, whole=len(head) < HEAD):
        try:
            head.decode()
        except UnicodeDecodeError as error:
            raise NotInEncoding("utf-8", error) from error


def _single_start(content: Content) -> tuple[bytes, int]:
    """Return the head and the size of a text whose blanks are reduced to one."""
    data = single(content.data or b"")
    return data[:HEAD], len(data) if content.size < sys.maxsize else sys.maxsize
