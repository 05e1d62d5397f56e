"""What `DAG` and `CPDAG` have in common: named nodes, arcs between them, and what follows from those."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mapdag.errors import GraphError, MissingExtraError, ParameterError, Setting
from mapdag.graphs import adjustment, structure
from mapdag.graphs.drawable import Drawable
from mapdag.graphs.masks import count, transpose

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mapdag.graphs.dag import DAG
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

    # Causes and effects, if arcs are read that way ----------------------------------------------------------------

    def identifiable(self, cause: str, effect: str) -> bool:
        """Tell whether the graph decides what an intervention on the cause does to the effect.

        A DAG always does. A class of DAGs does not if a possibly causal path, one on which no arc joins a node to an
        earlier one, leads from the cause to the effect and begins with an edge without direction: in some DAGs of the
        class the cause acts through it, in others it does not (Perkovic, 2020, "Identifying causal effects in maximally
        oriented partially directed acyclic graphs").

        Examples
        --------
        >>> from mapdag.graphs import CPDAG
        >>> graph = CPDAG(["A", "B", "C", "D"], arcs=[("A", "C"), ("B", "C")], edges=[("D", "A")])
        >>> graph.identifiable("A", "C"), graph.identifiable("A", "D"), graph.identifiable("D", "C")
        (True, False, False)
        """
        return not self._ways(cause, effect).undecided

    def is_adjustment_set(self, cause: str, effect: str, given: str | Iterable[str] = ()) -> bool:
        """Tell whether adjusting for `given` shows the effect of the cause: the generalized adjustment criterion.

        That is, whether P(effect | do(cause)) is the sum over the levels of `given` of P(effect | cause, given)
        P(given), in every distribution with this graph, the arcs being causal.

        Examples
        --------
        >>> from mapdag.graphs import DAG
        >>> dag = DAG.from_modelstring("[sex][drug|sex][cured|drug:sex]")
        >>> dag.is_adjustment_set("drug", "cured"), dag.is_adjustment_set("drug", "cured", "sex")
        (False, True)
        """
        ways = self._ways(cause, effect)
        dag = self._one_dag()
        return adjustment.is_valid(dag.parent_masks, dag.child_masks, ways, self._index.mask(given))

    def adjustment_set(self, cause: str, effect: str, *, observed: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return nodes to adjust for so that what is seen tells the effect of the cause; none can be left out.

        Parameters
        ----------
        cause, effect : str
            Two nodes.
        observed : iterable of str, optional
            The nodes that can be adjusted for; all by default.

        Returns
        -------
        tuple of str
            Empty where nothing needs to be adjusted for.

        Raises
        ------
        GraphError
            If the graph does not decide the effect (see `identifiable`), if the cause has none, or if no set of
            observed nodes will do.

        Examples
        --------
        >>> from mapdag.graphs import DAG
        >>> dag = DAG.from_modelstring("[sex][smoke|sex][tar|smoke][lung|tar:sex]")
        >>> dag.adjustment_set("smoke", "lung"), dag.adjustment_set("tar", "lung", observed=["smoke"])
        (('sex',), ('smoke',))
        """
        ways = self._ways(cause, effect)
        if not ways.first:
            raise GraphError(
                f"{cause!r} has no effect on {effect!r} in this graph, as no directed path leads there: there is "
                "nothing to adjust for"
            )
        self.check_identifiable(cause, effect)
        allowed = self._index.mask(self.nodes if observed is None else observed)
        dag = self._one_dag()
        found = adjustment.minimal_set(dag.parent_masks, dag.child_masks, ways, allowed)
        if found is None:
            raise GraphError(
                f"no set of observed nodes shows the effect of {cause!r} on {effect!r}; its parents would: "
                f"{', '.join(dag.parents(cause))}"
            )
        return self._index.select(found)

    def check_identifiable(self, cause: str, effect: str) -> None:
        """Raise `GraphError`, which says what is open, unless the graph decides the effect; see `identifiable`."""
        others = self._index.select(self._ways(cause, effect).undecided)
        if others:
            edges = ", ".join(f"{cause} - {other}" for other in others)
            raise GraphError(
                f"the effect of {cause!r} on {effect!r} is not decided: {edges} may point either way, and the effect "
                "depends on it; if you know which, learn with ",
                *(Setting("required", [(cause, others[0])]), " or the opposite, or with tiers"),
            )

    def _ways(self, cause: str, effect: str) -> adjustment.Effect:
        one, other = self._index.pair((cause, effect))
        graph = self._closed()
        return adjustment.effect_of(graph.parent_masks, graph.child_masks, graph.neighbour_masks, one, other)

    def _closed(self) -> Graph:
        """Return the graph with every direction that follows from the others."""
        return self

    def _one_dag(self) -> DAG:
        """Return the DAG, or one of the class."""
        raise NotImplementedError

    @property
    def neighbour_masks(self) -> tuple[int, ...]:
        """For each node, the bitmask of its undirected edges."""
        return (0,) * len(self.nodes)

    # Leaving mapdag -----------------------------------------------------------------------------------------------

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


def check_graph(name: str, value: object) -> None:
    """Refuse what is neither a DAG nor a CPDAG."""
    if not isinstance(value, Graph):
        raise ParameterError(f"{name} must be a DAG or a CPDAG, got {type(value).__name__}")


def check_networkx(graph: Any) -> None:
    """Refuse what is no graph of networkx; nothing is imported, since whoever has such a graph has networkx."""
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise ParameterError(f"graph must be a graph of networkx, got {type(graph).__name__}")
