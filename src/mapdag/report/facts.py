"""What a page tells of each family and arc, computed from the data: counts, probabilities, scores, losses."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from mapdag.counts import Counter
from mapdag.families import FamilyScores
from mapdag.networks.estimation import posterior_means
from mapdag.theory.factors import log_arc_odds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.counts import CountTable
    from mapdag.resamples import Bootstrap
    from mapdag.search import Result

MOST_CONFIGURATIONS = 12
MOST_LEVELS = 8
ALPHA = 1.0  # imaginary sample size of the probabilities shown, as in `Result.fit`
_HALF = 0.5
_BEYOND = 1 << 1000  # whole numbers that no float can hold


@dataclass(frozen=True)
class FamilyFacts:
    """A node given its parents.

    Attributes
    ----------
    node : str
    parents : tuple of str
    score : float
        Log-likelihood of the family under the objective.
    table : CountTable
        What was counted: r levels, q declared and q_obs observed configurations of the parents.
    """

    node: str
    parents: tuple[str, ...]
    score: float
    table: CountTable = field(repr=False)

    @property
    def is_half_empty(self) -> bool:
        """Whether less than half of the configurations were observed."""
        return self.table.q_obs < _HALF * self.table.q

    @property
    def rows_per_configuration(self) -> float:
        """Observations for each observed configuration, on average."""
        return self.table.total / max(self.table.q_obs, 1)


@dataclass(frozen=True)
class ArcFacts:
    """An arc of a learned graph.

    Attributes
    ----------
    start, end : str
    reversible : bool
        Whether an equivalent graph has it the other way round.
    loss : float
        How much the score would fall if it were removed.
    strength, direction : float or None
        Shares of resamples in which the two are adjacent and, of those, in which the arc goes this way.
    """

    start: str
    end: str
    reversible: bool
    loss: float
    strength: float | None = None
    direction: float | None = None


def arcs(result: Result, bootstrap: Bootstrap | None) -> list[ArcFacts]:
    """Say what is known of the arcs of a learned graph, in their order."""
    lost, reversible = losses(result), set(result.reversible)
    found = [ArcFacts(*arc, arc in reversible, lost[arc]) for arc in result.dag.arcs]
    if bootstrap is None:
        return found
    index = {name: i for i, name in enumerate(bootstrap.nodes)}
    places = [(index[arc.start], index[arc.end]) for arc in found]
    strength, direction = bootstrap.strength, bootstrap.direction
    return [
        replace(arc, strength=float(strength[at]), direction=float(direction[at]))
        for arc, at in zip(found, places, strict=True)
    ]


def families(result: Result) -> list[FamilyFacts]:
    """Count and score the families of a learned graph, in the order of its nodes."""
    data, dag = result.data, result.dag
    column = {name: i for i, name in enumerate(data.names)}
    counter, scores = Counter(data), FamilyScores(data, [result.objective.likelihood])
    found = []
    for node in dag.nodes:
        parents = dag.parents(node)
        members = [column[parent] for parent in parents]
        score = float(scores.family(column[node], members)[0])
        found.append(FamilyFacts(node, parents, score, counter.table(column[node], members)))
    return found


def losses(result: Result) -> dict[tuple[str, str], float]:
    """Find for each arc how much the score would fall if it were removed; infinite if the prior demands the arc."""
    return log_arc_odds(result.dag, result.data, result.objective)


def probabilities(family: FamilyFacts) -> NDArray[np.float64]:
    """Posterior means of the observed configurations under the prior of BDeu, as `mapdag.fit` estimates them."""
    q = family.table.q
    return posterior_means(family.table.dense(), ALPHA / q if q < _BEYOND else 0.0)


@dataclass(frozen=True)
class Configuration:
    """A row of a probability table: codes of the parents, observations, probabilities, the sum of those left out."""

    given: list[int]
    count: float
    chances: list[float]
    others: float


@dataclass(frozen=True)
class ProbabilityTable:
    """As much of a probability table as fits a card: the codes shown, and how many observed configurations are not."""

    levels: list[int]
    rows: list[Configuration]
    hidden: int


def digest(family: FamilyFacts) -> ProbabilityTable:
    """Cut a probability table down to the most frequent configurations and levels."""
    table, n_ij = family.table, family.table.n_ij
    often = np.argsort(-n_ij, kind="stable")[:MOST_CONFIGURATIONS]
    shown = np.arange(table.r)
    if table.r > MOST_LEVELS:
        totals = np.bincount(table.levels, weights=table.counts, minlength=table.r)
        shown = np.sort(np.argsort(-totals, kind="stable")[: MOST_LEVELS - 1])
    rows = [
        Configuration(
            given=table.configurations[j].tolist(),
            count=n_ij[j].item(),
            chances=[round(p, 4) for p in row[shown].tolist()],
            others=round(max(0.0, 1.0 - float(row[shown].sum())), 4),
        )
        for j, row in zip(often, probabilities(family)[often], strict=True)
    ]
    return ProbabilityTable(shown.tolist(), rows, hidden=table.q_obs - len(rows))
