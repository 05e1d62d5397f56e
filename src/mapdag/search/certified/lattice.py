"""Kernels of certified search: sets of candidate parents, layer after layer, each after all its subsets.

A set is a key: the places of its candidates, counted from 1, as digits, the smallest first. So keys of a layer that are
made from keys in order, each with every candidate after its last one, are in order, too, and are found by bisection.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mapdag.kernels import Bools, Floats, Ints, Words, entry, inner, new_floats, new_ints, new_words


class Layer(NamedTuple):
    """Sets of one size, ascending by key."""

    keys: Words  # (sets,)
    best: Floats  # (sets,) the highest score of a set that may stand for this one: itself or a subset
    prior: Floats  # (sets,) log prior of the arcs
    open: Bools  # (sets,) whether larger sets are worth a look


class Extensions(NamedTuple):
    """Sets with one candidate more, ascending by key, all of whose subsets are open."""

    rows: Ints  # which set each was made from: itself without its last candidate
    last: Ints  # place of the last candidate
    keys: Words
    below: Floats  # the highest score of a proper subset that may stand for it


@inner
def _find(keys: Words, key: np.uint64) -> int:
    """Where a key is, or -1."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == key else -1


@entry
def extend_layer(layer: Layer, size: int, bits: int, pinned: Bools) -> Extensions:
    """Extend each open set of some size by each candidate after its last one, if all subsets are open.

    A candidate that is `pinned` must not be left out: a subset without it cannot stand for the set.
    """
    keys, best, is_open = layer.keys, layer.best, layer.open
    n, width = len(pinned), np.uint64(bits)
    digit = (np.uint64(1) << width) - np.uint64(1)
    room = 0
    for i in range(len(keys)):
        if is_open[i]:
            room += n - (np.int64(keys[i] & digit) if size else 0)
    rows, last, new, below = new_ints(room), new_ints(room), new_words(room), new_floats(room)
    found = 0
    for i in range(len(keys)):
        if not is_open[i]:
            continue
        first = np.int64(keys[i] & digit) if size else 0
        for place in range(first, n):
            key = (keys[i] << width) | np.uint64(place + 1)
            top = -np.inf if pinned[place] else best[i]
            fits = True
            for dropped in range(1, size + 1):  # digits from the right; the last one is the set that it was made from
                low = np.uint64(dropped) * width
                rest = ((key >> (low + width)) << low) | (key & ((np.uint64(1) << low) - np.uint64(1)))
                at = _find(keys, rest)
                if at < 0 or not is_open[at]:
                    fits = False
                    break
                if best[at] > top and not pinned[np.int64((key >> low) & digit) - 1]:
                    top = best[at]
            if fits:
                rows[found], last[found], new[found], below[found] = i, place, key, top
                found += 1
    return Extensions(rows[:found].copy(), last[:found].copy(), new[:found].copy(), below[:found].copy())


@entry
def unpack_keys(keys: Words, bits: int, candidates: Ints, out: Words) -> None:
    """Add the members of sets to bitsets of nodes, ``out[set, word]``."""
    width = np.uint64(bits)
    digit = (np.uint64(1) << width) - np.uint64(1)
    for i in range(len(keys)):
        rest = keys[i]
        while rest:
            node = candidates[np.int64(rest & digit) - 1]
            out[i, node >> 6] |= np.uint64(1) << np.uint64(node & 63)
            rest >>= width
