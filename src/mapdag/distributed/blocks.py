"""Rows that stay on the workers of a cluster, and the engine that has them counted there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mapdag.cluster import LOG, Workers
from mapdag.counts.summed import SummedEngine
from mapdag.distributed.partitions import add_totals, add_up, codes_of, count_rows, total_of, widened
from mapdag.errors import DataError

if TYPE_CHECKING:
    from distributed import Future
    from numpy.typing import NDArray

    from mapdag.counts.agenda import Turn
    from mapdag.counts.passes import Parts


@dataclass(frozen=True, eq=False)
class RemoteBlocks:
    """The rows of a table on the workers of a cluster.

    Attributes
    ----------
    workers : Workers
    partitions : sequence of Future
        Of `PackedRows`.
    every : tuple of tuples of int
        The rows of each block of each partition.
    columns : tuple of int
        The columns that are wanted, in order.
    stored : tuple of int
        The different codes of each column there: its levels, and one more where it has gaps.
    """

    workers: Workers
    partitions: Sequence[Future]
    every: tuple[tuple[int, ...], ...]
    columns: tuple[int, ...]
    stored: tuple[int, ...]

    @property
    def widths(self) -> tuple[int, ...]:
        """The different codes of each column that is wanted."""
        return tuple(self.stored[column] for column in self.columns)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The rows of each block."""
        return tuple(size for partition in self.every for size in partition)

    def __len__(self) -> int:
        return sum(map(len, self.every))

    def codes(self, number: int, columns: Sequence[int] | None = None) -> NDArray[Any]:
        """Return the codes of a block, brought here; of some columns only, if these are given."""
        wanted = self.columns if columns is None else [self.columns[column] for column in columns]
        for partition, sizes in zip(self.partitions, self.every, strict=True):
            if number < len(sizes):
                task = self.workers.submit("fetch", codes_of, partition, number)
                found: NDArray[Any] = self.workers.results([task], "fetching rows")[0]
                return found[list(wanted)]
            number -= len(sizes)
        raise IndexError(number)

    def select(self, columns: Sequence[int]) -> RemoteBlocks:
        """Return some of the columns."""
        return replace(self, columns=tuple(self.columns[column] for column in columns))

    def total(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Sum of a function of the codes of each block, which the workers call."""
        tasks = [
            self.workers.submit("total", total_of, mine, self.columns, function, arguments, near=where)
            for where, mine in self.groups()
        ]
        return self.workers.sum(tasks, add_totals, "adding up")

    def count(self, turn: Turn) -> Parts:
        """Count what one pass is for, where the rows are."""
        stored = turn.renamed(self.columns)
        tasks = [self.workers.submit("count", count_rows, mine, stored, near=where) for where, mine in self.groups()]
        return widened(self.workers.sum(tasks, add_up, "counting"))

    def groups(self) -> Iterator[tuple[list[str], list[Future]]]:
        """Give the partitions in as many groups as the cluster has threads, those of a worker together, and where."""
        self.workers.check()
        client = self.workers.client
        threads, holders = client.nthreads(), client.who_has(list(self.partitions))
        at: dict[str, list[Future]] = {}
        for partition, sizes in zip(self.partitions, self.every, strict=True):
            if sizes:
                at.setdefault(next(iter(holders.get(partition.key, ())), ""), []).append(partition)
        for address, mine in at.items():
            share = min(threads.get(address, 1), len(mine))
            for i in range(share):
                yield [address] if address else [], mine[i::share]

    @property
    def engine(self) -> Callable[[Any], RemoteEngine]:
        """Who counts these rows."""
        return RemoteEngine


class RemoteEngine(SummedEngine):
    """Counts rows on the workers of a cluster; a pass is one round trip.

    Parameters
    ----------
    data : data set
        With `RemoteBlocks`.
    """

    most_cells = 1 << 22  # what is on the way at once: some 10 MB from each thread

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        if not isinstance(data.blocks, RemoteBlocks):
            raise DataError("only rows that are on a cluster are counted there")
        self._blocks = data.blocks

    def parts(self, turn: Turn) -> Parts:
        """Count what one pass is for, where the rows are."""
        began = time.perf_counter()
        found = self._blocks.count(turn)
        told = self.work.passes + 1, len(turn.families) + len(turn.sparse), time.perf_counter() - began
        LOG.info("round trip %d: %d families with their candidates counted in %.3f s", *told)
        return found
