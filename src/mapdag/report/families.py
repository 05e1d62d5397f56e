"""What a page tells of each family and arc, computed from the data: counts, probabilities, scores, losses."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.counts import Counter
from mapdag.networks.estimation import posterior_means
from mapdag.objective import FamilyScores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.contracts import Prior
    from mapdag.counts import CountTable
    from mapdag.graphs import DAG
    from mapdag.search import Result

MOST_CONFIGURATIONS = 12
MOST_LEVELS = 8
ALPHA = 1.0  # imaginary sample size of the probabilities shown, as in `Result.fit`
_SPARSE = 0.5
_BEYOND = 1 << 1000  # whole numbers that no float can hold


@dataclass(frozen=True)
class Family:
    """A node given its parents.

    Attributes
    ----------
    node : str
    parents : tuple of str
    score : float
        Log-likelihood of the family under the objective.
    r, q, q_obs : int
        Levels; declared and observed configurations of the parents.
    table : CountTable
    """

    node: str
    parents: tuple[str, ...]
    score: float
    r: int
    q: int
    q_obs: int
    table: CountTable = field(repr=False)

    @property
    def is_sparse(self) -> bool:
        """Whether less than half of the configurations were observed."""
        return self.q_obs < _SPARSE * self.q

    @property
    def rows_per_configuration(self) -> float:
        """Observations for each observed configuration, on average."""
        return self.table.total / max(self.q_obs, 1)


def families(result: Result) -> list[Family]:
    """Count and score the families of a learned graph, in the order of its nodes."""
    data, dag = result.data, result.dag
    column = {name: i for i, name in enumerate(data.names)}
    counter, scores = Counter(data), FamilyScores(data, [result.objective.likelihood])
    found = []
    for node in dag.nodes:
        parents = dag.parents(node)
        members = [column[parent] for parent in parents]
        table = counter.table(column[node], members)
        score = float(scores.family(column[node], members)[0])
        found.append(Family(node, parents, score, table.r, table.q, table.q_obs, table))
    return found


def losses(result: Result) -> dict[tuple[str, str], float]:
    """Find for each arc how much the score would fall if it were removed; infinite if the prior demands the arc."""
    data, dag = result.data, result.dag
    column = {name: i for i, name in enumerate(data.names)}
    scores = FamilyScores(data, [result.objective.likelihood])
    of_prior = _prior_losses(result.objective.prior, dag)
    found = {}
    for node in dag.nodes:
        parents = [column[parent] for parent in dag.parents(node)]
        whole = float(scores.family(column[node], parents)[0])
        for parent in dag.parents(node):
            rest = [p for p in parents if p != column[parent]]
            less = float(scores.family(column[node], rest)[0])
            found[parent, node] = whole - less + of_prior[parent, node]
    return found


def _prior_losses(prior: Prior, dag: DAG) -> dict[tuple[str, str], float]:
    if not prior.is_arcwise:
        whole = prior.log_prior(dag)
        return {arc: whole - prior.log_prior(dag.without_arc(*arc)) for arc in dag.arcs}
    odds, demanded = prior.log_odds(dag.nodes), prior.required_pairs(dag.nodes)
    place = dag.index.position
    ends = {arc: (place(arc[0]), place(arc[1])) for arc in dag.arcs}
    return {arc: math.inf if (min(ij), max(ij)) in demanded else float(odds[ij]) for arc, ij in ends.items()}


def probabilities(family: Family) -> NDArray[np.float64]:
    """Posterior means of the observed configurations under the prior of BDeu, as `mapdag.fit` estimates them."""
    return posterior_means(family.table.dense(), ALPHA / family.q if family.q < _BEYOND else 0.0)


def digest(family: Family) -> dict[str, Any]:
    """Cut a probability table down to what fits a card: the most frequent configurations and levels.

    Returns
    -------
    dict
        ``levels``: the codes shown; ``rows``: codes of the parents, observations, probabilities, and the sum of those
        not shown; ``hidden``: observed configurations left out.
    """
    n_ij = family.table.n_ij
    often = np.argsort(-n_ij, kind="stable")[:MOST_CONFIGURATIONS]
    shown = np.arange(family.r)
    if family.r > MOST_LEVELS:
        totals = np.bincount(family.table.levels, weights=family.table.counts, minlength=family.r)
        shown = np.sort(np.argsort(-totals, kind="stable")[: MOST_LEVELS - 1])
    chances = probabilities(family)[often]
    rows = [
        [
            family.table.configurations[j].tolist(),
            n_ij[j].item(),
            [round(p, 4) for p in row[shown].tolist()],
            round(max(0.0, 1.0 - float(row[shown].sum())), 4),
        ]
        for j, row in zip(often, chances, strict=True)
    ]
    return {"levels": shown.tolist(), "rows": rows, "hidden": family.q_obs - len(rows)}
