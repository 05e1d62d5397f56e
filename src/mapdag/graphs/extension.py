"""From a partially directed graph to a DAG: the consistent extension of Dor and Tarsi, on bitmasks.

The opposite way, from a DAG to its equivalence class, is in `meek`.
"""

from __future__ import annotations

from collections.abc import Sequence

from mapdag.errors import GraphError
from mapdag.graphs.masks import mask_of, members, transpose
from mapdag.graphs.nodes import listed


def consistent_extension(nodes: Sequence[str], parents: Sequence[int], neighbours: Sequence[int]) -> list[int]:
    """Direct every edge so that neither a cycle nor a new v-structure appears.

    Dor and Tarsi (1992, "A simple algorithm to construct a consistent extension of a partially oriented
    graph"): take a node without children each of whose neighbours is adjacent to all else that it is adjacent
    to, let its edges point to it, remove it, repeat. Any such node will do; the one of largest position is
    taken, so that free edges tend to point along the node order. Removing a node never spoils another
    candidate, hence only the nodes around the removed one are looked at again.

    Parameters
    ----------
    nodes : sequence of str
        The names, for the error message.
    parents, neighbours : sequence of int
        Masks of the arcs into each node and of its undirected edges.

    Returns
    -------
    list of int
        The parents of each node in the DAG.

    Raises
    ------
    GraphError
        If there is no such DAG.

    Examples
    --------
    >>> consistent_extension(["A", "B", "C"], [0, 0, 0], [0b110, 0b101, 0b011])
    [0, 1, 3]
    """
    free, children = list(neighbours), list(transpose(parents))
    adjacent = [p | c | n for p, c, n in zip(parents, children, free, strict=True)]
    result = list(parents)
    left = (1 << len(result)) - 1
    ready = mask_of(i for i in range(len(result)) if _is_sink(i, adjacent, children, free))
    while ready:
        node = ready.bit_length() - 1
        bit = 1 << node
        ready ^= bit
        left ^= bit
        result[node] |= free[node]
        for other in members(adjacent[node]):
            adjacent[other] &= ~bit
            children[other] &= ~bit
            free[other] &= ~bit
        for other in members(adjacent[node] & ~ready):
            if _is_sink(other, adjacent, children, free):
                ready |= 1 << other
    if left:
        raise GraphError(
            "no DAG agrees with this graph: directing the edges among "
            f"{listed([nodes[i] for i in members(left)])} always closes a cycle or adds a v-structure"
        )
    return result


def _is_sink(node: int, adjacent: Sequence[int], children: Sequence[int], free: Sequence[int]) -> bool:
    """Tell whether all edges of a node can point to it without a new v-structure."""
    if children[node]:
        return False
    around = adjacent[node]
    return all(around & ~adjacent[other] == 1 << other for other in members(free[node]))
