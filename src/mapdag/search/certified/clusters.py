"""Kernels of certified search: clusters of nodes that a fractional graph has too many arcs in.

In a graph without cycles, k nodes of any cluster have fewer than k parents in it: the first k in an order of the nodes.
So at most size - k nodes have k or more. A fractional graph gives weights to families; a cluster in which the weights
of families with k or more parents in it sum up to more than that is a *cut*: an inequality that all graphs obey, and
this one does not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mapdag.kernels import Bools, Floats, Ints, Words, entry, inner, new_floats, new_ints, trailing_zeros

_GAIN = 1e-7  # what counts as one


class Support(NamedTuple):
    """The families that a fractional graph has."""

    child: Ints  # (families,)
    ends: Ints  # (families,) where the parents of each end
    parents: Ints
    weights: Floats  # (families,)


@entry
def support_of(weights: Floats, least: float, owner: Ints, sets: Words) -> Support:
    """Return the families with some weight, their parents listed."""
    size, room = 0, 0
    for f in range(len(weights)):
        if weights[f] > least:
            size += 1
            for w in range(sets.shape[1]):
                word = sets[f, w]
                while word:
                    room += 1
                    word &= word - np.uint64(1)
    child, ends, parents, kept = new_ints(size), new_ints(size), new_ints(room), new_floats(size)
    size, room = 0, 0
    for f in range(len(weights)):
        if weights[f] > least:
            for w in range(sets.shape[1]):
                word = sets[f, w]
                while word:
                    parents[room] = 64 * w + trailing_zeros(word)
                    room += 1
                    word &= word - np.uint64(1)
            child[size], ends[size], kept[size] = owner[f], room, weights[f]
            size += 1
    return Support(child, ends, parents, kept)


@entry
def weigh_arcs(support: Support, out: Floats) -> None:
    """Add up the weights of the families with each arc: ``out[parent, child]``."""
    child, ends, parents, weights = support
    for f in range(len(child)):
        for i in range(ends[f - 1] if f else 0, ends[f]):
            out[parents[i], child[f]] += weights[f]


@entry
def find_cycles(arcs: Floats, out: Bools) -> int:
    """Find, for each node, the cycle through it whose arcs are the least short of weight 1: ``out[cycle, node]``.

    Only those that lack less than 1 in all: their nodes are a cluster with a cut. Returns how many there are.
    """
    n = len(arcs)
    length, before = new_floats(n), new_ints(n)
    found = 0
    for start in range(n):
        done = np.zeros(n, np.bool_)
        for v in range(n):
            length[v], before[v] = np.inf, -1
            if arcs[start, v] > 0.0:
                length[v], before[v] = max(1.0 - arcs[start, v], 0.0) + _GAIN, start
        while True:
            nearest = -1
            for v in range(n):
                if not done[v] and length[v] < 0.999 and (nearest < 0 or length[v] < length[nearest]):
                    nearest = v
            if nearest < 0:
                break
            done[nearest] = True
            if nearest == start:
                break
            for v in range(n):
                if arcs[nearest, v] > 0.0 and not done[v]:
                    longer = length[nearest] + max(1.0 - arcs[nearest, v], 0.0) + _GAIN
                    if longer < length[v]:
                        length[v], before[v] = longer, nearest
        if done[start]:
            v = start
            while True:
                out[found, v] = True
                v = before[v]
                if v == start:
                    break
            found += 1
    return found


@inner
def _gains(member: Bools, k: int, support: Support, counts: Ints, gains: Floats) -> None:
    """What the weights of families with k or more parents in a cluster gain when each node joins or leaves it."""
    child, ends, parents, weights = support
    for v in range(len(member)):
        gains[v] = 0.0
    for f in range(len(child)):
        v, first = child[f], ends[f - 1] if f else 0
        if not member[v]:
            if counts[f] >= k:
                gains[v] += weights[f]
        elif counts[f] == k - 1:
            for i in range(first, ends[f]):
                if not member[parents[i]]:
                    gains[parents[i]] += weights[f]
        elif counts[f] >= k:
            gains[v] -= weights[f]
            if counts[f] == k:
                for i in range(first, ends[f]):
                    if member[parents[i]]:
                        gains[parents[i]] -= weights[f]


@entry
def improve_clusters(clusters: Bools, k: int, support: Support, patience: int, out: Floats) -> None:
    """Improve clusters one by one: the best node joins or leaves, even for the worse, no node twice.

    Ends after so many moves in vain. `out` gets by how much each violates its inequality, in the end.
    """
    child, ends, parents, weights = support
    n = clusters.shape[1]
    counts, gains = new_ints(len(child)), new_floats(n)
    for c in range(len(clusters)):
        member = clusters[c].copy()
        moved = np.zeros(n, np.bool_)
        size = 0
        for v in range(n):
            size += member[v]
        value = float(k - size)
        for f in range(len(child)):
            counts[f] = 0
            for i in range(ends[f - 1] if f else 0, ends[f]):
                counts[f] += member[parents[i]]
            if member[child[f]] and counts[f] >= k:
                value += weights[f]
        out[c] = value
        moves, last = 0, 0
        while moves < last + patience:
            _gains(member, k, support, counts, gains)
            pick, top = -1, -np.inf
            for v in range(n):
                gain = gains[v] + (1.0 if member[v] else -1.0)
                if gain > top and not moved[v] and not (member[v] and size <= k + 1):
                    pick, top = v, gain
            if pick < 0:
                break
            value += top
            step = -1 if member[pick] else 1
            member[pick], moved[pick] = not member[pick], True
            size += step
            moves += 1
            for f in range(len(child)):
                for i in range(ends[f - 1] if f else 0, ends[f]):
                    if parents[i] == pick:
                        counts[f] += step
            if value > out[c] + _GAIN:
                out[c], last = value, moves
                for v in range(n):
                    clusters[c, v] = member[v]


@entry
def cluster_row(member: Bools, k: int, owner: Ints, sets: Words, columns: Ints) -> int:
    """Which families of nodes of a cluster have k or more parents in it; returns how many there are."""
    mask = np.zeros(sets.shape[1], np.uint64)
    for v in range(len(member)):
        if member[v]:
            mask[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
    found = 0
    for f in range(len(owner)):
        if member[owner[f]]:
            inside = 0
            for w in range(len(mask)):
                word = sets[f, w] & mask[w]
                while word:
                    word &= word - np.uint64(1)
                    inside += 1
            if inside >= k:
                columns[found] = f
                found += 1
    return found
