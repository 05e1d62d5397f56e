"""Windows, compiled: the parents of a few nodes close to each other are chosen anew, all at once, and exactly.

Moving one node at a time stops where several would have to move together: a chain of arcs must be turned round as a
whole before anything gains. So some nodes around one are taken, the parents of all others stay, and the best of all
ways to arrange them is found by a dynamic program over their subsets, among all families that are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import STEP, Floats, Ints, Words, inner, mix, no_words, popcount, trailing_zeros
from mapdag.search.climbing.links import contains, flip, put_in
from mapdag.search.climbing.moves import tie_at

if TYPE_CHECKING:
    from mapdag.search.orders.lists import Lists


@inner
def draw(random: Words, size: int) -> int:
    """Draw a number below `size` (splitmix64); `random` is the state of the generator."""
    z = mix(random[0])
    random[0] += STEP
    return np.int64(((z >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32))


_SIZE = 8  # nodes that are looked at together, at most


class Window(NamedTuple):
    """Some nodes whose parents are chosen anew; sets of them are numbers, one bit for each."""

    members: Ints  # (size,)
    place: Ints  # (nodes,) of each node among the members; -1: it is none
    above: Ints  # (nodes,) the members that must come before each node can be a parent, as a set
    values: Floats  # (size, sets) for each member, the score of its best parents when some others have come before
    best: Floats  # (sets,) the score of the best arrangement of each set
    last: Ints  # (sets,) who comes last in it


def new_window(n_nodes: int) -> Window:
    """Make a window with nobody in it."""
    size = min(_SIZE, n_nodes)
    return Window(
        members=np.zeros(size, dtype=np.int64),
        place=np.full(n_nodes, -1, dtype=np.int64),
        above=np.zeros(n_nodes, dtype=np.int64),
        values=np.zeros((size, 1 << size)),
        best=np.zeros(1 << size),
        last=np.zeros(1 << size, dtype=np.int64),
    )


@inner
def rearrange(centre: int, sequence: Ints, chosen: Ints, lists: Lists, window: Window, random: Words) -> bool:
    """Arrange some nodes around one in the best way; tells whether that gained something.

    Parameters
    ----------
    centre : int
    sequence : int array
        An order of the nodes in which parents come before children.
    chosen : int array
        The family of each node among the lists; changed where that gains.
    """
    size = _gather(centre, chosen, lists, window, random)
    gained = False
    if size > 1:
        _look_above(sequence, chosen, lists, window)
        before = 0.0
        for i in range(size):
            _value(i, size, lists, window)
            before += lists.scores[chosen[window.members[i]]]
        gained = _arrange(size, window) - before > tie_at(before)
        if gained:
            _adopt(size, chosen, lists, window)
    for i in range(size):
        window.place[window.members[i]] = -1
    return gained


@inner
def _gather(centre: int, chosen: Ints, lists: Lists, window: Window, random: Words) -> int:
    """Take a node and others at random, each a parent or a child of one before; returns how many there are."""
    members, place, sets = window.members, window.place, lists.sets
    words = sets.shape[1]
    near = no_words(words)
    size, x = 0, centre
    while True:
        members[size], place[x] = x, size
        size += 1
        if size == len(members):
            return size
        for w in range(words):
            near[w] |= sets[chosen[x], w]
        for y in range(len(chosen)):
            if contains(sets[chosen[y]], x):
                put_in(near, y)
        count = 0
        for w in range(words):
            word = near[w]
            while word != 0:
                y = (w << 6) + trailing_zeros(word)
                word &= word - np.uint64(1)
                if place[y] >= 0:
                    flip(near, y)
            count += popcount(near[w])
        if count == 0:
            return size
        x = _pick(near, draw(random, count))


@inner
def _pick(nodes: Words, left: int) -> int:
    """Return a member of a set by its number."""
    for w in range(len(nodes)):
        here: int = popcount(nodes[w])
        if left < here:
            word = nodes[w]
            for _ in range(left):
                word &= word - np.uint64(1)
            return (w << 6) + trailing_zeros(word)
        left -= here
    return -1


@inner
def _look_above(sequence: Ints, chosen: Ints, lists: Lists, window: Window) -> None:
    """For each node, find the members that it has among its ancestors, up to the first on each path."""
    place, above = window.place, window.above
    for x in sequence:
        above[x] = 1 << place[x] if place[x] >= 0 else _needed(lists.sets[chosen[x]], above)


@inner
def _needed(parents: Words, above: Ints) -> int:
    """Members that must come before some parents can be those of a node."""
    needs = 0
    for w in range(len(parents)):
        word = parents[w]
        while word != 0:
            needs |= above[(w << 6) + trailing_zeros(word)]
            word &= word - np.uint64(1)
    return needs


@inner
def _value(i: int, size: int, lists: Lists, window: Window) -> None:
    """Find the best score of a member for every set of others before it."""
    values, x = window.values[i], window.members[i]
    sets = 1 << size
    for s in range(sets):
        values[s] = -np.inf
    for f in range(lists.starts[x], lists.starts[x + 1]):
        needs = _needed(lists.sets[f], window.above)
        if not needs >> i & 1:  # otherwise one of them comes after the member
            values[needs] = max(values[needs], lists.scores[f])
            if needs == 0:
                break  # those that follow are worse
    for b in range(size):
        step = 1 << b
        if b != i:
            for block in range(step, sets, 2 * step):
                for s in range(block, block + step):
                    values[s] = max(values[s], values[s - step])


@inner
def _arrange(size: int, window: Window) -> float:
    """Find the best arrangement of all sets of members; returns the score of that of all of them."""
    values, best, last = window.values, window.best, window.last
    sets = 1 << size
    best[0] = 0.0
    for s in range(1, sets):
        found, who = -np.inf, 0
        for i in range(size):
            if s >> i & 1:
                rest = s ^ (1 << i)
                score = best[rest] + values[i, rest]
                if score > found:
                    found, who = score, i
        best[s], last[s] = found, who
    return best[sets - 1]


@inner
def _adopt(size: int, chosen: Ints, lists: Lists, window: Window) -> None:
    """Give the members the parents that they have in the best arrangement."""
    rest = (1 << size) - 1
    while rest:
        i = window.last[rest]
        rest ^= 1 << i
        f = lists.starts[window.members[i]]
        while _needed(lists.sets[f], window.above) & ~rest:
            f += 1
        chosen[window.members[i]] = f
