"""Every DAG with a few labelled nodes: 3,781,503 with six of them, in a tenth of a second.

A DAG is built from its sources: take them away and a smaller DAG is left, whose own sources each have a parent among
those taken away, while the other nodes may have any. Every DAG arises once. Graphs are kept as whole numbers, bit
``i n + j`` for the arc ``i -> j``, in arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from mapdag.errors import CapacityError
from mapdag.graphs.census import check_nodes, n_dags
from mapdag.graphs.dag import DAG
from mapdag.graphs.masks import members, transpose
from mapdag.graphs.nodes import as_index

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]

MOST_NODES = 7
_BLOCK = 1 << 21


def dag_codes(n: int) -> Iterator[Codes]:
    """Yield all DAGs with n nodes as whole numbers, in blocks; bit ``i n + j`` stands for the arc ``i -> j``.

    Parameters
    ----------
    n : int
        At most 7: 1,138,779,265 graphs, in seconds.

    Examples
    --------
    >>> sum(len(block) for block in dag_codes(5))
    29281
    """
    check_nodes(n)
    if n > MOST_NODES:
        raise CapacityError(
            f"n must be at most {MOST_NODES} to enumerate, got {n}: there are more than 2^{n_dags(n).bit_length() - 1} "
            "DAGs; count them (n_dags, arc_probability) or draw from them (uniform_dag)"
        )
    everyone = (1 << n) - 1
    smaller: dict[int, dict[int, Codes]] = {0: {0: np.zeros(1, dtype=np.int64)}}
    for nodes in sorted(range(everyone), key=int.bit_count):
        if nodes:
            smaller[nodes] = {
                sources: np.concatenate(list(_with_sources(n, nodes, sources, smaller)))
                for sources in range(1, nodes + 1)
                if sources & nodes == sources
            }
    if not n:
        yield smaller[0][0]
    for sources in range(1, everyone + 1):
        yield from _with_sources(n, everyone, sources, smaller)


def _with_sources(n: int, nodes: int, sources: int, smaller: dict[int, dict[int, Codes]]) -> Iterator[Codes]:
    """Yield the DAGs over some nodes whose sources are exactly these."""
    rest = nodes ^ sources
    for inner, graphs in smaller[rest].items():
        added = np.zeros(1, dtype=np.int64)
        for child in members(rest):
            choices = _arcs_into(n, sources, child)
            added = np.add.outer(added, choices[1:] if inner >> child & 1 else choices).ravel()
        step = max(1, _BLOCK // len(added))
        for start in range(0, len(graphs), step):
            yield np.add.outer(graphs[start : start + step], added).ravel()


def _arcs_into(n: int, sources: int, child: int) -> Codes:
    """Return every set of arcs from these nodes to one other, the empty one first."""
    choices = np.zeros(1, dtype=np.int64)
    for tail in members(sources):
        choices = np.concatenate([choices, choices | np.int64(1 << (tail * n + child))])
    return choices


def all_dags(nodes: Iterable[str]) -> Iterator[DAG]:
    """Yield every DAG with these nodes, at most 7 of them.

    Examples
    --------
    >>> sum(dag.n_arcs for dag in all_dags(["A", "B", "C"]))
    48
    """
    index = as_index(nodes)
    n = len(index)
    row = (1 << n) - 1
    for block in dag_codes(n):
        for code in block.tolist():
            children = [code >> (i * n) & row for i in range(n)]
            yield DAG.from_parent_masks(index, transpose(children), check=False)
