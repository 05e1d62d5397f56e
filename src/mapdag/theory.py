"""The quantities of sections 2 and 3 of the paper: effective parameters, entropies, Bayes factors, optimal alpha.

The paper is Scutari, "Beyond Uniform Priors in Bayesian Network Structure Learning". Its conditional entropies are
plain sums over observed configurations; the usual entropy, weighted by their probabilities, has its own name here.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.contracts import Likelihood, Objective, Prior, check_positive, check_whole
from mapdag.counts import Counter
from mapdag.data import as_dataset
from mapdag.errors import GraphError, MapdagWarning
from mapdag.objective import DEFAULT, FamilyScores, align, parse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.counts import CountTable
    from mapdag.data import Dataset
    from mapdag.graphs import DAG


def effective_parameters(table: CountTable) -> int:
    """Effective number of parameters, d_EP: positive cells minus observed configurations.

    The display in the paper has a plus; its proofs and examples have the minus.

    Examples
    --------
    >>> from mapdag import CountTable
    >>> effective_parameters(CountTable.from_dense([[2, 1], [1, 2], [0, 0]]))
    2
    """
    return len(table.counts) - table.q_obs


def effective_degrees_of_freedom(with_arc: CountTable, without: CountTable) -> int:
    """d_EDF: effective parameters gained by one more parent; negative where zero cells abound."""
    return effective_parameters(with_arc) - effective_parameters(without)


def entropy(table: CountTable) -> float:
    """Empirical conditional entropy H(X | P), summed over observed configurations without weights, as in the paper.

    Examples
    --------
    >>> from mapdag import CountTable
    >>> round(entropy(CountTable.from_dense([[2, 1], [1, 2], [1, 2], [2, 1]])), 3)
    2.546
    """
    return float(_entropies(table, 0.0).sum())


def posterior_entropy(table: CountTable, alpha: float) -> float:
    """H(X | P; alpha), the entropy of BDeu's posterior estimates (Theorem 1): pseudo-counts alpha / (r q)."""
    return float(_entropies(table, check_positive("alpha", alpha) / (table.r * table.q)).sum())


def sparse_posterior_entropy(table: CountTable, alpha: float) -> float:
    """H~(X | P; alpha), the entropy of BDs' posterior estimates: pseudo-counts alpha / (r q_obs)."""
    return float(_entropies(table, check_positive("alpha", alpha) / (table.r * table.q_obs)).sum())


def conditional_entropy(table: CountTable) -> float:
    """Textbook conditional entropy: configurations weighted by their observed frequencies."""
    return float((_entropies(table, 0.0) * table.n_ij).sum() / table.total)


def _entropies(table: CountTable, a: float) -> NDArray[np.float64]:
    """Entropy of the estimates (a + n_ijk) / (r a + n_ij) in each observed configuration."""
    n_ij = table.n_ij
    per_configuration = np.diff(table.offsets)
    p = (table.counts + a) / np.repeat(n_ij + table.r * a, per_configuration)
    positive = np.add.reduceat(-p * np.log(p), table.offsets[:-1]) if len(p) else np.zeros(0)
    if a == 0:
        return np.asarray(positive)
    empty = a / (n_ij + table.r * a)
    return np.asarray(positive - (table.r - per_configuration) * empty * np.log(empty))


def expected_arcs(prior: Prior, nodes: int | Sequence[str]) -> float:
    """Number of arcs that a prior expects, taking the pairs of nodes as independent.

    N(N-1)/2 beta for MU. Arcs' directions exclude each other, cycles are not excluded: for any prior that is a product
    over pairs, as the paper computes it. Under U two of the three states of a pair have an arc.

    Parameters
    ----------
    prior : Prior
    nodes : int or sequence of str
        How many nodes there are, or their names where the prior speaks of them.

    Examples
    --------
    >>> from mapdag import CS, MU
    >>> round(expected_arcs(MU(c=1), 37), 9)
    37.0
    >>> round(expected_arcs(CS({"A->B": 0.8}), ["A", "B"]), 9)
    0.9
    """
    if not prior.is_arcwise or prior.max_parents is not None:
        raise GraphError(f"{prior} is not a product over pairs: its expected number of arcs has no closed form")
    names = [f"X{i + 1}" for i in range(nodes)] if isinstance(nodes, int) else list(nodes)
    odds = prior.log_odds(names)
    upper = np.triu_indices(len(names), 1)
    weight = np.exp(odds[upper]) + np.exp(odds.T[upper])
    required = prior.required_pairs(names)
    sure = np.array([(int(i), int(j)) in required for i, j in zip(*upper, strict=True)], dtype=np.bool_)
    return float(np.where(sure, 1.0, weight / (1 + weight)).sum())


def log_bayes_factor(
    dag: DAG, data: Any, start: str, end: str, objective: str | Objective | Likelihood = DEFAULT
) -> float:
    """Log posterior odds of one arc: log P(G+ | D) - log P(G- | D), with G+ and G- differing by ``start -> end`` only.

    Parameters
    ----------
    dag : DAG
        The rest of the graph; whether it has the arc does not matter.
    data : Dataset
    start, end : str
        Ends of the arc.
    objective : Objective, Likelihood or str
        With the uniform prior this is the log Bayes factor.
    """
    objective = parse(objective)
    data = as_dataset(data)
    align(dag, data)
    with_arc = dag if dag.has_arc(start, end) else dag.with_arc(start, end)
    without = with_arc.without_arc(start, end)
    families = FamilyScores(data, [objective.likelihood])
    index = {name: i for i, name in enumerate(data.names)}
    gain = [float(families.family(index[end], [index[p] for p in g.parents(end)])[0]) for g in (with_arc, without)]
    return gain[0] - gain[1] + _log_prior_odds(objective.prior, with_arc, without, (start, end))


