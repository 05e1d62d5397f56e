"""The best of two graphs, compiled: where they differ in separate places, each place is taken from the better one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mapdag.kernels import (
    Bools,
    Floats,
    Ints,
    Words,
    entry,
    inner,
    new_bools,
    new_floats,
    new_ints,
    no_ints,
    no_words,
    popcount,
    trailing_zeros,
)
from mapdag.search.climbing.links import flip
from mapdag.search.climbing.moves import TOLERANCE

_FEW = 12  # nodes taken together when parts of groups are tried


class Graph(NamedTuple):
    """A graph and the scores of its families, their log-odds included."""

    parents: Words  # (nodes, words) bitsets
    scores: Floats  # (nodes,)

    def copy(self) -> Graph:
        """Return the same graph, to be changed."""
        return Graph(self.parents.copy(), self.scores.copy())

    def masks(self) -> list[int]:
        """Parents of each node, as bit masks."""
        return [int.from_bytes(row.tobytes(), "little") for row in self.parents]


def no_graph(n_nodes: int) -> Graph:
    """Make a graph without arcs or scores."""
    return Graph(np.zeros((n_nodes, (n_nodes + 63) // 64), dtype=np.uint64), np.zeros(n_nodes))


def graph_of(masks: Sequence[int], scores: Sequence[float]) -> Graph:
    """Make a graph from parents as bit masks and the scores of the families."""
    graph = no_graph(len(masks))
    size = 8 * graph.parents.shape[1]
    graph.parents[:] = [np.frombuffer(mask.to_bytes(size, "little"), dtype=np.uint64) for mask in masks]
    graph.scores[:] = scores
    return graph


@entry
def recombine(first: Graph, second: Graph, finely: bool) -> None:
    """Improve a graph, in place, with parts of another one.

    Nodes whose parents differ form groups: those that are among the parents in which another one differs belong with
    it. The scores of groups add up, so each group that scores better is taken from the second graph; where that closes
    a cycle, with the groups on that cycle, as long as they gain something together.

    Parameters
    ----------
    first, second : Graph
    finely : bool
        Whether to try parts of groups, too: single nodes that score better, with those on the cycles that they close,
        a few at most.
    """
    n = len(first.scores)
    group_of = new_ints(n)
    if _group(first.parents, second.parents, group_of) == 0:
        return
    _take_over(first, second, group_of, False)
    if finely:
        for x in range(n):
            group_of[x] = x if _differ(first.parents[x], second.parents[x]) else -1
        _take_over(first, second, group_of, True)


@inner
def _differ(first: Words, second: Words) -> bool:
    """Whether two sets are not the same."""
    for w in range(len(first)):
        if first[w] != second[w]:
            return True
    return False


@inner
def _root(x: int, group_of: Ints) -> int:
    """Node that stands for a group."""
    while group_of[x] != x:
        group_of[x] = group_of[group_of[x]]
        x = group_of[x]
    return x


@inner
def _group(first: Words, second: Words, group_of: Ints) -> int:
    """Find the group of each node, called by its first member, -1 where parents do not differ; tells how many do."""
    n = len(first)
    different = no_words(first.shape[1])
    found = 0
    for x in range(n):
        group_of[x] = -1
        if _differ(first[x], second[x]):
            group_of[x] = x
            flip(different, x)
            found += 1
    for x in range(n):
        if group_of[x] < 0:
            continue
        for w in range(len(different)):
            word = (first[x, w] ^ second[x, w]) & different[w]
            while word != 0:
                one, other = _root(x, group_of), _root((w << 6) + trailing_zeros(word), group_of)
                word &= word - np.uint64(1)
                group_of[max(one, other)] = min(one, other)
    for x in range(n):
        if group_of[x] >= 0:
            group_of[x] = _root(x, group_of)
    return found


@inner
def _take_over(first: Graph, second: Graph, group_of: Ints, finely: bool) -> None:
    """Take groups of nodes from the second graph where that gains something; whole groups, where nothing is lost."""
    n = len(group_of)
    gains, order, chosen = new_floats(n), new_ints(n), new_ints(n)
    size = 0
    for x in range(n):
        gains[x] = 0.0
    for x in range(n):
        if group_of[x] >= 0:
            gains[group_of[x]] += second.scores[x] - first.scores[x]
    for x in range(n):
        if group_of[x] == x:
            at = size
            while at and gains[x] > gains[order[at - 1]]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = x
            size += 1
    least = TOLERANCE if finely else -TOLERANCE
    tried = first.parents.copy()
    for i in range(size):
        group = order[i]
        if group_of[group] != group or not gains[group] >= least:
            continue
        for x in range(n):
            for w in range(tried.shape[1]):
                tried[x, w] = first.parents[x, w]
        taken = _close(group, tried, second.parents, group_of, gains, chosen, finely)
        total = 0.0
        for g in range(taken):
            total += gains[chosen[g]]
        if taken and total >= least:
            for x in range(n):
                if _is_among(group_of[x], chosen, taken):
                    first.scores[x] = second.scores[x]
                    for w in range(tried.shape[1]):
                        first.parents[x, w] = second.parents[x, w]
                    group_of[x] = -1


@inner
def _is_among(group: int, chosen: Ints, size: int) -> bool:
    if group < 0:
        return False
    for g in range(size):
        if chosen[g] == group:
            return True
    return False


@inner
def _close(group: int, tried: Words, other: Words, group_of: Ints, gains: Floats, chosen: Ints, finely: bool) -> int:
    """Groups to take together with one of those that are left, so that there is no cycle; how many, 0: there is no way.

    Whole groups must gain something at every step; single nodes may lose on the way, but are few.
    """
    n = len(group_of)
    cycle = new_bools(n)
    size, total = 0, 0.0
    while group >= 0:
        chosen[size] = group
        size += 1
        total += gains[group]
        if size > _FEW if finely else total < -TOLERANCE:
            return 0
        for x in range(n):
            if group_of[x] == group:
                for w in range(tried.shape[1]):
                    tried[x, w] = other[x, w]
        if not _find_cycle(tried, cycle):
            return size
        group = -1
        for x in range(n):
            mine = group_of[x]
            is_new = cycle[x] and mine >= 0 and not _is_among(mine, chosen, size)
            if is_new and (group < 0 or gains[mine] > gains[group]):
                group = mine
    return 0


@inner
def _find_cycle(parents: Words, cycle: Bools) -> bool:
    """Mark the nodes of one cycle of a graph, if there is one; tells whether."""
    n, words = parents.shape
    degree, first = new_ints(n), no_ints(n + 1)
    for x in range(n):
        degree[x] = 0
        for w in range(words):
            degree[x] += popcount(parents[x, w])
            word = parents[x, w]
            while word != 0:
                first[(w << 6) + trailing_zeros(word) + 1] += 1
                word &= word - np.uint64(1)
    for x in range(n):
        first[x + 1] += first[x]
    children, place = new_ints(int(first[n])), first.copy()
    for x in range(n):
        for w in range(words):
            word = parents[x, w]
            while word != 0:
                parent = (w << 6) + trailing_zeros(word)
                word &= word - np.uint64(1)
                children[place[parent]] = x
                place[parent] += 1
    queue = new_ints(n)
    size, done = 0, 0
    for x in range(n):
        cycle[x] = False
        if degree[x] == 0:
            queue[size] = x
            size += 1
    while done < size:
        x = queue[done]
        done += 1
        for k in range(first[x], first[x + 1]):
            child = children[k]
            degree[child] -= 1
            if degree[child] == 0:
                queue[size] = child
                size += 1
    if size == n:
        return False
    # Who is left has a parent who is left: going from parent to parent ends in a cycle.
    at = 0
    while degree[at] == 0:
        at += 1
    seen = no_ints(n)
    while seen[at] < 2:  # once on the way, once more round the cycle
        seen[at] += 1
        cycle[at] = seen[at] == 2
        at = _parent_left(parents[at], degree)
    return True


@inner
def _parent_left(parents: Words, degree: Ints) -> int:
    """First parent that waits for another one."""
    for w in range(len(parents)):
        word = parents[w]
        while word != 0:
            parent = (w << 6) + trailing_zeros(word)
            if degree[parent] > 0:
                return parent
            word &= word - np.uint64(1)
    return -1
