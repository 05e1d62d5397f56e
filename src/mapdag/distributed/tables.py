"""Data sets whose rows are on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mapdag.cluster import LOG, Workers, connect
from mapdag.data.packed import ScannedDataset
from mapdag.data.packed.sources import find_files
from mapdag.distributed.blocks import RemoteBlocks
from mapdag.distributed.meaning import Entries, FileEntries, FrameEntries, find_meaning
from mapdag.distributed.packing import (
    Summary,
    left_of,
    pack_pieces,
    positions_of,
    read_file,
    read_frame,
    sizes_of,
    summaries_of,
)
from mapdag.errors import ClusterError, DataError, MapdagError, ParameterError

if TYPE_CHECKING:
    from distributed import Client, Future

    from mapdag.distributed.packing import Order


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

        def entries(found: Sequence[Sequence[Summary]]) -> Entries:
            return FrameEntries(names, [summary for pieces in found for summary in pieces], called)

        return _read(workers, makers, called, entries, options)


def scan_on(cluster: Any, source: Any, options: Mapping[str, Any]) -> ScannedDataset:
    """Read files on the workers of a cluster, with the options of `scan`; all of them must see the files."""
    _refuse(options, "files on a cluster")
    with connect(cluster) as client:
        workers, paths = Workers(client), find_files(source)
        given = dict(options)
        how = given.pop("separator", None), given.pop("encoding", None)
        makers = [partial(workers.submit, "read", read_file, Path(path).resolve(), *how) for path in paths]
        return _read(workers, makers, [str(path) for path in paths], FileEntries, given)


def _refuse(options: Mapping[str, Any], what: str) -> None:
    if options.get("weights") is not None:
        raise ParameterError(f"weights cannot be given for {what}: rows that carry weights are counted in memory only")


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
    entries: Callable[[Sequence[Sequence[Summary]]], Entries],
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
    table = entries(summaries)
    ends = [len(mine) for mine in summaries]

    def left(gone: Sequence[Any]) -> list[Any]:
        mine = _split(gone, ends)
        tasks = [workers.submit("recount", left_of, each, some) for each, some in zip(pieces, mine, strict=True)]
        return [counts for found in _named(workers, tasks, called) for counts in found]

    def positions() -> list[Any]:
        tasks = [workers.submit("rows", positions_of, each) for each in pieces]
        return [found for some in _named(workers, tasks, called) for found in some]

    meaning = find_meaning(table, options, left, positions)
    orders: list[Sequence[Order]] = _split(meaning.orders, ends)
    packed = [
        workers.submit("pack", pack_pieces, each, mine, name)
        for each, mine, name in zip(pieces, orders, called, strict=True)
    ]
    sizes = _named(workers, [workers.submit("sizes", sizes_of, each) for each in packed], called)
    columns = tuple(range(len(meaning.names)))
    blocks = RemoteBlocks(workers, packed, tuple(map(tuple, sizes)), columns, meaning.widths)
    LOG.info("%d rows in %d partitions are packed", sum(blocks.sizes), len(packed))
    return ScannedDataset(meaning.names, meaning.levels, blocks, meaning.codings)


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
