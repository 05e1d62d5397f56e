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

from mapdag.kernels import entry, inner
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


def _difference(
    cells: Any, cell: Any, totals: Any, configuration: Any, f: int, x: float, g: int, y: float, terms: Any
) -> float:
    """Sum of f(n; x) over some cells less the sum of g(n; y) over some configurations, each given as (start, end)."""
    raise NotImplementedError


@overload(_difference, strict=False, inline="always")
def _compiled_difference(
    cells: Any, cell: Any, totals: Any, configuration: Any, f: Any, x: Any, g: Any, y: Any, terms: Any
) -> Any:
    """Whole counts are summed in fixed point; other ones, from weighted rows, as doubles."""
    del cell, totals, configuration, f, x, g, y, terms

    def real(  # its arguments must be those of the other one
        cells: Any,
        cell: Any,
        totals: Any,
        configuration: Any,
        f: int,
        x: float,
        g: int,
        y: float,
        terms: Any,  # noqa: ARG001
    ) -> Any:
        high, low = sum_terms_real(cells, cell[0], cell[1], f, x)
        more, less = sum_terms_real(totals, configuration[0], configuration[1], g, y)
        return (high - more) + (low - less)

    def whole(
        cells: Any, cell: Any, totals: Any, configuration: Any, f: int, x: float, g: int, y: float, terms: Any
    ) -> Any:
        high, low = sum_terms(cells, cell[0], cell[1], find_slot(f, x, terms[1], terms[2]), terms)
        slot = find_slot(g, y, terms[1], terms[2])
        more, less = sum_terms(totals, configuration[0], configuration[1], slot, terms)
        return to_float(high - more, low - less, terms[0])

    return real if isinstance(cells.dtype, types.Float) else whole


@inner
def _pseudo_count(code: int, x: float, r: int, q: float, log_q: float, q_obs: int) -> tuple[float, float]:
    """Pseudo-count of a BD score, and its log."""
    if code == EACH:
        return x, math.log(x)
    a = x / (r * q_obs) if code == OBSERVED else x / (r * q)
    return a, math.log(a) if a > _TINY else math.log(x) - math.log(r) - log_q


@inner
def _constant(code: int, x: float, y: float, r: int, q: float, n_parents: int, total: float) -> float:
    """What is taken off the log-likelihood of a table, apart from what depends on its counts."""
    if code == PENALISED:
        return (x * ((r - 1) * q) if x > 0 else 0.0) + y * n_parents
    if code == QUOTIENT:
        n = np.int64(total)
        return total * math.log(r) if q > _FAR else log_regret(n, r * q) - log_regret(n, q)
    return 0.0


@entry
def score_batch(batch: Any, codes: Any, numbers: Any, terms: Any, out: Any) -> None:
    """Scores of all tables of a batch under all recipes: ``out[recipe, table]``.

    Parameters
    ----------
    batch : tuple
        (cells, cell_ends, totals, total_ends, n_positive, q_obs, r, q, log_q, n_parents, total), see `TableBatch`.
    codes, numbers : int64 array (recipes,), float64 array (recipes, 2)
        The recipes.
    terms : tuple
        From `mapdag.terms.new_terms`, for this thread.
    out : float64 array (recipes, tables)
    """
    cells, cell_ends, totals, total_ends, n_positive, q_obs, r, q, log_q, n_parents, total = batch
    log_r = math.log(r)
    for i in range(len(codes)):
        code, x, y = codes[i], numbers[i, 0], numbers[i, 1]
        f, g, fx, gx, a, log_a, first = XLOGX, XLOGX, 0.0, 0.0, 0.0, 0.0, 0.0
        if code == FACTORISED:
            g, gx = REGRET, float(r)
        for t in range(len(cell_ends)):
            if q_obs[t] == 0:
                out[i, t] = 0.0
                continue
            if code <= OBSERVED:
                a, log_a = _pseudo_count(code, x, r, q[t], log_q[t], q_obs[t])
                fx, gx = a, a * r
                # Large pseudo-counts: take log a off every factor, not only the first, to keep what is left small.
                f = g = RISING_EACH if a >= total else RISING_ONCE
                first = -total * log_r if a >= total else (n_positive[t] - q_obs[t]) * log_a - q_obs[t] * log_r
            else:
                first = -_constant(code, x, y, r, q[t], n_parents[t], total)
            cell = (cell_ends[t - 1] if t else 0, cell_ends[t])
            configuration = (total_ends[t - 1] if t else 0, total_ends[t])
            out[i, t] = _difference(cells, cell, totals, configuration, f, fx, g, gx, terms) + first