def _log_prior_odds(prior: Prior, with_arc: DAG, without: DAG, arc: tuple[str, str]) -> float:
    """Log prior odds of one arc, whatever the prior thinks of the rest of the graph."""
    before, after = prior.log_prior(without), prior.log_prior(with_arc)
    if math.isfinite(before) or math.isfinite(after):
        return after - before
    places = with_arc.nodes.index(arc[0]), with_arc.nodes.index(arc[1])
    return float(prior.log_odds(with_arc.nodes)[places]) + prior.remainder(with_arc) - prior.remainder(without)


def log_implicit_prior_ratio(with_arc: CountTable, without: CountTable) -> float:
    """Log of the prior odds of an arc that BDs implies relative to BDeu, as alpha goes to 0 (Theorem 5).

    P(G+) / P(G-) = (q / q_obs)^d_EP of the larger family over the same of the smaller one.
    """
    return sum(
        sign * effective_parameters(table) * (math.log(table.q) - math.log(table.q_obs))
        for sign, table in ((1, with_arc), (-1, without))
    )


def alpha_star(dag: DAG, data: Any) -> float:
    """Steck's (2008) optimal imaginary sample size for BDeu, given a graph.

    alpha_S = sum of d_i / sum of e_i over the nodes, with d_i the effective parameters (for a root, its observed
    levels) and e_i = sum over all r q cells of [(n_ijk + 1)/(n + r q) - 1/(r q)] log((n_ijk + 1)/(n_ij + r)).
    """
    data = as_dataset(data)
    align(dag, data)
    counter = Counter(data)
    index = {name: i for i, name in enumerate(data.names)}
    top, bottom = 0.0, 0.0
    for node in dag.nodes:
        table = counter.table(index[node], sorted(index[p] for p in dag.parents(node)))
        top += effective_parameters(table) + (table.n_parents == 0)
        bottom += _alpha_star_cost(table)
    return top / bottom


def _alpha_star_cost(table: CountTable) -> float:
    """Node's e_i; cells that were never observed come in closed form, however many they are."""
    n, r, cells = table.total, table.r, table.r * table.q
    per_configuration = np.diff(table.offsets)
    n_ij = np.repeat(table.n_ij, per_configuration)
    positive = ((table.counts + 1) / (n + cells) - 1 / cells) * np.log((table.counts + 1) / (n_ij + r))
    # For an empty cell 1/(n + r q) - 1/(r q); as a whole number times a fraction, since r q may exceed the floats.
    empty = (r - per_configuration) * -np.log(table.n_ij + r)
    unseen = -(table.q - table.q_obs) * n * r / ((n + cells) * cells) * -math.log(r)
    return float(positive.sum() + empty.sum() * (-n / (n + cells) / cells) + unseen)


@dataclass(frozen=True)
class AlphaPath:
    """How the optimal alpha was found: learn a graph, re-estimate alpha, learn again.

    Attributes
    ----------
    alpha : float
        The last value; on a cycle, the smallest alpha of it.
    dag : DAG
        The graph learned with the last value tried.
    trajectory : tuple of float
        Every alpha tried, and the last one found.
    converged : bool
        Whether alpha stopped changing.
    cycle : tuple of float
        The values it circles through; empty when it converged or ran out of rounds.
    """

    alpha: float
    dag: DAG
    trajectory: tuple[float, ...]
    converged: bool
    cycle: tuple[float, ...] = ()


def find_alpha_star(
    data: Dataset,
    learn: Callable[[float], DAG],
    *,
    start: float = 1.0,
    max_rounds: int = 25,
    tolerance: float = 1e-8,
) -> AlphaPath:
    """Alternate between learning a graph and estimating alpha from it, until alpha settles or repeats itself.

    Parameters
    ----------
    data : Dataset
    learn : callable
        Takes an alpha, returns the graph learned with it.
    start : float
        First alpha.
    max_rounds : int
        Most graphs to learn.
    tolerance : float
        Relative change below which alpha counts as unchanged.
    """
    check_whole("max_rounds", max_rounds, least=1)
    trajectory = [check_positive("start", start)]
    graphs: list[DAG] = []
    for _ in range(max_rounds):
        graphs.append(learn(trajectory[-1]))
        trajectory.append(alpha_star(graphs[-1], data))
        if math.isclose(trajectory[-1], trajectory[-2], rel_tol=tolerance):
            return AlphaPath(trajectory[-1], graphs[-1], tuple(trajectory), converged=True)
        back = [i for i, a in enumerate(trajectory[:-1]) if math.isclose(a, trajectory[-1], rel_tol=tolerance)]
        if back:
            cycle = trajectory[back[0] : -1]
            alpha = min(cycle)
            warnings.warn(
                f"alpha did not settle: it circles through {cycle}; taking {alpha:g}",
                MapdagWarning,
                stacklevel=2,
            )
            return AlphaPath(
                alpha, graphs[trajectory.index(alpha)], tuple(trajectory), converged=False, cycle=tuple(cycle)
            )
    warnings.warn(
        f"alpha did not settle in {max_rounds} rounds; taking the last, {trajectory[-1]:g}",
        MapdagWarning,
        stacklevel=2,
    )
    return AlphaPath(trajectory[-1], graphs[-1], tuple(trajectory), converged=False)
