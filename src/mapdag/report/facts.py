"""What a page tells of each family and arc, computed from the data: counts, scores, losses."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mapdag.counts import engine_of
from mapdag.families import FamilyScores
from mapdag.theory.factors import log_arc_odds

if TYPE_CHECKING:
    from mapdag.counts import CountTable
    from mapdag.resamples import Bootstrap
    from mapdag.sampling import Posterior
    from mapdag.search import Result

_HALF = 0.5


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
    probability, edge : float or None
        Posterior probabilities of the arc, and that the two are adjacent.
    """

    start: str
    end: str
    reversible: bool
    loss: float
    strength: float | None = None
    direction: float | None = None
    probability: float | None = None
    edge: float | None = None


def arcs(result: Result, bootstrap: Bootstrap | None, posterior: Posterior | None = None) -> list[ArcFacts]:
    """Say what is known of the arcs of a learned graph, in their order."""
    lost, reversible = losses(result), set(result.reversible)
    found = [ArcFacts(*arc, arc in reversible, lost[arc]) for arc in result.dag.arcs]
    if posterior is not None:
        found = [
            replace(arc, probability=posterior[arc.start, arc.end], edge=posterior.edge(arc.start, arc.end))
            for arc in found
        ]
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
    counter, scores = engine_of(data), FamilyScores(data, [result.objective.likelihood])
    found = []
    for node in dag.nodes:
        parents = dag.parents(node)
        members = [column[parent] for parent in parents]
        score = float(scores.family(column[node], members)[0])
        found.append(FamilyFacts(node, parents, score, counter.table(column[node], members)))
    return found


def losses(result: Result) -> dict[tuple[str, str], float]:
    """Find for each arc how much the score would fall if it were removed; infinite if the prior demands the arc."""
    return log_arc_odds(result.dag, result.data, result.objective, constraints=result.constraints)
