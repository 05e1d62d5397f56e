"""Bayes factors of one arc: G+ against G-, which differ by it alone (section 3.1 of the paper, Theorem 5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mapdag.checks import check_positive
from mapdag.counts import CountTable, engine_of
from mapdag.data import ReadingOptions, as_dataset
from mapdag.errors import ParameterError
from mapdag.families import FamilyScores
from mapdag.objective import DEFAULT, align, concrete, limits_of, observed_configurations, parse
from mapdag.objective.constraints import Constraints, make_rules
from mapdag.public import public
from mapdag.scores import BDeu, BDs
from mapdag.theory.alphas import of_pair
from mapdag.theory.effective import effective_degrees_of_freedom, effective_parameters
from mapdag.theory.marginal import Limits, log_bdeu_leading

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mapdag.contracts import Likelihood, Objective, Prior
    from mapdag.data import Dataset
    from mapdag.graphs import DAG


@public(ReadingOptions)
def log_bayes_factor(
    dag: DAG,
    data: Any,
    start: str,
    end: str,
    objective: str | Objective | Likelihood = DEFAULT,
    **reading: Unpack[ReadingOptions],
) -> float:
    """Log posterior odds of one arc: log P(G+ | D) - log P(G- | D), with G+ and G- differing by ``start -> end`` only.

    Parameters
    ----------
    dag : DAG
        The rest of the graph; whether it has the arc does not matter.
    data : Dataset, or anything that `mapdag.read` takes
    start, end : str
        Ends of the arc.
    objective : Objective, Likelihood or str
        With the uniform prior this is the log Bayes factor. "auto" values are those of `dag`. Minus infinity where
        `mapdag.Support` rules out the graph with the arc; infinity where it rules out the other one only, as may be
        where there are gaps.
    **reading
        How to read the table, as in `mapdag.read`.
    """
    with_arc = dag if dag.has_arc(start, end) else dag.with_arc(start, end)
    table = as_dataset(data, **reading)
    align(dag, table)
    return log_arc_odds(with_arc, table, concrete(parse(objective), dag, table), [(start, end)])[start, end]


def log_arc_odds(
    dag: DAG,
    data: Dataset,
    objective: Objective,
    arcs: Iterable[tuple[str, str]] | None = None,
    constraints: Constraints | None = None,
) -> dict[tuple[str, str], float]:
    """`log_bayes_factor` of some arcs of a graph, each given all the others; of all of them unless given.

    Arcs that the constraints require win against `mapdag.Support`.
    """
    align(dag, data)
    support = support_odds(data, objective, constraints)
    index = {name: i for i, name in enumerate(data.names)}
    scores = FamilyScores(data, [objective.likelihood])
    found = {}
    for (start, end), prior in all_log_prior_odds(objective.prior, dag, arcs).items():
        parents = [index[p] for p in dag.parents(end)]
        others = [p for p in parents if p != index[start]]
        whole, less = (float(scores.family(index[end], each)[0]) for each in (parents, others))
        limit = support(index[end], parents, others)
        possible = whole > -math.inf  # there are rows that are complete in the family
        found[start, end] = limit or (whole - less + prior if possible else -math.inf)
    return found


def support_odds(
    data: Dataset, objective: Objective, constraints: Constraints | None = None
) -> Callable[[int, Sequence[int], Sequence[int]], float]:
    """Make a function that says what `mapdag.Support` adds to the log odds of an arc: nothing, or one infinity.

    It takes a node, its parents with the arc and those without; nodes are column indices.
    """
    prior = objective.prior
    if prior.support is None:
        return lambda *_: 0.0
    most = limits_of(data, prior.support, make_rules(constraints or Constraints(), prior, data.names)).most
    counter = engine_of(data)

    def odds(node: int, with_arc: Sequence[int], without: Sequence[int]) -> float:
        for parents, infinity in ((with_arc, -math.inf), (without, math.inf)):
            if observed_configurations(counter, data, node, parents) > most[node]:
                return infinity
        return 0.0

    return odds


def log_factor(likelihood: Likelihood, with_arc: CountTable, without: CountTable) -> float:
    """Log Bayes factor of an arc, from the tables of the family with it and without."""
    return likelihood.score(with_arc) - likelihood.score(without)


def log_prior_odds(prior: Prior, with_arc: DAG, start: str, end: str) -> float:
    """Log prior odds of one arc of a graph, whatever the prior thinks of the rest of it.

    Infinite if the prior demands the arc.

    Examples
    --------
    >>> from mapdag import DAG, MU
    >>> round(math.exp(log_prior_odds(MU(), DAG(["A", "B"], [("A", "B")]), "A", "B")), 9)
    0.5
    """
    return all_log_prior_odds(prior, with_arc, [(start, end)])[start, end]


def all_log_prior_odds(
    prior: Prior, dag: DAG, arcs: Iterable[tuple[str, str]] | None = None
) -> dict[tuple[str, str], float]:
    """`log_prior_odds` of some arcs of a graph, all of them unless given."""
    odds, demanded, place = prior.log_odds(dag.nodes), prior.required_pairs(dag.nodes), dag.index.position
    whole = prior.log_prior(dag)
    found = {}
    for start, end in dag.arcs if arcs is None else arcs:
        i, j = place(start), place(end)
        own = math.inf if (min(i, j), max(i, j)) in demanded else float(odds[i, j])
        if not (prior.is_arcwise and math.isfinite(whole)):
            without = dag.without_arc(start, end)
            less = prior.log_prior(without)
            if math.isfinite(whole) or math.isfinite(less):
                own = whole - less
            else:
                own += prior.remainder(dag) - prior.remainder(without)
        found[start, end] = own
    return found


@of_pair
def log_bdeu_factor(with_arc: CountTable, without: CountTable, alpha: float) -> float:
    """Log Bayes factor of an arc under BDeu, from the tables of the family with it and without.

    Examples
    --------
    >>> from mapdag.theory.factors import EXAMPLE_2
    >>> round(math.exp(log_bdeu_factor(EXAMPLE_2.with_arc, EXAMPLE_2.without, 1)), 2)
    1.35
    """
    return log_factor(BDeu(alpha), with_arc, without)


@of_pair
def log_bds_factor(with_arc: CountTable, without: CountTable, alpha: float) -> float:
    """Log Bayes factor of an arc under BDs, from the tables of the family with it and without."""
    return log_factor(BDs(alpha), with_arc, without)


def log_bdeu_factor_limits(with_arc: CountTable, without: CountTable) -> Limits:
    """Limits of the log Bayes factor under BDeu: d_EDF decides at 0 (section 2.1), nothing is left at infinity.

    As alpha goes to 0: minus infinity for d_EDF > 0, infinity for d_EDF < 0; for d_EDF = 0, which the paper leaves out,
    a number that depends on the counts.

    Examples
    --------
    >>> from mapdag.theory.factors import EXAMPLE_1
    >>> round(math.exp(log_bdeu_factor_limits(*EXAMPLE_1.tables).zero), 9)
    0.0625
    """
    gained = effective_degrees_of_freedom(with_arc, without)
    if gained:
        return Limits(math.copysign(math.inf, -gained), 0.0)
    return Limits(log_bdeu_leading(with_arc, 1.0) - log_bdeu_leading(without, 1.0), 0.0)


def log_bds_factor_limits(with_arc: CountTable, without: CountTable) -> Limits:
    """Limits of the log Bayes factor under BDs: those of BDeu, shifted by the implicit prior where they are finite."""
    found = log_bdeu_factor_limits(with_arc, without)
    return Limits(found.zero + log_implicit_prior_ratio(with_arc, without), found.infinity)


@of_pair
def log_bds_factor_leading(with_arc: CountTable, without: CountTable, alpha: float) -> float:
    """Leading term of the log Bayes factor under BDs as alpha goes to 0: the difference to `log_bds_factor` vanishes.

    BDeu's leading terms and the implicit prior ratio. Theorem 5 keeps of the former the powers of alpha alone.
    """
    bdeu = log_bdeu_leading(with_arc, alpha) - log_bdeu_leading(without, alpha)
    return bdeu + log_implicit_prior_ratio(with_arc, without)


def log_implicit_prior_ratio(with_arc: CountTable, without: CountTable) -> float:
    """Log of the prior odds of an arc that BDs implies relative to BDeu, as alpha goes to 0 (Theorem 5).

    P(G+) / P(G-) = (q / q_obs)^d_EP of the larger family over the same of the smaller one.
    """
    return sum(
        sign * effective_parameters(table) * (math.log(table.q) - math.log(table.q_obs))
        for sign, table in ((1, with_arc), (-1, without))
    )


@of_pair
def threshold(with_arc: CountTable, without: CountTable, alpha: float) -> float:
    """Theorem 5's threshold on d_EDF, ``-log_alpha(P(G+) / P(G-))``: above it, BDs speaks against the arc.

    A statement about powers of alpha, constants left out, for alpha below 1. The implicit prior does not depend on
    alpha, so the threshold tends to 0, which is BDeu's own rule.

    Examples
    --------
    >>> from mapdag.theory.factors import EXAMPLE_1
    >>> threshold(*EXAMPLE_1.tables, [1e-2, 1e-4, 1e-8]).round(3).tolist()
    [0.602, 0.301, 0.151]
    """
    if alpha >= 1:
        raise ParameterError(f"alpha must be below 1 for a statement about its powers, got {alpha:g}")
    return -log_implicit_prior_ratio(with_arc, without) / math.log(alpha)


def favours_arc(with_arc: CountTable, without: CountTable, alpha: float) -> bool | None:
    """Theorem 5's verdict on an arc at a small alpha; None where d_EDF is at the threshold."""
    limit = threshold(with_arc, without, check_positive("alpha", alpha))
    gained = effective_degrees_of_freedom(with_arc, without)
    return None if gained == limit else gained < limit


# Examples ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """Tables of one child without the arc Y -> X (G-) and with it (G+)."""

    name: str
    without: CountTable
    with_arc: CountTable

    @property
    def tables(self) -> tuple[CountTable, CountTable]:
        """G+ and G-, in the order that functions of pairs take."""
        return self.with_arc, self.without


_NONE = (0, 0)


def _example(name: str, *rows: tuple[int, int]) -> Example:
    """Y is 0 in the first three configurations of (Z, W) and 1 in the last, so four of eight are never observed."""
    smaller = CountTable.from_dense(rows)
    return Example(name, smaller, CountTable.from_dense([*rows[:3], _NONE, _NONE, _NONE, _NONE, rows[3]]))


EXAMPLE_1 = _example("Example 1", (2, 1), (1, 2), (1, 2), (2, 1))
EXAMPLE_2 = _example("Example 2", (3, 0), (0, 3), (0, 3), (3, 0))
