"""Count tables as values: one family's table, and a batch of tables reduced to what likelihoods need.

Only observed configurations and positive cells are stored. How the counts are found is elsewhere in this package.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


class Counted(NamedTuple):
    """Counts of several tables, one after the other.

    Which configuration a count belongs to does not matter to any built-in likelihood, nor do zeros, which may be there
    or not.
    """

    cells: NDArray[Any]  # the counts n_ijk: whole numbers, or floats where rows carry such weights
    cell_ends: NDArray[np.int64]  # (tables,) where each table ends in `cells`
    totals: NDArray[Any]  # the counts n_ij
    total_ends: NDArray[np.int64]  # (tables,) where each table ends in `totals`
    n_positive: NDArray[np.int64]  # (tables,) positive cells
    q_obs: NDArray[np.int64]  # (tables,) observed configurations


class TableBatch(NamedTuple):
    """Several tables with the same child: all that a built-in likelihood needs."""

    counts: Counted
    child: int
    r: int  # its declared levels
    q: NDArray[np.float64]  # (tables,) declared configurations of the parents, infinite beyond the floats
    log_q: NDArray[np.float64]  # (tables,) and their logs
    n_parents: NDArray[np.int64]  # (tables,)
    total: float  # number of rows, or the sum of their weights


@dataclass(frozen=True)
class CountTable:
    """The contingency table of a family over its observed configurations.

    Row j, level k has count n_ijk. Stored row by row (compressed sparse rows): configuration j's positive cells are
    ``levels[offsets[j]:offsets[j + 1]]`` with ``counts[offsets[j]:offsets[j + 1]]``. Configurations are in
    lexicographic order of the parents' levels.

    Parameters
    ----------
    r : int
        Declared levels of the child.
    q : int
        Declared configurations of the parents; 1 when there are none.
    offsets, levels, counts : array
        See above.
    configurations : array (observed configurations, parents)
        Level codes of the parents.
    n_nodes : int
        Variables in the data.

    Examples
    --------
    >>> table = CountTable.from_dense([[2, 1], [0, 0], [1, 2]])
    >>> table.r, table.q, table.q_obs, table.total
    (2, 3, 2, 6)
    >>> table.n_ij.tolist()
    [3, 3]
    """

    r: int
    q: int
    offsets: NDArray[np.int64]
    levels: NDArray[np.int64]
    counts: NDArray[np.int64] | NDArray[np.float64]
    configurations: NDArray[np.integer[Any]] = field(repr=False)
    n_nodes: int = 1

    @classmethod
    def from_dense(cls, counts: ArrayLike, *, n_nodes: int | None = None) -> CountTable:
        """Make a table from a full array, one row per configuration of the parents, one column per level of the child.

        Rows of zeros are configurations that were never observed; a single row means no parents.
        """
        full = np.asarray(counts)
        if full.ndim == 1:
            full = full[None, :]
        if full.ndim != 2 or 0 in full.shape:
            raise DataError(f"a count table must have two dimensions, configurations x levels, got shape {full.shape}")
        if full.dtype.kind not in "iuf" or (full < 0).any() or not np.isfinite(full).all():
            raise DataError("a count table must hold non-negative numbers")
        full = full.astype(np.float64 if full.dtype.kind == "f" else np.int64)
        q, r = full.shape
        observed = full.sum(axis=1) > 0
        row, level = np.nonzero(full[observed])
        offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=int(observed.sum())))]).astype(np.int64)
        n_parents = 0 if q == 1 else 1
        return cls(
            r=r,
            q=q,
            offsets=offsets,
            levels=level.astype(np.int64),
            counts=full[observed][row, level],
            configurations=np.flatnonzero(observed)[:, None][:, :n_parents].astype(np.int64),
            n_nodes=n_parents + 1 if n_nodes is None else n_nodes,
        )

    @property
    def n_parents(self) -> int:
        """Number of parents."""
        return int(self.configurations.shape[1])

    @property
    def q_obs(self) -> int:
        """Observed configurations (the paper's q-tilde)."""
        return len(self.offsets) - 1

    @cached_property
    def n_ij(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """Rows in each observed configuration."""
        if self.q_obs == 0:
            return self.counts[:0]
        sums: NDArray[np.int64] = np.add.reduceat(self.counts, self.offsets[:-1])
        return sums

    def with_totals(self, n_ij: NDArray[np.float64]) -> CountTable:
        """Give the counts of the configurations, where these were counted for themselves."""
        self.__dict__["n_ij"] = n_ij
        return self

    @property
    def total(self) -> float:
        """Rows in the table, or the sum of their weights."""
        total: float = self.counts.sum().item()
        return total

    @property
    def fractions(self) -> int:
        """Cells with counts that need not be whole: all or none."""
        return len(self.counts) if self.counts.dtype.kind == "f" else 0

    def dense(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """Return the observed configurations as a full array, one row each, one column per declared level."""
        full: NDArray[Any] = np.zeros((self.q_obs, self.r), dtype=self.counts.dtype)
        full[np.repeat(np.arange(self.q_obs), np.diff(self.offsets)), self.levels] = self.counts
        return full

    def batch(self, child: int = 0) -> TableBatch:
        """Return the same counts as a batch of one."""
        return batch_of([self], child)


def batch_of(tables: Sequence[CountTable], child: int) -> TableBatch:
    """Put the tables of one child together, of which there is at least one."""
    q, log_q = declared([table.q for table in tables])
    sizes = np.array([[len(table.counts), table.q_obs] for table in tables], dtype=np.int64)
    ends = np.cumsum(sizes, axis=0)
    cells, totals = (np.concatenate([getattr(table, name) for table in tables]) for name in ("counts", "n_ij"))
    return TableBatch(
        counts=Counted(cells, ends[:, 0].copy(), totals, ends[:, 1].copy(), sizes[:, 0].copy(), sizes[:, 1].copy()),
        child=child,
        r=tables[0].r,
        q=q,
        log_q=log_q,
        n_parents=np.array([table.n_parents for table in tables], dtype=np.int64),
        total=float(tables[0].total),
    )


def join_batches(batches: Sequence[TableBatch]) -> TableBatch:
    """Put batches with the same child together, in their order."""
    if len(batches) == 1:
        return batches[0]
    parts = [batch.counts for batch in batches]
    ends = []
    for values, name in (("cells", "cell_ends"), ("totals", "total_ends")):
        sizes = [len(getattr(part, values)) for part in parts]
        starts = np.cumsum([0, *sizes[:-1]])
        ends.append(np.concatenate([getattr(part, name) + start for part, start in zip(parts, starts, strict=True)]))
    counts = Counted(
        cells=np.concatenate([part.cells for part in parts]),
        cell_ends=ends[0],
        totals=np.concatenate([part.totals for part in parts]),
        total_ends=ends[1],
        n_positive=np.concatenate([part.n_positive for part in parts]),
        q_obs=np.concatenate([part.q_obs for part in parts]),
    )
    q, log_q, n_parents = (np.concatenate([getattr(each, name) for each in batches]) for name in _SHAPES)
    return batches[0]._replace(counts=counts, q=q, log_q=log_q, n_parents=n_parents)


_SHAPES = ("q", "log_q", "n_parents")


def declared(configurations: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Numbers of declared configurations, which may exceed the floats, as the `q` and `log_q` of a batch."""
    limit = 1 << 1000
    q = np.array([float(q) if q < limit else math.inf for q in configurations])
    return q, np.array([math.log(q) for q in configurations])


def merge_counts(parts: Sequence[tuple[NDArray[Any], Counted]], size: int) -> Counted:
    """Bring tables that were counted in several ways into one order: those of each part have these places."""
    if len(parts) == 1:
        return parts[0][1]
    runs: list[Any] = [None] * size
    for places, part in parts:
        cells_of, totals_of = np.split(part.cells, part.cell_ends[:-1]), np.split(part.totals, part.total_ends[:-1])
        for place, *run in zip(places, cells_of, totals_of, part.n_positive, part.q_obs, strict=True):
            runs[place] = run
    cells, totals, n_positive, q_obs = zip(*runs, strict=True)
    ends = [np.cumsum([len(run) for run in kind]) for kind in (cells, totals)]
    joined = np.concatenate(cells), ends[0], np.concatenate(totals), ends[1]
    return Counted(*joined, np.array(n_positive), np.array(q_obs))
