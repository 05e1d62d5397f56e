"""Files that are whole or do not exist: written under another name, flushed to disk, then renamed; with a checksum.

A file is a line of JSON that says what is in it, followed by bytes; the line starts with the checksum and the size of
all that follows.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import sys
import zlib
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.disk import whole_file
from mapdag.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


_MAGIC = b"mapdag 1 "
_SEAL = len(_MAGIC) + 8 + 1 + 16 + 1  # checksum and size in hexadecimal, a blank, a newline: see `_sealed`

#: How the names of files end that are being written.
PART = ".part"

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Broken(Exception):  # noqa: N818 - never seen by users: what is broken is made anew
    """A file is not whole, or not what was written."""

    def __init__(self, path: Path, what: object) -> None:
        super().__init__(f"{path} {what}")
        self.path = path


def write_sealed(path: Path, facts: dict[str, Any], parts: Sequence[bytes] = ()) -> None:
    """Write a file, all or nothing."""
    header = json.dumps(facts, separators=(",", ":")).encode() + b"\n"
    checksum, size = zlib.crc32(header), len(header)
    for part in parts:
        checksum, size = zlib.crc32(part, checksum), size + len(part)
    waiting = path.with_name(f"{path.name}.{os.getpid()}{PART}")
    with told_if_full(path), whole_file(path, waiting) as file:
        for part in (_sealed(checksum, size), header, *parts):
            file.write(part)


def read_sealed(path: Path, *, check: bool = True) -> tuple[dict[str, Any], NDArray[np.uint8]]:
    """Return what a file says of its content, and the content, mapped into memory; `Broken` if it is not whole."""
    try:
        content: NDArray[np.uint8] = np.memmap(path, dtype=np.uint8, mode="r")
        seal = content[:_SEAL].tobytes()
        size = len(content) - _SEAL
        if not seal.endswith(b" %016x\n" % size):
            raise Broken(path, "is cut short")
        if check and seal != _sealed(zlib.crc32(content[_SEAL:].data), size):
            raise Broken(path, "is not as it was written")
        end = _end_of_line(content)
        facts: dict[str, Any] = json.loads(content[_SEAL:end].tobytes())
    except (FileNotFoundError, ValueError) as error:
        raise Broken(path, error) from error
    except OSError as error:
        if error.errno == errno.ENOMEM:
            raise MemoryError(f"{path} cannot be mapped into memory") from error
        raise DataError(f"cache: {path} cannot be read: {error.strerror or error}") from error
    return facts, content[end:]


def _sealed(checksum: int, size: int) -> bytes:
    return _MAGIC + b"%08x %016x\n" % (checksum, size)


def _end_of_line(content: NDArray[np.uint8]) -> int:
    place, step = _SEAL, 1 << 12
    while place < len(content):
        found = content[place : place + step].tobytes().find(b"\n")
        if found >= 0:
            return place + found + 1
        place += step
    raise ValueError("no header")


@contextmanager
def told_if_full(path: Path) -> Iterator[None]:
    """Say what to do where a file cannot be written."""
    try:
        yield
    except OSError as error:
        full = error.errno in _FULL
        what = "the disk is full: make room there, or pass" if full else f"{error.strerror or error}: pass"
        kept = ". What was packed so far is kept there, and used when the table is scanned again" if full else ""
        way_out = f"{what} cache= (or set MAPDAG_CACHE) to a folder elsewhere{kept}"
        raise DataError(f"cache: {path.parent} cannot be written to: {way_out}") from error


# Where they are kept, and who may write there ------------------------------------------------------------------------

_VARIABLE = "MAPDAG_CACHE"


def cache_folder(cache: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder that packed tables are kept in.

    The one that is given, or that ``MAPDAG_CACHE`` names, or else where the system wants a user's caches.
    """
    chosen = cache if cache is not None else os.environ.get(_VARIABLE) or None
    if chosen is not None:
        if not isinstance(chosen, str | os.PathLike) or "\0" in os.fspath(chosen):
            raise ParameterError(f"cache must be the path of a folder, got {chosen!r:.80}")
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        home = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        home = Path.home() / "Library" / "Caches"
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "mapdag"


def key_of(*parts: Any) -> str:
    """Return a name for what some values make up.

    >>> key_of("a", 1) == key_of("a", 1) != key_of("a", 2)
    True
    """
    return hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make a folder, and keep other processes from writing to it; the lock ends with the process, however that ends."""
    with told_if_full(folder / "lock"):
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / "lock").open("a+b")
    with file:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        for left in folder.glob(f"*{PART}"):  # by a process that was killed
            left.unlink()
        yield


# How to tell that a file is the one that was read before -------------------------------------------------------------

_ENDS = 2**16  # bytes at either end


@dataclass(frozen=True)
class Fingerprint:
    """What is remembered of a file: its size, when it was changed, and how it starts and ends."""

    size: int
    changed: int  # nanoseconds
    ends: str  # a digest

    @classmethod
    def of(cls, path: Path) -> Fingerprint:
        """Look at a file."""
        try:
            with path.open("rb") as file:
                digest = hashlib.blake2b(file.read(_ENDS), digest_size=16)
                size = file.seek(0, 2)
                file.seek(max(size - _ENDS, 0))
                digest.update(file.read(_ENDS))
                return cls(size, path.stat().st_mtime_ns, digest.hexdigest())
        except OSError as error:
            raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)
