"""Where packed tables are kept, and who may write there."""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mapdag.data.packed.sealed import PART, told_if_full
from mapdag.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

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
