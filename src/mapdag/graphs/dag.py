"""`DAG`: a directed acyclic graph with named nodes, as a value.

The methods are thin. The algorithms are in `acyclicity`, `structure` and `meek`, notations in `dot`, `modelstring` and
`adjacency`. Parameters and data are in other layers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

from mapdag.errors import GraphError, ParameterError
from mapdag.graphs import acyclicity, dot, structure
from mapdag.graphs.adjacency import from_adjacency, to_adjacency
from mapdag.graphs.base import Graph, check_networkx
from mapdag.graphs.masks import members, permute, transpose
from mapdag.graphs.modelstring import is_special, parse_modelstring, to_modelstring
from mapdag.graphs.nodes import Arc, NodeIndex, as_index, first_appearance, several
from mapdag.wording import brief, plural

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from mapdag.graphs.cpdag import CPDAG

_SHOWN = 100


@final
class DAG(Graph):
    """A directed acyclic graph.

    A value: it never changes, it can be hashed and pickled, and two of them are equal if they have the same
    node names and the same arcs, in whatever order. Results that list nodes list them in node order.

    Parameters
    ----------
    nodes : iterable of str
        Unique, non-empty names.
    arcs : iterable of (str, str), optional
        Pairs `(from, to)` of nodes. Repeated ones count once.

    Raises
    ------
    GraphError
        If a name or an arc makes no sense.
    CycleError
        If the arcs contain a cycle; the message shows one.

    Examples
    --------
    >>> dag = DAG(["smoke", "lung", "dysp"], [("smoke", "lung"), ("lung", "dysp")])
    >>> dag
    <DAG [smoke][lung|smoke][dysp|lung]>
    >>> dag.nodes, dag.arcs
    (('smoke', 'lung', 'dysp'), (('smoke', 'lung'), ('lung', 'dysp')))
    >>> dag.parents("dysp"), dag.children("smoke"), dag.ancestors("dysp")
    (('lung',), ('lung',), ('smoke', 'lung'))
    >>> dag.d_separated("smoke", "dysp", given="lung")
    True
    >>> dag.without_arc("lung", "dysp").with_arc("smoke", "dysp").with_reversed("smoke", "lung")
    <DAG [lung][smoke|lung][dysp|smoke]>
    >>> dag.to_cpdag()
    <CPDAG smoke - lung, lung - dysp>
    >>> dag == DAG.from_modelstring(dag.to_modelstring()) == DAG.from_dot(dag.to_dot())
    True
    >>> dag.with_arc("dysp", "smoke")
    Traceback (most recent call last):
    mapdag.errors.CycleError: the arcs contain a cycle: smoke -> lung -> dysp -> smoke
    """

    __slots__ = ("_order",)

    _order: tuple[int, ...] | None

    def __init__(self, nodes: Iterable[str], arcs: Iterable[Arc] = ()) -> None:
        index = as_index(nodes)
        parents = [0] * len(index)
        for tail, head in index.joined(arcs):
            parents[head] |= 1 << tail
        self._set(index, tuple(parents))
        self._positions_in_order()

    def _set(self, index: NodeIndex, parents: tuple[int, ...]) -> None:
        self._set_arcs(index, parents)
        self._order = None  # computed when first needed

    @classmethod
    def from_arcs(cls, arcs: Iterable[Arc], nodes: Iterable[str] | None = None) -> DAG:
        """Build a DAG from its arcs; without `nodes`, they are listed as they first appear.

        Examples
        --------
        >>> DAG.from_arcs([("B", "A"), ("A", "C")]).nodes
        ('B', 'A', 'C')
        """
        arcs = list(several("arcs", arcs))
        return cls(first_appearance(arcs) if nodes is None else nodes, arcs)

    @classmethod
    def from_parent_indices(cls, nodes: Iterable[str], parents: Iterable[Iterable[int]]) -> DAG:
        """Build a DAG from the positions of the parents of each node.

        Examples
        --------
        >>> DAG.from_parent_indices(["A", "B", "C"], [[], [0], [0, 1]])
        <DAG [A][B|A][C|A:B]>
        """
        index = as_index(nodes)
        return cls.from_parent_masks(index, [index.mask_at(family) for family in several("parents", parents)])

    @classmethod
    def from_parent_masks(cls, nodes: NodeIndex | Iterable[str], masks: Sequence[int], *, check: bool = True) -> DAG:
        """Build a DAG from bitmasks: bit `j` of `masks[i]` for the arc `j -> i`.

        `check=False` is for masks that are known to make a DAG.
        """
        dag = cls.__new__(cls)
        cls._set(dag, as_index(nodes), tuple(masks))
        if check:
            acyclicity.check_masks(dag.nodes, masks)
            cls._positions_in_order(dag)
        return dag

    @classmethod
    def from_adjacency(cls, matrix: npt.ArrayLike, nodes: Iterable[str] | None = None) -> DAG:
        """Build a DAG from a 0/1 matrix, `A[i, j] = 1` for `i -> j`; without `nodes`, they are X1, X2, ..."""
        index, rows = from_adjacency(matrix, nodes)
        return cls.from_parent_masks(index, transpose(rows))

    @classmethod
    def from_networkx(cls, graph: Any) -> DAG:
        """Build a DAG from a networkx `DiGraph`; names that are not strings go through `str`.

        Examples
        --------
        >>> import networkx as nx
        >>> DAG.from_networkx(nx.DiGraph([("A", "B"), ("B", 3)]))
        <DAG [A][B|A][3|B]>
        """
        check_networkx(graph)
        if not graph.is_directed():
            raise GraphError("a DAG needs a directed networkx graph (DiGraph), got an undirected one")
        return cls([str(node) for node in graph.nodes()], [(str(a), str(b)) for a, b in graph.edges()])

    @classmethod
    def from_dot(cls, text: str) -> DAG:
        """Read the DOT language of Graphviz; attributes are ignored, undirected edges refused."""
        nodes, arcs, edges = dot.parse(text)
        if edges:
            raise GraphError("not a DAG: {!r} and {!r} are joined by an undirected edge".format(*edges[0]))
        return cls(nodes, arcs)

    @classmethod
    def from_modelstring(cls, text: str) -> DAG:
        """Read bnlearn's model string.

        Examples
        --------
        >>> DAG.from_modelstring("[A][B|A][C|A:B]").arcs
        (('A', 'B'), ('A', 'C'), ('B', 'C'))
        """
        return cls(*parse_modelstring(text))

    def parent_indices(self, i: int) -> tuple[int, ...]:
        """Return the positions of the parents of the node at position `i`."""
        try:
            return tuple(members(self._parents[i]))
        except (IndexError, TypeError):
            raise GraphError(f"i must be a position from 0 to {len(self.nodes) - 1}, got {brief(i)}") from None

    def parents(self, node: str) -> tuple[str, ...]:
        """Return the nodes with an arc to `node`."""
        return self._index.select(self._parents[self._index.position(node)])

    def children(self, node: str) -> tuple[str, ...]:
        """Return the nodes with an arc from `node`."""
        return self._index.select(self.child_masks[self._index.position(node)])

    def ancestors(self, node: str) -> tuple[str, ...]:
        """Return the nodes with a directed path to `node`, itself excluded."""
        bit = self._index.mask(node)
        return self._index.select(acyclicity.reachable(self._parents, bit) ^ bit)

    def descendants(self, node: str) -> tuple[str, ...]:
        """Return the nodes with a directed path from `node`, itself excluded."""
        bit = self._index.mask(node)
        return self._index.select(acyclicity.reachable(self.child_masks, bit) ^ bit)

    def markov_blanket(self, node: str) -> tuple[str, ...]:
        """Return the parents, the children and the children's other parents.

        Examples
        --------
        >>> DAG.from_modelstring("[A][B][C|A:B][D|C]").markov_blanket("A")
        ('B', 'C')
        """
        position = self._index.position(node)
        return self._index.select(structure.markov_blanket(self._parents, self.child_masks, position))

    def is_covered(self, a: str, b: str) -> bool:
        """Tell whether the arc `a -> b` is covered: the parents of `b` are `a` and the parents of `a`.

        Reversing a covered arc, and only such an arc, gives an equivalent DAG (Chickering, 1995, Lemma 1).

        Examples
        --------
        >>> dag = DAG.from_modelstring("[A][B|A][C|B]")
        >>> dag.is_covered("A", "B"), dag.is_covered("B", "C")
        (True, False)
        """
        tail, head = self._existing(a, b)
        return self._parents[head] == self._parents[tail] | 1 << tail

    @property
    def roots(self) -> tuple[str, ...]:
        """The nodes without parents."""
        return tuple([name for name, mask in zip(self.nodes, self._parents, strict=True) if not mask])

    @property
    def leaves(self) -> tuple[str, ...]:
        """The nodes without children."""
        return tuple([name for name, mask in zip(self.nodes, self.child_masks, strict=True) if not mask])

    def topological_order(self) -> tuple[str, ...]:
        """Return the nodes, parents before children; among those ready, the first in node order comes first.

        Examples
        --------
        >>> DAG(["C", "B", "A"], [("A", "B")]).topological_order()
        ('C', 'A', 'B')
        """
        return tuple([self.nodes[i] for i in self._positions_in_order()])

    def d_separated(self, x: str | Iterable[str], y: str | Iterable[str], given: str | Iterable[str] = ()) -> bool:
        """Tell whether `given` d-separates `x` from `y`; each is a node or several, without overlap.

        Examples
        --------
        >>> dag = DAG.from_modelstring("[A][B][C|A:B][D|C]")
        >>> dag.d_separated("A", "B"), dag.d_separated("A", "B", given=["D"])
        (True, False)
        """
        index = self._index
        start, end, known = index.mask(x), index.mask(y), index.mask(given)
        common = start & end | start & known | end & known
        if common:
            raise GraphError(f"x, y and given must not overlap, but share {index.select(common)[0]!r}")
        return not structure.d_connected(self._parents, self.child_masks, start, known) & end

    def moral_edges(self) -> tuple[Arc, ...]:
        """Return the edges of the moral graph: the skeleton, and one between any two parents of a node."""
        return self._index.edges(structure.moral(self._parents, self.adjacent_masks))

    def to_cpdag(self, targets: Iterable[Iterable[str]] = ()) -> CPDAG:
        """Return the equivalence class of this DAG (see `mapdag.graphs.to_cpdag`).

        With `targets`, the nodes that were set in each of some experiments, what these cannot tell apart.
        """
        from mapdag.graphs.meek import to_cpdag

        return to_cpdag(self, targets)

    def subgraph(self, nodes: Iterable[str]) -> DAG:
        """Return the graph of some of the nodes, in our node order, and the arcs between them."""
        kept = self._index.mask(nodes)
        masks = [mask & kept if kept >> i & 1 else 0 for i, mask in enumerate(self.child_masks)]
        return DAG(self._index.select(kept), self._index.pairs(masks))

    def reordered(self, nodes: Iterable[str]) -> DAG:
        """Return the same graph with its nodes in another order."""
        index = as_index(nodes)
        return DAG.from_parent_masks(index, permute(self._parents, self._index.positions_in(index)), check=False)

    def renamed(self, mapping: Mapping[str, str]) -> DAG:
        """Return the graph with some nodes renamed, old name to new."""
        return DAG.from_parent_masks(self._index.renamed(mapping), self._parents, check=False)

    def with_arc(self, a: str, b: str) -> DAG:
        """Return the graph with the arc `a -> b` added; `CycleError` if it closes a cycle."""
        tail, head = self._index.pair((a, b))
        if self._parents[head] >> tail & 1:
            raise GraphError(f"the arc {a!r} -> {b!r} is there already")
        return self._with_masks(acyclicity.add_arc(self.nodes, self._parents, tail, head))

    def without_arc(self, a: str, b: str) -> DAG:
        """Return the graph with the arc `a -> b` removed."""
        return self._with_masks(acyclicity.remove_arc(self._parents, *self._existing(a, b)))

    def with_reversed(self, a: str, b: str) -> DAG:
        """Return the graph with the arc `a -> b` turned into `b -> a`."""
        tail, head = self._existing(a, b)
        masks = acyclicity.remove_arc(self._parents, tail, head)
        return self._with_masks(acyclicity.add_arc(self.nodes, masks, head, tail))

    def _existing(self, a: str, b: str) -> tuple[int, int]:
        """Return the positions of the ends of an arc, which must be there."""
        tail, head = self._index.pair((a, b))
        if not self._parents[head] >> tail & 1:
            raise GraphError(f"there is no arc {a!r} -> {b!r}")
        return tail, head

    def _with_masks(self, masks: Sequence[int]) -> DAG:
        return DAG.from_parent_masks(self._index, masks, check=False)

    def _positions_in_order(self) -> tuple[int, ...]:
        """Return the topological order, or raise `CycleError`."""
        if self._order is None:
            self._order = acyclicity.checked_order(self.nodes, self._parents, self.child_masks)
        return self._order

    def to_adjacency(self) -> npt.NDArray[np.int8]:
        """Return the 0/1 matrix with `A[i, j] = 1` for `i -> j`."""
        return to_adjacency(self.child_masks)

    def to_dot(self) -> str:
        """Return the graph in the DOT language of Graphviz."""
        return dot.render(self.nodes, self.arcs)

    def to_modelstring(self) -> str:
        """Return bnlearn's model string, nodes by depth, then order; names with any of `[]|:` are refused."""
        sequence = acyclicity.by_depth(self._parents, self._positions_in_order())
        return to_modelstring([self.nodes[i] for i in sequence], self.parents)

    def _one_dag(self) -> DAG:
        return self

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        nodes, parents = state
        self._set(NodeIndex(nodes), parents)

    def __repr__(self) -> str:
        if 0 < len(self.nodes) <= _SHOWN // 3 and not any(map(is_special, self.nodes)):
            text = self.to_modelstring()
            if len(text) <= _SHOWN:
                return f"<DAG {text}>"
        return f"<DAG with {plural(len(self.nodes), 'node')} and {plural(self.n_arcs, 'arc')}>"


def check_dag(name: str, value: object) -> DAG:
    """Return `value`, or say that it must be a DAG."""
    if not isinstance(value, DAG):
        raise ParameterError(f"{name} must be a DAG, got {type(value).__name__}")
    return value
