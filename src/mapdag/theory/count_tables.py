"""Count tables of the families of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.counts import CountTable, engine_of
from mapdag.objective import align

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data import Dataset
    from mapdag.graphs import DAG


def family_counter(dag: DAG, data: Dataset) -> Callable[[str, Iterable[str]], CountTable]:
    """Return the function that counts a node with some parents; the data must have the columns of the graph.

    Rows that lack one of them, where the data have gaps, do not count.
    """
    align(dag, data)
    counter = engine_of(data)
    index = {name: i for i, name in enumerate(data.names)}
    return lambda node, parents: counter.table(index[node], sorted(index[p] for p in parents))


def without_parent(table: CountTable, which: int, levels: int) -> CountTable:
    """Return the table of the same rows without one of the parents, which has so many levels.

    Examples
    --------
    >>> table = CountTable.from_dense([[2, 1], [0, 0], [1, 2]])
    >>> without_parent(table, 0, 3).dense().tolist()
    [[3, 3]]
    """
    left = np.delete(table.configurations, which, axis=1)
    of_cell = np.repeat(np.arange(table.q_obs), np.diff(table.offsets))
    keys = np.column_stack([left[of_cell], table.levels])
    cells, where = np.unique(keys, axis=0, return_inverse=True)
    counts: NDArray[Any] = np.zeros(len(cells), dtype=table.counts.dtype)
    np.add.at(counts, where.reshape(-1), table.counts)
    new = np.ones(len(cells), dtype=np.bool_)
    new[1:] = (cells[1:, :-1] != cells[:-1, :-1]).any(axis=1)
    return CountTable(
        r=table.r,
        q=table.q // levels,
        offsets=np.append(np.flatnonzero(new), len(cells)),
        levels=cells[:, -1].astype(np.int64),
        counts=counts,
        configurations=cells[new, :-1],
        n_nodes=table.n_nodes,
    )
