"""Text tables that are read piece by piece: decompressed, in UTF-8, cut between records."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.content import BZIP, GZIP, HEAD, XZ, ZSTD, Content, open_content, shown
from mapdag.data.dialect import Dialect, find_dialect, is_utf8, known_encoding, refuse_nul, splits_at_blanks
from mapdag.data.dialect import single_blanks as single
from mapdag.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

_READ = 2**22  # bytes at a time
_FIRST = 2**22  # bytes that the dialect is found from, unless the header is longer
_MOST = 2**26  # bytes of a piece
_OPENERS = (((GZIP,), gzip.open), (BZIP, bz2.open), ((XZ,), lzma.open))
_COMPRESSED = (GZIP, XZ, ZSTD, *BZIP)
_MAGIC = max(map(len, _COMPRESSED))


class NotInEncoding(Exception):  # noqa: N818 - never seen by users
    """The text is not in the encoding that its start suggests."""

    def __init__(self, encoding: str, error: UnicodeError) -> None:
        super().__init__(str(error))
        self.encoding = encoding


@dataclass(frozen=True)
class Piece:
    """Some whole records of a text."""

    data: bytes
    lines: int  # of the text before it, the header included
    start: int  # where it begins in the text, in bytes of UTF-8
    last: bool  # whether nothing comes after it

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
        with _opened(path) as file:
            head = _read(file, HEAD, name)
        if not head:
            raise DataError(f"{name} is empty")
        found = known_encoding(head, encoding) or ("utf-8" if is_utf8(head) else "cp1252")
        start = next(_decoded(path, found, carriage=False, size=_FIRST), b"")
        refuse_nul(name, start[:HEAD])
        carriage = b"\r" in start[:HEAD] and b"\n" not in start[:HEAD]
        content = _start(path, found, carriage)
        dialect = find_dialect(content, separator)
        blanks = separator is None and splits_at_blanks(content, dialect)
        if blanks:
            dialect = find_dialect(Content(name, *_single_start(content), data=single(content.data or b"")), " ")
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
        if not start:
            lines = self.dialect.lines
        skipped = bool(start)
        stream = _Ahead(_decoded(self.path, self.encoding, carriage=self.carriage, start=start))
        while not skipped:
            end = _end_of_line(stream.buffer, lines)
            skipped = end >= 0 or not stream.more()
            if end >= 0:
                start = end
                stream.take(end)
        while stream.buffer or stream.more():
            cut = self._cut(stream, rows)
            data = stream.take(cut)
            last = not stream.buffer and not stream.more()
            yield Piece(data, lines, start, last)
            start, lines = start + len(data), lines + data.count(b"\n")

    def _cut(self, stream: _Ahead, rows: int) -> int:
        """Return where the next piece ends."""
        while stream.newlines() < rows and len(stream.buffer) < _MOST and stream.more():
            pass
        while True:
            ended = not stream.is_open
            cut = _record_end(bytes(stream.buffer), self.dialect.separator, rows, ended=ended)
            if cut and (ended or len(self.dialect.names) > 1):
                return cut
            if cut:  # blank lines of a single column are missing values, unless nothing comes after them
                full = len(stream.buffer[:cut].rstrip(b"\r\n"))
                after = stream.buffer.find(b"\n", full) + 1
                if full and after:
                    return after
            if len(stream.buffer) > 4 * _MOST:
                raise DataError(f"{self.name}: malformed quotes or an endless line after {_MOST:,} bytes")
            stream.more()


class _Ahead:
    """Bytes that were read ahead."""

    def __init__(self, source: Iterator[bytes]) -> None:
        self._source, self.is_open, self.buffer, self._counted, self._lines = source, True, bytearray(), 0, 0

    def more(self) -> bool:
        """Read on, if there is more."""
        block = next(self._source, None)
        self.is_open = block is not None
        self.buffer += block or b""
        return self.is_open

    def newlines(self) -> int:
        """Count the line ends in the buffer."""
        self._lines += self.buffer.count(b"\n", self._counted)
        self._counted = len(self.buffer)
        return self._lines

    def take(self, size: int) -> bytes:
        """Hand out the first bytes."""
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        self._counted = self._lines = 0
        return data


# Where records end ---------------------------------------------------------------------------------------------------


def _end_of_line(text: bytes | bytearray, number: int) -> int:
    """Return where a line ends, or -1 if it does not."""
    end = 0
    for _ in range(number):
        end = text.find(b"\n", end) + 1
        if not end:
            return -1
    return end


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
    before = (places == 0) | border[places - 1]
    after = (places == len(data) - 1) | border[np.minimum(places + 1, len(data) - 1)]
    if np.all(before | after):  # each one opens, closes, or is one of two: those before a line end count
        inside = (np.cumsum(quote, dtype=np.uint32) & 1).astype(bool)
        masked = data.copy()
        masked[inside & (data == ord("\n"))] = ord(" ")
        return masked.tobytes()
    field = rf'(?:\A|(?<=[{re.escape(separator)}\n]))[ ]*"[^"]*(?:""[^"]*)*(?:"|\Z)'.encode()
    return re.sub(field, lambda match: match[0].replace(b"\n", b" "), text)


# Bytes ---------------------------------------------------------------------------------------------------------------


def _opened(path: Path) -> Any:
    """Open a file that may be compressed, to be read piece by piece."""
    try:
        with path.open("rb") as file:
            magic = file.read(_MAGIC)
        for start, opener in _OPENERS:
            if magic.startswith(start):
                return opener(path, "rb")
        if magic.startswith(ZSTD):
            return _unzstd(path)
        return path.open("rb")
    except OSError as error:
        raise DataError(f"{shown(path)}: cannot be read: {error.strerror or error}") from error


def _unzstd(path: Path) -> Any:
    """Let pyarrow decompress piece by piece, or polars at once where there is none."""
    try:
        import pyarrow as pa
    except ImportError:
        return io.BytesIO(open_content(path).load())
    return pa.input_stream(str(path), compression="zstd")


def _read(file: Any, size: int, name: str) -> bytes:
    """Read so many bytes, or all there are."""
    try:
        return bytes(file.read(size))
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise DataError(f"{name}: cannot be decompressed: {error}") from error


def is_seekable(path: Path, encoding: str) -> bool:
    """Tell whether the text is in the file as it is."""
    with path.open("rb") as file:
        return encoding == "utf-8" and not file.read(_MAGIC).startswith(_COMPRESSED)


def _decoded(path: Path, encoding: str, *, carriage: bool, start: int = 0, size: int = _READ) -> Iterator[bytes]:
    """Read a text as UTF-8, from a place on."""
    name = shown(path)
    with _opened(path) as file:
        if start and not carriage and is_seekable(path, encoding):
            file.seek(start)
            start = 0
        decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)()
        while True:
            block = _read(file, size, name)
            if decoder is not None:
                try:
                    text = decoder.decode(block, final=not block).encode()
                except UnicodeError as error:
                    raise NotInEncoding(encoding, error) from error
            else:
                text = block
            if carriage:
                text = text.replace(b"\r", b"\n")
            skipped = min(start, len(text))
            start -= skipped
            if len(text) > skipped:
                yield text[skipped:]
            if not block:
                return


def _start(path: Path, encoding: str, carriage: bool) -> Content:
    """Return the start of a text, long enough to hold its header."""
    blocks, text = _decoded(path, encoding, carriage=carriage, size=_FIRST), bytearray()
    for block in blocks:
        text += block
        if len(text) >= _FIRST and text.count(b"\n") > 1:
            break
    data = bytes(text)
    whole = next(blocks, None) is None
    return Content(shown(path), data[:HEAD], len(data) if whole else sys.maxsize, data=data)


def _single_start(content: Content) -> tuple[bytes, int]:
    """Return the head and the size of a text whose blanks are reduced to one."""
    data = single(content.data or b"")
    return data[:HEAD], len(data) if content.size < sys.maxsize else sys.maxsize
