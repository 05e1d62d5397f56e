"""Kernels of exact search: the score of every family of one child, from the tallies of all sets of variables.

The arithmetic is that of `mapdag.recipes`, to the last bit; a count that occurs m times is one term times m. A set of
parents is a place: bit i for the child's i-th candidate.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mapdag.kernels import bits_of, entry, inner, new_floats, new_ints, part, popcount
from mapdag.recipes import DECLARED, FACTORISED, OBSERVED, QUOTIENT, _constant, _pseudo_count
from mapdag.terms import EMPTY, REGRET, RISING_EACH, RISING_ONCE, XLOGX, constants_of, term_of, to_float

CHUNK = 10  # bits of a place that are looked up at a time
CHUNKS = 3

_FULL = 1 << 22  # terms that are remembered at most


def new_memo(n_rows: int, code: int) -> tuple[Any, ...]:
    """Make one thread's memory of terms: (keys, constants, terms, recent values of `_constant`).

    A BD score whose pseudo-count depends on the number of configurations has many functions of a count, the others two.
    """
    many = code in (DECLARED, OBSERVED)
    # Of counts above a quarter of the rows no family has many. Runs of an odd number of cache lines do not collide.
    length = min(max(n_rows // 4, 64), 1 << 10) if many else min(n_rows + 1, _FULL // 16)
    length += 4 - length % 8
    slots = 1 << (_FULL // length).bit_length() - 1 if many else 16
    keys = np.zeros((slots + 1, 2), dtype=np.uint64)
    return keys, np.zeros((slots, 2)), np.zeros((slots, length, 2), dtype=np.int64), np.zeros((1 << 12, 2))


@part
def _slot(kind: int, param: float, keys: Any, constants: Any, known: Any) -> int:
    """Where the terms of a function are remembered; all are forgotten when half of the room is taken."""
    room = np.uint64(len(constants))
    bits: Any = bits_of(param)
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
def _add_sums(functions: Any, runs: Any, pool: Any, memo: Any, exact: Any, sums: Any, sign: int) -> None:
    """Add the sum of f(count) times its multiplicity over the tally of each family, in two words of fixed point.

    `functions` is (kinds, params), one for each family, a kind below zero for none; `runs` where its tally is. Arrays
    are unpacked once for many families: each unpacking counts owners, which would take longer than all the rest.
    """
    kinds, params = functions
    keys, constants, known, _ = memo
    length = known.shape[1]
    half = np.uint64(pool.itemsize * 4)
    mask = (np.uint64(1) << half) - np.uint64(1)
    for family in range(len(kinds)):
        kind, param = kinds[family], params[family]
        if kind < 0:
            continue
        slot = _slot(kind, param, keys, constants, known)
        fixed = constants[slot, 0], constants[slot, 1]
        high, low = np.int64(0), np.int64(0)
        for i in range(runs[family, 0], runs[family, 1]):
            both = np.uint64(pool[i])
            n, times = np.int64(both >> half), np.int64(both & mask)
            if n >= length:
                more, less = term_of(kind, param, fixed, n, exact)
            else:
                if known[slot, n, 0] == EMPTY:
                    found, rest = term_of(kind, param, fixed, n, exact)
                    known[slot, n, 0], known[slot, n, 1] = found, rest
                more, less = known[slot, n, 0], known[slot, n, 1]
            high += times * more
            low += times * less
        sums[family, 0] += sign * high
        sums[family, 1] += sign * low


@part
def _constant_of(recipe: Any, r: int, q: float, n_parents: int, total: float, recent: Any) -> float:
    """Like `_constant`, which takes long for `QUOTIENT`: recent values are kept."""
    code, x, y = recipe
    found = 0.0
    if code == QUOTIENT:
        place = np.int64((bits_of(q) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(52))
        if recent[place, 0] != q:
            recent[place, 0], recent[place, 1] = q, _constant(code, x, y, r, q, n_parents, total)
        found = recent[place, 1]
    else:
        found = _constant(code, x, y, r, q, n_parents, total)
    return found


@entry
def score_families(child: Any, tallies: Any, recipe: Any, memo: Any, exact: Any, first: int, out: Any) -> None:
    """Scores of one child with the sets of parents at places ``first, first + 1, ...``: likelihood and prior.

    Parameters
    ----------
    child : (node, levels, demanded, most, limit, base, sets, declared, odds)
        Places must contain `demanded`, have at most `most` bits, and at most `limit` observed configurations, or else
        get minus infinity; `base` is taken off all scores. The last three are looked up by chunks of a place:
        variables, declared configurations, log prior.
    tallies : (pool, ends, n_groups, total)
        From `mapdag.search.tallies`, for all sets.
    recipe : (code, x, y)
        Of the likelihood.
    memo : tuple
        From `new_memo`, for this thread, this child, this likelihood.
    exact : tuple
        From `mapdag.terms.new_terms`, for this thread.
    first : int
    out : float64 array
    """
    node, r, demanded, most, limit, base, sets, declared, odds = child
    pool, ends, n_groups, total = tallies
    code = recipe[0]
    recent = memo[3]
    size = len(out)
    f, g = new_ints(size), new_ints(size)
    fx, gx = new_floats(size), new_floats(size)
    cells, totals = np.empty((size, 2), np.int64), np.empty((size, 2), np.int64)
    priors, rests = new_floats(size), new_floats(size)
    log_r = math.log(r)
    mask = (1 << CHUNK) - 1
    for i in range(size):
        place = first + i
        n_parents: Any = popcount(np.uint64(place))
        f[i] = g[i] = -1
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
        # From here on as `mapdag.recipes.score_batch`.
        family = parents | 1 << node
        n_positive = np.int64(n_groups[family])
        cells[i, 0], cells[i, 1] = ends[family - 1], ends[family]
        totals[i, 0], totals[i, 1] = (ends[parents - 1] if parents else 0), ends[parents]
        f[i] = g[i] = XLOGX
        fx[i] = gx[i] = 0.0
        if code <= OBSERVED:
            table = r, log_r, q, math.log(q), n_parents, n_positive, q_obs
            a, log_a = _pseudo_count(recipe, table, (-1.0, 0.0))
            fx[i], gx[i] = a, a * r
            f[i] = g[i] = RISING_EACH if a >= total else RISING_ONCE
            rests[i] = -total * log_r if a >= total else (n_positive - q_obs) * log_a - q_obs * log_r
        else:
            if code == FACTORISED:
                g[i], gx[i] = REGRET, float(r)
            rests[i] = -_constant_of(recipe, r, q, n_parents, total, recent)
    sums = np.zeros((size, 2), np.int64)
    _add_sums((f, fx), cells, pool, memo, exact, sums, 1)
    _add_sums((g, gx), totals, pool, memo, exact, sums, -1)
    for i in range(size):
        out[i] = ((to_float(sums[i, 0], sums[i, 1], exact[0]) + rests[i]) - base) + priors[i]
