"""Equivalence classes: from a DAG to its CPDAG, and what arcs follow from others by Meek's rules.

The way back, from a CPDAG to one of its DAGs, is in `extension`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from mapdag.errors import GraphError
from mapdag.graphs.base import check_graph
from mapdag.graphs.cpdag import CPDAG
from mapdag.graphs.extension import consistent_extension
from mapdag.graphs.masks import mask_of, members, transpose
from mapdag.graphs.nodes import several

if TYPE_CHECKING:
    from mapdag.graphs.dag import DAG
    from mapdag.graphs.nodes import Arc


def to_cpdag(dag: DAG, targets: Iterable[Iterable[str]] = ()) -> CPDAG:
    """Return the CPDAG of a DAG: its equivalence class as one graph.

    The arcs of the v-structures keep their direction, all others lose it, and Meek's rules give back those
    that every equivalent DAG must have (Verma and Pearl, 1990; Meek, 1995; Chickering, 1995).

    Experiments make classes smaller: an arc keeps its direction, too, if one of its ends was set in an experiment and
    the other was not, as the two are independent there in one of the directions only (Hauser and Buehlmann, 2012,
    "Characterization and greedy learning of interventional Markov equivalence classes of directed acyclic graphs").

    Parameters
    ----------
    dag : DAG
    targets : iterable of iterables of str
        The nodes that were set in each experiment. Each node should be left alone in at least one experiment, one in
        which nothing is set included; else nothing is known about its parents, and arcs from them are taken as given.

    Examples
    --------
    >>> from mapdag.graphs import DAG
    >>> to_cpdag(DAG.from_modelstring("[A][B][C|A:B][D|C][E|A]"))
    <CPDAG A -> C, B -> C, C -> D, A - E>
    >>> to_cpdag(DAG.from_modelstring("[A][B|A][C|B]"), targets=[["A"]])
    <CPDAG A -> B, B -> C>
    >>> to_cpdag(DAG.from_modelstring("[A][B|A][C|B]"), targets=[["C"]])
    <CPDAG B -> C, A - B>
    """
    check_graph("dag", dag)
    some = [dag.index.mask(several("targets", each)) for each in several("targets", targets)]
    adjacent = dag.adjacent_masks
    directed = [_collider_parents(family, adjacent) for family in dag.parent_masks]
    state = Orientation(adjacent, directed)
    state.propagate([(tail, head) for head, mask in enumerate(directed) if mask for tail in members(mask)])
    for head, family in enumerate(dag.parent_masks if some else ()):
        for tail in members(family):
            if any((target >> tail ^ target >> head) & 1 for target in some) and state.direct(tail, head):
                state.propagate([(tail, head)])
    return CPDAG.from_masks(dag.index, state.parents, state.neighbours, check=False)


def meek_closure(graph: CPDAG, knowledge: Iterable[Arc] = ()) -> CPDAG:
    """Direct every edge whose direction follows from the arcs of a graph and from background knowledge.

    Rules R1 to R4 of Meek (1995, "Causal inference and causal explanation with background knowledge"),
    applied until none applies. The result is complete: an edge stays undirected only if, among the DAGs with
    the skeleton and the v-structures of `graph` that contain all its arcs and all of `knowledge`, some have
    one direction and some the other.

    Parameters
    ----------
    graph : CPDAG
        A CPDAG, or any partially directed graph. Its v-structures are taken as given, others are not allowed.
    knowledge : iterable of (str, str), optional
        Arcs known to be in the DAG; each must join two adjacent nodes of `graph`.

    Raises
    ------
    GraphError
        If no DAG satisfies all this.

    Examples
    --------
    >>> chain = CPDAG(["A", "B", "C"], edges=[("A", "B"), ("B", "C")])
    >>> meek_closure(chain, [("A", "B")])
    <CPDAG A -> B, B -> C>
    >>> meek_closure(chain, [("A", "B"), ("C", "B")])
    Traceback (most recent call last):
    mapdag.errors.GraphError: the arc 'C' -> 'B' contradicts the rest, which implies 'B' -> 'C'
    """
    check_graph("graph", graph)
    index = graph.index
    # If the graph has an extension, the rules are sound on it; and once it is closed, each edge that is left
    # can be directed either way (Meek, 1995, Theorem 4). So a contradiction shows as an arc already directed
    # the other way.
    consistent_extension(graph.nodes, graph.parent_masks, graph.neighbour_masks)
    state = Orientation(graph.adjacent_masks, graph.parent_masks)
    state.propagate([(tail, head) for head, mask in enumerate(graph.parent_masks) for tail in members(mask)])
    for tail, head in index.joined(knowledge, "knowledge"):
        a, b = index.names[tail], index.names[head]
        if not state.adjacent[tail] >> head & 1:
            raise GraphError(f"the arc {a!r} -> {b!r} joins two nodes that are not adjacent")
        if state.parents[tail] >> head & 1:
            raise GraphError(f"the arc {a!r} -> {b!r} contradicts the rest, which implies {b!r} -> {a!r}")
        if state.direct(tail, head):
            state.propagate([(tail, head)])
    return CPDAG.from_masks(index, state.parents, state.neighbours, check=False)


def _collider_parents(family: int, adjacent: Sequence[int]) -> int:
    """Return those parents of a node that have another one they are not adjacent to."""
    return mask_of(i for i in members(family) if family & ~adjacent[i] != 1 << i)


class Orientation:
    """The working copy of a partially directed graph while its edges are being directed; nodes are positions."""

    __slots__ = ("adjacent", "children", "neighbours", "parents")

    def __init__(self, adjacent: Sequence[int], parents: Sequence[int]) -> None:
        self.adjacent = adjacent
        self.parents = list(parents)
        self.children = list(transpose(parents))
        self.neighbours = [a & ~(p | c) for a, p, c in zip(adjacent, self.parents, self.children, strict=True)]

    def copy(self) -> Orientation:
        """Return the same state, to be changed apart."""
        return Orientation(self.adjacent, self.parents)

    def direct(self, tail: int, head: int) -> bool:
        """Turn an edge into an arc; return False if it was no edge any more."""
        tail_bit, head_bit = 1 << tail, 1 << head
        if not self.neighbours[head] & tail_bit:
            return False
        self.neighbours[tail] ^= head_bit
        self.neighbours[head] ^= tail_bit
        self.children[tail] |= head_bit
        self.parents[head] |= tail_bit
        return True

    def propagate(self, arcs: list[tuple[int, int]]) -> None:
        """Apply the rules to each arc, and to the arcs that follow, until there are no more."""
        neighbours = self.neighbours
        while arcs:
            tail, head = arcs.pop()
            # Every rule needs an undirected edge at one end of the arc; in most graphs few are left.
            if neighbours[tail] or neighbours[head]:
                arcs.extend([arc for arc in self.implied(tail, head) if self.direct(*arc)])

    def implied(self, x: int, y: int) -> Iterator[tuple[int, int]]:
        """Yield the arcs that a rule with `x -> y` among its premises asks for."""
        adjacent, parents, neighbours = self.adjacent, self.parents, self.neighbours
        # R1: a -> b - c, a and c not adjacent: b -> c.
        for c in members(neighbours[y] & ~adjacent[x]):
            yield y, c
        # R2: a -> b -> c, a - c: a -> c. Our arc is the first, then the second.
        for c in members(self.children[y] & neighbours[x]):
            yield x, c
        for a in members(parents[x] & neighbours[y]):
            yield a, y
        # R3: a - b, a - c, a - d, c -> b, d -> b, c and d not adjacent: a -> b. Our arc is c -> b.
        others = parents[y] & ~adjacent[x] & ~(1 << x)
        if others:
            for a in members(neighbours[x] & neighbours[y]):
                if neighbours[a] & others:
                    yield a, y
        # R4: d -> c -> b, a - b, a - d, a and c adjacent, b and d not adjacent: a -> b. Our arc is d -> c; there is
        # no need to start from c -> b, since R1 has just made every such b a child of c.
        around = neighbours[x] & adjacent[y]
        if around:
            for b in members(self.children[y] & ~adjacent[x]):
                for a in members(around & neighbours[b]):
                    yield a, b
