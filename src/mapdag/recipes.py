"""One kernel for every built-in likelihood, which is a recipe: a code and two numbers.

| code | score of a family |
|---|---|
| `EACH` | log BD with the pseudo-count x in every cell |
| `DECLARED` | log BD with x spread over all declared cells: x / (r q) |
| `OBSERVED` | log BD with x spread over the cells of observed configurations: x / (r q_obs) |
| `PENALISED` | log-likelihood - x per parameter - y per parent |
| `AVERAGED` | the same with y = 0, the log-likelihood n / m times that of the m of n rows without gaps in the family |
| `FACTORISED` | log-likelihood - sum of log C(n_ij, r) |
| `QUOTIENT` | log-likelihood - log C(n, r q) + log C(n, q) |

With a the pseudo-count and R(a, n) = log((a+1) ... (a+n-1)),

    log BD = d_EP log a - q_obs log r + sum over cells of R(a, n_ijk) - sum over configurations of R(r a, n_ij),

d_EP being the effective number of parameters: the form in which small pseudo-counts lose no digits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from mapdag.kernels import Counts, Floats, Ints, entry, inner, part
from mapdag.terms.formulas import REGRET, RISING_EACH, RISING_ONCE, XLOGX, Terms, log_regret, to_float
from mapdag.terms.sums import find_slot, sum_real_terms, sum_terms

if TYPE_CHECKING:
    from mapdag.counts.table import TableBatch

EACH, DECLARED, OBSERVED, PENALISED, FACTORISED, QUOTIENT, AVERAGED = 0, 1, 2, 3, 4, 5, 6
KINDS = {
    "each": EACH,
    "declared": DECLARED,
    "observed": OBSERVED,
    "penalised": PENALISED,
    "factorised": FACTORISED,
    "quotient": QUOTIENT,
    "averaged": AVERAGED,
}

_TINY = 1e-300  # below this a pseudo-count is known by its log only
_FAR = 1e250  # beyond so many configurations C(n, r q) / C(n, q) is r^n in double precision


class Recipes(NamedTuple):
    """Several likelihoods, and how thin a family may be under each."""

    codes: Ints  # (recipes,)
    numbers: Floats  # (recipes, 2) x and y
    limits: Floats  # (recipes, nodes) most configurations that the parents of each node may have


class Rule(NamedTuple):
    """One recipe."""

    code: int
    x: float
    y: float


class Shape(NamedTuple):
    """What a recipe needs to know of a table besides its counts."""

    r: int  # declared levels of the child
    log_r: float
    q: float  # declared configurations of the parents
    log_q: float
    n_parents: int
    n_positive: int  # positive cells
    q_obs: int  # observed configurations


class Formula(NamedTuple):
    """A score: the sum of f(n_ijk; x) over cells - the sum of g(n_ij; y) over configurations + rest."""

    f: int
    x: float
    g: int
    y: float
    rest: float
    pseudo_count: tuple[float, float]  # of a BD score, and its log, to be `known` the next time


class Reverse(NamedTuple):
    """Where a family is a node with one parent: what it takes to score the reverse from the same table."""

    parents: Ints  # (tables,)
    levels: Ints  # (tables,) of each parent
    own: Counts  # positive counts of the node; where data have gaps, those in the rows that have each parent, in turn:
    own_ends: Ints  # (tables,) where these end; or empty


def _sum(counts: Any, start: int, end: int, f: int, x: float, terms: Any) -> Any:
    """Sum of f(n; x) over ``counts[start:end]``, in two words of fixed point."""
    raise NotImplementedError


@overload(_sum, strict=False)
def _compiled_sum(counts: Any, start: Any, end: Any, f: Any, x: Any, terms: Any) -> Any:
    """Whole counts are looked up; the terms of other ones, from weighted rows, are computed each time."""
    del start, end, f, x, terms

    def real(counts: Any, start: int, end: int, f: int, x: float, terms: Any) -> Any:
        return sum_real_terms(counts, start, end, f, x, terms.scale)

    def whole(counts: Any, start: int, end: int, f: int, x: float, terms: Any) -> Any:
        return sum_terms(counts, start, end, find_slot(f, x, terms.values, terms.slots), terms)

    return real if isinstance(counts.dtype, types.Float) else whole


@part
def _difference(more: Any, less: Any, terms: Terms) -> float:
    """Difference of two sums as one number."""
    return to_float(more[0] - less[0], more[1] - less[1], terms.scale)


@inner
def _pseudo_count(rule: Rule, shape: Shape, known: tuple[float, float]) -> tuple[float, float]:
    """Pseudo-count of a BD score, and its log, which may be `known` from the last one."""
    cells = 1.0
    if rule.code == OBSERVED:
        cells = float(shape.r * shape.q_obs)
    elif rule.code == DECLARED:
        cells = shape.r * shape.q
    a = rule.x / cells
    if a > _TINY:
        return known if a == known[0] else (a, math.log(a))
    return a, math.log(rule.x) - (shape.log_r + shape.log_q if rule.code == DECLARED else math.log(cells))


@inner
def quotient_charge(r: int, q: float, total: float) -> float:
    """Log C(n, r q) - log C(n, q), which takes long."""
    n = np.int64(total)
    return total * math.log(r) if q > _FAR else log_regret(n, r * q) - log_regret(n, q)


@inner
def formula_of(rule: Rule, shape: Shape, total: float, known: tuple[float, float]) -> Formula:
    """What the score of a table is made of; that of a `QUOTIENT` but for its `quotient_charge`."""
    r = shape.r
    if rule.code in (PENALISED, AVERAGED):
        charge = (rule.x * ((r - 1) * shape.q) if rule.x > 0 else 0.0) + rule.y * shape.n_parents
        return Formula(XLOGX, 0.0, XLOGX, 0.0, -charge, known)
    if rule.code == FACTORISED:
        return Formula(XLOGX, 0.0, REGRET, float(r), 0.0, known)
    if rule.code == QUOTIENT:
        return Formula(XLOGX, 0.0, XLOGX, 0.0, 0.0, known)
    known = a, log_a = _pseudo_count(rule, shape, known)
    # Large pseudo-counts: take log a off every factor, not only the first, to keep what is left small.
    if a >= total:
        return Formula(RISING_EACH, a, RISING_EACH, a * r, -total * shape.log_r, known)
    rest = (shape.n_positive - shape.q_obs) * log_a - shape.q_obs * shape.log_r
    return Formula(RISING_ONCE, a, RISING_ONCE, a * r, rest, known)


@inner
def _raised(totals: Any, first: int, last: int, total: float) -> float:
    """How many rows there are for each one that is in a table, whose configurations have these counts."""
    rows = 0.0
    for j in range(first, last):
        rows += totals[j]
    return total / rows


@entry
def score_batch(batch: TableBatch, recipes: Recipes, terms: Terms, out: Floats, reverse: Reverse, back: Floats) -> None:
    """Scores of all tables of a batch under all recipes: ``out[recipe, table]``.

    That of a table with more configurations than its child may have is minus infinity. `back` gets the scores of the
    `reverse` families; they are not wanted where it has no rows.
    """
    # Arrays are taken out of their tuples once: each time counts owners.
    codes, numbers, limits = recipes
    counts, child, r, q, log_q, n_parents, total = batch
    cells, cell_ends, totals, total_ends, n_positive, q_obs = counts
    parents, levels, own, own_ends = reverse
    log_r, width, log_width = math.log(r), r, math.log(r)
    for i in range(len(codes)):
        rule = Rule(codes[i], numbers[i, 0], numbers[i, 1])
        known = (-1.0, 0.0)
        for t in range(len(cell_ends)):
            if q_obs[t] == 0:
                lost = rule.code == AVERAGED and total > 0
                # Without rows, the average is 0; parameters cost what they do elsewhere.
                charge = rule.x * (r - 1) * q[t] if rule.code == AVERAGED else 0.0
                out[i, t] = -np.inf if lost and n_parents[t] > 0 else 0.0 - charge
                if len(back):
                    back[i, t] = -np.inf if lost else 0.0
                continue
            thin = q_obs[t] > limits[i, child]
            if thin:
                out[i, t] = -np.inf
                if not len(back):
                    continue
            begin, end = cell_ends[t - 1] if t else 0, cell_ends[t]
            shape = Shape(r, log_r, q[t], log_q[t], n_parents[t], n_positive[t], q_obs[t])
            score = formula_of(rule, shape, total, known)
            known = score.pseudo_count
            joint = _sum(cells, begin, end, score.f, score.x, terms)
            raised = 1.0
            if rule.code == AVERAGED:
                raised = _raised(totals, total_ends[t - 1] if t else 0, total_ends[t], total)
            if not thin:
                marginal = _sum(totals, total_ends[t - 1] if t else 0, total_ends[t], score.g, score.y, terms)
                charge = quotient_charge(r, q[t], total) if rule.code == QUOTIENT else 0.0
                out[i, t] = _difference(joint, marginal, terms) * raised + (score.rest - charge)
            if len(back):
                first, last = 0, len(own)
                if len(own_ends):
                    first, last = own_ends[t - 1] if t else 0, own_ends[t]
                if last - first > limits[i, parents[t]]:
                    back[i, t] = -np.inf
                    continue
                if levels[t] != width:
                    width, log_width = levels[t], math.log(levels[t])
                kind, number = score.f, score.x
                shape = Shape(width, log_width, float(r), log_r, np.int64(1), n_positive[t], np.int64(last - first))
                score = formula_of(rule, shape, total, known)
                known = score.pseudo_count
                if score.f != kind or score.x != number:
                    joint = _sum(cells, begin, end, score.f, score.x, terms)
                marginal = _sum(own, first, last, score.g, score.y, terms)
                charge = quotient_charge(width, float(r), total) if rule.code == QUOTIENT else 0.0
                back[i, t] = _difference(joint, marginal, terms) * raised + (score.rest - charge)


def score_tables(batch: TableBatch, recipes: Recipes, terms: Terms) -> Floats:
    """Scores of all tables of a batch under all recipes: an array (recipes, tables)."""
    out = np.empty((len(recipes.codes), len(batch.counts.cell_ends)))
    nobody = np.empty(0, dtype=np.int64)
    score_batch(batch, recipes, terms, out, Reverse(nobody, nobody, batch.counts.cells[:0], nobody), np.empty((0, 0)))
    return out
