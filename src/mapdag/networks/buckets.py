"""Elimination, compiled: what the gaps of a row hold where they are too many to go through all their joint levels.

The same as `mapdag.networks.elimination` and `propagation` do for many rows at once, here for one component of one row,
so that every row may lack what it lacks: a greedy order, a table for each node that is eliminated (a bucket), and back
through the buckets to distributions, best levels or draws.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.kernels import Floats, Ints, Words, inner, mix, new_floats, new_ints, new_table, new_words, trailing_zeros

if TYPE_CHECKING:
    from mapdag.networks.completion import Component, Tables

NODES = 64
"""Nodes of a component that is eliminated: bits of a word."""

ENTRIES = 1 << 18
"""Entries of all its tables together: 2 MiB."""

TIE = 1e-12  # relative: levels that differ by rounding only are equally probable
_FRESH = 2.0**-24  # a number that was used up to this share of its digits is replaced by a new one


class Buckets(NamedTuple):
    """Room to eliminate one component; nodes are told by when they came into it, buckets by when they are made."""

    adjacent: Words  # (NODES,) by node, a bit for each neighbour
    turn: Ints  # (NODES,) by node, its bucket
    members: Ints  # (NODES, NODES) by bucket, its nodes, that which is eliminated last
    widths: Ints  # (NODES,) how many there are
    starts: Ints  # (NODES + 1,) where its table begins; its message follows that
    heads: Ints  # (NODES,) which bucket its message goes to; -1: none
    homes: Ints  # (families,) which bucket each family of the component goes to
    sizes: Ints  # (NODES,) of the bucket at work: levels of its members,
    steps: Ints  # (NODES,) by how much a place elsewhere grows with each of them,
    digits: Ints  # (NODES,) and their levels now
    places: Ints  # (NODES,) by node, which of its members it is
    tables: Floats  # (ENTRIES,)


@inner
def new_buckets(n: int) -> Buckets:
    """Return room for the components of a network with n nodes."""
    return Buckets(
        new_words(NODES),
        new_ints(NODES),
        new_table(NODES, NODES),
        new_ints(NODES),
        new_ints(NODES + 1),
        new_ints(NODES),
        new_ints(n),
        new_ints(NODES),
        new_ints(NODES),
        new_ints(NODES),
        new_ints(NODES),
        new_floats(ENTRIES),
    )


@inner
def _is_missing(node: int, row: Any, tables: Tables) -> bool:
    return np.int64(row[node]) == tables.cards[node]


@inner
def _join(size: int, row: Any, tables: Tables, part: Component, room: Buckets) -> None:
    """Find the neighbours of each node: the other missing members of its families."""
    for i in range(size):
        room.adjacent[i] = 0
    for f in range(part.ends[size - 1]):
        family, mask = part.families[f], np.uint64(0)
        begin, end = tables.member_ends[family - 1] if family else 0, tables.member_ends[family]
        for m in range(begin, end):
            if _is_missing(tables.members[m], row, tables):
                mask |= np.uint64(1) << np.uint64(part.depths[tables.members[m]])
        for m in range(begin, end):
            if _is_missing(tables.members[m], row, tables):
                room.adjacent[part.depths[tables.members[m]]] |= mask


@inner
def _cheapest(left: Any, tables: Tables, part: Component, room: Buckets) -> int:
    """Return the node that makes the smallest table."""
    best, cost, rest = -1, np.inf, left
    while rest:
        i: int = trailing_zeros(rest)
        rest &= rest - np.uint64(1)
        mine, others = 1.0, (room.adjacent[i] & left) | (np.uint64(1) << np.uint64(i))
        while others:
            mine *= tables.cards[part.nodes[trailing_zeros(others)]]
            others &= others - np.uint64(1)
        if mine < cost:
            best, cost = i, mine
    return best


@inner
def arrange(size: int, row: Any, tables: Tables, part: Component, room: Buckets) -> bool:
    """Find an order of elimination, and where all tables are; False where they are too large."""
    if size > NODES:
        return False
    _join(size, row, tables, part, room)
    left = ~np.uint64(0) >> np.uint64(NODES - size)
    room.starts[0] = 0
    for t in range(size):
        node = _cheapest(left, tables, part, room)
        bit = np.uint64(1) << np.uint64(node)
        left &= ~bit
        others, width, total = room.adjacent[node] & left, 0, float(tables.cards[part.nodes[node]])
        scope = others
        while others:
            other: int = trailing_zeros(others)
            others &= others - np.uint64(1)
            room.members[t, width] = other
            room.adjacent[other] |= scope
            width += 1
            total *= tables.cards[part.nodes[other]]
        room.members[t, width], room.widths[t], room.turn[node] = node, width + 1, t
        if room.starts[t] + 2 * total > ENTRIES:
            return False
        room.starts[t + 1] = room.starts[t] + np.int64(total) + np.int64(total) // tables.cards[part.nodes[node]]
    for t in range(size):
        head = size
        for k in range(room.widths[t] - 1):
            head = min(head, room.turn[room.members[t, k]])
        room.heads[t] = head if head < size else -1
    for f in range(part.ends[size - 1]):
        family, home = part.families[f], size
        for m in range(tables.member_ends[family - 1] if family else 0, tables.member_ends[family]):
            if _is_missing(tables.members[m], row, tables):
                home = min(home, room.turn[part.depths[tables.members[m]]])
        room.homes[f] = home
    return True


@inner
def _open(t: int, tables: Tables, part: Component, room: Buckets) -> int:
    """Set about a bucket; returns the entries of its table."""
    total = 1
    for k in range(room.widths[t]):
        node = room.members[t, k]
        room.places[node], room.sizes[k] = k, tables.cards[part.nodes[node]]
        total *= room.sizes[k]
    return total


@inner
def _aim_at_family(t: int, family: int, row: Any, tables: Tables, part: Component, room: Buckets) -> None:
    """Find by how much the place in a family's table grows with each member of the bucket at work."""
    for k in range(room.widths[t]):
        room.steps[k] = 0
    for m in range(tables.member_ends[family - 1] if family else 0, tables.member_ends[family]):
        if _is_missing(tables.members[m], row, tables):
            room.steps[room.places[part.depths[tables.members[m]]]] = tables.strides[m]


