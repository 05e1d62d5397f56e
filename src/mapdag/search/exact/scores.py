"""Kernels of exact search: the score of every family of one child, from the tallies of all sets of variables.

The formulas are those of `mapdag.recipes`; a count that occurs m times is one term times m. A set of parents is a
place: bit i for the child's i-th candidate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import Floats, Ints, Words, bits_of, entry, inner, new_floats, new_ints, new_pairs, part, popcount
from mapdag.recipes import DECLARED, OBSERVED, QUOTIENT, Rule, Shape, formula_of, quotient_charge
from mapdag.terms.formulas import EMPTY, Terms, constants_of, term_of, to_float

if TYPE_CHECKING:
    from mapdag.search.exact.tallies import Tallies

CHUNK = 10  # bits of a place that are looked up at a time
CHUNKS = 3

_FULL = 1 << 22  # terms that are remembered at most
_CHARGES = 12  # bits of the number of charges that are remembered
_NOTHING = -1  # instead of a function: there is nothing to sum


class Lookup(NamedTuple):
    """One child, and what its sets of parents are made of; the last three by chunks of a place."""

    node: int
    levels: int
    demanded: int  # a place: candidates that must be parents
    most: int  # parents that it may have
    limit: float  # observed configurations that they may have
    base: float  # taken off all scores
    sets: Ints  # (chunks, 2^bits) variables
    declared: Floats  # (chunks, 2^bits) declared configurations
    odds: Floats  # (chunks, 2^bits) log prior


class Memo(NamedTuple):
    """One thread's memory of terms, for one likelihood: a run for each function of a count."""

    keys: Words  # (functions + 1, 2) parameter and name of each; the last: how many there are
    constants: Floats  # (functions, 2)
    terms: Ints  # (functions, counts, 2) EMPTY: not yet
    charges: Floats  # (places, 3) numbers of configurations and levels met lately, and their `quotient_charge`


class Functions(NamedTuple):
    """What is to be summed over the tally of each family."""

    kinds: Ints
    params: Floats
    runs: Ints  # (families, 2) where the tally is


