"""The bytes of a text, read piece by piece: decompressed, and in UTF-8."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mapdag.data.content import DAMAGED, HEAD, ZSTD, Content, is_columnar, open_content, shown
from mapdag.data.dialect import with_newlines
from mapdag.errors import DataError
from mapdag.unpacking import BZIP, GZIP, XZ

if TYPE_CHECKING:
    from pathlib import Path

READ = 2**22  # bytes at a time
FIRST = 2**22  # bytes that the dialect is found from, unless the header is longer
_OPENERS = (((GZIP,), gzip.open), (BZIP, bz2.open), ((XZ,), lzma.open))
_COMPRESSED = (GZIP, XZ, ZSTD, *BZIP)
_MAGIC = max(map(len, _COMPRESSED))


class NotInEncoding(Exception):  # noqa: N818 - never seen by users
    """The text is not in the encoding that its start suggests."""

    def __init__(self, encoding: str, error: UnicodeError) -> None:
        super().__init__(str(error))
        self.encoding = encoding


def opened(path: Path) -> Any:
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


def is_columnar_within(path: Path) -> bool:
    """Tell whether a compressed file holds Parquet or Arrow rather than text, which is then unpacked as a whole."""
    with path.open("rb") as file:
        if not file.read(_MAGIC).startswith(_COMPRESSED):
            return False
    with opened(path) as file:
        return is_columnar(read_bytes(file, _MAGIC, shown(path)))


def read_bytes(file: Any, size: int, name: str) -> bytes:
    """Read so many bytes, or all there are."""
    try:
        return bytes(file.read(size))
    except DAMAGED as error:
        raise DataError(f"{name}: cannot be decompressed: {error}") from error


def _is_seekable(path: Path, encoding: str) -> bool:
    """Tell whether the text is in the file as it is."""
    with path.open("rb") as file:
        return encoding == "utf-8" and not file.read(_MAGIC).startswith(_COMPRESSED)


def decoded(path: Path, encoding: str, *, carriage: bool, start: int = 0, size: int | None = None) -> Iterator[bytes]:
    """Read a text as UTF-8, from a place on."""
    name = shown(path)
    with opened(path) as file:
        if start and not carriage and _is_seekable(path, encoding):
            file.seek(start)
            start = 0
        decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)()
        while True:
            block = read_bytes(file, size or READ, name)
            if decoder is not None:
                try:
                    text = decoder.decode(block, final=not block).encode()
                except UnicodeError as error:
                    raise NotInEncoding(encoding, error) from error
            else:
                text = block
            if carriage:
                text = with_newlines(text, name)
            skipped = min(start, len(text))
            start -= skipped
            if len(text) > skipped:
                yield text[skipped:]
            if not block:
                return


def start_of(path: Path, encoding: str, carriage: bool) -> Content:
    """Return the start of a text, long enough to hold its header."""
    blocks, text = decoded(path, encoding, carriage=carriage, size=FIRST), bytearray()
    for block in blocks:
        text += block
        if len(text) >= FIRST and text.count(b"\n") > 1:
            break
    data = bytes(text)
    whole = next(blocks, None) is None
    return Content(shown(path), data[:HEAD], len(data) if whole else sys.maxsize, data=data)
