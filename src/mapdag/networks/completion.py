"""Rows with gaps, compiled: how probable what is known is, and what the gaps hold, by row.

Where all nodes are columns, each is known or missing. Given what is known, the missing nodes of a row fall apart into
components, two being joined where they are members of one family; most have a few nodes. All levels of a component are
gone through one after the other, so a row takes a microsecond or so. Where there are more than `LISTED`, its nodes are
eliminated (`mapdag.networks.buckets`); where even that takes tables that are too large, the row is left to
`mapdag.networks.expectation`, which has more room.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.kernels import Floats, Ints, entry, inner, mix, new_floats, new_ints, no_ints
from mapdag.networks.buckets import ENTRIES, NODES, Buckets, arrange, collect, decide, distribute, new_buckets

if TYPE_CHECKING:
    from mapdag.networks.network import BayesianNetwork

LISTED = 1 << 8
"""Joint levels of a component that are gone through."""

MOST = 1 << 10
"""Those that anybody may ask for."""

BEYOND = 1 << 40  # more than anybody counts

LOG, COUNT, BEST, DRAW, SPREAD = range(5)
"""What is wanted of a row besides its log-probability: nothing; expected counts; the most probable levels; draws that
are independent; or draws that are spread evenly, a power of two of them."""

_TIE = 1e-12  # relative: levels that differ by rounding only are equally probable
_SMALL = 1e-200  # products below this become logs


class Tables(NamedTuple):
    """The tables of a network in one array, and which node is where in them."""

    cards: Ints  # (nodes,)
    probabilities: Floats  # of all tables, one node after the other
    starts: Ints  # (nodes,) where the table of each begins
    members: Ints  # parents of each node, and the node itself, one family after the other
    strides: Ints  # by how much the place in the table grows with the level of each member
    member_ends: Ints  # (nodes,)
    touched: Ints  # families that each node is a member of, one node after the other
    touched_strides: Ints  # its stride in each
    touched_ends: Ints  # (nodes,)


class Component(NamedTuple):
    """Room for one component of a row; what is in it changes from one to the next."""

    nodes: Ints  # (nodes,) its missing nodes, and
    depths: Ints  # (nodes,) by node, when they come
    joined: Ints  # (nodes,) families whose tables matter, as they were found; and
    families: Ints  # (nodes,) by the last of their missing nodes,
    last: Ints  # (nodes,) by family, which of them that is,
    ends: Ints  # (nodes + 1,) and where the families of each end
    digits: Ints  # (nodes,) the levels that the nodes have now
    places: Ints  # (nodes,) where each family is in the tables now
    products: Floats  # (nodes,) up to each node, of the families that are known by then; or sums
    weights: Floats  # of all joint levels, the last node's changing fastest
    room: Buckets  # to eliminate it, where these are too many


def flatten(network: BayesianNetwork) -> Tables:
    """Return the tables of a network as the kernel takes them."""
    n = len(network.nodes)
    families = [(*network.dag.parent_indices(i), i) for i in range(n)]
    tables = [network.cpts[node] for node in network.nodes]
    strides = [[math.prod(table.shape[axis + 1 :]) for axis in range(table.ndim)] for table in tables]
    touched: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for i, (family, steps) in enumerate(zip(families, strides, strict=True)):
        for member, step in zip(family, steps, strict=True):
            touched[member].append((i, step))
    every = [pair for pairs in touched for pair in pairs]
    return Tables(
        cards=np.array([table.shape[-1] for table in tables], dtype=np.int64),
        probabilities=np.concatenate([table.ravel() for table in tables]),
        starts=np.cumsum([0, *(table.size for table in tables[:-1])], dtype=np.int64),
        members=np.array([member for family in families for member in family], dtype=np.int64),
        strides=np.array([step for steps in strides for step in steps], dtype=np.int64),
        member_ends=np.cumsum([len(family) for family in families], dtype=np.int64),
        touched=np.array([family for family, _ in every], dtype=np.int64),
        touched_strides=np.array([step for _, step in every], dtype=np.int64),
        touched_ends=np.cumsum([len(pairs) for pairs in touched], dtype=np.int64),
    )


@inner
def put_in(row: Any, tables: Tables, gaps: Ints, places: Ints) -> None:
    """Find how many members of each family a row lacks, and where in the tables it is, levels it lacks being 0."""
    begin = 0
    for family in range(len(tables.cards)):
        gaps[family], place = 0, tables.starts[family]
        for m in range(begin, tables.member_ends[family]):
            code = np.int64(row[tables.members[m]])
            if code == tables.cards[tables.members[m]]:
                gaps[family] += 1
            else:
                place += code * tables.strides[m]
        places[family], begin = place, tables.member_ends[family]


@inner
def gather(first: int, row: Any, tables: Tables, found: Ints, mark: int, part: Component) -> tuple[int, int]:
    """Find the component of a missing node: how many nodes and joint levels it has."""
    n = len(tables.cards)
    part.nodes[0], part.depths[first], found[first] = first, 0, mark
    size, n_families, total, at = 1, 0, tables.cards[first], 0
    while at < size:
        node = part.nodes[at]
        at += 1
        for t in range(tables.touched_ends[node - 1] if node else 0, tables.touched_ends[node]):
            family = tables.touched[t]
            if found[n + family] == mark:
                continue
            found[n + family] = mark
            part.joined[n_families] = family
            n_families += 1
            for m in range(tables.member_ends[family - 1] if family else 0, tables.member_ends[family]):
                member = tables.members[m]
                if found[member] != mark and np.int64(row[member]) == tables.cards[member]:
                    found[member] = mark
                    part.nodes[size], part.depths[member] = member, size
                    size += 1
                    total = min(total * tables.cards[member], BEYOND)
    _order(size, n_families, row, tables, part)
    return size, total


@inner
def _order(size: int, n_families: int, row: Any, tables: Tables, part: Component) -> None:
    """Sort the families of a component by the last of their missing members."""
    ends, families = part.ends, part.families
    for i in range(size + 1):
        ends[i] = 0
    for f in range(n_families):
        family, last = part.joined[f], 0
        for m in range(tables.member_ends[family - 1] if family else 0, tables.member_ends[family]):
            member = tables.members[m]
            if np.int64(row[member]) == tables.cards[member]:
                last = max(last, part.depths[member])
        part.last[family] = last
        ends[last + 1] += 1
    for i in range(size):
        ends[i + 1] += ends[i]
    for f in range(n_families):
        family = part.joined[f]
        families[ends[part.last[family]]] = family
        ends[part.last[family]] += 1


@inner
def _advance(size: int, tables: Tables, part: Component) -> int:
    """Go on to the next joint levels of a component, after the last to the first; returns the first that changed."""
    for i in range(size - 1, -1, -1):
        node = part.nodes[i]
        part.digits[i] += 1
        over = part.digits[i] == tables.cards[node]
        step = 1 - tables.cards[node] if over else 1
        for t in range(tables.touched_ends[node - 1] if node else 0, tables.touched_ends[node]):
            part.places[tables.touched[t]] += step * tables.touched_strides[t]
        if not over:
            return i
        part.digits[i] = 0
    return 0


@inner
def weigh(size: int, total: int, tables: Tables, part: Component) -> float:
    """Find the weights of all joint levels of a component; returns their sum."""
    products, ends, families, places = part.products, part.ends, part.families, part.places
    whole, changed = 0.0, 0
    for i in range(size):
        part.digits[i] = 0
    for c in range(total):
        for i in range(changed, size):  # families whose members all come before stay as they are
            weight = products[i - 1] if i else 1.0
            for f in range(ends[i - 1] if i else 0, ends[i]):
                weight *= tables.probabilities[places[families[f]]]
            products[i] = weight
        part.weights[c] = products[size - 1]
        whole += products[size - 1]
        changed = _advance(size, tables, part)
    return whole


@inner
def _count(size: int, total: int, share: float, tables: Tables, part: Component, counts: Floats) -> None:
    """Add the distribution of a component, times a share, to the counts of its families."""
    sums, ends, families, places = part.products, part.ends, part.families, part.places
    for i in range(size):
        sums[i] = 0.0
    for c in range(total):
        sums[size - 1] += part.weights[c]
        # A family gets all at once what there is for one of its cells.
        changing = size - 1
        while changing > 0 and part.digits[changing] == tables.cards[part.nodes[changing]] - 1:
            changing -= 1
        for i in range(size - 1, changing - 1, -1):
            for f in range(ends[i - 1] if i else 0, ends[i]):
                counts[places[families[f]]] += share * sums[i]
            if i:
                sums[i - 1] += sums[i]
            sums[i] = 0.0
        _advance(size, tables, part)


@inner
def decode(level: int, size: int, tables: Tables, part: Component, out: Any) -> None:
    """Write the levels of a component's nodes."""
    for i in range(size - 1, -1, -1):
        node = part.nodes[i]
        out[node] = level % tables.cards[node]
        level //= tables.cards[node]


