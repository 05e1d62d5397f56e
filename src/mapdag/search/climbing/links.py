"""A graph under search, as bitsets over its nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mapdag.kernels import Ints, Words, entry, inner, new_ints, no_ints, trailing_zeros


class Links(NamedTuple):
    """Parents, children and ancestors of each node."""

    parents: Words  # (nodes, words)
    children: Words
    ancestors: Words
    n_parents: Ints  # (nodes,)


def no_links(n_nodes: int) -> Links:
    """Make a graph without arcs."""
    shape = (n_nodes, (n_nodes + 63) // 64)
    parents, children, ancestors = (np.zeros(shape, dtype=np.uint64) for _ in range(3))
    return Links(parents, children, ancestors, np.zeros(n_nodes, dtype=np.int64))


@inner
def contains(bitset: Words, node: int) -> bool:
    """Whether a node is in a set."""
    return (bitset[node >> 6] >> np.uint64(node & 63)) & np.uint64(1) != 0


@inner
def flip(bitset: Words, node: int) -> None:
    """Put a node into a set, or take it out."""
    bitset[node >> 6] ^= np.uint64(1) << np.uint64(node & 63)


@inner
def put_in(bitset: Words, node: int) -> None:
    """Put a node into a set, wherever it was."""
    bitset[node >> 6] |= np.uint64(1) << np.uint64(node & 63)


@inner
def list_members(bitset: Words, out: Ints) -> int:
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
def add_arc(links: Links, start: int, end: int) -> None:
    """Add start -> end; `end` and its descendants inherit the ancestors of `start`."""
    ancestors = links.ancestors
    flip(links.parents[end], start)
    flip(links.children[start], end)
    links.n_parents[end] += 1
    for node in range(len(ancestors)):
        if node == end or contains(ancestors[node], end):
            for w in range(ancestors.shape[1]):
                ancestors[node, w] |= ancestors[start, w]
            ancestors[node, start >> 6] |= np.uint64(1) << np.uint64(start & 63)


@inner
def delete_arc(links: Links, start: int, end: int) -> None:
    """Delete start -> end; the ancestors of `end` and of its descendants are found anew, parents first."""
    parents, children, ancestors = links.parents, links.children, links.ancestors
    n, words = ancestors.shape
    flip(parents[end], start)
    flip(children[start], end)
    links.n_parents[end] -= 1
    members = new_ints(n)
    waiting = no_ints(n)  # one, plus the affected parents that are not done yet
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
        for w in range(words):
            ancestors[node, w] = 0
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
def can_reverse(links: Links, start: int, end: int) -> bool:
    """Whether reversing start -> end leaves no cycle: no other path from start to end."""
    for w in range(links.parents.shape[1]):
        word = links.parents[end, w]
        while word != 0:
            p = (w << 6) + trailing_zeros(word)
            word &= word - np.uint64(1)
            if p != start and contains(links.ancestors[p], start):
                return False
    return True
