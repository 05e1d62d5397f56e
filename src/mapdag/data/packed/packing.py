"""The first pass: a file is packed into blocks, which are kept as long as the file stays as it is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from mapdag.data.content import NotInEncoding, shown
from mapdag.data.packed.blocks import BLOCK_ROWS, StoredBlock, worst
from mapdag.data.packed.readers import FrameReader, Reader, TextReader, open_reader
from mapdag.data.packed.sealed import Broken, Fingerprint, key_of, locked, read_sealed, write_sealed
from mapdag.data.problems import NoRows
from mapdag.errors import DataError
from mapdag.tasks import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

Tell: TypeAlias = "Callable[[float], None]"

#: Of the files that are written; what another version wrote is made anew.
VERSION = 1

_BEGUN, _WHOLE = "begun", "whole"
READING_THREADS = 4  # polars has threads of its own, and every block takes memory


@dataclass(frozen=True)
class Packed:
    """A source that was packed.

    Attributes
    ----------
    called : str
        What it is called in messages.
    path : str
        Where it is, from anywhere.
    sizes : tuple of int
        The rows of each block.
    about : mapping
        What `Reader.about` told; ``way``, the worst way in which a block of text was read.
    key : str
        Another one if the source was another one.
    open : callable
        Opens a block, given its number: something with a method `column`.
    """

    called: str
    path: str
    sizes: tuple[int, ...]
    about: Mapping[str, Any]
    key: str
    open: Callable[[int], Any]


def _stored(folder: Path, number: int) -> StoredBlock:
    return StoredBlock(_block_path(folder, number))


def _block_path(folder: Path, number: int) -> Path:
    return folder / f"{number:08d}.block"


def pack_file(
    path: Path, cache: Path, separator: str | None, encoding: str | None, tell: Tell = lambda _: None
) -> Packed:
    """Pack a file, or find it packed; what was begun before is gone on with. `tell` hears how much of it is done."""
    real = Path(os.path.realpath(path))
    asked = (VERSION, str(real), separator, encoding, BLOCK_ROWS)
    folder = cache / "sources" / key_of(*asked)
    with locked(folder):
        before = Fingerprint.of(path)
        mark = {"version": VERSION, "path": shown(real), **before.to_dict()}
        whole, begun = _facts(folder / _WHOLE), _facts(folder / _BEGUN)
        if not _agree(whole, mark):
            if not _agree(begun, mark):
                _begin(folder, begun := mark)
            try:
                reader = open_reader(path, separator, encoding, begun.get("tried"))
                whole = {**mark, **_pack_from(reader, folder, mark, tell)}
            finally:  # whatever else is wrong with it
                if Fingerprint.of(path) != before:
                    _begin(folder, {})
                    raise DataError(f"{shown(path)} changed while it was read: scan it again when nobody writes to it")
            write_sealed(folder / _WHOLE, whole)
        key = key_of(*asked, before)
        return Packed(shown(path), shown(real), tuple(whole["sizes"]), whole["about"], key, partial(_stored, folder))


def _pack_from(reader: Reader, folder: Path, mark: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Pack a file as whatever encoding fits all of it."""
    while True:
        try:
            return _pack(reader, folder, tell)
        except NotInEncoding as error:  # noqa: PERF203 - twice at most
            assert isinstance(reader, TextReader)
            reader = reader.in_other_encoding(error)
            _begin(folder, {**mark, "tried": reader.encoding})


def pack_frame(frame: pl.LazyFrame, folder: Path) -> Packed:
    """Pack a LazyFrame, of which nobody can tell whether it stayed as it was."""
    reader = FrameReader(frame)
    with locked(folder):
        found = _pack(reader, folder, lambda _: None)
    called, sizes = reader.called, tuple(found["sizes"])
    return Packed(called, called, sizes, found["about"], key_of(str(folder)), partial(_stored, folder))


def _facts(path: Path) -> dict[str, Any]:
    """Return what a file says, nothing if it is not there or not whole."""
    try:
        return read_sealed(path)[0]
    except Broken:
        return {}


def _agree(facts: dict[str, Any], mark: dict[str, Any]) -> bool:
    return all(name in facts and facts[name] == value for name, value in mark.items())


def _begin(folder: Path, facts: dict[str, Any]) -> None:
    """Begin anew."""
    for path in folder.iterdir():
        if path.name != "lock":
            path.unlink()
    write_sealed(folder / _BEGUN, facts)


def _pack(reader: Reader, folder: Path, tell: Tell) -> dict[str, Any]:
    """Write all blocks that are not there yet."""
    sizes, ways, last = _done(folder)
    for block in in_order(reader.blocks(last), READING_THREADS):
        if block.n_rows:
            block.write(_block_path(folder, len(sizes)))
            sizes.append(block.n_rows)
            ways.add(block.facts["way"])
            tell(reader.share(block.facts))
    if not sizes:
        raise NoRows(reader.called, reader.about()["names"])
    return {"sizes": sizes, "about": {**reader.about(), "way": worst(ways)}}


def _done(folder: Path) -> tuple[list[int], set[str], dict[str, Any] | None]:
    """Look at the blocks that are there: their sizes, how they were read, and what the last one knows."""
    sizes: list[int] = []
    ways: set[str] = set()
    last: dict[str, Any] | None = None
    while True:
        try:
            block = _stored(folder, len(sizes))
        except Broken:
            return sizes, ways, last
        sizes.append(block.n_rows)
        last = block.facts
        ways.add(block.facts["way"])