@inner
def _best(total: int, weights: Floats) -> int:
    """Return the first of the most probable joint levels."""
    top = 0.0
    for c in range(total):
        top = max(top, weights[c])
    for c in range(total):
        if weights[c] >= top * (1 - _TIE):
            return c
    return 0


@inner
def _at(share: float, total: int, whole: float, weights: Floats) -> int:
    """Return the joint levels at a share of all weights; never some without weight."""
    left, last = share * whole, 0
    for c in range(total):
        if weights[c] > 0:
            last = c
            left -= weights[c]
            if left < 0:
                break
    return last


@inner
def _uniform(word: Any) -> float:
    """A number from [0, 1) for a word."""
    return np.float64(mix(word) >> np.uint64(11)) * 2.0**-53


@inner
def share_of(task: int, draw: int, times: int, word: Any) -> float:
    """Return at which share of all weights a draw is."""
    share = _uniform(word + np.uint64(2 + draw))
    if task != SPREAD:
        return share
    turn, first = mix(word) | np.uint64(1), mix(word + np.uint64(1))
    stratum = (np.uint64(draw) * turn + first) & np.uint64(times - 1)
    return (np.float64(stratum) + share) / times


@inner
def _fill(task: int, size: int, total: int, whole: float, word: Any, tables: Tables, part: Component, out: Any) -> None:
    """Write what a component holds, all its joint levels being listed, into the rows of `out`."""
    for d in range(len(out)):
        if task == BEST:
            level = _best(total, part.weights)
        else:
            level = _at(share_of(task, d, len(out), word), total, whole, part.weights)
        decode(level, size, tables, part, out[d])


