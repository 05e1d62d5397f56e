"""The most probable alpha, and c or beta, of a graph: `BDs(alpha="auto")` and `MU(c="auto")`.

What is maximised over a graph G and its hyperparameters is the joint score

    log P(D | G, alpha) + log P(G | beta) + log p(alpha) + log p(beta).

For a given graph, beta follows from the number of arcs (`Prior.most_probable`), and alpha is found here, from the
counts of the graph's families alone. `mapdag.search.joint` searches for the graph.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mapdag.contracts import AUTO, Objective
from mapdag.counts import Request
from mapdag.families import FamilyScores, check_gaps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mapdag.counts import Engine
    from mapdag.data import Dataset
    from mapdag.graphs import DAG

USUAL_ALPHA = 1.0
SMALLEST_ALPHA, LARGEST_ALPHA = 0.01, 10_000.0
LOG_SCALE = math.log(10.0)  # of the log-normal hyperprior of alpha: one in three alphas is beyond a factor of ten of 1
_PER_DECADE = 4  # alphas of the first grid
_FINER = 40  # alphas around the best of them, in the second; those with the same two digits are one


def log_alpha_prior(alpha: float) -> float:
    """Log density of log alpha: normal around that of `USUAL_ALPHA`.

    >>> round(log_alpha_prior(1.0) - log_alpha_prior(100.0), 3)
    2.0
    """
    z = math.log(alpha / USUAL_ALPHA) / LOG_SCALE
    return -0.5 * z * z - math.log(LOG_SCALE) - 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class Hyperparameters:
    """Learned values of alpha, and of c or beta, given a graph.

    Attributes
    ----------
    asked : Objective
        With what was to be learned: ``MU(c=auto)+BDs(alpha=auto)``.
    objective : Objective
        The same with the values that were learned.
    log_prior, log_likelihood, log_hyperprior : float
        Of the graph under that objective, and of the values: they add up to the joint score.
    profile : tuple of (float, float)
        Alphas, ascending, and the joint score of the graph with each; empty where alpha was given.
    """

    asked: Objective
    objective: Objective
    log_prior: float
    log_likelihood: float
    log_hyperprior: float
    profile: tuple[tuple[float, float], ...] = field(default=(), repr=False)

    @property
    def score(self) -> float:
        """Joint score of the graph and the values."""
        return self.log_prior + self.log_likelihood + self.log_hyperprior

    @property
    def alpha(self) -> float | None:
        """The learned alpha; None where it was given, or where the score has none."""
        likelihood = self.objective.likelihood
        return float(getattr(likelihood, "alpha", math.nan)) if self.asked.likelihood.is_auto else None

    @property
    def is_flat(self) -> bool:
        """Whether alpha was to be learned, but the log-likelihood changes by less than a nat with it."""
        rises = [score - log_alpha_prior(alpha) for alpha, score in self.profile]
        return bool(rises) and max(rises) - min(rises) < 1.0

    @property
    def values(self) -> str:
        """The learned values as text, such as ``c = 1.2 and alpha = 5``."""
        asked, found = (tuple(getattr(each.prior, "parts", (each.prior,))) for each in (self.asked, self.objective))
        pairs = [*zip(asked, found, strict=True), (self.asked.likelihood, self.objective.likelihood)]
        told = [
            f"{name} = {getattr(after, name):g}"
            for before, after in pairs
            for name, value in vars(before).items()
            if isinstance(value, str) and value == AUTO
        ]
        return " and ".join(told)

    def __str__(self) -> str:
        return f"{self.values} learned from the data: joint score {self.score:.4f} = score + log hyperprior"


def usual_values(
    objective: Objective, n_nodes: int, alpha: float = USUAL_ALPHA, *, arcs_per_node: int = 1
) -> Objective:
    """Return an objective with an alpha, and the beta of so many arcs per node, wherever these are to be learned."""
    prior, _ = objective.prior.most_probable(min(arcs_per_node * n_nodes, math.comb(n_nodes, 2)), n_nodes)
    return Objective(prior, objective.likelihood.with_alpha(alpha))


def concrete(objective: Objective, dag: DAG, data: Dataset) -> Objective:
    """Return an objective with its most probable alpha, and c or beta, given a graph; itself if all are given."""
    return find_hyperparameters(dag, data, objective).objective if objective.is_auto else objective


def find_hyperparameters(
    dag: DAG,
    data: Dataset,
    objective: Objective,
    *,
    engine: str | Callable[[Dataset], Engine] | None = None,
    threads: int = 1,
) -> Hyperparameters:
    """Find the most probable alpha, and c or beta, of a graph.

    Parameters
    ----------
    dag : DAG
        Its nodes are columns of the data.
    data : Dataset
    objective : Objective
    engine, threads
        As in `mapdag.families.FamilyScores`; the values do not depend on them.
    """
    check_gaps(data, objective.likelihood)
    index = {name: i for i, name in enumerate(data.names)}
    requests = [Request(index[node], tuple(sorted(index[p] for p in dag.parents(node)))) for node in dag.nodes]
    prior, log_hyperprior = objective.prior.most_probable(dag.n_arcs, len(dag.nodes))
    log_prior = prior.log_prior(dag)

    def log_likelihoods(alphas: Sequence[float]) -> list[float]:
        likelihoods = [objective.likelihood.with_alpha(alpha) for alpha in alphas]
        found = FamilyScores(data, likelihoods, engine=engine, threads=threads).scores(requests)
        return [math.fsum(float(each[i, 0]) for each in found) for i in range(len(alphas))]

    if not objective.likelihood.is_auto:
        (value,) = log_likelihoods([USUAL_ALPHA])
        return Hyperparameters(objective, Objective(prior, objective.likelihood), log_prior, value, log_hyperprior)
    known: dict[float, float] = {}

    def joint(alpha: float) -> float:
        return known[alpha] + log_alpha_prior(alpha)

    decades = math.log10(LARGEST_ALPHA / SMALLEST_ALPHA)
    alphas = np.geomspace(SMALLEST_ALPHA, LARGEST_ALPHA, round(decades * _PER_DECADE) + 1)
    for _ in range(2):
        wanted = sorted({_rounded(alpha) for alpha in alphas.tolist()} - known.keys())
        known |= dict(zip(wanted, log_likelihoods(wanted), strict=True))
        around = sorted(known)
        best = max(around, key=joint)  # the smallest of equals
        place = around.index(best)
        alphas = np.geomspace(around[max(place - 1, 0)], around[min(place + 1, len(around) - 1)], _FINER)
    return Hyperparameters(
        objective,
        Objective(prior, objective.likelihood.with_alpha(best)),
        log_prior,
        known[best],
        log_hyperprior + log_alpha_prior(best),
        tuple((alpha, log_prior + log_hyperprior + joint(alpha)) for alpha in around),
    )


def _rounded(alpha: float) -> float:
    """Two digits of an alpha: more of them change no graph, and joint scores by next to nothing."""
    return float(f"{alpha:.2g}")
