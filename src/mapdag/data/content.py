"""The bytes that a table is stored in: opened, decompressed, brought to UTF-8, as a whole or piece by piece."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import mmap
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.disk import BZIP, GZIP, XZ, check_no_device, unpacked
from mapdag.errors import DataError, ParameterError, Setting
from mapdag.wording import brief

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: How much of a file is looked at to find its format, separator and types.
HEAD = 2**18

_CHUNK = 2**20  # bytes that stay in the processor's cache

_PARQUET, _FEATHER_1, _IPC_FILE, _IPC_STREAM = b"PAR1", b"FEA1", b"ARROW1\0\0", b"\xff\xff\xff\xff"
_COLUMNAR_SUFFIXES = {".parquet", ".pq", ".arrow", ".arrows", ".feather", ".ipc"}

#: How compressed files start, besides those in `mapdag.disk`.
ZSTD = b"\x28\xb5\x2f\xfd"
#: What decompressing raises where a file is cut off or damaged.
DAMAGED = (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error)

_BOMS = ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"),
         (codecs.BOM_UTF16_BE, "utf-16"))  # fmt: skip

#: What people try to read that is no table we know.
_FOREIGN = {
    b"PK\x03\x04": "an Excel workbook or a zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"$FL2": "an SPSS file",
    b"<stata_dta>": "a Stata file",
    b"RDX2\n": "an R data file",
    b"RDX3\n": "an R data file",
    b"SQLite format 3": "an SQLite database",
    b"%PDF": "a PDF document",
    b"\x89HDF": "an HDF5 file",
}


@dataclass(frozen=True)
class Content:
    """The bytes of a table: a file that can be read in place, or bytes in memory."""

    name: str  # what it is called in messages
    head: bytes  # how it starts
    size: int  # how many bytes there are
    path: Path | None = None  # where they are, unless `data` holds them
    data: bytes | None = None
    is_text: bool = False  # whether it was read as text, hence is in UTF-8

    @classmethod
    def of(cls, name: str, data: bytes) -> Content:
        """Wrap bytes."""
        return cls(name, data[:HEAD], len(data), data=data)

    @property
    def format(self) -> str:
        """The format, by content: "parquet", "ipc", "ipc stream" or "text"."""
        if self._encloses(_PARQUET):
            return "parquet"
        if self.head.startswith(_IPC_FILE):
            return "ipc"
        return "ipc stream" if self.head.startswith(_IPC_STREAM) else "text"

    def _encloses(self, magic: bytes) -> bool:
        """Tell whether the content starts and ends so: a column of a text table may be named PAR1."""
        return self.head.startswith(magic) and self.last(len(magic)) == magic

    @property
    def foreign(self) -> str | None:
        """What it is, if it is nothing that can be read here."""
        if self._encloses(_FEATHER_1):
            return "a Feather file of version 1"
        return next((what for magic, what in _FOREIGN.items() if self.head.startswith(magic)), None)

    def load(self) -> bytes:
        """Return all the bytes."""
        if self.data is not None:
            return self.data
        assert self.path is not None
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read: {error.strerror or error}") from error

    def first(self, size: int) -> bytes:
        """Return the first bytes."""
        return self.data[:size] if self.data is not None else self._read(0, size)

    def last(self, size: int) -> bytes:
        """Return the last bytes."""
        return self.data[-size:] if self.data is not None else self._read(max(self.size - size, 0), size)

    def _read(self, start: int, size: int) -> bytes:
        assert self.path is not None
        with self.path.open("rb") as file:
            file.seek(start)
            return file.read(size)

    def count(self, byte: bytes, start: int) -> int:
        """Count the occurrences of a byte from a place on."""
        data = np.asarray(self.array()[start:])
        return sum(int(np.count_nonzero(data[low : low + _CHUNK] == byte[0])) for low in range(0, len(data), _CHUNK))

    def holds(self, letters: bytes, start: int) -> bytes:
        """Return which of some bytes occur from a place on, going through the text once."""
        if self.data is not None:
            return bytes(letter for letter in letters if self.data.find(letter, start) >= 0)
        assert self.path is not None
        found = b""
        with self.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            for low in range(start, self.size, _CHUNK):
                for letter in letters:
                    if letter not in found and mapped.find(bytes([letter]), low, low + _CHUNK) >= 0:
                        found += bytes([letter])
        return found

    def array(self) -> NDArray[np.uint8]:
        """Return the bytes as an array, which does not load a file as a whole."""
        if self.data is not None:
            return np.frombuffer(self.data, dtype=np.uint8)
        assert self.path is not None
        return np.memmap(self.path, dtype=np.uint8, mode="r")

    def stream(self) -> Any:
        """Return what polars takes: a path, or a file in memory."""
        return self.path if self.data is None else io.BytesIO(self.data)


def is_columnar(head: bytes) -> bool:
    """Tell whether something starts as files in columns do."""
    return head.startswith((_PARQUET, _IPC_FILE, _IPC_STREAM))


def open_content(source: Any, *, unpack: bool = True) -> Content:
    """Open a path, bytes, or an open file, and decompress what is compressed, unless it is to be read piece by piece.

    A compressed table that is not decompressed is taken for text.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        content = Content.of("the data", bytes(source))
    elif hasattr(source, "read"):
        content = _read_open(source)
    else:
        content = _open_path(source)
    if not content.size:
        raise DataError(f"{content.name} is empty")
    content = _decompressed(content) if unpack else content
    if content.foreign is not None:
        raise DataError(f"{content.name} is {content.foreign}: save the table as CSV, Parquet or Arrow, and read that")
    if content.format == "text" and Path(content.name).suffix.lower() in _COLUMNAR_SUFFIXES:
        raise DataError(f"{content.name} is not what its name says: it starts like neither a Parquet nor an Arrow file")
    return content