@inner
def _fill_back(task: int, size: int, word: Any, tables: Tables, part: Component, room: Buckets, out: Any) -> None:
    """Write what a component holds, its nodes being eliminated, into the rows of `out`."""
    how = 0 if task == BEST else 1 if task == SPREAD else 2
    for d in range(len(out)):
        decide(how, size, share_of(task, d, len(out), word), mix(word + np.uint64(2 + d)), tables, part, room)
        for i in range(size):
            out[d, part.nodes[i]] = part.digits[i]


@inner
def _settle(
    task: int,
    size: int,
    total: int,
    weight: float,
    word: Any,
    row: Any,
    tables: Tables,
    part: Component,
    counts: Floats,
    out: Any,
) -> float:
    """Do the task for one component, which is not too large; returns its log-probability."""
    if total <= LISTED:
        whole = weigh(size, total, tables, part)
        if task == COUNT and whole > 0:
            _count(size, total, weight / whole, tables, part, counts)
        elif task >= BEST:
            _fill(task, size, total, whole, word, tables, part, out)
        return math.log(whole) if whole > 0 else -np.inf
    room = part.room
    arrange(size, row, tables, part, room)
    log = collect(False, size, row, tables, part, room)
    if np.isneginf(log):
        return log
    if task == COUNT:
        distribute(size, weight, row, tables, part, room, counts)
    elif task >= BEST:
        if task == BEST:
            collect(True, size, row, tables, part, room)
        _fill_back(task, size, word, tables, part, room, out)
    return log


