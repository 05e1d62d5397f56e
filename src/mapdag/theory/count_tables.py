"""Count tables of the families of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from mapdag.counts import engine_of
from mapdag.objective import align

if TYPE_CHECKING:
    from mapdag.counts import CountTable
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
