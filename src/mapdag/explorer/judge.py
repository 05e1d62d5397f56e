"""Scores of families and graphs under the settings of the page: what single changes of a graph would cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mapdag.families import Criterion, FamilyScores
from mapdag.notices import heard
from mapdag.objective.constraints import Constraints, make_rules
from mapdag.search.limits import criterion_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data import Dataset
    from mapdag.explorer.settings import Settings
    from mapdag.objective.constraints import Rules


class Judge:
    """Scores families of one table; nodes are column indices.

    Parameters
    ----------
    data : Dataset
    settings : Settings
    """

    def __init__(self, data: Dataset, settings: Settings) -> None:
        with heard():
            self.objective = settings.objective
            self.odds = np.broadcast_to(self.objective.prior.log_odds(data.names), (data.n_columns, data.n_columns))
            self._constraints = Constraints(**settings.limits)
            self._rules = make_rules(self._constraints, self.objective.prior, data.names)
        self._data = data
        self._demanded = self.objective.prior.required_pairs(data.names)
        self._known: dict[tuple[int, tuple[int, ...]], float] = {}

    @property
    def rules(self) -> Rules:
        """What graphs must obey."""
        return self._rules

    @cached_property
    def _scores(self) -> FamilyScores:
        criterion = Criterion(self.objective.likelihood)
        if self.objective.prior.support is not None:
            with heard():
                criterion = criterion_of(self.objective, self._data, self._rules)
        return FamilyScores(self._data, [criterion])

    def likelihood(self, child: int, parents: Iterable[int]) -> float:
        """Log-likelihood of a family; minus infinity where it is thinner than allowed."""
        key = (child, tuple(sorted(parents)))
        if key not in self._known:
            self._known[key] = float(self._scores.family(*key)[0])
        return self._known[key]

    def prior(self, child: int, parents: Iterable[int]) -> float:
        """Log-odds of the arcs of a family."""
        return math.fsum(float(self.odds[p, child]) for p in parents)

    def family(self, child: int, parents: Iterable[int]) -> float:
        """Score of a family with the prior of its arcs."""
        members = tuple(parents)
        return self.likelihood(child, members) + self.prior(child, members)

    def extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> NDArray[np.float64]:
        """Scores of a family with each candidate added."""
        found = self._scores.extensions(child, sorted(parents), candidates)[0]
        base = self.prior(child, parents)
        return np.asarray(found + base + self.odds[np.array(candidates, dtype=np.int64), child])

    def is_demanded(self, start: int, end: int) -> bool:
        """Whether the prior demands that two nodes be joined."""
        return (min(start, end), max(start, end)) in self._demanded