@inner
def new_component(n: int, most: int) -> Component:
    """Return room for the components of a network with n nodes, so many joint levels of which are listed."""
    return Component(
        new_ints(n),
        new_ints(n),
        new_ints(n),
        new_ints(n),
        new_ints(n),
        new_ints(n + 1),
        no_ints(n),
        new_ints(n),
        new_floats(n),
        new_floats(most),
        new_buckets(n),
    )


@inner
def _log_of_known(gaps: Ints, places: Ints, tables: Tables) -> float:
    """Return the log of the product of all families that a row has whole."""
    product, log = 1.0, 0.0
    for family in range(len(gaps)):
        if gaps[family] == 0:
            product *= tables.probabilities[places[family]]
            if product < _SMALL:
                log += math.log(product) if product > 0 else -np.inf
                product = 1.0
    return log + math.log(product)


@inner
def mark_large(row: Any, tables: Tables, found: Ints, mark: int, part: Component) -> int:
    """Look whether all components of a row can be eliminated; returns the last mark made, negative where they cannot.

    Before anything is done about them: a row is counted whole, here or elsewhere.
    """
    levels, missing = 1, 0
    for node in range(len(tables.cards)):
        if np.int64(row[node]) == tables.cards[node]:
            levels, missing = min(levels * tables.cards[node], BEYOND), missing + 1
    if missing <= NODES and levels * 2 * missing <= ENTRIES:
        return mark
    begun = mark
    for node in range(len(tables.cards)):
        if np.int64(row[node]) == tables.cards[node] and found[node] <= begun:
            mark += 1
            size, total = gather(node, row, tables, found, mark, part)
            if total > LISTED and not arrange(size, row, tables, part, part.room):
                return -mark
    return mark


@entry
def visit(
    task: int, rows: Any, weights: Floats, first: int, key: int, tables: Tables, counts: Floats, out: Any
) -> Floats:
    """Return the log-probability of what is known of each row, NaN where a component is too large; and do the task.

    Parameters
    ----------
    task : int
        See `LOG`.
    rows : array (rows, nodes)
        Codes; that of a gap is the number of levels.
    weights : float64 array (rows,)
        How much each row counts.
    first, key : int
        Number of the first row, and a seed, which draws depend on.
    tables : Tables
    counts : float64 array
        As long as all tables: to it the expected counts are added.
    out : array (rows, times, nodes)
        Gets the rows without gaps, but for those that have none or too large ones.
    """
    n = len(tables.cards)
    part = new_component(n, LISTED)
    gaps, found, logs = new_ints(n), no_ints(2 * n), new_floats(len(rows))
    mark = 0
    for r in range(len(rows)):
        row = rows[r]
        put_in(row, tables, gaps, part.places)
        mark = mark_large(row, tables, found, mark, part)
        if mark < 0:
            mark, logs[r] = -mark, np.nan
            continue
        log, begun = _log_of_known(gaps, part.places, tables), mark
        for node in range(n):
            if np.int64(row[node]) < tables.cards[node] or found[node] > begun:
                continue
            mark += 1
            size, total = gather(node, row, tables, found, mark, part)
            word = mix(np.uint64(key) ^ mix(np.uint64(first + r) * np.uint64(n) + np.uint64(node)))
            log += _settle(task, size, total, weights[r], word, row, tables, part, counts, out[r])
        logs[r] = log
        if task == COUNT:
            for family in range(n):
                if gaps[family] == 0:
                    counts[part.places[family]] += weights[r]
    return logs
