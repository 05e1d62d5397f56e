"""Data sets whose rows are on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.cluster import LOG, Workers, connect
from mapdag.data.columns import from_pandas
from mapdag.data.packed import ScannedDataset
from mapdag.data.packed.packing import Packed
from mapdag.data.packed.recoding import Pieces, decide
from mapdag.data.packed.scan import find_files, refuse_weights
from mapdag.data.packed.tallies import PackedTable
from mapdag.data.preparation import prepare
from mapdag.data.source import Source
from mapdag.distributed.blocks import RemoteBlocks
from mapdag.distributed.partitions import (
    Summary,
    pack_pieces,
    positions_of,
    read_file,
    read_frame,
    rows_left,
    sizes_of,
    summaries_of,
)
from mapdag.errors import ClusterError, DataError, MapdagError

if TYPE_CHECKING:
    from distributed import Client, Future
    from numpy.typing import NDArray

    from mapdag.data.columns import Column
    from mapdag.data.meanings import ReadOptions
    from mapdag.data.packed.blocks import DistinctColumn
    from mapdag.data.packed.recoding import Codebook

_WHOLE_CELLS = 2**25  # of a table that is looked at as a whole


def read_dask(frame: Any, options: Mapping[str, Any]) -> ScannedDataset:
    """Read a Dask DataFrame, with the options of `read`; its rows stay on the cluster of the current client."""
    _refuse(options, "a Dask DataFrame")
    with connect(_current_client()) as client:
        names = [str(name) for name in frame.columns]
        called = [f"partition {i} of {frame.npartitions}" for i in range(frame.npartitions)]
        if not names:
            raise DataError("the Dask DataFrame has no columns")
        workers = Workers(client)
        delayed = frame.to_delayed()
        makers = [partial(_frame_task, workers, each, names, name) for each, name in zip(delayed, called, strict=True)]

        def table(found: Sequence[Sequence[Summary]]) -> Pieces:
            return FramePieces(names, [summary for pieces in found for summary in pieces], called)

        return _read(workers, makers, called, table, options)


def scan_on(cluster: Any, source: Any, options: Mapping[str, Any]) -> ScannedDataset:
    """Read files on the workers of a cluster, with the options of `scan`; all of them must see the files."""
    _refuse(options, "files on a cluster")
    with connect(cluster) as client:
        workers, paths = Workers(client), find_files(source)
        given = dict(options)
        how = given.pop("separator", None), given.pop("encoding", None)
        makers = [partial(workers.submit, "read", read_file, Path(path).resolve(), *how) for path in paths]
        return _read(workers, makers, [str(path) for path in paths], _packed_table, given)


def _refuse(options: Mapping[str, Any], what: str) -> None:
    refuse_weights(what, **{name: options.get(name) for name in ("weights", "weighting", "groups", "interventions")})


def _current_client() -> Client:
    try:
        from distributed import get_client

        return get_client()
    except ImportError:
        return None  # `connect` says what to install
    except ValueError:
        raise ClusterError(
            "a Dask DataFrame is counted on a cluster, and there is no client of one: make one before, "
            "distributed.Client() for this machine, distributed.Client(address) for others"
        ) from None


def _frame_task(workers: Workers, delayed: Any, names: Sequence[str], called: str) -> Future:
    frame = workers.client.compute(delayed)
    return workers.submit("read", read_frame, frame, names, called)


def _read(
    workers: Workers,
    makers: Sequence[Callable[[], Future]],
    called: Sequence[str],
    table_of: Callable[[Sequence[Sequence[Summary]]], Pieces],
    options: Mapping[str, Any],
) -> ScannedDataset:
    """Read partitions, agree on levels, pack."""
    pieces = list(workers.ahead(makers))
    told = [workers.submit("summary", summaries_of, each) for each in pieces]
    summaries: list[list[Summary]] = _named(workers, told, called)
    if not any(summary.n_rows for mine in summaries for summary in mine):
        raise DataError("the table has no rows")
    some = [i for i, mine in enumerate(summaries) if mine]  # files without rows have nothing to say
    pieces, called, summaries = [pieces[i] for i in some], [called[i] for i in some], [summaries[i] for i in some]
    table = table_of(summaries)
    ends = [len(mine) for mine in summaries]

    def left(gone: Sequence[Any]) -> list[Any]:
        mine = _split(gone, ends)
        tasks = [workers.submit("recount", rows_left, each, some) for each, some in zip(pieces, mine, strict=True)]
        return [counts for found in _named(workers, tasks, called) for counts in found]

    def positions() -> list[Any]:
        tasks = [workers.submit("rows", positions_of, each) for each in pieces]
        return [found for some in _named(workers, tasks, called) for found in some]

    small = table.fits(_WHOLE_CELLS)
    if small:  # some things, such as whether a column numbers the rows, only the table as a whole can tell
        rows = positions()
        prepare(table.whole(lambda piece, place: rows[piece][place]), **options).coded()
    recoding = decide(table, left, options, quiet=small)
    digests = [summary.digest for mine in summaries for summary in mine]
    every = [(digest, recoding.codebook(i)) for i, digest in enumerate(digests)]
    codebooks: list[Sequence[tuple[str, Codebook]]] = _split(every, ends)
    packed = [
        workers.submit("pack", pack_pieces, each, mine, name)
        for each, mine, name in zip(pieces, codebooks, called, strict=True)
    ]
    sizes = _named(workers, [workers.submit("sizes", sizes_of, each) for each in packed], called)
    columns = tuple(range(len(recoding.names)))
    blocks = RemoteBlocks(workers, packed, tuple(map(tuple, sizes)), columns, tuple(recoding.widths.tolist()))
    LOG.info("%d rows in %d partitions are packed", sum(blocks.sizes), len(packed))
    return ScannedDataset(recoding.names, recoding.levels, blocks, recoding.codings)


def _split(values: Sequence[Any], sizes: Sequence[int]) -> list[Sequence[Any]]:
    """Cut a sequence into runs of these lengths."""
    found, start = [], 0
    for size in sizes:
        found.append(values[start : start + size])
        start += size
    return found


def _named(workers: Workers, tasks: Sequence[Future], called: Sequence[str]) -> list[Any]:
    """Wait for a task for each partition; an error names the partition, unless it does so already."""
    try:
        return workers.results(tasks, "reading the table")
    except Exception as error:
        name = next((name for name, task in zip(called, tasks, strict=True) if task.status == "error"), "a partition")
        if isinstance(error, ClusterError) and not isinstance(error.__cause__, OSError):
            raise ClusterError(f"{name}: {error}") from error
        if isinstance(error, MapdagError) and not isinstance(error, ClusterError):
            raise
        cause = error.__cause__ if isinstance(error, ClusterError) else error
        raise DataError(f"{name} cannot be read: {type(cause).__name__}: {cause}") from cause


# Tables in pieces ----------------------------------------------------------------------------------------------------


def _packed_table(files: Sequence[Sequence[Summary]]) -> PackedTable:
    """Return files, each of which is some pieces, as a table whose rows are elsewhere."""
    packed = []
    for file in files:
        about, sizes = file[0].about, tuple(summary.n_rows for summary in file)
        packed.append(Packed(about["called"], about["called"], sizes, about, about["key"], file.__getitem__))
    return PackedTable(packed)


class FramePieces(Pieces):
    """Pandas DataFrames: as many entries as all pieces have values, alike or not."""

    def __init__(self, names: Sequence[str], summaries: Sequence[Summary], called: Sequence[str]) -> None:
        self.names, self._summaries, self._called = names, summaries, called
        self.sizes = [summary.n_rows for summary in summaries]

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        sizes = [[len(column.counts) for column in summary.columns] for summary in self._summaries]
        return np.cumsum([[0] * len(self.names), *sizes], axis=0)

    def source(self) -> Source:
        """Return the table as columns of entries."""
        return Source(list(self.names), self.n_rows, list(range(len(self.names))), self._column, "the Dask DataFrame")

    def entries(self, piece: int, column: int) -> NDArray[Any]:
        """Return which entry each distinct value of a column of a piece is."""
        return np.arange(*self._starts[piece : piece + 2, column])

    def size(self, column: int) -> int:
        """Return how many entries a column has."""
        return int(self._starts[-1, column])

    def _column(self, name: str, place: int, _: ReadOptions) -> Column:
        columns = [summary.columns[place] for summary in self._summaries]
        starts = np.cumsum([0, *(summary.n_rows for summary in self._summaries)])
        first = np.concatenate([column.first + start for column, start in zip(columns, starts, strict=False)])
        times = np.concatenate([column.counts for column in columns])
        made = from_pandas(name, self._joined(name, columns))
        return replace(made, first=first.astype(np.int64), times=times)

    def _joined(self, name: str, columns: Sequence[DistinctColumn]) -> Any:
        """Put the values of all pieces together, which must be of one type, but for pieces without any."""
        import pandas as pd

        kinds: dict[str, int] = {}
        for piece, column in enumerate(columns):
            if column.distinct.notna().any():
                kinds.setdefault(_kind(column.distinct), piece)
        if len(kinds) > 1:
            (one, first), (other, second) = list(kinds.items())[:2]
            raise DataError(
                f"column {name!r} holds {one} in {self._called[first]}, but {other} in {self._called[second]}: all "
                "partitions must have the same types"
            )
        kind = next(iter(kinds), None)
        series = [column.distinct for column in columns if len(column.distinct)]
        typed = next((each for each in series if kind is None or _kind(each) == kind), columns[0].distinct)
        alike = [each if _kind(each) == kind else pd.Series([None] * len(each), dtype=typed.dtype) for each in series]
        if kind == "categories":
            alike = [each if _kind(each) == kind else typed[:0].reindex(range(len(each))) for each in series]
            try:
                return pd.Series(pd.api.types.union_categoricals(alike))
            except TypeError as error:
                raise DataError(
                    f"column {name!r}: the categories of partitions do not fit together: {error}"
                ) from error
        return pd.concat(alike, ignore_index=True) if alike else typed


def _kind(values: Any) -> str:
    return "categories" if type(values.dtype).__name__ == "CategoricalDtype" else str(values.dtype)
