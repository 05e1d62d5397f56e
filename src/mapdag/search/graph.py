"""A graph under search, as bitsets over its nodes: parents, children and ancestors of each.

A graph is a tuple of three uint64 arrays (nodes, words) and the number of parents of each node.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapdag.kernels import entry, inner, new_ints, trailing_zeros


def empty_graph(n_nodes: int) -> tuple[Any, ...]:
    """Make a graph without arcs: (parents, children, ancestors, n_parents)."""
    shape = (n_nodes, (n_nodes + 63) // 64)
    return *(np.zeros(shape, dtype=np.uint64) for _ in range(3)), np.zeros(n_nodes, dtype=np.int64)


@inner
def contains(bitset: Any, node: int) -> bool:
    """Whether a node is in a set."""
    return (bitset[node >> 6] >> np.uint64(node & 63)) & np.uint64(1) != 0


@inner
def flip(bitset: Any, node: int) -> None:
    """Put a node into a set, or take it out."""
    bitset[node >> 6] ^= np.uint64(1) << np.uint64(node & 63)


@inner
def list_members(bitset: Any, out: Any) -> int:
    """Write the members of a set to `out`, in order; returns how many there are."""
    found = 0
    for w in range(len(bitset)):
        word = bitset[w]
        while word != 0:
            out[found] = (w << 6) + trailing_zeros(word)
            word &= word - np.uint64(1)
            found += 1
    return found


@entry
def add_arc(graph: Any, start: int, end: int) -> None:
    """Add start -> end; `end` and its descendants inherit the ancestors of `start`."""
    parents, children, ancestors, n_parents = graph
    flip(parents[end], start)
    flip(children[start], end)
    n_parents[end] += 1
    inherited = ancestors[start].copy()
    inherited[start >> 6] |= np.uint64(1) << np.uint64(start & 63)
    for node in range(len(ancestors)):
        if node == end or contains(ancestors[node], end):
            for w in range(len(inherited)):
                ancestors[node, w] |= inherited[w]


@inner
def delete_arc(graph: Any, start: int, end: int) -> None:
    """Delete start -> end; the ancestors of `end` and of its descendants are found anew, parents first."""
    parents, children, ancestors, n_parents = graph
    n, words = ancestors.shape
    flip(parents[end], start)
    flip(children[start], end)
    n_parents[end] -= 1
    members = new_ints(n)
    waiting = np.zeros(n, np.int64)  # one, plus the affected parents that are not done yet
    for node in range(n):
        if node == end or contains(ancestors[node], end):
            waiting[node] = 1
    for node in range(n):
        if waiting[node]:
            for i in range(list_members(parents[node], members)):
                waiting[node] += waiting[members[i]] > 0
    ready = new_ints(n)
    ready[0] = end
    size = 1
    while size:
        size -= 1
        node = ready[size]
        waiting[node] = 0
        ancestors[node, :] = 0
        for i in range(list_members(parents[node], members)):
            p = members[i]
            for w in range(words):
                ancestors[node, w] |= ancestors[p, w]
            ancestors[node, p >> 6] |= np.uint64(1) << np.uint64(p & 63)
        for i in range(list_members(children[node], members)):
            child = members[i]
            waiting[child] -= 1
            if waiting[child] == 1:
                ready[size] = child
                size += 1


@entry
def can_reverse(graph: Any, start: int, end: int) -> bool:
    """Whether reversing start -> end leaves no cycle: no other path from start to end."""
    parents, _, ancestors, _ = graph
    for w in range(parents.shape[1]):
        word = parents[end, w]
        while word != 0:
            p = (w << 6) + trailing_zeros(word)
            word &= word - np.uint64(1)
            if p != start and contains(ancestors[p], start):
                return False
    return True
