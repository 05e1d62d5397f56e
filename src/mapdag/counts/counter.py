"""`Counter`: the counts of any family in one data set.

Every request is "this family, extended by each of these candidate parents". How it is counted is decided in
`mapdag.counts.dispatch`; all ways give the same counts. Kernels are imported on first use, so that importing the
package stays light.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mapdag.counts.table import CountTable, TableBatch, declared
from mapdag.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.data import Dataset

Backend = Literal["auto", "bitsets", "tables", "sorted"]


class Counter:
    """Counts of any family in one data set; nodes are column indices.

    Parameters
    ----------
    data : Dataset
        Weighted rows are counted by their weights.
    backend : {"auto", "bitsets", "tables", "sorted"}
        "auto" takes the cheapest for each candidate; the others are for tests and for the curious.
    """

    def __init__(self, data: Dataset, *, backend: Backend = "auto") -> None:
        if backend not in ("auto", "bitsets", "tables", "sorted"):
            raise ParameterError(f"backend must be 'auto', 'bitsets', 'tables' or 'sorted', got {backend!r}")
        if backend in ("bitsets", "tables") and data.weights is not None:
            raise ParameterError(f"backend={backend!r} cannot count weighted rows; use 'auto' or 'sorted'")
        self._backend = backend
        self.codes = data.codes
        self.cards = data.cards
        self.weights = data.exact_weights
        self.total: float = data.total
        self.n_nodes, self.n_rows = data.codes.shape
        self.fractions = self.n_rows if self.weights is not None and self.weights.dtype.kind == "f" else 0
        values, self.card_index = np.unique(self.cards, return_inverse=True)
        self.card_values = values.astype(np.float64)
        self._declared: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """Codes, bitsets, first level and number of levels of each variable: what the kernels work on."""
        from mapdag.counts import bitsets

        first_level = np.concatenate([[0], np.cumsum(self.cards)])
        return self.codes, bitsets.pack(self.codes, first_level), first_level, self.cards

    @cached_property
    def backend(self) -> int:
        """Code of the backend in `mapdag.counts.dispatch`."""
        from mapdag.counts import dispatch

        codes = {
            "auto": dispatch.AUTO,
            "bitsets": dispatch.BITSETS,
            "tables": dispatch.TABLES,
            "sorted": dispatch.SORTED,
        }
        return codes[self._backend]

    def configurations(self, parents: Sequence[int]) -> int:
        """Return how many configurations of these parents are declared."""
        return math.prod(int(self.cards[p]) for p in parents)

    def observed(self, parents: Sequence[int]) -> int:
        """Return how many configurations of these parents occur."""
        from mapdag.counts import histogram

        if not parents or self.n_rows == 0:
            return 1 if self.n_rows else 0
        observed: int = histogram.number_rows(self.codes, np.array(parents, dtype=np.int64), self.cards)[1]
        return observed

    def declared(self, parents: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Declared configurations of these parents and one more with the i-th number of levels, and their logs.

        Whole numbers until the end, so that the order of the parents leaves no trace.
        """
        q = self.configurations(parents)
        if q not in self._declared:
            self._declared[q] = declared([q * int(r) for r in self.card_values])
        return self._declared[q]

    def extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> TableBatch:
        """Count ``child`` given ``parents`` and each candidate in turn: one table per candidate.

        All in memory at once; a search asks `mapdag.objective.FamilyScores`, which scores tables as they come.
        """
        from mapdag.counts import dispatch

        family, members = np.array([*parents, child], dtype=np.int64), np.asarray(candidates, dtype=np.int64)
        if self.weights is not None:
            return self._batch(child, parents, members, self._weighted(family, members))
        how = dispatch.choose(self.n_rows, family, members, self.cards, self.backend)
        rows, order = self._rows(family) if (how != dispatch.BITSETS).any() else _no_rows()
        dispatch.refine_choice(
            how, self.n_rows, rows[1], family, members, self.cards
        ) if self.backend == dispatch.AUTO else None
        parts = []
        for each in np.unique(how):
            places = np.flatnonzero(how == each)
            parts.append((places, dispatch.count(self.arrays, family, rows, order, members[places], each)))
        return self._batch(child, parents, members, _merged(parts, len(members)))

    def family(self, child: int, parents: Sequence[int]) -> TableBatch:
        """Count one family: a batch of one table."""
        if parents:
            return self.extensions(child, parents[:-1], parents[-1:])
        return self.table(child, ()).batch()

    def table(self, child: int, parents: Sequence[int]) -> CountTable:
        """Count one family in full: which configuration and level each count belongs to."""
        family = np.array([*parents, child], dtype=np.int64)
        (_, _, configuration_ends), (order, cell_ends) = self._rows(family)
        starts = np.concatenate([[0], cell_ends[:-1]])
        offsets = np.concatenate([[0], configuration_ends])
        counts = cell_ends - starts if self.weights is None else np.add.reduceat(self.weights[order], starts)
        first = order[starts]
        return CountTable(
            r=int(self.cards[child]),
            q=self.configurations(parents),
            offsets=offsets,
            levels=self.codes[child, first].astype(np.int64),
            counts=counts,
            configurations=self.codes[np.ix_(family[:-1], first[offsets[:-1]])].T,
            n_nodes=self.n_nodes,
        )

    def _rows(self, family: NDArray[np.int64]) -> tuple[Any, Any]:
        from mapdag.counts import histogram

        rows = histogram.number_rows(self.codes, family, self.cards)
        return rows, histogram.sort_rows(rows[0], rows[1])

    def _weighted(self, family: NDArray[np.int64], candidates: NDArray[np.int64]) -> tuple[Any, ...]:
        from mapdag.counts import histogram

        assert self.weights is not None
        rows, order = self._rows(family)
        zero = np.empty(0, dtype=self.weights.dtype)
        counts: tuple[Any, ...] = histogram.count_sorted(
            self.codes, order, rows[2], candidates, self.cards, self.weights, zero
        )
        return counts

    def _batch(
        self, child: int, parents: Sequence[int], candidates: NDArray[np.int64], counts: tuple[Any, ...]
    ) -> TableBatch:
        q, log_q = self.declared(parents)
        which = self.card_index[candidates]
        cells, cell_ends, totals, total_ends, n_positive, q_obs = counts
        return TableBatch(
            cells=cells,
            cell_ends=cell_ends,
            totals=totals,
            total_ends=total_ends,
            n_positive=n_positive,
            q_obs=q_obs,
            r=int(self.cards[child]),
            q=q[which],
            log_q=log_q[which],
            n_parents=np.full(len(candidates), len(parents) + 1, dtype=np.int64),
            total=self.total,
            n_nodes=self.n_nodes,
        )


def _no_rows() -> tuple[Any, Any]:
    """Stand-ins for rows that nobody looks at."""
    nothing = np.empty(0, dtype=np.uint32)
    return (nothing, 1, np.empty(0, dtype=np.int64)), (nothing, np.empty(0, dtype=np.int64))


def _merged(parts: list[tuple[NDArray[np.int64], tuple[Any, ...]]], size: int) -> tuple[Any, ...]:
    """Bring tables that were counted in several ways into the order of the candidates."""
    if len(parts) == 1:
        return parts[0][1]
    runs: list[Any] = [None] * size
    for places, (cells, cell_ends, totals, total_ends, n_positive, q_obs) in parts:
        split = zip(np.split(cells, cell_ends[:-1]), np.split(totals, total_ends[:-1]), n_positive, q_obs, strict=True)
        for place, run in zip(places, split, strict=True):
            runs[place] = run
    cells, totals, n_positive, q_obs = zip(*runs, strict=True)
    ends = [np.cumsum([len(run) for run in kind]) for kind in (cells, totals)]
    return np.concatenate(cells), ends[0], np.concatenate(totals), ends[1], np.array(n_positive), np.array(q_obs)
