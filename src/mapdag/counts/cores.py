"""The engine that counts on this machine's cores, rows in memory.

Every request is "this family, extended by each of these candidate parents". How it is counted is decided in
`mapdag.counts.choice`; all ways give the same counts. Kernels are imported on first use, so that importing the package
stays light.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from mapdag.checks import is_one_of
from mapdag.counts.children import child_columns
from mapdag.counts.engine import Engine, Request
from mapdag.counts.table import Counted, CountTable, TableBatch, merge_counts
from mapdag.errors import ParameterError
from mapdag.tasks import helped
from mapdag.wording import brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.data import Dataset

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

Backend = Literal["auto", "bitsets", "tables", "sorted"]

_WORTH_A_THREAD = 1 << 20  # codes that outweigh the hand-over to a thread
_NOBODYS = np.empty((0, 0), dtype=np.int32)


class Rows(NamedTuple):
    """The rows of a data set as kernels take them."""

    codes: Any  # (variables, rows) unsigned
    bits: NDArray[np.uint64]  # (levels, words) a bitset of rows for each level of each variable, and for its gaps
    first_level: NDArray[np.int64]  # (variables + 1,) where the levels of each begin
    cards: NDArray[np.int64]  # (variables,) how many there are,
    widths: NDArray[np.int64]  # (variables,) and with gaps, which are one more where there are any


class Counter(Engine):
    """Counts of any family in one data set; nodes are column indices.

    Rows that lack a member of a family, where the data have gaps, are not in its table; neither are those in which the
    child was set.

    Parameters
    ----------
    data : Dataset
        Weighted rows are counted by their weights.
    backend : {"auto", "bitsets", "tables", "sorted"}
        "auto" takes the cheapest for each candidate; the others are for tests and for the curious.
    threads : int
        How many threads bring the rows into the form that is counted.
    """

    counts_gaps = True
    counts_interventions = True

    def __init__(self, data: Dataset, *, backend: Backend = "auto", threads: int = 1) -> None:
        if not is_one_of(backend, ("auto", "bitsets", "tables", "sorted")):
            raise ParameterError(f"backend must be 'auto', 'bitsets', 'tables' or 'sorted', got {brief(backend)}")
        if backend in ("bitsets", "tables") and data.weights is not None:
            raise ParameterError(f"backend={backend!r} cannot count weighted rows; use 'auto' or 'sorted'")
        self._backend = backend
        self._threads = threads
        counted = child_columns(data, data.total)
        self.codes = counted.table.codes
        self.cards = data.cards
        self.widths = counted.table.widths
        self.as_child, self.totals = counted.columns, counted.totals
        self._levels = counted.table.cards
        self.weights = data.exact_weights
        self.total = data.total
        self.n_rows = data.n_rows
        # Rows that all weigh the same are counted as if they had no weights; the counts are then multiplied.
        self._same = self.weights is not None and self.n_rows > 0 and bool((self.weights == self.weights[0]).all())
        self.fractions = self.n_rows if self.weights is not None and self.weights.dtype.kind == "f" else 0

    @property
    def is_compiled(self) -> bool:
        """Whether rows have no weights."""
        return self.weights is None

    @cached_property
    def rows(self) -> Rows:
        """What the kernels work on."""
        from mapdag.counts import bitsets

        first_level = np.concatenate([[0], np.cumsum(self.widths)])
        bits, following = bitsets.no_bits(first_level[-1], self.n_rows), np.zeros(1, dtype=np.int64)

        def pack() -> None:
            bitsets.pack(self.codes, first_level, following, bits)

        with helped(pack, self._threads, min(self._threads - 1, self.codes.size // _WORTH_A_THREAD)):
            pack()
        return Rows(self.codes, bits, first_level, self._levels, self.widths)

    @cached_property
    def way(self) -> int:
        """Code of the backend in `mapdag.counts.choice`."""
        from mapdag.counts import choice

        return int(getattr(choice, self._backend.upper()))

    def observed(self, parents: Sequence[int]) -> int:
        """Return how many configurations of these parents occur."""
        from mapdag.counts import rows

        if not parents or self.n_rows == 0:
            return 1 if self.n_rows else 0
        return rows.number_rows(self.codes, np.array(parents, dtype=np.int64), self._levels).n_cells

    def tables(self, requests: Sequence[Request]) -> list[TableBatch]:
        """Count every family of some requests: a batch of tables for each, positive counts only.

        All in memory at once; a search asks `mapdag.families.FamilyScores`, which scores tables as they come.
        """
        return [self._tables(*request) for request in requests]

    def extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> TableBatch:
        """Count ``child`` given ``parents`` and each candidate in turn: one table per candidate."""
        return self._extensions(child, tuple(parents), tuple(candidates))

    def family(self, child: int, parents: Sequence[int]) -> TableBatch:
        """Count one family: a batch of one table."""
        return self._tables(child, tuple(parents), None)

    def _tables(self, child: int, parents: tuple[int, ...], candidates: tuple[int, ...] | None) -> TableBatch:
        if candidates is not None:
            return self._extensions(child, parents, candidates)
        if parents:  # as one more parent added to the others
            return self._extensions(child, parents[:-1], parents[-1:])
        return self.table(child, ()).batch(child)._replace(total=float(self.totals[child]))

    def _extensions(self, child: int, parents: tuple[int, ...], candidates: tuple[int, ...]) -> TableBatch:
        from mapdag.counts import choice

        family, members = self._family(child, parents), np.array(candidates, dtype=np.int64)
        if self.weights is not None and not self._same:
            return self._batch(child, parents, members, self._weighted(family, members))
        how = choice.choose(self.n_rows, family, members, self._levels, self.way)
        cells, order = self._cells(family if (how != choice.BITSETS).any() else family[-1:])
        if self.way == choice.AUTO:
            choice.choose_again(how, self.n_rows, cells.n_cells, family, members, self._levels)
        parts = []
        for each in np.unique(how):
            places = np.flatnonzero(how == each)
            counted = choice.count(self.rows, family, cells, order, members[places], each, _NOBODYS)
            parts.append((places, counted))
        counts = merge_counts(parts, len(members))
        if self.weights is not None:
            weight = self.weights[0]
            counts = counts._replace(cells=counts.cells * weight, totals=counts.totals * weight)
        return self._batch(child, parents, members, counts)

    def table(self, child: int, parents: Sequence[int]) -> CountTable:
        """Count one family in full: which configuration and level each count belongs to."""
        family = self._family(child, parents)
        cells, order = self._cells(family)
        ends = order.ends[: cells.n_cells]
        starts = np.concatenate([[0], ends[:-1]])[: cells.n_cells]
        offsets = np.concatenate([[0], cells.configuration_ends])
        counts = ends - starts
        if self.weights is not None and len(starts):
            counts = np.add.reduceat(self.weights[order.rows[: ends[-1]]], starts)
        first = order.rows[starts]
        return CountTable(
            r=int(self.cards[child]),
            q=self.configurations(parents),
            offsets=offsets,
            levels=self.codes[child, first].astype(np.int64),
            counts=counts,
            configurations=self.codes[np.ix_(family[:-1], first[offsets[:-1]])].T,
            n_nodes=self.n_nodes,
        )

    def _family(self, child: int, parents: Sequence[int]) -> Ints:
        """Columns that a family is counted with."""
        return np.array([*parents, self.as_child[child]], dtype=np.int64)

    def _cells(self, family: Ints) -> tuple[Any, Any]:
        from mapdag.counts import rows

        cells = rows.number_rows(self.codes, family, self._levels)
        return cells, rows.sort_rows(cells.ids, cells.n_cells)

    def _weighted(self, family: Ints, candidates: Ints) -> Counted:
        from mapdag.counts import rows

        assert self.weights is not None
        cells, order = self._cells(family)
        zero, nobodys = np.empty(0, dtype=self.weights.dtype), np.empty((0, 0), dtype=self.weights.dtype)
        ends = cells.configuration_ends
        return rows.count_sorted(self.codes, order, ends, candidates, self._levels, self.weights, zero, nobodys)

    def _batch(self, child: int, parents: tuple[int, ...], candidates: Ints, counts: Counted) -> TableBatch:
        q, log_q = self.declared(parents)
        which = self.card_index[candidates]
        return TableBatch(
            counts=counts,
            child=child,
            r=int(self.cards[child]),
            q=q[which],
            log_q=log_q[which],
            n_parents=np.full(len(candidates), len(parents) + 1, dtype=np.int64),
            total=float(self.totals[child]),
        )
