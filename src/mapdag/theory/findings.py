"""What a diagnosis finds of each family and of each arc, and the tables of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class FamilySparsity:
    """How much of one family was observed.

    Attributes
    ----------
    node : str
    parents : tuple of str
    configurations, observed : int
        Declared configurations of the parents (q), and those that occur (q_obs).
    parameters, effective_parameters : int
        Declared free parameters (r - 1) q, and d_EP: positive cells minus observed configurations.
    rows : float
        Observations for each observed configuration, on average.
    effective_alpha : float
        What is left of BDeu's alpha in the observed configurations, alpha q_obs / q.
    log_bds_over_bdeu : float
        By how much BDs corrects the log score of the family.
    """

    node: str
    parents: tuple[str, ...]
    configurations: int
    observed: int
    parameters: int
    effective_parameters: int
    rows: float
    effective_alpha: float
    log_bds_over_bdeu: float

    @property
    def is_sparse(self) -> bool:
        """Whether some configuration was never observed."""
        return self.observed < self.configurations


@dataclass(frozen=True)
class ArcSupport:
    """Log posterior odds of one arc, given the rest of the graph.

    Attributes
    ----------
    start, end : str
    effective_degrees_of_freedom : int
        d_EDF: effective parameters that the arc adds.
    log_odds : float
        Under the objective.
    log_bdeu, log_bds : float
        Log Bayes factors under BDeu and BDs at the same alpha, that is with the prior U.
    log_mu : float
        Log prior odds under MU(c=1).
    alpha_range : tuple of float
        The arc keeps its support for alpha between these, everything else fixed: 0 and infinity where nothing changes
        within three decades, the alpha of the objective itself where it has none there; both NaN for likelihoods
        without an alpha.
    beta_needed : float
        The smallest beta for which MU with this likelihood supports the arc.
    probability : float or None
        Its posterior probability over all graphs, where a posterior was given.
    """

    start: str
    end: str
    effective_degrees_of_freedom: int
    log_odds: float
    log_bdeu: float
    log_bds: float
    log_mu: float
    alpha_range: tuple[float, float]
    beta_needed: float
    probability: float | None = None

    @property
    def supported_by(self) -> tuple[str, ...]:
        """Which of U+BDeu, U+BDs, MU+BDeu and MU+BDs (MU with c=1) would keep the arc."""
        odds = {
            "U+BDeu": self.log_bdeu,
            "U+BDs": self.log_bds,
            "MU+BDeu": self.log_bdeu + self.log_mu,
            "MU+BDs": self.log_bds + self.log_mu,
        }
        return tuple(name for name, value in odds.items() if value > 0)

    @property
    def lost_by(self) -> tuple[str, ...]:
        """Which of the four would drop it."""
        kept = self.supported_by
        return tuple(name for name in ("U+BDeu", "U+BDs", "MU+BDeu", "MU+BDs") if name not in kept)


#: Fields of `FamilySparsity`: how they are written, and headings.
_FAMILY = (
    ("configurations", ",", "configurations"),
    ("observed", ",", "observed"),
    ("parameters", ",", "parameters"),
    ("effective_parameters", ",", "effective"),
    ("rows", ",.3g", "rows for each"),
    ("effective_alpha", ".3g", "BDeu's alpha"),
    ("log_bds_over_bdeu", "+.2f", "log BDs/BDeu"),
)
#: The same of `ArcSupport`.
_ARC = (
    ("log_odds", "+.2f", "log odds"),
    ("log_bdeu", "+.2f", "BDeu"),
    ("log_bds", "+.2f", "BDs"),
    ("log_mu", "+.2f", "MU"),
    ("effective_degrees_of_freedom", "+d", "d_EDF"),
    ("beta_needed", ".2g", "beta from"),
)


def family_table(families: Sequence[FamilySparsity], most: int | None) -> Table:
    """Say how much of each family was observed."""
    shown = families[:most]
    columns = [
        Column("node", [family.node for family in shown]),
        *_numbers(shown, _FAMILY),
        Column("parents", [family.parents for family in shown], ", ".join),
    ]
    return Table(columns, title="Families, the sparsest first", left=len(families) - len(shown))


def arc_table(arcs: Sequence[ArcSupport], most: int | None) -> Table:
    """Say what each arc rests on."""
    shown = arcs[:most]
    ranges = np.array([arc.alpha_range for arc in shown], dtype=np.float64).reshape(-1, 2)
    columns = [
        Column("start", [arc.start for arc in shown]),
        Column("end", [arc.end for arc in shown]),
        *_numbers(shown, _ARC),
        Column("alpha_from", ranges[:, 0], ".3g", right=True, head="alpha from"),
        Column("alpha_to", ranges[:, 1], ".3g", right=True, head="to"),
        Column("lost_by", [arc.lost_by for arc in shown], ", ".join, head="dropped by"),
    ]
    if any(arc.probability is not None for arc in shown):
        shares = np.array([arc.probability for arc in shown], dtype=np.float64)
        columns.append(Column("probability", shares, ".3f", right=True))
    return Table(columns, title="Arcs, the weakest first", left=len(arcs) - len(shown))


def _numbers(values: Sequence[Any], fields: Iterable[tuple[str, str, str]]) -> list[Column]:
    return [
        Column(name, _array([getattr(value, name) for value in values]), form, right=True, head=head)
        for name, form, head in fields
    ]


def _array(numbers: list[Any]) -> NDArray[Any]:
    """Make an array; of floats where whole numbers are too large for any other."""
    found = np.array(numbers)
    return np.array([float(min(n, 10**300)) for n in numbers]) if found.dtype == object else found