@inner
def _aim_at_message(t: int, child: int, tables: Tables, part: Component, room: Buckets) -> None:
    """Find by how much the place in a message grows with each member of the bucket at work, to which it goes."""
    for k in range(room.widths[t]):
        room.steps[k] = 0
    step = 1
    for k in range(room.widths[child] - 2, -1, -1):
        node = room.members[child, k]
        room.steps[room.places[node]] = step
        step *= tables.cards[part.nodes[node]]


@inner
def _advance(width: int, room: Buckets) -> int:
    """Go on to the next entry of the table at work; returns by how much the place elsewhere grows."""
    by = 0
    for k in range(width - 1, -1, -1):
        room.digits[k] += 1
        by += room.steps[k]
        if room.digits[k] < room.sizes[k]:
            return by
        by -= room.steps[k] * room.sizes[k]
        room.digits[k] = 0
    return by


@inner
def _multiply(first: int, total: int, width: int, source: Floats, at: int, room: Buckets) -> None:
    """Multiply the table at work by what is elsewhere."""
    for k in range(width):
        room.digits[k] = 0
    for e in range(first, first + total):
        room.tables[e] *= source[at]
        at += _advance(width, room)


@inner
def _add(first: int, total: int, width: int, share: float, target: Floats, at: int, room: Buckets) -> None:
    """Add a share of the table at work to what is elsewhere."""
    for k in range(width):
        room.digits[k] = 0
    for e in range(first, first + total):
        target[at] += share * room.tables[e]
        at += _advance(width, room)


