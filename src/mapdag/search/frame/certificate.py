"""How far the best possible graph can be from one that was found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mapdag.wording import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.graphs import DAG

#: What a bound may exceed a score by that counts as proved: far more than rounding errors, far less than evidence.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Certificate:
    """An upper bound on the score of every graph allowed, hence how far a graph is from the best one.

    Attributes
    ----------
    score : float
        Of the graph that is certified.
    bound : float
        No graph that is allowed has a higher score; infinite where the search was stopped before there was one.
    among : str
        Which graphs these are, in words.
    complete : bool
        Whether these are all graphs that constraints and prior allow, a limit on parents being one of them.
    scored, families : int
        Families that were scored, and those of them that the best graph may have.
    cuts, nodes : int
        Inequalities that were found, and parts that the graphs were divided into.
    within : float, optional
        What was asked for: `arcs` and `edges` are those of all graphs within so many nats of the best one.
    arcs, edges : tuple of (str, str)
        Arcs that all these graphs have; pairs of nodes that are adjacent in all of them, whatever the direction.
    ranked : tuple of (DAG, float)
        The best graphs, if several were asked for, with their scores, best first.
    """

    score: float
    bound: float
    among: str
    complete: bool
    scored: int
    families: int
    cuts: int
    nodes: int
    within: float | None = None
    arcs: tuple[tuple[str, str], ...] = ()
    edges: tuple[tuple[str, str], ...] = ()
    ranked: tuple[tuple[DAG, float], ...] = field(default=(), repr=False)

    @property
    def gap(self) -> float:
        """How far the best graph can be, in nats."""
        return self.bound - self.score if self.bound > self.score else 0.0

    @property
    def proved(self) -> bool:
        """Whether no graph is better, by more than 1e-6."""
        return self.gap <= TOLERANCE

    def reordered(self, nodes: Sequence[str]) -> Certificate:
        """Return the same with the nodes of its graphs in another order."""
        return replace(self, ranked=tuple((dag.reordered(nodes), score) for dag, score in self.ranked))

    def __str__(self) -> str:
        return "\n".join([self._claim(), *self._certain()])

    def _claim(self) -> str:
        if self.bound == math.inf:
            return "no bound yet: stopped early"
        if self.proved:
            return f"proved optimal among {self.among}"
        if self.score == -math.inf:
            return f"the graph has no score; the best among {self.among} has at most {self.bound:.1f}"
        return f"within {self.gap:.{_digits(self.gap)}f} of the optimum among {self.among}"

    def _certain(self) -> list[str]:
        found = []
        if self.within is not None:
            told = f"{plural(len(self.arcs), 'arc')} and {plural(len(self.edges), 'adjacency')}"
            found.append(f"in all graphs within {self.within:g} of the best: {told}")
        if len(self.ranked) > 1:
            lower = ", ".join(f"{self.ranked[0][1] - score:.2f}" for _, score in self.ranked[1:])
            found.append(f"the next best graphs are lower by {lower}")
        return found


def _digits(gap: float) -> int:
    """Digits after the point that leave two that matter, and always one."""
    return max(1, 1 - math.floor(math.log10(gap)))