def new_memo(n_rows: int, code: int) -> Memo:
    """Make a memory of terms.

    A BD score whose pseudo-count depends on the number of configurations has many functions of a count, the others two.
    """
    many = code in (DECLARED, OBSERVED)
    # Of counts above a quarter of the rows no family has many. Runs of an odd number of cache lines do not collide.
    length = min(max(n_rows // 4, 64), 1 << 10) if many else min(n_rows + 1, _FULL // 16)
    length += 4 - length % 8
    slots = 1 << (_FULL // length).bit_length() - 1 if many else 16
    keys = np.zeros((slots + 1, 2), dtype=np.uint64)
    terms = np.zeros((slots, length, 2), dtype=np.int64)
    return Memo(keys, np.zeros((slots, 2)), terms, np.zeros((1 << _CHARGES, 3)))


@part
def _find_run(kind: int, param: float, keys: Words, constants: Floats, known: Ints) -> int:
    """Where the terms of a function are remembered; all are forgotten when half of the room is taken."""
    room = np.uint64(len(constants))
    bits: np.uint64 = bits_of(param)
    name = np.uint64(kind + 1)
    first = (((bits + name) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) & (room - np.uint64(1))
    i = first
    while keys[i, 1] != 0 and (keys[i, 0] != bits or keys[i, 1] != name):
        i = (i + np.uint64(1)) & (room - np.uint64(1))
    if keys[i, 1] == 0:
        if np.uint64(2) * keys[room, 0] >= room:
            for j in range(len(keys)):
                keys[j, 0], keys[j, 1] = 0, 0
            i = first
        keys[room, 0] += np.uint64(1)
        keys[i, 0], keys[i, 1] = bits, name
        constants[i, 0], constants[i, 1] = constants_of(kind, param)
        for n in range(known.shape[1]):
            known[i, n, 0] = EMPTY
    return i


@inner
def add_sums(functions: Functions, tallies: Tallies, memo: Memo, terms: Terms, sums: Ints, sign: int) -> None:
    """Add the sum of f(count) times its multiplicity over the tally of each family, in two words of fixed point.

    Arrays are unpacked once for many families: each unpacking counts owners, which would take longer than all the rest.
    """
    kinds, params, runs = functions
    keys, constants, known, _ = memo
    pool = tallies.pool
    length = known.shape[1]
    half = np.uint64(pool.itemsize * 4)
    mask = (np.uint64(1) << half) - np.uint64(1)
    for family in range(len(kinds)):
        kind, param = kinds[family], params[family]
        if kind == _NOTHING:
            continue
        slot = _find_run(kind, param, keys, constants, known)
        fixed = constants[slot, 0], constants[slot, 1]
        high, low = np.int64(0), np.int64(0)
        for i in range(runs[family, 0], runs[family, 1]):
            both = np.uint64(pool[i])
            n, times = np.int64(both >> half), np.int64(both & mask)
            if n >= length:
                more, less = term_of(kind, param, fixed, n, terms)
            else:
                if known[slot, n, 0] == EMPTY:
                    found, rest = term_of(kind, param, fixed, n, terms)
                    known[slot, n, 0], known[slot, n, 1] = found, rest
                more, less = known[slot, n, 0], known[slot, n, 1]
            high += times * more
            low += times * less
        sums[family, 0] += sign * high
        sums[family, 1] += sign * low


@inner
def remembered_charge(r: int, q: float, total: float, charges: Floats) -> float:
    """`quotient_charge`, which takes long, unless it was asked for lately."""
    place = np.int64((bits_of(q) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - _CHARGES))
    if charges[place, 0] != q or charges[place, 1] != r:
        charges[place, 0], charges[place, 1], charges[place, 2] = q, r, quotient_charge(r, q, total)
    return charges[place, 2]


@entry
def score_families(
    child: Lookup, tallies: Tallies, rule: Rule, memo: Memo, terms: Terms, first: int, out: Floats
) -> None:
    """Scores of one child with the sets of parents at places ``first, first + 1, ...``: likelihood and prior.

    Sets without the demanded parents, with too many, or with too many configurations get minus infinity. Memo and terms
    are those of this thread.
    """
    # Arrays are taken out of their tuples once: each time counts owners.
    node, r, demanded, most, limit, base, sets, declared, odds = child
    _, ends, n_groups, total = tallies
    charges = memo.charges
    size = len(out)
    f, x, cells = new_ints(size), new_floats(size), new_pairs(size)
    g, y, totals = new_ints(size), new_floats(size), new_pairs(size)
    priors, rests = new_floats(size), new_floats(size)
    log_r = math.log(r)
    mask = (1 << CHUNK) - 1
    for i in range(size):
        place = first + i
        n_parents: int = popcount(np.uint64(place))
        f[i] = g[i] = _NOTHING
        rests[i] = 0.0
        if n_parents > most or place & demanded != demanded:
            priors[i] = -np.inf
            continue
        parents, q, prior = 0, 1.0, 0.0
        rest = place
        for c in range(CHUNKS):
            parents |= sets[c, rest & mask]
            q *= declared[c, rest & mask]
            prior += odds[c, rest & mask]
            rest >>= CHUNK
        q_obs = np.int64(n_groups[parents])
        priors[i] = prior if q_obs <= limit else -np.inf
        if q_obs == 0 or q_obs > limit:
            continue
        family = parents | 1 << node
        shape = Shape(r, log_r, q, math.log(q), n_parents, np.int64(n_groups[family]), q_obs)
        f[i], x[i], g[i], y[i], rests[i], _ = formula_of(rule, shape, total, (-1.0, 0.0))
        if rule.code == QUOTIENT:
            rests[i] -= remembered_charge(r, q, total, charges)
        cells[i, 0], cells[i, 1] = ends[family - 1], ends[family]
        totals[i, 0], totals[i, 1] = (ends[parents - 1] if parents else 0), ends[parents]
    sums = new_pairs(size)
    add_sums(Functions(f, x, cells), tallies, memo, terms, sums, 1)
    add_sums(Functions(g, y, totals), tallies, memo, terms, sums, -1)
    for i in range(size):
        out[i] = ((to_float(sums[i, 0], sums[i, 1], terms.scale) + rests[i]) - base) + priors[i]
