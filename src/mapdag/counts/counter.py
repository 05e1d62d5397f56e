"""The one place that decides how a family is counted.

`Counter` holds a data set in the forms that the kernels want. Every request is "this family, extended by each of
these candidate parents"; for each candidate the dispatcher estimates what the two kernels would take and picks the
cheaper one. Both give the same counts. Kernels are imported on first use, so that importing the package stays light.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from mapdag.counts.table import CountTable, TableBatch, declared
from mapdag.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from mapdag.data import Dataset

    _Counts: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
    _Count: TypeAlias = Callable[[NDArray[np.int64]], _Counts]

Backend = Literal["auto", "bitsets", "histogram"]

# Measured on one core of a Zen 4 server: nanoseconds per unit of work. Only their ratios matter.
_WORD = 1 / 15  # popcount of one word with another
_ENTRY = 1.2  # one entry of the dense product: cleared, then collected
_ROW = 1.6  # one row through the histogram
_MOST_DENSE = 1 << 12  # cells of a family that the bitset kernel will enumerate
_CHUNK = 1 << 17  # entries of a result buffer: 1 MiB, so that a batch is scored while it is in the cache


class Counter:
    """Counts of any family in one data set.

    Parameters
    ----------
    data : Dataset
        Weighted rows are counted by their weights.
    backend : {"auto", "bitsets", "histogram"}
        "auto" takes the cheaper for each family; the others are for tests and for the curious.
    """

    def __init__(self, data: Dataset, *, backend: Backend = "auto") -> None:
        if backend not in ("auto", "bitsets", "histogram"):
            raise ParameterError(f"backend must be 'auto', 'bitsets' or 'histogram', got {backend!r}")
        if backend == "bitsets" and data.weights is not None:
            raise ParameterError("backend='bitsets' cannot count weighted rows; use 'auto' or 'histogram'")
        self.backend = backend
        self.codes = data.codes
        self.cards = data.cards
        self.weights = data.weights
        self.total: float = data.total
        self.n_nodes, self.n_rows = data.codes.shape
        self._card_values, self._card_index = np.unique(self.cards, return_inverse=True)
        self._zero = np.zeros(0, dtype=np.int64 if data.weights is None else data.weights.dtype)

    @cached_property
    def _first_level(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.cards)])

    @cached_property
    def _bits(self) -> NDArray[np.uint64]:
        from mapdag.counts import bitsets

        bits: NDArray[np.uint64] = bitsets.pack(self.codes, self._first_level)
        return bits

    def configurations(self, parents: Sequence[int]) -> int:
        """Return how many configurations of these parents are declared."""
        return math.prod(int(self.cards[p]) for p in parents)

    def extensions(
        self, child: int, parents: Sequence[int], candidates: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], TableBatch]]:
        """Count ``child`` given ``parents`` and each candidate in turn.

        Yields
        ------
        places : int64 array
            Which of `candidates` (as positions) the batch holds.
        batch : TableBatch
            Their tables, in that order.
        """
        sizes = self.cards[candidates]
        family = np.array([*parents, child], dtype=np.int64)
        dense = self.configurations(parents) * int(self.cards[child])
        by_bits = self._prefer_bitsets(dense, sizes)
        for use_bits in (True, False):
            places = np.flatnonzero(by_bits == use_bits)
            if not len(places):
                continue
            count = self._by_bitsets(family) if use_bits else self._by_histogram(family)
            entries = dense if use_bits else min(dense, self.n_rows)
            for chunk in _split(places, np.minimum(sizes[places] * entries, self.n_rows)):
                yield chunk, self._batch(child, parents, candidates[chunk], count(candidates[chunk]))

    def estimate(self, child: int, parents: Sequence[int], candidates: NDArray[np.int64]) -> float:
        """Estimate how many nanoseconds `extensions` will take."""
        dense = self.configurations(parents) * int(self.cards[child])
        return float(np.minimum(*self._costs(dense, self.cards[candidates])).sum())

    def family(self, child: int, parents: Sequence[int]) -> TableBatch:
        """Count one family: a batch of one table."""
        if parents:
            *rest, last = parents
            return next(self.extensions(child, rest, np.array([last], dtype=np.int64)))[1]
        counts = np.bincount(self.codes[child], weights=self.weights, minlength=0)
        counts = counts[counts > 0].astype(self._zero.dtype)
        one = np.array([1], dtype=np.int64)
        return TableBatch(
            cells=counts,
            cell_ends=one * len(counts),
            totals=np.array([counts.sum()], dtype=counts.dtype),
            total_ends=one,
            r=int(self.cards[child]),
            q=np.ones(1),
            log_q=np.zeros(1),
            n_parents=one * 0,
            total=self.total,
            n_nodes=self.n_nodes,
        )

    def table(self, child: int, parents: Sequence[int]) -> CountTable:
        """Count one family in full: which configuration and level each count belongs to."""
        from mapdag.counts import histogram

        family = np.array([*parents, child], dtype=np.int64)
        order, cell_ends, configuration_ends = histogram.sort_rows(self.codes, self._with_cards(family))
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

    def _prefer_bitsets(self, dense: int, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell for each candidate whether bitsets would be cheaper than going through the rows."""
        if self.backend != "auto":
            return np.full(len(sizes), self.backend == "bitsets")
        if self.weights is not None or dense > _MOST_DENSE:
            return np.zeros(len(sizes), dtype=np.bool_)
        by_bitsets, by_rows = self._costs(dense, sizes)
        cheaper: NDArray[np.bool_] = by_bitsets < by_rows
        return cheaper

    def _costs(self, dense: int, sizes: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Estimate nanoseconds for each candidate: by bitsets, by the histogram."""
        dense = min(dense, 1 << 40)
        by_bitsets = dense * (self.n_rows / 64 * _WORD * (sizes - 1) + _ENTRY * sizes)
        return by_bitsets, _ROW * (self.n_rows + np.minimum(dense * sizes, self.n_rows))

    def _by_bitsets(self, family: NDArray[np.int64]) -> _Count:
        from mapdag.counts import bitsets

        first = self._first_level
        members = np.column_stack([first[family], self.cards[family]])
        return lambda candidates: bitsets.count_extensions(
            self._bits, members, np.column_stack([first[candidates], self.cards[candidates]])
        )

    def _by_histogram(self, family: NDArray[np.int64]) -> _Count:
        from mapdag.counts import histogram

        groups = histogram.sort_rows(self.codes, self._with_cards(family))
        return lambda candidates: histogram.count_extensions(
            self.codes, groups, self._with_cards(candidates), self.weights, self._zero
        )

    def _with_cards(self, variables: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.column_stack([variables, self.cards[variables]])

    def _batch(self, child: int, parents: Sequence[int], candidates: NDArray[np.int64], counts: _Counts) -> TableBatch:
        q = self.configurations(parents)
        # Whole numbers until the end, so that the order of the parents leaves no trace; few, as most cards are equal.
        each = declared([q * int(r) for r in self._card_values])
        which = self._card_index[candidates]
        cells, cell_ends, totals, total_ends = counts
        return TableBatch(
            cells=cells,
            cell_ends=cell_ends,
            totals=totals,
            total_ends=total_ends,
            r=int(self.cards[child]),
            q=each["q"][which],
            log_q=each["log_q"][which],
            n_parents=np.full(len(candidates), len(parents) + 1, dtype=np.int64),
            total=self.total,
            n_nodes=self.n_nodes,
        )


def _split(places: NDArray[np.int64], sizes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Cut `places` into runs whose sizes sum to about one chunk."""
    chunk = np.cumsum(sizes) // _CHUNK
    return np.split(places, np.flatnonzero(np.diff(chunk)) + 1)