def _read_open(source: Any) -> Content:
    """Read an open file: of bytes, or of text, whose encoding then is no question any more."""
    name = str(getattr(source, "name", "the data"))
    try:
        data = source.read()
    except (
        *DAMAGED,
        UnicodeError,
        ValueError,
        TypeError,
    ) as error:  # closed, not to be read, in another encoding, damaged
        raise DataError(f"{name}: cannot be read: {error}") from error
    return replace(Content.of(name, as_bytes(data, name)), is_text=isinstance(data, str))


def as_bytes(data: Any, name: str) -> bytes:
    """Return what was read from an open file as bytes."""
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    if not isinstance(data, str):
        raise DataError(f"{name}: what was read from it is neither text nor bytes, got {data!r:.80}")
    try:
        return data.encode()
    except UnicodeEncodeError as error:
        line = data.count("\n", 0, error.start) + 1
        raise DataError(f"{name}, line {line:,}: half of a pair of characters, {data[error.start]!r}") from None


def located(source: str | os.PathLike[str]) -> Path:
    """Return the path of a file; text that the locale's encoding lacks is in UTF-8, as names of files mostly are."""
    check_no_device(source)
    path = Path(source)
    try:
        with suppress(RuntimeError):  # a name may begin with "~" and not mean anybody's home
            path = path if path.exists() else path.expanduser()
        path.exists()
    except OSError as error:  # a name that no file can have
        raise DataError(f"{shown(path)}: cannot be read: {error.strerror or error}") from None
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return Path(os.fsdecode(str(path).encode("utf-8", "surrogateescape")))
    return path


def is_pipe(source: str | os.PathLike[str]) -> bool:
    """Tell whether a path is that of something that can be read only once."""
    check_no_device(source)
    try:
        mode = Path(source).stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def shown(path: Path) -> str:
    """Write a path for people: bytes of its name that are no text would break whatever prints them."""
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _is_plain(path: Path) -> bool:
    """Tell whether polars finds the file: it takes names for UTF-8, whatever the locale says."""
    try:
        return os.fsencode(path) == str(path).encode()
    except UnicodeEncodeError:
        return False


def _open_path(source: str | os.PathLike[str]) -> Content:
    path = located(source)
    name = shown(path)
    if "\n" in str(source):
        raise DataError("a table in text must be passed as bytes or an open file: a str is taken for a path")
    if not path.exists():
        raise DataError(f"{name}: no such file")
    if path.is_dir():
        raise DataError(f"{name} is a directory: mapdag.scan takes all files of one")
    try:
        with path.open("rb") as file:
            if not path.is_file() or not _is_plain(path):  # a pipe can be read only once
                return Content.of(name, file.read())
            return Content(name, file.read(HEAD), path.stat().st_size, path=path)
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {error.strerror or error}") from error


def _decompressed(content: Content) -> Content:
    try:
        if content.head.startswith((GZIP, XZ, *BZIP)):
            return Content.of(content.name, unpacked(content.load(), content.name))
    except DAMAGED as error:
        raise DataError(f"{content.name}: cannot be decompressed: {error}") from error
    return Content.of(content.name, _unzstd(content)) if content.head.startswith(ZSTD) else content


def failures() -> tuple[type[BaseException], ...]:
    """Return what polars and pyarrow raise where a file is damaged, panics among it."""
    import polars as pl

    own = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
    return (*own, OSError, ValueError, TypeError, LookupError, ArithmeticError, RuntimeError, MemoryError)


def _unzstd(content: Content) -> bytes:
    """Let pyarrow decompress, or polars where there is none: as lines of a text that has a mark at the end of none."""
    try:
        import pyarrow as pa
    except ImportError:
        return _unzstd_by_polars(content)
    try:
        return unpacked(content.load(), content.name, lambda source: pa.input_stream(source, compression="zstd"))
    except DAMAGED as error:
        raise DataError(f"{content.name}: cannot be decompressed: {error}") from error


def _unzstd_by_polars(content: Content) -> bytes:
    import polars as pl

    how: dict[str, Any] = {"has_header": False, "separator": "\x1f", "quote_char": None, "eol_char": "\x1e"}
    try:
        lines = pl.read_csv(content.load(), schema={"line": pl.String}, **how)
    except failures() as error:
        raise DataError(f"{content.name}: cannot be decompressed, or is not UTF-8 text: {error}") from error
    return "\x1e".join(lines.to_series().fill_null("")).encode()


# In UTF-8 -----------------------------------------------------------------------------------------------------------


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


# Piece by piece ------------------------------------------------------------------------------------------------------

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
            return _zstd_stream(path)
        return path.open("rb")
    except OSError as error:
        raise DataError(f"{shown(path)}: cannot be read: {error.strerror or error}") from error


def _zstd_stream(path: Path) -> Any:
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
