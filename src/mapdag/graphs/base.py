"""What `DAG` and `CPDAG` have in common: named nodes, arcs between them, and what follows from those."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mapdag.errors import MissingExtraError
from mapdag.graphs import structure
from mapdag.graphs.drawable import Drawable
from mapdag.graphs.masks import count, transpose

if TYPE_CHECKING:
    from mapdag.graphs.nodes import Arc, NodeIndex


class Graph(Drawable):
    """Nodes in a fixed order and arcs between them, as a value."""

    __slots__ = ("_children", "_hash", "_index", "_parents")

    _index: NodeIndex
    _parents: tuple[int, ...]
    _children: tuple[int, ...] | None
    _hash: int | None

    def _set_arcs(self, index: NodeIndex, parents: tuple[int, ...]) -> None:
        self._index, self._parents = index, parents
        # Computed when first needed.
        self._children = self._hash = None

    @property
    def index(self) -> NodeIndex:
        """The node names with their positions, shared between graphs."""
        return self._index

    @property
    def nodes(self) -> tuple[str, ...]:
        """The node names."""
        return self._index.names

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """The directed arcs `(from, to)`, in node order of `from`, then `to`."""
        return tuple(self._index.pairs(self.child_masks))

    @property
    def n_arcs(self) -> int:
        """The number of directed arcs."""
        return count(self._parents)

    @property
    def parent_masks(self) -> tuple[int, ...]:
        """For each node, the bitmask of the arcs into it."""
        return self._parents

    @property
    def child_masks(self) -> tuple[int, ...]:
        """For each node, the bitmask of the arcs out of it."""
        if self._children is None:
            self._children = transpose(self._parents)
        return self._children

    @property
    def adjacent_masks(self) -> tuple[int, ...]:
        """For each node, the bitmask of the nodes that anything joins it to."""
        return tuple([p | c for p, c in zip(self._parents, self.child_masks, strict=True)])

    def has_arc(self, a: str, b: str) -> bool:
        """Tell whether there is an arc from `a` to `b`."""
        return bool(self._parents[self._index.position(b)] >> self._index.position(a) & 1)

    def skeleton(self) -> tuple[Arc, ...]:
        """Return the pairs of adjacent nodes `(a, b)`, `a` before `b` in node order."""
        return self._index.edges(self.adjacent_masks)

    def v_structures(self) -> tuple[tuple[str, str, str], ...]:
        """Return `(a, child, b)` for each pair of arcs `a -> child <- b` with `a` and `b` not adjacent.

        Ordered by child, then `a`, then `b`; `a` is before `b` in node order.

        Examples
        --------
        >>> from mapdag.graphs import DAG
        >>> DAG.from_modelstring("[A][B][C|A:B][D|C]").v_structures()
        (('A', 'C', 'B'),)
        """
        names = self.nodes
        found = structure.v_structures(self._parents, self.adjacent_masks)
        return tuple([(names[a], names[child], names[b]) for a, child, b in found])

    def to_networkx(self) -> Any:
        """Return a networkx `DiGraph`; undirected edges are there in both directions."""
        try:
            import networkx as nx
        except ImportError:
            raise MissingExtraError("to_networkx needs networkx: pip install networkx") from None
        graph = nx.DiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from(self.arcs)
        return graph

    def to_pgmpy(self) -> Any:
        """Return an object of pgmpy: a `DAG`, or a `PDAG` for a CPDAG."""
        # By name, as `mapdag.io` is a layer above this one.
        return import_module("mapdag.io.with_pgmpy").to_pgmpy(self)

    def _identity(self) -> tuple[Any, ...]:
        """Return what graphs that are equal have in common, whatever the order of their nodes."""
        return frozenset(self.nodes), frozenset(self.arcs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        if self.nodes == other.nodes:
            return self.__getstate__() == other.__getstate__()
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self._identity())
        return self._hash

    def __getstate__(self) -> tuple[Any, ...]:
        return self.nodes, self._parents
