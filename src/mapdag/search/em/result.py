"""What structural EM returns: values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from mapdag.search.frame.result import Result
from mapdag.wording import plural

if TYPE_CHECKING:
    from mapdag.data import Dataset
    from mapdag.networks import BayesianNetwork


@dataclass(frozen=True)
class EMStep:
    """One step of structural EM.

    Attributes
    ----------
    before, after : float
        Expected score, on the rows as the network before completes them (as `impute` says), of the graph before and of
        the one that was learned from them: it never falls, but for rounding.
    score : float
        Score of the graph before, for what is known (Cheeseman and Stutz 1996): the expected score, less the
        log-likelihood of the completed rows, plus that of what is known. From step to step it never falls.
    log_likelihood : float
        Of what is known, under the network before.
    n_arcs : int
        Of the graph after.
    impute : {"soft", "hard"}
        How the rows were completed from which the graph after was learned.
    """

    before: float
    after: float
    score: float
    log_likelihood: float
    n_arcs: int
    impute: Literal["soft", "hard"] = "soft"


@dataclass(frozen=True, repr=False)
class EMResult(Result):
    """A graph that structural EM has learned; see `structural_em`.

    Attributes
    ----------
    data : Dataset
        The rows as the network completes them; counts of it are expected counts (a `Completed` table, or filled rows if
        imputation was hard). So whatever else a result can do, its score, fit and report, is about these.
    network : BayesianNetwork
        The graph with the probabilities that EM found.
    incomplete : Dataset
        The rows with their gaps.
    steps : tuple of EMStep
        How it went, of the start that led here.
    observed_score : float
        Score of the graph for what is known. The graph is the best one by it, of all on the way.
    """

    network: BayesianNetwork = field(kw_only=True)
    incomplete: Dataset = field(kw_only=True)
    steps: tuple[EMStep, ...] = field(kw_only=True)
    observed_score: float = field(kw_only=True)

    @property
    def observed(self) -> Dataset:
        """The rows as they were observed, missing values and all."""
        return self.incomplete

    def __str__(self) -> str:
        told = f"structural EM: {plural(len(self.steps), 'step')}; {self.incomplete.gaps!r}"
        drawn = getattr(self.data, "drawn", 0)
        how = f"; {plural(drawn, 'gap')} by draws" if drawn else ""
        return f"{super().__str__()}\n{told}{how}"

    def _given_values(self) -> str:
        values = f"{self.learned.values}, and " if self.learned else ""
        return f", given {values}the rows as they are completed"