@inner
def collect(largest: bool, size: int, row: Any, tables: Tables, part: Component, room: Buckets) -> float:
    """Eliminate all nodes, by sums or by taking the largest; returns the log of what remains."""
    log = 0.0
    for t in range(size):
        total, first, width = _open(t, tables, part, room), room.starts[t], room.widths[t]
        room.tables[first : first + total] = 1.0
        for f in range(part.ends[size - 1]):
            if room.homes[f] == t:
                family = part.families[f]
                _aim_at_family(t, family, row, tables, part, room)
                _multiply(first, total, width, tables.probabilities, part.places[family], room)
        for child in range(t):
            if room.heads[child] == t:
                _aim_at_message(t, child, tables, part, room)
                card = tables.cards[part.nodes[room.members[child, room.widths[child] - 1]]]
                message = room.starts[child] + (room.starts[child + 1] - room.starts[child]) // (card + 1) * card
                _multiply(first, total, width, room.tables, message, room)
        card = room.sizes[width - 1]
        message, top = first + total, 0.0
        for e in range(total // card):
            value = 0.0
            for level in range(card):
                entry = room.tables[first + e * card + level]
                value = max(value, entry) if largest else value + entry
            room.tables[message + e] = value
            top = max(top, value)
        if top <= 0:
            return -np.inf
        for e in range(total // card):
            room.tables[message + e] /= top
        log += math.log(top)
    return log


@inner
def distribute(
    size: int, share: float, row: Any, tables: Tables, part: Component, room: Buckets, counts: Floats
) -> None:
    """Go back through the buckets, after sums, and add the distributions of all families, times a share, to counts."""
    for t in range(size - 1, -1, -1):
        first, width = room.starts[t], room.widths[t]
        card = tables.cards[part.nodes[room.members[t, width - 1]]]
        total = (room.starts[t + 1] - first) // (card + 1) * card
        message, outer = first + total, total // card
        if room.heads[t] < 0:
            whole = room.tables[message : message + outer].sum()
            room.tables[message] = 1.0 / whole
        else:
            _from_head(t, message, outer, tables, part, room)
        for e in range(outer):
            for level in range(card):
                room.tables[first + e * card + level] *= room.tables[message + e]
        whole = room.tables[first : first + total].sum()  # tables are right up to a constant
        _open(t, tables, part, room)
        for f in range(part.ends[size - 1]):
            if room.homes[f] == t:
                _aim_at_family(t, part.families[f], row, tables, part, room)
                _add(first, total, width, share / whole, counts, part.places[part.families[f]], room)


@inner
def _from_head(t: int, message: int, outer: int, tables: Tables, part: Component, room: Buckets) -> None:
    """Turn the message of a bucket into the distribution of its nodes divided by it."""
    head = room.heads[t]
    total = _open(head, tables, part, room)
    _aim_at_message(head, t, tables, part, room)
    sums = new_floats(outer)
    sums[:] = 0.0
    _add(room.starts[head], total, room.widths[head], 1.0, sums, 0, room)
    for e in range(outer):
        value = room.tables[message + e]
        room.tables[message + e] = sums[e] / value if value > 0 else 0.0


@inner
def decide(task: int, size: int, share: float, word: Any, tables: Tables, part: Component, room: Buckets) -> None:
    """Go back through the buckets and decide on a level of each node, into `part.digits`.

    `task`: 0 for the best levels, 1 for levels at a share of all, 2 for levels at random. Digits of the share that
    were used up are replaced by those of the word.
    """
    left = 1.0
    for t in range(size - 1, -1, -1):
        width, at = room.widths[t], 0
        node = room.members[t, width - 1]
        card = tables.cards[part.nodes[node]]
        for k in range(width - 1):
            at = at * tables.cards[part.nodes[room.members[t, k]]] + part.digits[room.members[t, k]]
        first = room.starts[t] + at * card
        weights = room.tables[first : first + card]
        if task == 0:
            top = weights.max() * (1.0 - TIE)
            chosen = 0
            while weights[chosen] < top:
                chosen += 1
            part.digits[node] = chosen
            continue
        if task == 2 or left < _FRESH:
            share, left = np.float64(mix(word + np.uint64(t)) >> np.uint64(11)) * 2.0**-53, 1.0
        rest, chosen = share * weights.sum(), 0
        for level in range(card):
            if weights[level] > 0:
                chosen = level
                if rest < weights[level]:
                    break
                rest -= weights[level]
        part.digits[node] = chosen
        left *= weights[chosen] / weights.sum()
        share = min(max(rest / weights[chosen], 0.0), 1.0 - 2.0**-53) if weights[chosen] > 0 else 0.0
