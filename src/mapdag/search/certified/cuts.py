"""Inequalities that all graphs obey, as rows of a linear program; how violated ones are found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.sparse.csgraph import connected_components

from mapdag.tasks import threads_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from mapdag.search.certified.candidates import Families
    from mapdag.search.certified.clusters import Support
    from mapdag.search.certified.polytopes import View

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_VIOLATED = 1e-4  # by so much at least, to be worth a row
_ALIKE = 0.5  # share of nodes in common
_PATIENCE = 8  # moves in vain when a cluster is improved
_LARGEST = 3  # parents in a cluster that its inequality is about
_LINKED = 0.2  # weight of arcs between two nodes to begin a cluster with
_PIVOTS = 1500  # steps of the simplex method for one set of nodes
_SMALLEST = 4  # nodes that cuts by views begin with
_ENOUGH = 20, 60  # cuts by views with 36 and with 76 nodes; larger sets of nodes are not looked at, then
_WHOLE = 0.05  # how much an arc that is decided links two nodes


class Cut(Protocol):
    """An inequality: the sum of coefficients of a graph's families is at most `most`."""

    @property
    def most(self) -> float:
        """Limit of the sum."""

    def row(self, families: Families) -> tuple[Ints, Floats]:
        """Which families have a coefficient that is not zero, and these."""


@dataclass(frozen=True, eq=False)
class Cluster:
    """At most size - k nodes of a cluster have k or more parents in it."""

    member: Bools
    k: int

    @property
    def most(self) -> float:
        """Limit of the sum."""
        return float(self.member.sum() - self.k)

    def row(self, families: Families) -> tuple[Ints, Floats]:
        """Families with k or more parents in the cluster."""
        from mapdag.search.certified.clusters import cluster_row

        columns = np.empty(len(families.owner), dtype=np.int64)
        size = cluster_row(self.member, self.k, families.owner, families.sets, columns)
        return columns[:size].copy(), np.ones(size)


@dataclass(frozen=True, eq=False)
class Facet:
    """What no mixture of graphs on a few nodes exceeds; see `mapdag.search.certified.polytopes`."""

    nodes: Ints
    cut: View
    most: float = 1.0

    def row(self, families: Families) -> tuple[Ints, Floats]:
        """Families with a coefficient."""
        from mapdag.search.certified.polytopes import facet_row

        columns, values = np.empty(len(families.owner), dtype=np.int64), np.empty(len(families.owner))
        size = facet_row(self.nodes, self.cut, families.owner, families.sets, columns, values)
        return columns[:size].copy(), values[:size].copy()


@dataclass(frozen=True)
class Adjacent:
    """Two nodes that must be adjacent, either way."""

    i: int
    j: int
    most: float = -1.0

    def row(self, families: Families) -> tuple[Ints, Floats]:
        """Families with the arc."""
        has = np.zeros(len(families.owner), dtype=np.bool_)
        for parent, child in ((self.i, self.j), (self.j, self.i)):
            has |= (families.owner == child) & has_parent(families, parent)
        columns = np.flatnonzero(has)
        return columns, np.full(len(columns), -1.0)


@dataclass(frozen=True, eq=False)
class Other:
    """Any graph but this one."""

    parents: tuple[int, ...]

    @property
    def most(self) -> float:
        """Limit of the sum."""
        return len(self.parents) - 1.0

    def row(self, families: Families) -> tuple[Ints, Floats]:
        """Return the families of the graph."""
        found = families.find(self.parents)
        columns = found[found >= 0]
        return columns, np.ones(len(columns))


def _spread(clusters: Sequence[Cluster]) -> list[Cluster]:
    """Leave out clusters that are much like one before: together they bring hardly more than one of them."""
    chosen: list[Cluster] = []
    members = np.zeros((len(clusters), len(clusters[0].member) if clusters else 0), dtype=np.bool_)
    for cluster in clusters:
        others = members[: len(chosen)]
        common, either = (others & cluster.member).sum(axis=1), (others | cluster.member).sum(axis=1)
        if (common <= _ALIKE * either).all():
            members[len(chosen)] = cluster.member
            chosen.append(cluster)
    return chosen


def has_parent(families: Families, node: int) -> Bools:
    """Which families have a node among their parents."""
    return families.sets[:, node >> 6] >> np.uint64(node & 63) & np.uint64(1) != 0


