"""Engines for rows that come in blocks, wherever these are: each block is counted apart, and the counts are added up.

Counts are whole numbers, and sums of them have no order, so that blocks may be counted by whoever has them. What is
counted in one pass over all rows is a `Turn`, what comes back are `Parts`; `SummedEngine` makes tables of them.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.counts.agenda import Agenda, Table, Turn, words_of
from mapdag.counts.children import child_columns
from mapdag.counts.engine import Engine, Request
from mapdag.counts.passes import BLOCK_ROWS, Blocks, Parts, Slices, count_blocks
from mapdag.counts.table import Counted, CountTable, TableBatch, declared, merge_counts
from mapdag.errors import DataError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.counts.blocks import Sparse

    Ints = NDArray[np.int64]


@dataclass
class Work:
    """How much an engine was asked for so far."""

    calls: int = 0  # of `tables` and `table`: how often somebody waited for an answer
    passes: int = 0  # over all rows
    requests: int = 0
    families: int = 0


class SummedEngine(Engine):
    """Counts families by adding up what is counted elsewhere; who that is, `parts` knows.

    Parameters
    ----------
    data : data set
        With `cards`, `widths` and `n_rows`.

    Attributes
    ----------
    work : Work
        How much was asked for so far.
    most_cells : int
        How many cells the tables of one pass may have, those of all threads together.
    """

    fractions = 0
    counts_gaps = True
    counts_interventions = True
    most_cells = 1 << 25  # 256 MB

    def __init__(self, data: Any) -> None:
        if data.weights is not None:
            raise DataError("rows that carry weights are counted in memory only: pass ", Setting("engine", "cores"))
        counted = child_columns(data, data.n_rows)
        self.cards = data.cards
        self.widths = counted.table.widths
        self.n_rows = data.n_rows
        self.total = data.n_rows
        self.work = Work()
        self._table, self._as_child = counted.table, counted.columns.tolist()
        self._totals = None if data.interventions is None else counted.totals
        self._levels: list[int] = counted.table.cards.tolist()
        self._widths: list[int] = self.widths.tolist()  # tables have room for gaps until they are added up

    @abstractmethod
    def parts(self, turn: Turn) -> Parts:
        """Count what one pass is for, in all rows."""

    def tables(self, requests: Sequence[Request]) -> list[TableBatch]:
        """Count every family of some requests: a batch of tables for each, positive counts only."""
        requests = [request._replace(child=self._as_child[request.child]) for request in requests]
        families = [request.families() for request in requests]
        agenda = self._agenda(requests)
        wanted: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        every = []
        for i, (request, mine) in enumerate(zip(requests, families, strict=True)):
            every.append([agenda.table(request.child, parents) for parents in mine])
            for place, table in enumerate(every[-1]):
                wanted[table.turn][i].append(place)
        found: list[list[tuple[Ints, Counted]]] = [[] for _ in requests]
        for number, turn in enumerate(agenda.turns):
            parts = self._parts(turn)
            for i, places in wanted[number].items():
                tables = [every[i][place] for place in places]
                found[i] += self._counted(np.array(places), tables, requests[i].child, parts)
        return [
            self._batch(request.child, mine, runs)
            for request, mine, runs in zip(requests, families, found, strict=True)
        ]

    def table(self, child: int, parents: Sequence[int]) -> CountTable:
        """Count one family in full: which configuration and level each count belongs to."""
        child = self._as_child[child]
        agenda = self._agenda([Request(child, tuple(parents))])
        counts, columns = self._cells(agenda.table(child, parents), self._parts(agenda.turns[0]))
        order = np.lexsort([columns[v] for v in (child, *reversed(parents))])
        configurations = (
            np.stack([columns[p][order] for p in parents], axis=1) if parents else np.empty((len(order), 0))
        )
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (configurations[1:] != configurations[:-1]).any(axis=1)
        return CountTable(
            r=self._levels[child],
            q=math.prod(self._levels[p] for p in parents),
            offsets=np.append(np.flatnonzero(new), len(order)),
            levels=columns[child][order],
            counts=counts[order],
            configurations=configurations[new].astype(np.int64),
            n_nodes=self.n_nodes,
        )

    def _agenda(self, requests: Sequence[Request]) -> Agenda:
        room = max(self.most_cells // self.threads, 1)
        agenda = Agenda(requests, self.widths, self.n_rows, min(self.n_rows, BLOCK_ROWS), room)
        self.work.calls += 1
        self.work.requests += len(requests)
        self.work.families += agenda.families
        return agenda

    def _parts(self, turn: Turn) -> Parts:
        from mapdag.counts.blocks import complete

        parts = self.parts(turn)
        complete(turn.jobs(), self.widths, parts.full)
        self.work.passes += 1
        return parts

    def _batch(self, child: int, families: list[tuple[int, ...]], runs: list[tuple[Ints, Counted]]) -> TableBatch:
        q, log_q = declared([math.prod(self._levels[p] for p in parents) for parents in families])
        return TableBatch(
            counts=merge_counts(runs, len(families)),
            child=child,
            r=self._levels[child],
            q=q,
            log_q=log_q,
            n_parents=np.array([len(parents) for parents in families], dtype=np.int64),
            total=float(self.total if self._totals is None else self._totals[child]),
        )

    def _counted(self, places: Ints, tables: list[Table], child: int, parts: Parts) -> list[tuple[Ints, Counted]]:
        """Positive counts of some tables with the same child, and which of them these are."""
        from mapdag.counts.blocks import positive_counts

        is_full = np.array([table.is_full for table in tables])
        full, starts = self._without_gaps([table for table in tables if table.is_full], parts.full)
        shapes = [
            (start, *self._sides(table, child))
            for table, start in zip((table for table in tables if table.is_full), starts, strict=True)
        ]
        found = [(places[is_full], positive_counts(full, np.array(shapes, dtype=np.int64)))] if shapes else []
        for place, table in zip(places.tolist(), tables, strict=True):
            if not table.is_full:
                found.append((np.array([place]), self._positive(table, child, parts.sparse[table.place])))
        return found

    def _without_gaps(self, tables: list[Table], full: Ints) -> tuple[Ints, list[int]]:
        """Full tables without the cells of rows that have gaps, and where each begins."""
        if self._widths == self._levels:
            return full, [table.place for table in tables]
        trimmed = [self._trimmed(table, full) for table in tables]
        starts = np.cumsum([0, *(len(each) for each in trimmed)]).tolist()
        return np.concatenate([full[:0], *trimmed]), starts[:-1]

    def _trimmed(self, table: Table, full: Ints) -> Ints:
        """Cells of a full table, those of rows with gaps left out."""
        shape = [self._widths[v] for v in table.order]
        cells = full[table.place :][: math.prod(shape)].reshape(shape)
        return cells[tuple(slice(self._levels[v]) for v in table.order)].ravel()

    def _sides(self, table: Table, child: int) -> tuple[int, int, int]:
        """Cells of the digits above the child's in a table, of the child's, and of those below."""
        at = table.order.index(child)
        above, below = (math.prod(self._levels[v] for v in side) for side in (table.order[:at], table.order[at + 1 :]))
        return above, self._levels[child], below

    def _positive(self, table: Table, child: int, sparse: Sparse) -> Counted:
        """Counts of a sparse table, and of its configurations."""
        from mapdag.counts.blocks import Sparse, add_sparse

        keys = (*sparse.keys[:-1], sparse.keys[-1] // np.uint64(self._widths[child]))
        if table.order[-1] != child:  # it was counted for another child
            columns = self._digits(words_of(table.order, self._widths), sparse.keys, self._widths)
            keys = tuple(columns[v] for v in table.order if v != child)
        totals = add_sparse([Sparse(keys, sparse.counts)]).counts
        sizes = np.array([[len(sparse.counts)], [len(totals)]], dtype=np.int64)
        return Counted(sparse.counts, sizes[0], totals, sizes[1], sizes[0], sizes[1])

    def _cells(self, table: Table, parts: Parts) -> tuple[Ints, dict[int, Ints]]:
        """Positive counts of a table, and for each variable the levels that they belong to."""
        if not table.is_full:
            keys, counts = parts.sparse[table.place]
            return counts, self._digits(words_of(table.order, self._widths), keys, self._widths)
        full = self._trimmed(table, parts.full)
        positive = np.flatnonzero(full)
        return full[positive], self._digits((table.order,), (positive,), self._levels)

    @staticmethod
    def _digits(words: Sequence[Sequence[int]], keys: Sequence[NDArray[Any]], sizes: Sequence[int]) -> dict[int, Ints]:
        """Levels of each variable that keys stand for, variables having so many of them."""
        columns = {}
        for key, word in zip(keys, words, strict=True):
            for variable in reversed(word):
                key, digit = np.divmod(key, np.asarray(sizes[variable], dtype=key.dtype))  # noqa: PLW2901
                columns[variable] = digit.astype(np.int64)
        return columns


class BlocksEngine(SummedEngine):
    """Counts blocks of rows in this process.

    Parameters
    ----------
    data : data set
        With `blocks` (see `mapdag.counts.passes.Blocks`), or a table in memory.
    """

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        self._blocks: Blocks = data.blocks if hasattr(data, "blocks") else Slices(self._table.codes)

    def parts(self, turn: Turn) -> Parts:
        """Count what one pass is for, block by block, in threads."""
        return count_blocks(self._blocks, turn, self._table.cards, self.widths, threads=self.threads)
