"""Kernels of certified search: sets of variables, layer after layer, counted once for all families that they serve.

The cells of a family's table are the configurations of child and parents together: a set of variables is counted once
for all its members as children. It is a key: its nodes, counted from 1, as digits, the smallest first. That of a family
has the child's digit before those of its parents.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import (
    Bools,
    Codes,
    Floats,
    Int32s,
    Ints,
    Words,
    entry,
    inner,
    new_floats,
    new_ints,
    new_pairs,
    new_words,
)
from mapdag.recipes import DECLARED, EACH, FACTORISED, OBSERVED, PENALISED, QUOTIENT, Rule, Shape, formula_of
from mapdag.search.certified.cells import MOST_CELLS, Cells, Levels, refine, tally_last
from mapdag.search.exact.scores import Functions, Memo, add_sums, remembered_charge
from mapdag.search.exact.tallies import Partitions, Tallies, pour, split
from mapdag.terms.formulas import Terms, to_float

if TYPE_CHECKING:
    from mapdag.search.certified.atoms import Atoms

_MIX = np.uint64(0x9E3779B97F4A7C15)


class Index(NamedTuple):
    """Where keys are."""

    keys: Words  # (places,) key + 1; 0: nobody is here
    rows: Ints  # (places,)


class Open(NamedTuple):
    """Families of the layer before whose supersets are worth a look."""

    where: Index
    best: Floats  # (families,) the highest score of one that may stand for each: itself or a subset
    allowed: Bools  # (nodes, nodes) arcs
    pinned: Bools  # (nodes, nodes) arcs that a family must not leave out if its parents are to stand for others
    odds: Floats  # (nodes, nodes) log prior of arcs
    levels: Floats  # (nodes,) declared
    bits: int  # of a digit


class Listed(NamedTuple):
    """Families of a layer."""

    cells: Ints  # which set of the layer each is, child and parents together
    child: Ints
    parents: Words  # keys
    configurations: Ints  # which set of the layer before its parents are; -1: none
    below: Floats  # the highest score of a proper subset that may stand for it
    prior: Floats
    declared: Floats  # configurations of the parents


@entry
def new_index(keys: Words) -> Index:
    """Make an index of keys."""
    size = 16
    while size < 2 * len(keys):
        size *= 2
    index = Index(np.zeros(size, np.uint64), new_ints(size))
    mask = np.uint64(size - 1)
    for i in range(len(keys)):
        place = ((keys[i] * _MIX) >> np.uint64(20)) & mask
        while index.keys[place]:
            place = (place + np.uint64(1)) & mask
        index.keys[place], index.rows[place] = keys[i] + np.uint64(1), i
    return index


@inner
def _find(key: np.uint64, keys: Words, rows: Ints) -> int:
    """Row of a key, or -1."""
    mask = np.uint64(len(keys) - 1)
    place = ((key * _MIX) >> np.uint64(20)) & mask
    while keys[place]:
        if keys[place] == key + np.uint64(1):
            return rows[place]
        place = (place + np.uint64(1)) & mask
    return -1


@inner
def _nodes_of(key: np.uint64, bits: int, nodes: Ints) -> None:
    """Members of a set, ascending."""
    width = np.uint64(bits)
    digit = (np.uint64(1) << width) - np.uint64(1)
    for i in range(len(nodes) - 1, -1, -1):
        nodes[i] = np.int64(key & digit) - 1
        key >>= width


@inner
def _below(at: int, nodes: Ints, size: int, known: Open, keys: Words, rows: Ints) -> tuple[bool, float]:
    """Whether a set's family with one of its nodes as the child is worth a look; the best that may stand for it."""
    child, width, top = nodes[at], np.uint64(known.bits), -np.inf
    for dropped in range(size):
        if dropped == at:
            continue
        if not known.allowed[nodes[dropped], child]:
            return False, top
        key = np.uint64(child + 1)
        for i in range(size):
            if i not in (at, dropped):
                key = (key << width) | np.uint64(nodes[i] + 1)
        row = _find(key, keys, rows)
        if row < 0:
            return False, top
        if known.best[row] > top and not known.pinned[nodes[dropped], child]:
            top = known.best[row]
    return True, top


