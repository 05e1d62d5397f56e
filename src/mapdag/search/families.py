"""Kernels of exact search: the score of every family of one child, from the tallies of all sets of variables.

The arithmetic is that of `mapdag.recipes`, to the last bit; a count that occurs m times is one term times m. A set of
parents is a place: bit i for the child's i-th candidate.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mapdag.kernels import bits_of, entry, inner, popcount
from mapdag.recipes import DECLARED, FACTORISED, OBSERVED, QUOTIENT, _constant, _pseudo_count
from mapdag.terms import REGRET, RISING_EACH, RISING_ONCE, XLOGX, _offset, _term, to_float

CHUNK = 10  # bits of a place that are looked up at a time
CHUNKS = 3
TIE = 2.0**-26  # what an arc costs, so that the fewest win among equals: far more than rounding, far less than evidence

_FULL = 1 << 22  # terms that are remembered at most


def new_memo(n_rows: int, code: int) -> tuple[Any, ...]:
    """Make one thread's memory of terms: (keys, offsets, terms, use).

    A BD score whose pseudo-count depends on the number of configurations has many functions of a count, the others two.
    """
    many = code in (DECLARED, OBSERVED)
    length = 1 << min(max(n_rows, 63).bit_length(), 10 if many else 20)
    slots = _FULL // length if many else 16
    keys = np.zeros((slots + 1, 2), dtype=np.uint64)
    return keys, np.zeros(slots), np.zeros((slots, length, 2), dtype=np.int64), np.zeros((64, 2))


@inner
def _slot(kind: int, param: float, memo: Any) -> int:
    """Where the terms of a function are remembered; all are forgotten when half of the room is taken."""
    keys, offsets, terms, _ = memo
    mask = np.uint64(len(offsets) - 1)
    bits = bits_of(param)
    key = (bits + np.uint64(kind)) * np.uint64(0x9E3779B97F4A7C15)
    i = (key >> np.uint64(40)) & mask
    name = np.uint64(kind + 1)
    while keys[i, 1] != 0 and (keys[i, 0] != bits or keys[i, 1] != name):
        i = (i + np.uint64(1)) & mask
    if keys[i, 1] == 0:
        if 2 * keys[len(offsets), 0] >= np.uint64(len(offsets)):
            keys[:] = 0
            i = (key >> np.uint64(40)) & mask
        keys[len(offsets), 0] += np.uint64(1)
        keys[i, 0], keys[i, 1] = bits, name
        offsets[i] = _offset(kind, param)
        terms[np.int64(i)] = 0
    return np.int64(i)


@inner
def _sum(kind: int, param: float, tally: Any, half: Any, memo: Any, exact: Any) -> tuple[int, int]:
    """Sum of f(count) times its multiplicity over a tally, in two words of fixed point."""
    scale, _, _, words, reals = exact
    slot = _slot(kind, param, memo)
    offset, known = memo[1][slot], memo[2][slot]
    mask = (np.uint64(1) << half) - np.uint64(1)
    high, low = np.int64(0), np.int64(0)
    for i in range(len(tally)):
        both = np.uint64(tally[i])
        n, times = np.int64(both >> half), np.int64(both & mask)
        if n < len(known):
            # Nothing known reads as zero; a term that is zero is found anew each time.
            if known[n, 0] == 0 and known[n, 1] == 0:
                known[n, 0], known[n, 1] = _term(kind, param, offset, n, scale, words, reals)
            high += times * known[n, 0]
            low += times * known[n, 1]
        else:
            more, less = _term(kind, param, offset, n, scale, words, reals)
            high += times * more
            low += times * less
    return high, low


@inner
def _penalty(code: int, x: float, y: float, shape: Any, total: float, recent: Any) -> float:
    """Like `_constant`, which takes long for `QUOTIENT`: recent values are kept."""
    r, q, n_parents = shape
    if code != QUOTIENT:
        return _constant(code, x, y, r, q, n_parents, total)
    place = np.int64((bits_of(q) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(58))
    if recent[place, 0] != q:
        recent[place, 0], recent[place, 1] = q, _constant(code, x, y, r, q, n_parents, total)
    return recent[place, 1]


@inner
def _score(sums: Any, shape: Any, observed: Any, recipe: Any, total: float, memo: Any, exact: Any) -> float:
    """Score of one family, as `mapdag.recipes.score_batch` has it.

    `sums` is (tally of the cells, tally of the configurations, half of the bits), `shape` (r, q, parents), `observed`
    (positive cells, configurations).
    """
    cells, totals, half = sums
    code, x, y = recipe
    r, q, _ = shape
    n_positive, q_obs = observed
    if q_obs == 0:
        return 0.0
    f, g, fx, gx = XLOGX, XLOGX, 0.0, 0.0
    if code <= OBSERVED:
        log_r = math.log(r)
        a, log_a = _pseudo_count(code, x, r, q, math.log(q), q_obs)
        fx, gx = a, a * r
        f = g = RISING_EACH if a >= total else RISING_ONCE
        first = -total * log_r if a >= total else (n_positive - q_obs) * log_a - q_obs * log_r
    else:
        if code == FACTORISED:
            g, gx = REGRET, float(r)
        first = -_penalty(code, x, y, shape, total, memo[3])
    high, low = _sum(f, fx, cells, half, memo, exact)
    more, less = _sum(g, gx, totals, half, memo, exact)
    return to_float(high - more, low - less, exact[0]) + first


@entry
def score_families(child: Any, tallies: Any, recipe: Any, memo: Any, exact: Any, first: int, out: Any) -> None:
    """Scores of one child with the sets of parents at places ``first, first + 1, ...``: likelihood, prior, ties.

    Parameters
    ----------
    child : (node, levels, demanded, most, base, sets, declared, odds)
        Places must contain `demanded` and have at most `most` bits, or else get minus infinity; `base` is taken off all
        scores. The last three are looked up by chunks of a place: variables, declared configurations, log-odds.
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
    node, r, demanded, most, base, sets, declared, odds = child
    pool, ends, n_groups, total = tallies
    half = np.uint64(pool.itemsize * 4)
    mask = (1 << CHUNK) - 1
    for i in range(len(out)):
        place = first + i
        n_parents = popcount(np.uint64(place))
        if n_parents > most or place & demanded != demanded:
            out[i] = -np.inf
            continue
        parents, q, prior = 0, 1.0, 0.0
        rest = place
        for c in range(CHUNKS):
            parents |= sets[c, rest & mask]
            q *= declared[c, rest & mask]
            prior += odds[c, rest & mask]
            rest >>= CHUNK
        family = parents | 1 << node
        cells = pool[ends[family - 1] : ends[family]]
        totals = pool[(ends[parents - 1] if parents else 0) : ends[parents]]
        observed = np.int64(n_groups[family]), np.int64(n_groups[parents])
        shape = r, q, n_parents
        score = _score((cells, totals, half), shape, observed, recipe, total, memo, exact)
        out[i] = (score - base) + prior - TIE * n_parents
