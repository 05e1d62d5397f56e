"""One kernel for every built-in likelihood, which is a recipe: a code and two numbers.

| code | score of a family |
|---|---|
| `EACH` | log BD with the pseudo-count x in every cell |
| `DECLARED` | log BD with x spread over all declared cells: x / (r q) |
| `OBSERVED` | log BD with x spread over the cells of observed configurations: x / (r q_obs) |
| `PENALISED` | log-likelihood - x per parameter - y per parent |
| `FACTORISED` | log-likelihood - sum of log C(n_ij, r) |
| `QUOTIENT` | log-likelihood - log C(n, r q) + log C(n, q) |

With a the pseudo-count and R(a, n) = log((a+1) ... (a+n-1)),

    log BD = d_EP log a - q_obs log r + sum over cells of R(a, n_ijk) - sum over configurations of R(r a, n_ij),

d_EP being the effective number of parameters: the form in which small pseudo-counts lose no digits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from mapdag.kernels import entry, inner, part
from mapdag.terms import (
    REGRET,
    RISING_EACH,
    RISING_ONCE,
    XLOGX,
    find_slot,
    log_regret,
    sum_terms,
    sum_terms_real,
    to_float,
)

EACH, DECLARED, OBSERVED, PENALISED, FACTORISED, QUOTIENT = 0, 1, 2, 3, 4, 5
KINDS = {
    "each": EACH,
    "declared": DECLARED,
    "observed": OBSERVED,
    "penalised": PENALISED,
    "factorised": FACTORISED,
    "quotient": QUOTIENT,
}

_TINY = 1e-300  # below this a pseudo-count is known by its log only
_FAR = 1e250  # beyond so many configurations C(n, r q) / C(n, q) is r^n in double precision


def _sum(counts: Any, start: int, end: int, f: int, x: float, terms: Any) -> Any:
    """Sum of f(n; x) over ``counts[start:end]``, in two parts."""
    raise NotImplementedError


@overload(_sum, strict=False)
def _compiled_sum(counts: Any, start: Any, end: Any, f: Any, x: Any, terms: Any) -> Any:
    """Whole counts are looked up; the terms of other ones, from weighted rows, are computed each time."""
    del start, end, f, x, terms

    def real(counts: Any, start: int, end: int, f: int, x: float, terms: Any) -> Any:
        return sum_terms_real(counts, start, end, f, x, terms[0])

    def whole(counts: Any, start: int, end: int, f: int, x: float, terms: Any) -> Any:
        return sum_terms(counts, start, end, find_slot(f, x, terms[1], terms[2]), terms)

    return real if isinstance(counts.dtype, types.Float) else whole


@part
def _difference(more: Any, less: Any, terms: Any) -> float:
    """Difference of two sums as one number."""
    return to_float(more[0] - less[0], more[1] - less[1], terms[0])


@inner
def _pseudo_count(recipe: Any, family: Any, known: Any) -> tuple[float, float]:
    """Pseudo-count of a BD score, and its log, which may be `known` from the last one."""
    code, x, _ = recipe
    r, log_r, q, log_q, _, _, q_obs = family
    a = x if code == EACH else x / (r * q_obs) if code == OBSERVED else x / (r * q)
    if a == known[0]:
        return known
    return a, math.log(a) if a > _TINY else math.log(x) - log_r - log_q


@inner
def _constant(code: int, x: float, y: float, r: int, q: float, n_parents: int, total: float) -> float:
    """What is taken off the log-likelihood of a table, apart from what depends on its counts."""
    if code == PENALISED:
        return (x * ((r - 1) * q) if x > 0 else 0.0) + y * n_parents
    if code == QUOTIENT:
        n = np.int64(total)
        return total * math.log(r) if q > _FAR else log_regret(n, r * q) - log_regret(n, q)
    return 0.0


@inner
def _parts(recipe: Any, family: Any, total: float, known: Any) -> Any:
    """What the score of a table is made of: the sum of f(n_ijk; x) - the sum of g(n_ij; y) + rest.

    `family` is (r, log r, q, log q, parents, positive cells, observed configurations). Returns (f, x, g, y, rest) and,
    to be `known` the next time, the pseudo-count and its log.
    """
    code, x, y = recipe
    r, log_r, q, _, n_parents, n_positive, q_obs = family
    if code > OBSERVED:
        rest = -_constant(code, x, y, r, q, n_parents, total)
        return XLOGX, 0.0, REGRET if code == FACTORISED else XLOGX, float(r) if code == FACTORISED else 0.0, rest, known
    known = a, log_a = _pseudo_count(recipe, family, known)
    # Large pseudo-counts: take log a off every factor, not only the first, to keep what is left small.
    if a >= total:
        return RISING_EACH, a, RISING_EACH, a * r, -total * log_r, known
    return RISING_ONCE, a, RISING_ONCE, a * r, (n_positive - q_obs) * log_a - q_obs * log_r, known


@entry
def score_batch(batch: Any, recipes: Any, terms: Any, out: Any, other: Any, back: Any) -> None:
    """Scores of all tables of a batch under all recipes: ``out[recipe, table]``.

    Parameters
    ----------
    batch : tuple
        (cells, cell_ends, totals, total_ends, n_positive, q_obs, r, q, log_q, n_parents, total, child), see
        `TableBatch`.
    recipes : (codes, numbers, limits)
        int64 array (recipes,), float64 arrays (recipes, 2) and (recipes, nodes): most configurations that the parents
        of each node may have; the score of a family with more is minus infinity.
    terms : tuple
        From `mapdag.terms.new_terms`, for this thread.
    out : float64 array (recipes, tables)
    other : tuple
        Where the family is a node with one parent, what it takes to score the parent given the node from the same
        table: (parents, levels of each, positive counts of the node).
    back : float64 array (recipes, tables)
        Gets those scores; they are not wanted where it has no rows.
    """
    cells, cell_ends, totals, total_ends, n_positive, q_obs, r, q, log_q, n_parents, total, child = batch
    codes, numbers, limits = recipes
    parents, levels, own = other
    log_r, width, log_width = math.log(r), r, math.log(r)
    for i in range(len(codes)):
        recipe = codes[i], numbers[i, 0], numbers[i, 1]
        known = (-1.0, 0.0)
        for t in range(len(cell_ends)):
            if q_obs[t] == 0:
                out[i, t] = 0.0
                continue
            thin = q_obs[t] > limits[i, child]
            if thin:
                out[i, t] = -np.inf
                if not len(back):
                    continue
            begin, end = cell_ends[t - 1] if t else 0, cell_ends[t]
            family = r, log_r, q[t], log_q[t], n_parents[t], n_positive[t], q_obs[t]
            f, x, g, y, rest, known = _parts(recipe, family, total, known)
            joint = _sum(cells, begin, end, f, x, terms)
            if not thin:
                marginal = _sum(totals, total_ends[t - 1] if t else 0, total_ends[t], g, y, terms)
                out[i, t] = _difference(joint, marginal, terms) + rest
            if len(back):
                if len(own) > limits[i, parents[t]]:
                    back[i, t] = -np.inf
                    continue
                if levels[t] != width:
                    width, log_width = levels[t], math.log(levels[t])
                kind, number = f, x
                family = width, log_width, float(r), log_r, 1, n_positive[t], len(own)
                f, x, g, y, rest, known = _parts(recipe, family, total, known)
                if f != kind or x != number:
                    joint = _sum(cells, begin, end, f, x, terms)
                back[i, t] = _difference(joint, _sum(own, 0, len(own), g, y, terms), terms) + rest


def score_tables(batch: Any, recipes: Any, terms: Any, out: Any, child: int = 0) -> None:
    """Scores of all tables of a batch under all recipes, as `score_batch`."""
    nobody = np.empty(0, dtype=np.int64)
    score_batch((*batch, child), recipes, terms, out, (nobody, nobody, batch[0][:0]), np.empty((0, 0)))