@entry
def extend_sets(alive: Words, size: int, known: Open) -> Words:
    """Sets with one node more that some family is worth a look of, from those of the layer before, in any order.

    All subsets but one are alive, so that one lacks either the last node or the one before.
    """
    index = new_index(alive)
    n, width = len(known.allowed), np.uint64(known.bits)
    keys, rows = known.where
    nodes, larger = new_ints(size), new_ints(size + 1)
    room = 1024
    out, found = new_words(room), 0
    for i in range(len(alive)):
        _nodes_of(alive[i], known.bits, nodes)
        for x in range((nodes[size - 2] if size > 1 else -1) + 1, n):
            if x == nodes[size - 1]:
                continue
            for j in range(size):
                larger[j] = nodes[j]
            larger[size] = x
            if x < nodes[size - 1]:
                larger[size - 1], larger[size] = x, nodes[size - 1]
                shorter = (alive[i] >> width << width) | np.uint64(x + 1)
                if _find(shorter, index.keys, index.rows) >= 0:  # met from there
                    continue
            fits = False
            for at in range(size + 1):
                fits = fits or _below(at, larger, size + 1, known, keys, rows)[0]
            if not fits:
                continue
            if found == room:
                more = new_words(2 * room)
                for j in range(room):
                    more[j] = out[j]
                out, room = more, 2 * room
            key = np.uint64(0)
            for j in range(size + 1):
                key = (key << width) | np.uint64(larger[j] + 1)
            out[found] = key
            found += 1
    return out[:found].copy()


@entry
def list_families(sets: Words, size: int, known: Open, before: Index) -> Listed:
    """List the families of some sets, ascending, that are worth a look; `before` has the sets of the layer before."""
    room = len(sets) * size
    cells, child, configurations = new_ints(room), new_ints(room), new_ints(room)
    parents, below, prior, declared = new_words(room), new_floats(room), new_floats(room), new_floats(room)
    keys, rows = known.where
    nodes, width, found = new_ints(size), np.uint64(known.bits), 0
    for i in range(len(sets)):
        _nodes_of(sets[i], known.bits, nodes)
        for at in range(size):
            fits, top = _below(at, nodes, size, known, keys, rows)
            if not fits:
                continue
            key, total, q = np.uint64(0), 0.0, 1.0
            for j in range(size):
                if j != at:
                    key = (key << width) | np.uint64(nodes[j] + 1)
                    total += known.odds[nodes[j], nodes[at]]
                    q *= known.levels[nodes[j]]
            cells[found], child[found], parents[found], below[found], prior[found] = i, nodes[at], key, top, total
            declared[found] = q
            configurations[found] = _find(key, before.keys, before.rows)
            found += 1
    return Listed(
        cells[:found].copy(), child[:found].copy(), parents[:found].copy(), configurations[:found].copy(),
        below[:found].copy(), prior[:found].copy(), declared[:found].copy(),
    )  # fmt: skip


@inner
def _kept(nodes: Ints, last: Ints) -> int:
    """How many variables the set before has in common, from the first one on; the last one does not count."""
    same = 0
    while same < len(nodes) - 1 and nodes[same] == last[same]:
        same += 1
    for depth in range(same, len(nodes) - 1):
        last[depth] = nodes[depth]
    return same


@entry
def count_sets(
    sets: Words,
    size: int,
    bits: int,
    rows: tuple[Codes, Ints, Levels],
    counters: tuple[Partitions, Cells],
    out: Tallies,
) -> Codes:
    """Tally sets of some size, not empty, ascending by key: `out` gets where each tally ends and how many cells occur.

    Rows of cells are intersected where the set has few, and gone through one by one where it has many.

    Returns the tallies; the type of the pool of `out` decides how counts and multiplicities are put together.
    """
    codes, cards, levels = rows
    partitions, cells = counters
    pool, ends, n_groups, _ = out
    sizes, multiplicities, values = partitions.sizes, partitions.multiplicities, partitions.values
    used = 0
    nodes, last, last_few = new_ints(size), new_ints(size), new_ints(size)
    for i in range(size):
        last[i] = last_few[i] = -1
    for s in range(len(sets)):
        _nodes_of(sets[s], bits, nodes)
        v, before = nodes[size - 1], 1
        for i in range(size - 1):
            before = min(before * cards[nodes[i]], MOST_CELLS + 1)
        if before <= MOST_CELLS:
            for depth in range(_kept(nodes, last_few), size - 1):
                refine(depth, nodes[depth], levels, cells)
            distinct, n_groups[s] = tally_last(size - 1, v, levels, cells, partitions)
        else:
            for depth in range(_kept(nodes, last), size - 1):
                w = nodes[depth]
                for i in range(split(depth, codes[w], cards[w], True, partitions)):
                    multiplicities[values[i]] = 0
            distinct = split(size - 1, codes[v], cards[v], False, partitions)
            n_groups[s] = sizes[size, 1] + sizes[size, 2]
        pool, used = pour(partitions, distinct, pool, used)
        ends[s] = used
    return pool[:used].copy()


