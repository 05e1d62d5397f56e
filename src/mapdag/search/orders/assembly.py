"""Assemblies, compiled: from one order to the best graph that families that are known can be put together to.

Each node in turn is moved to its best position, where the best parents among its predecessors are looked up; where
nothing gains any more, a few nodes at a time are arranged anew (`windows`). Nothing is counted, so that many orders
can be tried. It may be interrupted, and goes on where it was: an `Assembly` is its whole position.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import Bools, Ints, Words, entry, inner, lend, new_bools, no_words
from mapdag.search.climbing.links import contains, flip, put_in
from mapdag.search.climbing.moves import NOISE, TOLERANCE
from mapdag.search.orders.graph import Graph
from mapdag.search.orders.lists import Lists, look_up
from mapdag.search.orders.windows import Window, new_window, rearrange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.search.frame.watch import Watch

AT, MOVED, CENTRE, FRUITLESS = 0, 1, 2, 3  # what is in `Assembly.cursor`
_STEPS = 256  # nodes or windows after which it comes back, to look at limits
_MANY = 64  # moves of each node after which sums are trusted by half as much: so it ends, whatever they are


class Assembly(NamedTuple):
    """A graph that is being put together."""

    sequence: Ints  # the nodes, in order
    chosen: Ints  # (nodes,) the family of each among the lists; -1: not looked up yet
    dirty: Bools  # (nodes,) whether the position of each may not be the best
    # The node that is looked at next; how many were moved; the middle of the next window; how many windows in a row
    # gained nothing
    cursor: Ints
    window: Window
    random: Words  # (1,) state of the generator


def new_assembly(sequence: Sequence[int], rng: np.random.Generator) -> Assembly:
    """Make an assembly that begins with an order."""
    n = len(sequence)
    return Assembly(
        sequence=np.array(sequence, dtype=np.int64),
        chosen=np.full(n, -1, dtype=np.int64),
        dirty=np.ones(n, dtype=np.bool_),
        cursor=np.zeros(4, dtype=np.int64),
        window=new_window(n),
        random=rng.integers(2**64, size=1, dtype=np.uint64),
    )


def graph_from(assembly: Assembly, lists: Lists) -> Graph:
    """Return the graph of an assembly."""
    return Graph(lists.sets[assembly.chosen].copy(), lists.scores[assembly.chosen].copy())


def put_together(lists: Lists, starts: Sequence[Assembly], enough: int, watch: Watch) -> list[Graph]:
    """Finish assemblies, several at a time, and return their graphs in the same order."""

    def finish(assembly: Assembly) -> None:
        while not assemble(assembly, lists, enough, _STEPS):
            watch.check()

    watch.work("", [partial(finish, each) for each in starts])
    return [graph_from(each, lists) for each in starts]


@entry
def assemble(assembly: Assembly, lists: Lists, enough: int, steps: int) -> bool:
    """Go on for some steps; tells whether all is done: so many windows in a row as are enough have gained nothing."""
    return _assemble(lend(assembly), lend(lists), enough, steps)


@inner
def _assemble(assembly: Assembly, lists: Lists, enough: int, steps: int) -> bool:
    sequence, chosen, cursor = assembly.sequence, assembly.chosen, assembly.cursor
    n = len(sequence)
    if chosen[0] < 0:
        _place(0, n - 1, assembly, lists)
    for _ in range(steps):
        x = _next_dirty(assembly.dirty, cursor[AT])
        if x >= 0:
            _improve(x, assembly, lists)
            cursor[AT] = x + 1 if x + 1 < n else 0
            continue
        cursor[AT] = 0
        if cursor[FRUITLESS] >= enough:
            return True
        centre = cursor[CENTRE]
        cursor[CENTRE] = centre + 1 if centre + 1 < n else 0
        cursor[FRUITLESS] += 1
        if rearrange(centre, sequence, chosen, lists, assembly.window, assembly.random):
            cursor[FRUITLESS] = 0
            _sort(assembly, lists)
    return False


@inner
def _next_dirty(dirty: Bools, at: int) -> int:
    """First dirty node from one on, and round; -1 if there is none."""
    for k in range(len(dirty)):
        x = at + k if at + k < len(dirty) else at + k - len(dirty)
        if dirty[x]:
            return x
    return -1


@inner
def _place(first: int, last: int, assembly: Assembly, lists: Lists) -> None:
    """Look up the families of the nodes from one position to another; who wins or loses parents becomes dirty."""
    sequence, chosen, dirty = assembly.sequence, assembly.chosen, assembly.dirty
    before = no_words(lists.sets.shape[1])
    for i in range(last + 1):
        x = sequence[i]
        if i >= first:
            found = look_up(x, before, lists)
            if found != chosen[x]:
                if chosen[x] >= 0:
                    dirty[x] = True
                    for y in range(len(sequence)):
                        if contains(lists.sets[found], y) != contains(lists.sets[chosen[x]], y):
                            dirty[y] = True
                chosen[x] = found
        flip(before, x)


@inner
def _best_slot(x: int, here: int, step: int, assembly: Assembly, lists: Lists) -> tuple[int, float]:
    """Best new position of a node to one side of it, and what that gains."""
    sequence, chosen, cursor = assembly.sequence, assembly.chosen, assembly.cursor
    sets, scores, anybody = lists.sets, lists.scores, lists.anybody
    before = no_words(sets.shape[1])
    for i in range(here):
        flip(before, sequence[i])
    found, slot, own = 0.0, here, chosen[x]
    change = -scores[own]
    noise, terms = NOISE * 2.0 ** (cursor[MOVED] // (_MANY * len(sequence))), abs(change)
    i = here + step
    while 0 <= i < len(sequence):
        other = sequence[i]
        theirs, concerned = chosen[other], False
        # Going left, the others get the node as a predecessor, which loses them; going right, it is the other way.
        if step < 0:
            flip(before, other)
        if contains(anybody[other], x) if step < 0 else contains(sets[theirs], x):
            if step < 0:
                flip(before, x)
            theirs, concerned = look_up(other, before, lists), True
            if step < 0:
                flip(before, x)
        if step > 0:
            flip(before, other)
        if contains(anybody[x], other):
            own, concerned = look_up(x, before, lists), True
        if theirs < 0 or own < 0:  # one of them must be a parent of the other
            break
        if concerned:
            change += scores[theirs] - scores[chosen[other]]
            terms += abs(scores[theirs] - scores[chosen[other]])
            gain = change + scores[own]
            if gain > found and gain > TOLERANCE and not gain < noise * terms:
                found, slot = gain, i
        i += step
    return slot, found


@inner
def _improve(x: int, assembly: Assembly, lists: Lists) -> None:
    """Move one node to its best position."""
    sequence = assembly.sequence
    assembly.dirty[x] = False
    here = 0
    while sequence[here] != x:
        here += 1
    left, gain_left = _best_slot(x, here, -1, assembly, lists)
    right, gain_right = _best_slot(x, here, 1, assembly, lists)
    slot = left if gain_left >= gain_right else right
    if slot == here:
        return
    step, i = 1 if slot > here else -1, here
    while i != slot:
        sequence[i] = sequence[i + step]
        i += step
    sequence[slot] = x
    assembly.cursor[MOVED] += 1
    assembly.cursor[FRUITLESS] = 0
    _place(min(here, slot), max(here, slot), assembly, lists)
    assembly.dirty[x] = False


@inner
def _sort(assembly: Assembly, lists: Lists) -> None:
    """Put parents before their children, changing the order as little as that takes, and look up what follows."""
    sequence, chosen, dirty, sets = assembly.sequence, assembly.chosen, assembly.dirty, lists.sets
    n, words = len(sequence), sets.shape[1]
    old, waits, before = sequence.copy(), new_bools(n), no_words(words)
    for x in range(n):
        waits[x] = True
    size, k, skipped = 0, 0, n
    while size < n:
        x = old[k]
        ready = waits[x]
        for w in range(words):
            ready = ready and not sets[chosen[x], w] & ~before[w]
        if ready:
            waits[x] = False
            put_in(before, x)
            sequence[size] = x
            size += 1
        elif waits[x]:
            skipped = min(skipped, k)
        k += 1
        if ready and skipped < k:  # who waits may do so no longer
            k, skipped = skipped, n
    first, last = 0, n - 1
    while first < n and sequence[first] == old[first]:
        first += 1
    while last > first and sequence[last] == old[last]:
        last -= 1
    for i in range(first, last + 1):
        dirty[sequence[i]] = True
    _place(first, last, assembly, lists)
