"""An engine that remembers: tables that were counted once are not counted again, whoever asks and however they score.

For those who score the same families under one likelihood after another, as somebody does who moves a slider.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.counts.engine import Engine, Request
from mapdag.counts.table import Counted, TableBatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.counts.table import CountTable

_OVERHEAD = 1000  # bytes of a batch besides its counts


class _Kept(NamedTuple):
    """Tables of one family with each of some candidates."""

    candidates: tuple[int, ...] | None
    batch: TableBatch
    size: int  # bytes


class RememberedTables(Engine):
    """Tables of another engine, each counted once as long as there is room.

    Parameters
    ----------
    engine : Engine
        Who counts.
    most : int
        Bytes to remember; what was not asked for the longest is forgotten first.

    Attributes
    ----------
    counted : int
        Tables that were counted, not remembered.
    """

    counts_gaps = counts_interventions = True  # where the other engine does, which has been asked

    def __init__(self, engine: Engine, most: int) -> None:
        self._engine = engine
        self._most = most
        self._size = 0
        self._kept: OrderedDict[tuple[int, tuple[int, ...], bool], _Kept] = OrderedDict()
        self._lock = threading.Lock()
        self.counted = 0
        self.cards, self.n_rows, self.total = engine.cards, engine.n_rows, engine.total
        self.fractions = engine.fractions

    @property
    def size(self) -> int:
        """Bytes that are remembered, more or less."""
        return self._size

    def tables(self, requests: Sequence[Request]) -> list[TableBatch]:
        """Return the tables of every request: remembered, or counted now."""
        with self._lock:
            found = [self._find(request) for request in requests]
        missing = [i for i, batch in enumerate(found) if batch is None]
        if missing:
            for i, batch in zip(missing, self._engine.tables([requests[i] for i in missing]), strict=True):
                found[i] = self._keep(requests[i], _packed(batch))
        return [batch for batch in found if batch is not None]

    def table(self, child: int, parents: Sequence[int]) -> CountTable:
        """Count one family in full; that is not remembered."""
        return self._engine.table(child, parents)

    def observed(self, parents: Sequence[int]) -> int:
        """Return how many configurations of these parents occur."""
        return self._engine.observed(parents)

    def _find(self, request: Request) -> TableBatch | None:
        key = (request.child, request.parents, request.candidates is None)
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept.candidates != request.candidates:
            assert kept.candidates is not None
            assert request.candidates is not None
            places = {node: i for i, node in enumerate(kept.candidates)}
            if not places.keys() >= set(request.candidates):
                return None
            self._kept.move_to_end(key)
            return _selected(kept.batch, [places[node] for node in request.candidates])
        self._kept.move_to_end(key)
        return kept.batch

    def _keep(self, request: Request, batch: TableBatch) -> TableBatch:
        size = batch.counts.cells.nbytes + batch.counts.totals.nbytes + 48 * len(batch.q) + _OVERHEAD
        key = (request.child, request.parents, request.candidates is None)
        with self._lock:
            self.counted += len(batch.q)
            before = self._kept.pop(key, None)
            self._size += size - (before.size if before is not None else 0)
            self._kept[key] = _Kept(request.candidates, batch, size)
            while self._size > self._most and self._kept:
                self._size -= self._kept.popitem(last=False)[1].size
        return batch


def _packed(batch: TableBatch) -> TableBatch:
    """Leave out the zeros, which no likelihood looks at."""
    counts = batch.counts
    cells, cell_ends = _positive(counts.cells, counts.cell_ends)
    totals, total_ends = _positive(counts.totals, counts.total_ends)
    return batch._replace(
        counts=counts._replace(cells=cells, cell_ends=cell_ends, totals=totals, total_ends=total_ends)
    )


def _positive(values: NDArray[np.generic], ends: NDArray[np.int64]) -> tuple[NDArray[np.generic], NDArray[np.int64]]:
    kept = values > 0  # type: ignore[operator]  # numbers
    if kept.all():
        return values, ends
    before = np.concatenate([[0], np.cumsum(kept)])
    return values[kept], before[ends]


def _selected(batch: TableBatch, places: list[int]) -> TableBatch:
    """Return some of the tables of a batch, in this order."""
    counts, chosen = batch.counts, np.array(places, dtype=np.int64)
    cells, cell_ends = _runs(counts.cells, counts.cell_ends, places)
    totals, total_ends = _runs(counts.totals, counts.total_ends, places)
    some = Counted(cells, cell_ends, totals, total_ends, counts.n_positive[chosen], counts.q_obs[chosen])
    q, log_q, n_parents = batch.q[chosen], batch.log_q[chosen], batch.n_parents[chosen]
    return batch._replace(counts=some, q=q, log_q=log_q, n_parents=n_parents)


def _runs(
    values: NDArray[np.generic], ends: NDArray[np.int64], places: list[int]
) -> tuple[NDArray[np.generic], NDArray[np.int64]]:
    runs = np.split(values, ends[:-1])
    found = [runs[place] for place in places]
    return (np.concatenate(found) if found else values[:0]), np.cumsum([len(run) for run in found], dtype=np.int64)