class Separator:
    """Finds cuts that a fractional graph violates.

    Parameters
    ----------
    n_nodes : int
    largest : int
        Nodes of the largest sets that are looked at closely.
    threads : int
    """

    def __init__(self, n_nodes: int, *, largest: int, threads: int) -> None:
        self._n = n_nodes
        self._largest = largest
        self._enough = min(max(_ENOUGH[0], n_nodes - 16), _ENOUGH[1])
        self._rng = np.random.default_rng(0)
        self._pool = threads_for(threads)

    def clusters(self, support: Support, arcs: Floats) -> list[Cluster]:
        """Clusters with too many arcs in them, the most violated first, no two of them nearly the same."""
        from mapdag.search.certified.clusters import find_cycles, improve_clusters

        n = self._n
        cycles = np.zeros((n, n), dtype=np.bool_)
        cycles = cycles[: find_cycles(arcs, cycles)]
        one, other = np.nonzero(np.triu(arcs + arcs.T > _LINKED))
        pairs = np.zeros((len(one), n), dtype=np.bool_)
        pairs[np.arange(len(one)), one] = pairs[np.arange(len(one)), other] = True
        families = np.zeros((len(support.child), n), dtype=np.bool_)
        families[np.arange(len(families)), support.child] = True
        families[np.repeat(np.arange(len(families)), np.diff(support.ends, prepend=0)), support.parents] = True
        begin = np.unique(np.concatenate([cycles, pairs, families]), axis=0)
        sizes = begin.sum(axis=1)
        found: dict[tuple[int, bytes], tuple[float, Cluster]] = {}
        for k in range(1, _LARGEST + 1):
            some = begin[sizes > k].copy()
            excess = np.empty(len(some))
            improve_clusters(some, k, support, _PATIENCE, excess)
            for i in np.flatnonzero(excess > _VIOLATED):
                depth = excess[i] / np.sqrt(some[i].sum())
                found[k, some[i].tobytes()] = float(depth), Cluster(some[i].copy(), k)
        return _spread([cut for _, cut in sorted(found.values(), key=lambda each: -each[0])])

    def facets(self, support: Support, arcs: Floats) -> list[Facet]:
        """Cuts by views from a few nodes, the deepest first; small sets of nodes come first, until there are enough."""
        found: list[tuple[float, Facet]] = []
        for size in range(_SMALLEST, self._largest + 1):
            facets = self._pool.map(lambda nodes: self._facet(nodes, support), self._sets(arcs, size))
            found += [facet for facet in facets if facet is not None]
            if len(found) >= self._enough:
                break
        return [facet for _, facet in sorted(found, key=lambda each: -each[0])]

    def _facet(self, nodes: Ints, support: Support) -> tuple[float, Facet] | None:
        from mapdag.search.certified.polytopes import find_facet

        cut, total = find_facet(nodes, support, self._n, _PIVOTS)
        if total <= 1.0 + _VIOLATED:
            return None
        return (total - 1.0) / float(np.sqrt((cut.weights**2).sum())), Facet(nodes, cut)

    def _sets(self, arcs: Floats, size: int) -> Iterable[Ints]:
        """Sets of nodes that may be on a cycle together, around each node with arcs that are undecided."""
        from mapdag.search.certified.polytopes import grow_sets

        n = self._n
        _, label = connected_components(arcs > 1e-6, directed=True, connection="strong")
        undecided = np.minimum(arcs, 1.0 - arcs)
        undecided[undecided < 1e-6] = 0.0
        links = undecided + _WHOLE * (arcs > 0.5)
        links = np.where(label[:, None] == label[None, :], links + links.T, 0.0)
        starts = np.flatnonzero((undecided.max(axis=0) > 0) | (undecided.max(axis=1) > 0))
        sets = np.zeros((len(starts), n), dtype=np.bool_)
        grow_sets(starts, links, self._rng.uniform(0.5, 1.5, (len(starts), n)), size, sets)
        sets = np.unique(sets, axis=0)
        return [np.flatnonzero(each) for each in sets[sets.sum(axis=1) > 2]]

    def close(self) -> None:
        """Let the threads go."""
        self._pool.shutdown()
