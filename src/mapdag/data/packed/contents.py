"""What is in the cache of packed tables, and how to clear it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mapdag.data.packed.folders import locked
from mapdag.data.packed.sealed import Broken, read_sealed

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Entry:
    """What is kept of a table.

    Attributes
    ----------
    what : {"rows", "codes", "begun"}
        The rows of a file as they were read; the codes of a table; or what was not finished.
    of : str
        The file, the first one where there are several.
    bytes : int
    folder : Path
        Where it is.
    """

    what: str
    of: str
    bytes: int
    folder: Path


def entries_of(cache: Path) -> list[Entry]:
    """List what a cache holds, the largest first."""
    found = [_entry(folder) for kind in ("sources", "tables") for folder in sorted((cache / kind).glob("*/"))]
    return sorted(found, key=lambda entry: -entry.bytes)


def clear(cache: Path) -> None:
    """Remove what a cache holds, once nobody is writing to it."""
    for entry in entries_of(cache):
        with locked(entry.folder):
            shutil.rmtree(entry.folder, ignore_errors=True)


def _entry(folder: Path) -> Entry:
    size = sum(path.stat().st_size for path in folder.iterdir())
    for name, what in (("whole", "rows"), ("table", "codes"), ("begun", "begun")):
        try:
            facts = read_sealed(folder / name)[0]
        except Broken:
            continue
        files = facts.get("sources", [facts.get("path", "")])
        return Entry(what, files[0] + (f" and {len(files) - 1:,} more" if len(files) > 1 else ""), size, folder)
    return Entry("begun", "", size, folder)
