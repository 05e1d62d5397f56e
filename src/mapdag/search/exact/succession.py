"""Graphs in the order of their scores: the dynamic program of exact search, asked again for what comes next.

A graph on a set of nodes is a last node with its parents, and a graph on the others. So the k best on a set come from
the k best on smaller sets and the k best sets of parents (Tian, He and Ram 2010); a graph with several nodes that can
be last is met once for each of them, and kept once. Only what is needed for the next graph is looked at (as for the k
best parses of Huang and Chiang 2005): the best of a smaller set is known without being made.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from mapdag.graphs.masks import members
from mapdag.search.exact.search import Tables, best_parents, best_within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mapdag.search.exact.lattice import Child, Lattice

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Graph = tuple[float, tuple[int, ...]]  # score, and the parents of each node as a set

_FAVOURITES = 1 << 14  # families of a child that are kept in order


def ranked_graphs(lattice: Lattice, k: int) -> Iterator[Graph]:
    """Give the graphs with the k highest scores, best first: of equally good ones first that of exact search."""
    ranking = _Ranking(lattice, k)
    everyone = (1 << lattice.n_nodes) - 1
    first = ranking.first()
    yield first
    found = 1
    for rank in range(k):
        lattice.watch.check()
        graph = ranking.graph(everyone, rank)
        if graph is None or found == k:
            return
        if graph[1] != first[1]:
            found += 1
            lattice.watch.tell("ranking", found, k)
            yield graph


class _Ranking:
    """Graphs on any set of nodes, by rank.

    Parameters
    ----------
    lattice : Lattice
    k : int
        Ranks are below it.
    """

    def __init__(self, lattice: Lattice, k: int) -> None:
        self._lattice = lattice
        self._k = k
        self._single = lattice.scores()
        self._within = self._single.copy()
        self._best = best_within(lattice, self._within)
        nothing: Graph = (0.0, (0,) * lattice.n_nodes)
        self._graphs: dict[int, list[Graph]] = {0: [nothing]}
        self._met: dict[int, set[tuple[int, ...]]] = {}
        self._next: dict[int, list[tuple[float, int, int, int]]] = {0: []}
        self._families: dict[tuple[int, int], tuple[list[float], list[int]]] = {}
        self._best_places: dict[int, Ints] = {}

    def first(self) -> Graph:
        """Return the graph that exact search finds."""
        return float(self._best[-1]), tuple(best_parents(self._lattice, Tables(self._within, self._best)))

    def graph(self, nodes: int, rank: int) -> Graph | None:
        """Return the graph of a rank on a set of nodes, with its score; None where there are not so many."""
        if nodes not in self._next:
            self._open(nodes)
        graphs, candidates = self._graphs[nodes], self._next[nodes]
        while len(graphs) <= rank and candidates:
            cost, node, lower, which = heappop(candidates)
            child = self._lattice.children[node]
            before = nodes & ~(1 << node)
            rest = self.graph(before, lower)
            assert rest is not None
            parents = list(rest[1])
            parents[node] = child.nodes(self._ranked(child, before)[1][which])
            self._push(nodes, child, lower, which + 1)
            if which == 0:
                self._push(nodes, child, lower + 1, 0)
            if tuple(parents) not in self._met[nodes]:
                self._met[nodes].add(tuple(parents))
                graphs.append((-cost, tuple(parents)))
        return graphs[rank] if rank < len(graphs) else None

    def _open(self, nodes: int) -> None:
        """Begin with the best graphs that end with each of the nodes."""
        first = []
        for node in members(nodes):
            child, before = self._lattice.children[node], nodes & ~(1 << node)
            score = float(self._best[before] + self._within[child.start + child.place(before)])
            if np.isfinite(score):
                first.append((-score, node, 0, 0))
        heapify(first)
        self._graphs[nodes], self._met[nodes], self._next[nodes] = [], set(), first

    def _push(self, nodes: int, child: Child, lower: int, which: int) -> None:
        """Note the graph that adds a node with a set of parents, both of some rank, to a smaller graph."""
        before = nodes & ~(1 << child.node)
        scores, _ = self._ranked(child, before)
        if lower >= self._k or which >= len(scores):
            return
        rest = self.graph(before, lower)
        if rest is not None:
            heappush(self._next[nodes], (-(rest[0] + scores[which]), child.node, lower, which))

    def _ranked(self, child: Child, before: int) -> tuple[list[float], list[int]]:
        """Best sets of parents among some predecessors: scores and places."""
        found = self._families.get((child.node, before))
        if found is None:
            places = self._best_among(child, child.place(before))
            found = self._single[child.start + places].tolist(), places.tolist()
            self._families[child.node, before] = found
        return found

    def _best_among(self, child: Child, place: int) -> Ints:
        # Those of the child's best families that may be here are the best here, if they are enough.
        places = self._favourites(child)
        places = places[(places & ~place == 0) & (place & child.pinned & ~places == 0)]
        if len(places) < self._k:
            places = np.array([place & child.pinned], dtype=np.int64)
            for i in members(place & ~child.pinned):
                places = np.concatenate([places, places | 1 << i])
            places = _ordered(places, self._single[child.start + places], self._k)
        return places[: self._k]

    def _favourites(self, child: Child) -> Ints:
        """Places of the best families of a child, best first."""
        if child.node not in self._best_places:
            scores = self._single[child.start : child.start + child.size]
            self._best_places[child.node] = _ordered(np.arange(child.size), scores, _FAVOURITES)
        return self._best_places[child.node]


def _ordered(places: Ints, scores: Floats, most: int) -> Ints:
    """Places with the best scores, best first, smaller places first among equals; impossible ones left out."""
    if len(places) > most:
        best = np.argpartition(-scores, most - 1)[:most]
        places, scores = places[best], scores[best]
    order = np.lexsort((places, -scores))
    return places[order[np.isfinite(scores[order])]]
