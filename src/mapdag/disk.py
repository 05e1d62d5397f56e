"""Files: how to write one in full or not at all; and those that might have no end.

These are devices, and few compressed bytes that stand for more than there is memory for.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from mapdag.errors import CapacityError, FileError

GZIP, XZ = b"\x1f\x8b", b"\xfd7zXZ\0"
"""How compressed files start."""
BZIP = tuple(b"BZh%d1AY&SY" % level for level in range(1, 10))

_OPENERS: tuple[tuple[bytes | tuple[bytes, ...], Callable[[io.BytesIO], Any]], ...] = (
    (GZIP, lambda source: gzip.GzipFile(fileobj=source)),
    (BZIP, bz2.BZ2File),
    (XZ, lzma.LZMAFile),
)
_PIECE = 1 << 22
_ENOUGH = 200_000_000  # bytes that anything may unpack to,
_RATIO = 200  # and how many times its size, if that is more; tables of categories have 10 to 50


@contextmanager
def whole_file(file: Path, aside: Path) -> Iterator[IO[bytes]]:
    """Fill a file that is there in full or not at all: another one beside it, on the disk before it is renamed."""
    try:
        with aside.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())  # some file systems notice only now that they are full
        aside.replace(file)
    except BaseException:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise


def unpacked(data: bytes, name: str, opener: Callable[[io.BytesIO], Any] | None = None) -> bytes:
    """Return what was compressed by gzip, bzip2 or xz; anything else as it is.

    Parameters
    ----------
    data : bytes
    name : str
        What it is called in messages.
    opener : callable, optional
        What decompresses it, if it is none of these.

    Raises
    ------
    CapacityError
        If it is more than 200 MB, and more than 200 times as large as what is there.
    OSError, EOFError, ValueError, lzma.LZMAError, zlib.error
        If it is damaged.
    """
    opener = opener or next((each for magic, each in _OPENERS if data.startswith(magic)), None)
    if opener is None:
        return data
    most, pieces, size = max(_ENOUGH, _RATIO * len(data)), [], 0
    with opener(io.BytesIO(data)) as file:
        while piece := file.read(_PIECE):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise CapacityError(
                    f"{name} unpacks to more than {_RATIO} times its size, which a file may do to fill the memory: "
                    "unpack it yourself if it is meant"
                )
    return b"".join(pieces)


def check_no_device(path: str | os.PathLike[str]) -> None:
    """Refuse what may have no end: a device that is neither a terminal nor the empty one."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - whatever a path may be
    except (OSError, ValueError):
        return  # whoever reads it says what is wrong
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not _is_terminal(path)):
        raise FileError(f"{os.fspath(path)} is a device, not a file")


def _is_terminal(path: str | os.PathLike[str]) -> bool:
    if os.path.realpath(path) == os.devnull:
        return True
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.isatty(file)
    finally:
        os.close(file)
