"""What likelihoods and graph priors promise, and their sum.

``MU(c=1) + BDs(alpha=1)`` is an `Objective`: prior + likelihood, as in the paper. The priors are in `mapdag.priors`,
the likelihoods in `mapdag.scores`; notation and whole-graph scores in `mapdag.objective`.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np

from mapdag.errors import ParameterError
from mapdag.wording import brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.counts import CountTable
    from mapdag.graphs import DAG


AUTO: Literal["auto"] = "auto"  # of a hyperparameter: to be learned from the data


def write(name: str, **parameters: Any) -> str:
    """Write a prior or likelihood in the notation that `mapdag.parse` reads: ``MU(c=1)``, ``BIC``."""
    written = {key: _write_value(value) for key, value in parameters.items() if value is not None}
    written |= {key: AUTO for key, value in parameters.items() if isinstance(value, str) and value == AUTO}
    given = ", ".join(f"{key}={value}" for key, value in written.items())
    return f"{name}({given})" if given else name


def _write_value(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_write_value(k)}: {_write_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_write_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)


def to_be_learned(part: Prior | Likelihood) -> ParameterError:
    """Return the error for a hyperparameter that has no value yet."""
    return ParameterError(
        f"{part} has no value yet: mapdag.learn learns it together with a graph, and result.objective has it"
    )


@dataclass(frozen=True)
class Recipe:
    """A built-in likelihood as data: what `mapdag.recipes` makes of a table, and two numbers."""

    kind: Literal["each", "declared", "observed", "penalised", "factorised", "quotient", "averaged"]
    x: float = 0.0
    y: float = 0.0


class Likelihood:
    """A score of one family's count table, in natural logs; a graph's is the sum over its families.

    A subclass has a `recipe`, or its own `score`.
    """

    score_equivalent: ClassVar[bool] = False
    """Whether graphs of one equivalence class always get the same score."""

    whole_counts: ClassVar[bool] = False
    """Whether the score is defined for whole counts only, so that fractional weights must be refused."""

    takes_gaps: ClassVar[bool] = False
    """Whether the score is defined for data with gaps, from the rows that are complete in a family."""

    @property
    def is_auto(self) -> bool:
        """Whether its imaginary sample size is to be learned from the data."""
        return False

    def with_alpha(self, alpha: float) -> Likelihood:
        """Return the same likelihood with a given alpha in place of one to be learned."""
        del alpha
        return self

    def recipe(self, total: float, n_nodes: int) -> Recipe | None:
        """How to compute the score from counts alone, for data of so many rows and nodes; None: ask `score`."""
        del total, n_nodes
        return None

    def score(self, table: CountTable) -> float:
        """Score of one table."""
        recipe = self.recipe(table.total, table.n_nodes)
        if recipe is None:
            raise TypeError(f"{type(self).__name__} must define recipe() or score()")
        from mapdag.recipes import KINDS, Recipes, score_tables
        from mapdag.terms.sums import new_terms

        codes, numbers = np.array([KINDS[recipe.kind]]), np.array([[recipe.x, recipe.y]])
        recipes = Recipes(codes, numbers, np.array([[math.inf]]))
        return float(score_tables(table.batch(), recipes, new_terms(table.total, table.fractions))[0, 0])

    def __repr__(self) -> str:
        return str(self)

    @overload
    def __add__(self, other: Prior | Objective) -> Objective: ...
    @overload
    def __add__(self, other: Likelihood) -> Any: ...
    def __add__(self, other: Any) -> Any:
        """``BDs() + MU()`` is the same as ``MU() + BDs()``."""
        if isinstance(other, Prior):
            return Objective(other, self)
        return NotImplemented


class Prior(ABC):
    """A prior over DAGs: log-odds of each arc against its absence, and whatever is not a sum over arcs."""

    score_equivalent: ClassVar[bool] = False
    """Whether graphs of one equivalence class always get the same prior."""

    @abstractmethod
    def log_odds(self, nodes: Sequence[str]) -> NDArray[np.float64]:
        """Log prior gained by adding the arc i -> j, as entry [i, j].

        Minus infinity where the arc is impossible. Where a pair must be adjacent (`required_pairs`), the log prior of
        the arc itself.
        """

    def required_pairs(self, nodes: Sequence[str]) -> frozenset[tuple[int, int]]:
        """Pairs (i, j), i < j, that are adjacent in every possible graph."""
        del nodes
        return frozenset()

    def constant(self, nodes: Sequence[str]) -> float:
        """Log prior of the empty graph, leaving out the pairs that must be adjacent."""
        del nodes
        return 0.0

    def log_prior(self, dag: DAG) -> float:
        """Log prior of a graph, with the constants that the class documents; not normalised over DAGs."""
        odds = self.log_odds(dag.nodes)
        arcs = [(p, child) for child in range(len(dag.nodes)) for p in dag.parent_indices(child)]
        if self.required_pairs(dag.nodes) - {(min(arc), max(arc)) for arc in arcs}:
            return -math.inf
        return math.fsum([self.constant(dag.nodes), *(float(odds[arc]) for arc in arcs), self.remainder(dag)])

    @property
    def is_auto(self) -> bool:
        """Whether it has a hyperparameter that is to be learned from the data."""
        return False

    def most_probable(self, n_arcs: int, n_nodes: int) -> tuple[Prior, float]:
        """Return the prior with its most probable hyperparameter given a graph, and the log hyperprior at that value.

        The prior itself, and 0, where nothing is to be learned.
        """
        del n_arcs, n_nodes
        return self, 0.0

    def remainder(self, dag: DAG) -> float:
        """Part of the log prior that is not a sum over arcs; 0 for the priors whose `is_arcwise` is true."""
        del dag
        return 0.0

    @property
    def is_arcwise(self) -> bool:
        """Whether `log_odds` says it all."""
        return True

    @property
    def max_parents(self) -> int | None:
        """Hard limit on the number of parents, if any."""
        return None

    @property
    def support(self) -> float | None:
        """Rows that there must be for each observed configuration of a node's parents, on average, if any."""
        return None

    def __repr__(self) -> str:
        return str(self)

    @overload
    def __add__(self, other: Likelihood | Objective) -> Objective: ...
    @overload
    def __add__(self, other: Prior) -> Prior: ...
    def __add__(self, other: Any) -> Any:
        """With a likelihood: an objective. With another prior: their product, in logs their sum."""
        if isinstance(other, Likelihood):
            return Objective(self, other)
        if isinstance(other, Objective):
            return Objective(self + other.prior, other.likelihood)
        if isinstance(other, Prior):
            return Priors((*_parts(self), *_parts(other)))
        return NotImplemented


