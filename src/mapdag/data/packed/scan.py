"""The front door to tables that are larger than memory."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.columns import is_a
from mapdag.data.content import located, shown
from mapdag.data.meanings import missing_option
from mapdag.data.packed.dataset import ScannedDataset, source_of_scanned
from mapdag.data.packed.packing import Packed, pack_file, pack_frame
from mapdag.data.packed.recoding import counted, decide, with_rows
from mapdag.data.packed.sealed import Broken, cache_folder, locked, read_sealed, told_if_full
from mapdag.data.packed.store import store
from mapdag.data.packed.tallies import PackedTable
from mapdag.data.preparation import prepare
from mapdag.data.problems import NoRows
from mapdag.data.source import names_in
from mapdag.errors import DataError, ParameterError
from mapdag.progress import shown as shown_while
from mapdag.public import public

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.columns import Column
    from mapdag.data.dataset import Dataset
    from mapdag.data.discretization import Discretization
    from mapdag.data.meanings import ReadOptions
    from mapdag.data.options import Lump, Missing, MissingValues
    from mapdag.data.packed.recoding import Recoding
    from mapdag.data.source import Source
    from mapdag.progress import OnCount


_TRIES = 3  # at mending what is damaged
_MB = 10**6
_READ_CELLS = 2**27  # of a table that is read as a whole, from its blocks
_SAMPLED_BLOCKS, _SAMPLED_ROWS = 64, 2**16  # of a larger one, for a look at single rows


@public()
def scan(
    source: Any,
    *,
    levels: Mapping[str, Sequence[Any] | int] | str | os.PathLike[str] | None = None,
    like: Any = None,
    weights: Any = None,
    weighting: Any = None,
    groups: Any = None,
    interventions: Any = None,
    drop: str | Iterable[str] = (),
    missing: Missing = "error",
    missing_values: MissingValues = (),
    discretize: Discretization | None = None,
    codes: bool | None = None,
    max_levels: int | None = None,
    lump: Lump = None,
    separator: str | None = None,
    encoding: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: OnCount | bool | None = None,
    engine: Any = None,
) -> ScannedDataset:
    r"""Read a table that need not fit into memory: files, in blocks of rows, packed to a fraction of their size.

    What comes out is what `read` would return: the same names, levels and codes. A first pass finds the distinct values
    of every column, with their counts; a second one writes the codes in as few bits as they need (ALARM, 37 columns: 8
    bytes a row). Both are kept in a cache, and used again as long as the files stay as they are; a pass that was
    interrupted goes on where it ended.

    Parameters
    ----------
    source : path, pattern, folder, list of these, or polars LazyFrame
        Files as `read` takes them: text such as CSV (possibly compressed), Parquet or Arrow. A pattern such as
        ``"data/*.parquet"`` or a folder stands for all files there (but for hidden ones), sorted by name. All must have
        the same columns, in any order, of the same types. Nobody can tell whether a LazyFrame stayed the same: it is
        packed anew each time, and forgotten with the dataset.
    levels, like, weights, weighting, groups, interventions, drop, missing, missing_values, discretize, codes, \
    max_levels, lump, separator, encoding
        As in `read`; but for the method "hartemink" where there are more than a million rows, for columns with more
        than 900,000 distinct values, which have to be left out, and for weights, groups and interventions.
    cache : path, optional
        The folder to keep packed files in. By default what the environment variable ``MAPDAG_CACHE`` says, or else
        ``~/.cache/mapdag`` (on macOS ``~/Library/Caches/mapdag``, on Windows ``%LOCALAPPDATA%\mapdag``).
    progress : bool or callable
        True shows a bar while files are packed; a function is called with the megabytes that are done, and all of them.
    engine : dask.distributed.Client, optional
        The cluster whose workers read the files, which all of them must see, and keep what is packed in their memory.

    Returns
    -------
    ScannedDataset

    Raises
    ------
    DataError
        As `read`; if files differ in their columns, if one changes while it is read, or if there is no room for the
        packed files. Nothing that is not whole is ever used.

    Examples
    --------
    >>> import tempfile, pathlib, mapdag as md
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for part in range(3):
    ...     md.write_table(md.network("asia").sample(1000, seed=part), folder / f"part-{part}.csv")
    >>> data = md.scan(folder / "*.csv", cache=folder / "cache")
    >>> data
    ScannedDataset(3,000 rows, 8 columns, 2 levels each, 1 block)
    >>> md.learn(data, search="hc").dag.n_arcs
    9
    """
    refuse_weights("a table that is scanned", weights=weights, weighting=weighting, groups=groups)
    refuse_weights("a table that is scanned", interventions=interventions)
    options = {
        "levels": levels,
        "like": like,
        "drop": names_in(drop),
        "missing": missing,
        "missing_values": missing_option(missing_values),
        "discretize": discretize,
        "codes": codes,
        "max_levels": max_levels,
        "lump": lump,
    }
    if engine is not None:
        there = {**options, "separator": separator, "encoding": encoding}
        data: ScannedDataset = import_module("mapdag.distributed").scan_on(engine, source, there)
        return data
    folder = cache_folder(cache)
    for _ in range(_TRIES):
        try:
            with shown_while(progress, lambda bar: bar.counter("MB")) as tell:
                table, owned = packed_table(source, folder, separator, encoding, tell)
            found = read_packed(table, options)
            blocks = store(table, found, folder)
        except Broken as error:  # noqa: PERF203 - a block of an earlier scan: it is made anew
            error.path.unlink(missing_ok=True)
            (error.path.parent / "whole").unlink(missing_ok=True)
            damaged = error
        else:
            if owned is not None:
                blocks = replace(blocks, lease=Lease())
                weakref.finalize(blocks.lease, _forget, owned, blocks.folder)
            return ScannedDataset(found.names, found.levels, blocks, found.codings)
    raise DataError(f"the cache cannot be read: {damaged}; pass cache= a folder elsewhere")


def refuse_weights(what: str, **given: Any) -> None:
    """Refuse what makes rows count otherwise than once each, for rows that are not in memory."""
    for option, value in given.items():
        if value is not None:
            raise ParameterError(
                f"{option} cannot be given for {what}, whose rows count once each: read it into memory with "
                "mapdag.read, if it fits"
            )


class Lease:
    """Held by all who read the same files, which nobody else will."""


def open_packed(source: Any, separator: str | None, encoding: str | None) -> Source | None:
    """Return several files, or a table that was scanned, as a source of columns; None for anything else."""
    if isinstance(source, ScannedDataset):
        return source_of_scanned(source)
    if not is_many(source):
        return None
    table, _ = packed_table(source, cache_folder(), separator, encoding)
    if table.fits(_READ_CELLS):
        return table.whole(table.positions)
    found = counted(table, table.left)

    def make_sample(name: str, column: int, options: ReadOptions) -> Column:
        return with_rows(found.make(name, column, options), _sampled(table, column))

    return replace(found, sample=replace(found, make=make_sample))


def _sampled(table: PackedTable, column: int) -> NDArray[Any]:
    """Return which entry some rows have, from all over a table."""
    blocks = np.unique(np.linspace(0, len(table.sizes) - 1, _SAMPLED_BLOCKS).astype(np.intp)).tolist()
    found = []
    for i in blocks:
        size = table.sizes[i]
        chosen = np.linspace(0, size - 1, min(size, -(-_SAMPLED_ROWS // len(blocks)))).astype(np.intp)
        found.append(table.entries(i, column)[table.positions(i, table.place(i, column))[chosen]])
    return np.concatenate(found)


def read_packed(table: PackedTable, options: Mapping[str, Any]) -> Dataset | Recoding:
    """Find out what a packed table means, with the options of `read`: as a whole, or by its distinct values."""
    if table.fits(_READ_CELLS):
        return prepare(table.whole(table.positions), **options).dataset()
    return decide(table, table.left, options)


def packed_table(
    source: Any, cache: Path, separator: str | None, encoding: str | None, tell: OnCount | None = None
) -> tuple[PackedTable, Path | None]:
    """Pack whatever is scanned; also, the folder that nobody will use again."""
    if is_a(source, "polars", "LazyFrame"):
        with told_if_full(cache / "sources"):
            (cache / "sources").mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix="frame-", dir=cache / "sources"))
        try:
            return PackedTable([pack_frame(source, folder)]), folder
        except BaseException:
            _forget(folder)
            raise
    files = find_files(source, cache)
    sizes = [path.stat().st_size for path in files]
    found: list[Packed] = []
    empty: list[NoRows] = []
    for i, path in enumerate(files):
        told = partial(_tell_bytes, tell, sum(sizes[:i]), sizes[i], sum(sizes))
        try:
            found.append(pack_file(path, cache, separator, encoding, told))
        except NoRows as error:  # part of a table that has rows elsewhere
            empty.append(error)
        told(1.0)
    if not found:
        raise empty[0]
    table = PackedTable(found)
    for each in empty:
        table.check_columns(each.called, each.names)
    return table, None


def _tell_bytes(tell: OnCount | None, before: int, size: int, total: int, share: float) -> None:
    if tell is not None:
        tell(round((before + share * size) / _MB), max(round(total / _MB), 1))


def _forget(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


# Which files make up a table -----------------------------------------------------------------------------------------


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


# What is in the cache, and how to clear it ---------------------------------------------------------------------------


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


def clear_cache(cache: Path) -> None:
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
