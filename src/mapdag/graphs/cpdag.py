"""`CPDAG`: a graph with arcs and edges, which stands for a class of equivalent DAGs.

Only the value lives here. How a DAG becomes a CPDAG is in `meek`, how a CPDAG becomes a DAG in `extension`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

from mapdag.errors import GraphError
from mapdag.graphs import acyclicity, dot
from mapdag.graphs.adjacency import from_adjacency, to_adjacency
from mapdag.graphs.base import Graph, check_networkx
from mapdag.graphs.extension import consistent_extension
from mapdag.graphs.masks import count, mask_of, permute, transpose
from mapdag.graphs.nodes import Arc, NodeIndex, as_index
from mapdag.wording import plural

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from mapdag.graphs.dag import DAG

_SHOWN = 100


@final
class CPDAG(Graph):
    """A partially directed graph: compelled arcs and reversible edges.

    A value: it never changes, and two of them are equal if they have the same node names, arcs and edges, in
    whatever order. As the result of `DAG.to_cpdag` it is a completed PDAG, the picture of an equivalence
    class; built by hand it may be any PDAG, such as a class with background knowledge.

    Parameters
    ----------
    nodes : iterable of str
        Unique, non-empty names.
    arcs : iterable of (str, str), optional
        Directed `(from, to)`, without a directed cycle.
    edges : iterable of (str, str), optional
        Undirected, in either order. No two nodes are joined by both an arc and an edge.

    Raises
    ------
    GraphError
        If a name, an arc or an edge makes no sense; `CycleError` if the arcs contain a cycle.

    Examples
    --------
    >>> graph = CPDAG(["A", "B", "C", "D"], arcs=[("A", "C"), ("B", "C")], edges=[("D", "A")])
    >>> graph
    <CPDAG A -> C, B -> C, A - D>
    >>> graph.arcs, graph.edges
    ((('A', 'C'), ('B', 'C')), (('A', 'D'),))
    >>> graph.to_dag()
    <DAG [A][B][C|A:B][D|A]>
    """

    __slots__ = ("_neighbours",)

    _neighbours: tuple[int, ...]

    def __init__(self, nodes: Iterable[str], arcs: Iterable[Arc] = (), edges: Iterable[Arc] = ()) -> None:
        index = as_index(nodes)
        parents, neighbours = [0] * len(index), [0] * len(index)
        for tail, head in index.joined(arcs):
            parents[head] |= 1 << tail
        for a, b in index.joined(edges, "edges"):
            neighbours[a] |= 1 << b
            neighbours[b] |= 1 << a
        self._set(index, tuple(parents), tuple(neighbours))
        self._check()

    @classmethod
    def from_masks(
        cls,
        nodes: NodeIndex | Iterable[str],
        parents: Sequence[int],
        neighbours: Sequence[int],
        *,
        check: bool = True,
    ) -> CPDAG:
        """Build a graph from bitmasks: bit `j` of `parents[i]` for `j -> i`, of `neighbours[i]` for `i - j`.

        `check=False` is for masks that are known to make a graph.
        """
        graph = cls.__new__(cls)
        index = as_index(nodes)
        if check:
            acyclicity.check_masks(index.names, parents)
            acyclicity.check_masks(index.names, neighbours)
        cls._set(graph, index, tuple(parents), tuple(neighbours))
        if check:
            cls._check(graph)
        return graph

    @classmethod
    def from_adjacency(cls, matrix: npt.ArrayLike, nodes: Iterable[str] | None = None) -> CPDAG:
        """Read a 0/1 matrix, `A[i, j] = 1` for `i -> j`, and `A[i, j] = A[j, i] = 1` for `i - j`.

        Without `nodes`, they are X1, X2, ...
        """
        index, rows = from_adjacency(matrix, nodes)
        columns = transpose(rows)
        neighbours = [a & b for a, b in zip(rows, columns, strict=True)]
        return cls.from_masks(index, [c & ~n for c, n in zip(columns, neighbours, strict=True)], neighbours)

    @classmethod
    def from_networkx(cls, graph: Any) -> CPDAG:
        """Build a graph from one of networkx; names that are not strings go through `str`.

        Nodes that are joined in both directions, or by an edge of a `Graph`, are joined by an undirected edge.

        Examples
        --------
        >>> import networkx as nx
        >>> CPDAG.from_networkx(nx.DiGraph([("A", "B"), ("B", "A"), ("B", "C")]))
        <CPDAG B -> C, A - B>
        """
        check_networkx(graph)
        pairs = {(str(a), str(b)): None for a, b in graph.edges()}
        free = [(a, b) for a, b in pairs if not graph.is_directed() or (b, a) in pairs]
        undirected = {frozenset(pair) for pair in free}
        arcs = [pair for pair in pairs if frozenset(pair) not in undirected]
        return cls([str(node) for node in graph.nodes()], arcs, free)

    @classmethod
    def from_dot(cls, text: str) -> CPDAG:
        """Read the DOT language; `a -- b`, or `a -> b` with `dir=none`, is an edge."""
        return cls(*dot.parse(text))

    def _set(self, index: NodeIndex, parents: tuple[int, ...], neighbours: tuple[int, ...]) -> None:
        self._set_arcs(index, parents)
        self._neighbours = neighbours

    def _check(self) -> None:
        """Raise unless the masks make a partially directed graph."""
        names = self.nodes
        for i, (free, other) in enumerate(zip(self._neighbours, transpose(self._neighbours), strict=True)):
            if free != other or free >> i & 1:
                raise GraphError(f"the edges of node {names[i]!r} are not symmetric, or one joins it to itself")
            both = free & (self._parents[i] | self.child_masks[i])
            if both:
                raise GraphError(
                    f"{names[i]!r} and {self._index.select(both)[0]!r} are joined by both an arc and an edge"
                )
        acyclicity.checked_order(self.nodes, self._parents, self.child_masks)

    @property
    def edges(self) -> tuple[Arc, ...]:
        """The undirected edges `(a, b)`, `a` before `b` in node order."""
        return self._index.edges(self._neighbours)

    @property
    def n_edges(self) -> int:
        """The number of undirected edges."""
        return count(self._neighbours) // 2

    @property
    def neighbour_masks(self) -> tuple[int, ...]:
        """For each node, the bitmask of its undirected edges."""
        return self._neighbours

    @property
    def adjacent_masks(self) -> tuple[int, ...]:
        """For each node, the bitmask of the nodes that an arc or an edge joins it to."""
        return tuple([directed | n for directed, n in zip(super().adjacent_masks, self._neighbours, strict=True)])

    def has_edge(self, a: str, b: str) -> bool:
        """Tell whether there is an undirected edge between `a` and `b`."""
        return bool(self._neighbours[self._index.position(b)] >> self._index.position(a) & 1)

    def to_dag(self) -> DAG:
        """Return a DAG of this class: same skeleton, arcs and v-structures (Dor and Tarsi, 1992).

        Always the same one for the same node order. Free edges tend to point along that order.

        Raises
        ------
        GraphError
            If there is none, which cannot happen to the CPDAG of a DAG.

        Examples
        --------
        >>> CPDAG(["A", "B", "C"], edges=[("B", "A"), ("B", "C")]).to_dag()
        <DAG [A][B|A][C|B]>
        """
        from mapdag.graphs.dag import DAG

        masks = consistent_extension(self.nodes, self._parents, self._neighbours)
        return DAG.from_parent_masks(self._index, masks, check=False)

    def reordered(self, nodes: Iterable[str]) -> CPDAG:
        """Return the same graph with its nodes in another order."""
        index = as_index(nodes)
        to = self._index.positions_in(index)
        return CPDAG.from_masks(index, permute(self._parents, to), permute(self._neighbours, to), check=False)

    def renamed(self, mapping: Mapping[str, str]) -> CPDAG:
        """Return the graph with some nodes renamed, old name to new."""
        return CPDAG.from_masks(self._index.renamed(mapping), self._parents, self._neighbours, check=False)

    def to_adjacency(self) -> npt.NDArray[np.int8]:
        """Return the matrix with `A[i, j] = 1` for `i -> j`, and `A[i, j] = A[j, i] = 1` for `i - j`."""
        return to_adjacency([c | n for c, n in zip(self.child_masks, self._neighbours, strict=True)])

    def to_networkx(self) -> Any:
        """Return a networkx `DiGraph` with both directions of every undirected edge.

        Examples
        --------
        >>> list(CPDAG(["A", "B", "C"], arcs=[("B", "C")], edges=[("A", "B")]).to_networkx().edges)
        [('A', 'B'), ('B', 'C'), ('B', 'A')]
        """
        graph = super().to_networkx()
        graph.add_edges_from([pair for a, b in self.edges for pair in ((a, b), (b, a))])
        return graph

    def to_dot(self) -> str:
        """Return the graph in the DOT language of Graphviz, edges drawn without arrowheads."""
        return dot.render(self.nodes, self.arcs, self.edges)

    def _one_dag(self) -> DAG:
        return self.to_dag()

    def _closed(self) -> CPDAG:
        from mapdag.graphs.meek import meek_closure

        return meek_closure(self) if any(self._neighbours) else self

    def _identity(self) -> tuple[Any, ...]:
        return *super()._identity(), frozenset(map(frozenset, self.edges))

    def __getstate__(self) -> tuple[Any, ...]:
        return *super().__getstate__(), self._neighbours

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        nodes, parents, neighbours = state
        self._set(NodeIndex(nodes), parents, neighbours)

    def __repr__(self) -> str:
        parts = [f"{a} -> {b}" for a, b in self.arcs[:_SHOWN]] + [f"{a} - {b}" for a, b in self.edges[:_SHOWN]]
        parts += self._index.select(mask_of(i for i, mask in enumerate(self.adjacent_masks) if not mask))
        text = ", ".join(parts)
        if not text or len(text) > _SHOWN:
            counts = plural(len(self.nodes), "node"), plural(self.n_arcs, "arc"), plural(self.n_edges, "edge")
            return f"<CPDAG with {counts[0]}, {counts[1]} and {counts[2]}>"
        return f"<CPDAG {text}>"
