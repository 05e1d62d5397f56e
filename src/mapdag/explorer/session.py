"""The session file: what the page keeps, written as it is sent, and the table that it was about."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mapdag.data import ReadingOptions, as_dataset
from mapdag.disk import check_no_device
from mapdag.errors import FileError, FormatError, MapdagError, ParameterError
from mapdag.explorer.library import Source, fingerprint_of
from mapdag.io import check_writable
from mapdag.io.files import write_text

if TYPE_CHECKING:
    from mapdag.explorer.library import Library, Table

FORMAT = "mapdag-explore"
MOST = 32_000_000
"""Bytes that a session may take."""


class Session:
    """The file where the page keeps its state: the only one that the explorer writes.

    Parameters
    ----------
    path : path
        What is there already must be a session.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        check_no_device(self.path)
        check_writable(self.path)
        self.read()

    @property
    def name(self) -> str:
        """What the file is called."""
        return self.path.name

    def read(self) -> dict[str, Any] | None:
        """Return what was kept, if anything."""
        with self._lock:
            try:
                text = self.path.read_text(encoding="utf-8")
            except FileNotFoundError:
                return None
            except (OSError, UnicodeDecodeError) as error:
                raise FileError(f"{self.path}: {getattr(error, 'strerror', None) or 'not a text file'}") from None
        if not text.strip():
            return None
        try:
            return checked(json.loads(text))
        except (ValueError, RecursionError):
            raise FormatError("not a session of the explorer, and not written over", str(self.path)) from None

    def write(self, state: Any) -> None:
        """Keep what the page sends."""
        text = json.dumps(checked(state), indent=1)
        if len(text) > MOST:
            raise ParameterError(f"a session takes {MOST:,} bytes at most, got {len(text):,}")
        with self._lock:
            write_text(self.path, text + "\n")


def checked(state: Any) -> dict[str, Any]:
    """Take a session, or say that it is none.

    >>> checked({"format": "mapdag-explore", "version": 1})["version"]
    1
    """
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise ParameterError(f"a session of the explorer has the format {FORMAT!r}")
    return state


def reopen(state: Mapping[str, Any], library: Library) -> Table | None:
    """Open the table that a session was about, if it is known where it is; one that has changed is said to have."""
    source = state.get("source")
    if not isinstance(source, Mapping):
        return None
    if isinstance(source.get("network"), str):
        rows, seed = source.get("rows"), source.get("seed")
        if not isinstance(rows, int) or not isinstance(seed, int):
            raise ParameterError("the session does not say which sample it was about")
        return library.sample(source["network"], rows, seed)
    path, options = source.get("path"), source.get("options")
    if not isinstance(path, str) or not isinstance(options, Mapping):
        return None
    unknown = [name for name in options if name not in ReadingOptions.__annotations__]
    if unknown:
        raise ParameterError(f"the session reads its table with {unknown[0]!r:.80}, which is no option")
    try:
        data = as_dataset(path, **options)
    except MapdagError as error:
        raise FileError(f"the table of the session cannot be opened: {error}") from error
    changed = state.get("fingerprint") not in (None, fingerprint_of(data))
    warnings = (f"{path} has changed since the session was kept",) if changed else ()
    return library.add(data, Source(Path(path).name, path=path, options=dict(options)), warnings)