@entry
def score_listed(
    listed: Listed, n_parents: int, cells: Tallies, before: Tallies, cards: Ints, rule: Rule, memo: Memo, terms: Terms
) -> tuple[Floats, Floats, Ints, Floats]:
    """Score families: log-likelihoods, what that of no superset exceeds, configurations of the parents, pseudo-counts.

    A row that brings a level for the first time in its configuration is predicted with at most 1/r by any BD score, so
    that none exceeds -cells log r, and cells only grow with parents; see `docs/certified.md`.
    """
    size = len(listed.child)
    f, x, cell_runs = new_ints(size), new_floats(size), new_pairs(size)
    g, y, total_runs = new_ints(size), new_floats(size), new_pairs(size)
    rests, limits, observed = new_floats(size), new_floats(size), new_ints(size)
    total, charges = cells.total, memo.charges
    rows, children, configurations, declared = listed.cells, listed.child, listed.configurations, listed.declared
    cell_ends, cell_groups, ends, groups = cells.ends, cells.n_groups, before.ends, before.n_groups
    for i in range(size):
        s, w, r = rows[i], configurations[i], cards[children[i]]
        log_r, q = math.log(r), declared[i]
        n_positive, q_obs = np.int64(cell_groups[s]), np.int64(groups[w])
        shape = Shape(r, log_r, q, math.log(q), n_parents, n_positive, q_obs)
        f[i], x[i], g[i], y[i], rests[i], _ = formula_of(rule, shape, total, (-1.0, 0.0))
        if rule.code == QUOTIENT:
            rests[i] -= remembered_charge(r, q, total, charges)
        cell_runs[i, 0], cell_runs[i, 1] = (cell_ends[s - 1] if s else 0), cell_ends[s]
        total_runs[i, 0], total_runs[i, 1] = (ends[w - 1] if w else 0), ends[w]
        observed[i] = q_obs
        limits[i] = 0.0
        if rule.code in (EACH, DECLARED, OBSERVED):
            limits[i] = -n_positive * log_r
        elif rule.code == FACTORISED:
            limits[i] = -q_obs * log_r
        elif rule.code == PENALISED:
            limits[i] = rests[i] - rule.y
    sums = new_pairs(size)
    add_sums(Functions(f, x, cell_runs), cells, memo, terms, sums, 1)
    add_sums(Functions(g, y, total_runs), before, memo, terms, sums, -1)
    scores = new_floats(size)
    for i in range(size):
        scores[i] = to_float(sums[i, 0], sums[i, 1], terms.scale) + rests[i]
    return scores, limits, observed, x


@entry
def tighten_limits(listed: Listed, groups: Int32s, pseudo: Floats, cards: Ints, atoms: Atoms, limits: Floats) -> None:
    """Lower what no superset of families exceeds to what atoms leave of it, under BD scores.

    The first row of each of m cells is predicted with at most 1/r, or where its configuration has other levels, with at
    most a / (r a + 1) but for one of them: then `charge` on average. What is left of the atoms has their likelihood.

    Parameters
    ----------
    listed : Listed
    groups : int32 array
        Positive cells of the sets of the layer.
    pseudo : float array
        Pseudo-count of each family's cells.
    cards : int array
    atoms : Atoms
    limits : float array
        Replaced.
    """
    likelihood, ends, gains, sums = atoms
    for i in range(len(limits)):
        child, m = listed.child[i], np.int64(groups[listed.cells[i]])
        begin, end = ends[child], ends[child + 1]
        if begin == end:
            continue
        log_r = math.log(cards[child])
        charge = (log_r + math.log((cards[child] * pseudo[i] + 1.0) / pseudo[i])) / 2
        taken = _count_above(charge, begin, end, gains)
        if taken < m:
            taken = min(m, _count_above(charge - log_r, begin, end, gains))
        gained = sums[begin + taken] - sums[begin]
        limits[i] = min(limits[i], likelihood[child] + gained - taken * charge - max(m - taken, 0) * log_r)


@inner
def _count_above(least: float, begin: int, end: int, gains: Floats) -> int:
    """How many gains, descending, are above some number."""
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if gains[middle] > least:
            low = middle + 1
        else:
            high = middle
    return low - begin
