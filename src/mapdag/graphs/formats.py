"""Graphs to and from model strings, adjacency matrices and networkx.

Each function takes or returns plain nodes and arcs; the classes wrap them. DOT has its own module, `dot`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mapdag.errors import FormatError, GraphError, MissingExtraError
from mapdag.graphs.bitsets import members
from mapdag.graphs.nodes import Arc, NodeIndex

_SPECIAL = frozenset("[]|:")


def is_special(name: str) -> bool:
    """Tell whether a name cannot stand in a model string.

    Examples
    --------
    >>> is_special("a b"), is_special("a:b")
    (False, True)
    """
    return not _SPECIAL.isdisjoint(name)


def to_modelstring(nodes: Iterable[str], parents: Callable[[str], Iterable[str]]) -> str:
    """Write `[node|parent:parent]` for each node, as bnlearn does.

    Raises
    ------
    GraphError
        If a name contains one of the characters that the notation needs.

    Examples
    --------
    >>> to_modelstring(["A", "B", "C"], {"A": [], "B": ["A"], "C": ["A", "B"]}.__getitem__)
    '[A][B|A][C|A:B]'
    """
    parts = []
    for node in nodes:
        if is_special(node):
            raise GraphError(
                f"a model string cannot hold the node {node!r}: names must not contain any of '[]|:' "
                "(rename it, or use another format)"
            )
        family = ":".join(parents(node))
        parts.append(f"[{node}|{family}]" if family else f"[{node}]")
    return "".join(parts)


def parse_modelstring(text: str) -> tuple[list[str], list[Arc]]:
    """Read `[node|parent:parent]...` into nodes, in the order of their brackets, and arcs.

    Blanks and line breaks between brackets are ignored; inside, they belong to the names.

    Raises
    ------
    FormatError
        If the notation is broken, a node has two brackets, or a parent has none.

    Examples
    --------
    >>> parse_modelstring("[A] [B|A]")
    (['A', 'B'], [('A', 'B')])
    """
    families: dict[str, list[str]] = {}
    where: dict[str, int] = {}
    start = 0
    while start < len(text):
        if text[start].isspace():
            start += 1
            continue
        end = text.find("]", start)
        if text[start] != "[" or end < 0:
            raise _broken("a node must be written [name] or [name|parent:parent]", text, start)
        node, bar, family = text[start + 1 : end].partition("|")
        names = family.split(":") if bar else []
        if any(not name or is_special(name) for name in (node, *names)):
            raise _broken(f"cannot read {text[start : end + 1]!r} as [name] or [name|parent:parent]", text, start)
        if node in families or len(set(names)) < len(names):
            raise _broken(f"{text[start : end + 1]!r} repeats a node", text, start)
        families[node], where[node] = names, start
        start = end + 1
    for node, names in families.items():
        for name in names:
            if name not in families:
                raise _broken(f"the parent {name!r} of {node!r} is not in brackets itself", text, where[node])
    return list(families), [(name, node) for node, names in families.items() for name in names]


def _broken(message: str, text: str, position: int) -> FormatError:
    """Return the error for a place in a model string."""
    line_start = text.rfind("\n", 0, position) + 1
    return FormatError(message, "model string", text.count("\n", 0, position) + 1, position - line_start + 1)


def to_adjacency(rows: Sequence[int]) -> npt.NDArray[np.int8]:
    """Return the square 0/1 matrix whose row `i` is the mask `rows[i]`.

    Examples
    --------
    >>> to_adjacency([0b10, 0b00])
    array([[0, 1],
           [0, 0]], dtype=int8)
    """
    matrix = np.zeros((len(rows), len(rows)), dtype=np.int8)
    for i, mask in enumerate(rows):
        matrix[i, list(members(mask))] = 1
    return matrix


def from_adjacency(matrix: npt.ArrayLike, nodes: Iterable[str] | None) -> tuple[NodeIndex, list[int]]:
    """Read a square 0/1 matrix into an index and the mask of each row.

    Raises
    ------
    GraphError
        If it is not square, does not fit the nodes, or has other entries.

    Examples
    --------
    >>> from_adjacency([[0, 1], [0, 0]], ["A", "B"])[1]
    [2, 0]
    """
    try:
        array = np.asarray(matrix)
    except ValueError:
        raise GraphError("an adjacency matrix must be square, got rows of different lengths") from None
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise GraphError(f"an adjacency matrix must be square, got shape {array.shape}")
    index = NodeIndex([f"X{i + 1}" for i in range(len(array))] if nodes is None else nodes)
    if len(index) != len(array):
        raise GraphError(f"an adjacency matrix of {len(array)} nodes needs as many names, got {len(index)}")
    present = array == 1
    strange = np.argwhere(~(present | (array == 0)))
    if len(strange):
        i, j = map(int, strange[0])
        raise GraphError(
            f"an adjacency matrix holds only 0 and 1, got {array[i, j]} for "
            f"{index.names[i]!r} -> {index.names[j]!r}; a matrix of weights becomes one by `matrix != 0`"
        )
    rows = [0] * len(index)
    for i, j in np.argwhere(present).tolist():
        rows[i] |= 1 << j
    return index, rows


def to_networkx(nodes: Iterable[str], arcs: Iterable[Arc]) -> Any:
    """Return a networkx `DiGraph`.

    Examples
    --------
    >>> list(to_networkx(["A", "B"], [("A", "B")]).edges)
    [('A', 'B')]
    """
    try:
        import networkx as nx
    except ImportError:
        raise MissingExtraError("to_networkx needs networkx: pip install networkx") from None
    graph = nx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(arcs)
    return graph


def from_networkx(graph: Any) -> tuple[list[str], list[Arc]]:
    """Read the nodes and arcs of a networkx `DiGraph`; names that are not strings go through `str`.

    Nothing is imported: whoever has such a graph has networkx.

    Examples
    --------
    >>> import networkx as nx
    >>> from_networkx(nx.DiGraph([("A", "B"), ("B", 3)]))
    (['A', 'B', '3'], [('A', 'B'), ('B', '3')])
    """
    if not graph.is_directed():
        raise GraphError("a DAG needs a directed networkx graph (DiGraph), got an undirected one")
    return [str(node) for node in graph.nodes()], [(str(a), str(b)) for a, b in graph.edges()]
