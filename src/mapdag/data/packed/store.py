"""The second pass: the codes of a packed table, in as few bits as they need, in files that are read block by block."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.codings import Coding
from mapdag.data.dataset import Dataset
from mapdag.data.labels import code_dtype
from mapdag.data.packed.blocks import BLOCK_ROWS, pack, plane_bytes, planes_of, unpack
from mapdag.data.packed.packing import READING_THREADS, VERSION
from mapdag.data.packed.sealed import Broken, key_of, locked, read_sealed, write_sealed
from mapdag.errors import DataError
from mapdag.tasks import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from mapdag.data.packed.recoding import Recoding
    from mapdag.data.packed.tallies import PackedTable

_WHOLE = "table"


@dataclass(frozen=True, eq=False)
class StoredBlocks:
    """The rows of a table, in files.

    Attributes
    ----------
    folder : Path
        Where they are.
    files : tuple of int
        The number of the file of each block.
    sizes : tuple of int
        The rows of each block.
    every : tuple of int
        The different codes of each column in the files: its levels, and one more where it has gaps.
    columns : tuple of int
        The columns that are wanted, in order.
    lease : object, optional
        Goes when nobody needs the files any more, and they with it.
    """

    folder: Path
    files: tuple[int, ...]
    sizes: tuple[int, ...]
    every: tuple[int, ...]
    columns: tuple[int, ...]
    lease: object | None = None
    _checked: set[int] = field(default_factory=set, repr=False)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def widths(self) -> tuple[int, ...]:
        """The different codes of each column that is wanted."""
        return tuple(self.every[column] for column in self.columns)

    def codes(self, number: int, columns: Sequence[int] | None = None) -> NDArray[Any]:
        """Return the codes of a block, one row per column; of some columns only, if these are given."""
        wanted = self.columns if columns is None else [self.columns[column] for column in columns]
        content, first = self._content(number)
        codes = np.empty((len(wanted), self.sizes[number]), dtype=code_dtype(self.widths))
        for row, column in zip(codes, wanted, strict=True):
            row[:] = unpack(content[first[column] : first[column + 1]], self.sizes[number])
        return codes

    def planes(self, number: int) -> tuple[NDArray[np.uint64], int]:
        """Return the bit planes of a block, those of each column in turn, and its number of rows."""
        content, first = self._content(number)
        chosen = [plane for column in self.columns for plane in range(first[column], first[column + 1])]
        return np.ascontiguousarray(content[chosen]).view(np.uint64), self.sizes[number]

    def _content(self, number: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the planes of a block, mapped into memory, and where those of each column begin."""
        first = np.cumsum([0, *map(planes_of, self.every)])
        width = plane_bytes(self.sizes[number])
        path = block_path(self.folder, self.files[number])
        damage: Broken | None = None
        try:
            facts, content = read_sealed(path, check=number not in self._checked)
            if facts.get("rows") != self.sizes[number] or len(content) != first[-1] * width:
                damage = Broken(path, "is of another table")
        except Broken as error:
            damage = error
        if damage is not None:
            (self.folder / _WHOLE).unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            raise DataError(f"a packed file is damaged ({damage}): scan the table again, which mends it") from damage
        self._checked.add(number)
        return np.asarray(content).reshape(-1, width), first

    def select(self, columns: Sequence[int]) -> StoredBlocks:
        """Return some of the columns."""
        chosen = tuple(self.columns[column] for column in columns)
        return StoredBlocks(self.folder, self.files, self.sizes, self.every, chosen, self.lease, self._checked)


def block_path(folder: Path, number: int) -> Path:
    """Return where a block is."""
    return folder / f"{number:08d}.codes"


def store(table: PackedTable, found: Dataset | Recoding, cache: Path) -> StoredBlocks:
    """Write the codes of a table, unless they are there."""
    names, levels, codings = found.names, found.levels, found.codings
    folder = cache / "tables" / key_of(VERSION, [source.key for source in table.sources], *_identity(found))
    about = {
        "version": VERSION,
        "sources": [source.path for source in table.sources],
        "names": list(names),
        "levels": {name: list(levels[name]) for name in names},
        "codings": {name: asdict(codings[name]) for name in names if name in codings},
    }
    about = json.loads(json.dumps(about))  # as it is read again: tuples are lists
    widths = tuple(found.widths.tolist())
    everything = tuple(range(len(widths)))
    with locked(folder):
        try:
            whole = read_sealed(folder / _WHOLE)[0]
        except Broken:
            whole = {}
        if not (all(whole.get(name) == value for name, value in about.items()) and _are_there(folder, whole["sizes"])):
            sizes = _write(_encoders(table, found), folder, widths)
            write_sealed(folder / _WHOLE, whole := {**about, "sizes": sizes})
    files = [number for number, size in enumerate(whole["sizes"]) if size]  # all rows of a block may be left out
    return StoredBlocks(folder, tuple(files), tuple(whole["sizes"][number] for number in files), widths, everything)


def _are_there(folder: Path, sizes: Sequence[int]) -> bool:
    """Tell whether all blocks are there, none of them cut short; whether their bytes are right is seen at first use."""
    try:
        facts = [read_sealed(block_path(folder, number), check=False)[0] for number in range(len(sizes))]
    except Broken:
        return False
    return [each.get("rows") for each in facts] == list(sizes)


def _identity(found: Dataset | Recoding) -> Iterator[Any]:
    """Give what makes codes other codes."""
    yield json.dumps([found.names, {name: list(found.levels[name]) for name in found.names}])
    rows = [found.codes] if isinstance(found.codes, np.ndarray) else [*found.codes, *found.gone.values()]
    digest = hashlib.blake2b()
    for array in rows:
        digest.update(np.ascontiguousarray(array).data)
    yield digest.hexdigest()
    yield {name: coding for name, coding in found.codings.items() if coding != Coding()}


def _encoders(table: PackedTable, found: Dataset | Recoding) -> list[Callable[[], NDArray[Any]]]:
    """Return functions that make the codes of each block."""
    codes = found.codes
    if isinstance(codes, np.ndarray):
        rows = range(0, codes.shape[1], BLOCK_ROWS)
        return [partial(codes.__getitem__, (slice(None), slice(low, low + BLOCK_ROWS))) for low in rows]
    assert not isinstance(found, Dataset)
    return [partial(_encode, found, table, number) for number in range(len(table.sizes))]


def _encode(recoding: Recoding, table: PackedTable, number: int) -> NDArray[Any]:
    """Return the codes of the rows of a block that remain."""
    codes = recoding.codebook(number).apply(table.block(number).positions, table.sizes[number])
    return np.array(codes, dtype=code_dtype(recoding.widths.tolist()))


def _write(encoders: Sequence[Callable[[], NDArray[Any]]], folder: Path, widths: Sequence[int]) -> list[int]:
    """Write the blocks that are not there yet; return the sizes of all."""

    def size_of(number: int) -> int:
        path = block_path(folder, number)
        try:
            return int(read_sealed(path)[0]["rows"])
        except Broken:
            codes = encoders[number]()
            planes = [pack(row, planes_of(width)) for row, width in zip(codes, widths, strict=True)]
            write_sealed(path, {"rows": codes.shape[1]}, planes)
            return int(codes.shape[1])

    return list(in_order((partial(size_of, number) for number in range(len(encoders))), READING_THREADS))