def same_odds(log_odds: float, nodes: Sequence[str]) -> NDArray[np.float64]:
    """Log-odds that are the same for every arc: a matrix that takes no more memory than one number."""
    odds = np.ndarray((len(nodes), len(nodes)), np.float64, np.array(log_odds), strides=(0, 0))
    odds.setflags(write=False)
    return odds


def is_same(odds: NDArray[np.float64]) -> bool:
    """Whether a matrix is one of `same_odds`."""
    return odds.strides == (0, 0)


def _parts(prior: Prior) -> tuple[Prior, ...]:
    return prior.parts if isinstance(prior, Priors) else (prior,)


@dataclass(frozen=True, repr=False)
class Priors(Prior):
    """Several priors at once, such as ``MaxParents(3) + MU()``: log priors add up."""

    parts: tuple[Prior, ...]

    def log_odds(self, nodes: Sequence[str]) -> NDArray[np.float64]:
        """Sum of the parts' log-odds; an arc forbidden by one part stays forbidden whatever the others say."""
        odds = [part.log_odds(nodes) for part in self.parts]
        if all(map(is_same, odds)):
            return same_odds(sum(float(each[0, 0]) for each in odds), nodes)
        total = np.sum([np.where(np.isneginf(o), 0.0, o) for o in odds], axis=0)
        return np.where(np.any(np.isneginf(odds), axis=0), -np.inf, total)

    def required_pairs(self, nodes: Sequence[str]) -> frozenset[tuple[int, int]]:
        """Pairs that must be adjacent according to any part."""
        return frozenset().union(*(part.required_pairs(nodes) for part in self.parts))

    def constant(self, nodes: Sequence[str]) -> float:
        """Sum of the parts' constants."""
        return sum(part.constant(nodes) for part in self.parts)

    def log_prior(self, dag: DAG) -> float:
        """Sum of the parts' log priors."""
        return sum(part.log_prior(dag) for part in self.parts)

    @property
    def is_auto(self) -> bool:
        """Whether any part is."""
        return any(part.is_auto for part in self.parts)

    def most_probable(self, n_arcs: int, n_nodes: int) -> tuple[Prior, float]:
        """Most probable parts, and the sum of their log hyperpriors."""
        found = [part.most_probable(n_arcs, n_nodes) for part in self.parts]
        return Priors(tuple(part for part, _ in found)), math.fsum(value for _, value in found)

    def remainder(self, dag: DAG) -> float:
        """Sum of the parts' remainders."""
        return sum(part.remainder(dag) for part in self.parts)

    @property
    def is_arcwise(self) -> bool:
        """Whether all parts are."""
        return all(part.is_arcwise for part in self.parts)

    @property
    def score_equivalent(self) -> bool:  # type: ignore[override]  # here it depends on the parts
        """Whether all parts are."""
        return all(part.score_equivalent for part in self.parts)

    @property
    def max_parents(self) -> int | None:
        """Tightest limit of the parts."""
        limits = [part.max_parents for part in self.parts if part.max_parents is not None]
        return min(limits, default=None)

    @property
    def support(self) -> float | None:
        """Tightest limit of the parts."""
        return max((part.support for part in self.parts if part.support is not None), default=None)

    def __str__(self) -> str:
        return "+".join(map(str, self.parts))


@dataclass(frozen=True)
class Objective:
    """A posterior score: graph prior + marginal likelihood.

    Examples
    --------
    >>> from mapdag import MU, BDs
    >>> MU(c=1) + BDs(alpha=1)
    MU(c=1)+BDs(alpha=1)
    """

    prior: Prior
    likelihood: Likelihood

    def __post_init__(self) -> None:
        for name, kind in (("prior", Prior), ("likelihood", Likelihood)):
            if not isinstance(getattr(self, name), kind):
                raise ParameterError(f"{name} must be a {kind.__name__}, got {brief(getattr(self, name))}")

    @property
    def score_equivalent(self) -> bool:
        """Whether graphs of one equivalence class always get the same score."""
        return self.prior.score_equivalent and self.likelihood.score_equivalent

    @property
    def is_auto(self) -> bool:
        """Whether alpha, beta or c is to be learned from the data."""
        return self.prior.is_auto or self.likelihood.is_auto

    def __add__(self, other: Prior) -> Objective:
        """Add one more prior."""
        return Objective(self.prior + other, self.likelihood) if isinstance(other, Prior) else NotImplemented

    def __str__(self) -> str:
        return f"{self.prior}+{self.likelihood}"

    __repr__ = __str__
