"""Which files make up a table."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

from mapdag.data.content import located, shown
from mapdag.errors import DataError


def is_many(source: Any) -> bool:
    """Tell whether a source is several files: a list of paths, a folder, or a pattern that is no file's name."""
    if isinstance(source, list | tuple):
        return bool(source) and all(isinstance(each, str | os.PathLike) for each in source)
    if not isinstance(source, str | os.PathLike) or "\n" in os.fspath(source):
        return False
    path = located(source)
    return path.is_dir() or (not path.exists() and glob.has_magic(str(path)))


def find_files(source: Any, cache: Path | None = None) -> list[Path]:
    """Return the files of a path, a pattern, a folder, or a list of these; those of a folder or pattern are sorted.

    Those in the cache, which may be in that folder, are none of them.
    """
    if isinstance(source, list | tuple):
        return [path for each in source for path in find_files(each, cache)]
    if not isinstance(source, str | os.PathLike):
        raise DataError(
            "scan takes a path, a pattern such as 'data/*.parquet', a folder, a list of these, or a polars LazyFrame, "
            f"got {type(source).__module__}.{type(source).__qualname__}: mapdag.read takes tables in memory"
        )
    path = located(source)
    if path.is_dir():
        found = _without(cache, sorted(_in_folder(path)))
        if not found:
            raise DataError(f"{shown(path)} has no files in it")
        return found
    if not path.exists() and glob.has_magic(str(path)):
        matching = map(Path, glob.iglob(str(path), recursive=True))  # noqa: PTH207 - any pattern, from any folder
        found = sorted(each for each in matching if each.is_file() and (_is_table(each) or path.name[0] in "._"))
        found = _without(cache, found)
        if not found:
            raise DataError(f"{shown(path)}: no file matches")
        return found
    if not path.exists():
        raise DataError(f"{shown(path)}: no such file")
    if not path.is_file():
        raise DataError(f"{shown(path)} is no file that can be read twice: save the table to one")
    return [path]


def _in_folder(folder: Path) -> list[Path]:
    """Return the files in a folder and those below it, without what programs leave beside their tables."""
    found = []
    for path in folder.iterdir():
        if _is_table(path):
            found += _in_folder(path) if path.is_dir() else [path]
    return found


def _without(cache: Path | None, files: list[Path]) -> list[Path]:
    if cache is None:
        return files
    kept = cache.resolve()
    return [path for path in files if kept not in path.resolve().parents]


def _is_table(path: Path) -> bool:
    return not path.name.startswith((".", "_")) and path.suffix != ".crc" and (path.is_dir() or path.is_file())
