"""The Bayesian Dirichlet scores: one formula (the paper's equation 3), several rules for the pseudo-counts.

BD(X | P) = product over configurations j of Gamma(a_ij) / Gamma(a_ij + n_ij) times the product over levels k of
Gamma(a_ijk + n_ijk) / Gamma(a_ijk), with a_ij = r a_ijk. Configurations and cells that were not observed contribute
nothing, so only positive counts matter; `mapdag.recipes` has the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from mapdag.checks import check_positive, is_one_of
from mapdag.contracts import AUTO, Likelihood, Recipe, to_be_learned, write
from mapdag.errors import ParameterError
from mapdag.scores.fixed import Fixed

if TYPE_CHECKING:
    from mapdag.counts import CountTable


@dataclass(frozen=True, repr=False)
class _Spread(Likelihood):
    """Alpha spread evenly over the cells of a table, declared or observed."""

    alpha: float | Literal["auto"] = 1.0
    cells: ClassVar[Literal["declared", "observed"]]

    def __post_init__(self) -> None:
        if not is_one_of(self.alpha, (AUTO,)):
            object.__setattr__(self, "alpha", check_positive("alpha", self.alpha, word=AUTO))

    @property
    def is_auto(self) -> bool:
        """Whether alpha is to be learned."""
        return self.alpha == AUTO

    def with_alpha(self, alpha: float) -> Likelihood:
        """Return the score with this alpha, if its own is to be learned."""
        return type(self)(alpha) if self.is_auto else self

    def recipe(self, total: float, n_nodes: int) -> Recipe:
        """Alpha, and where it goes."""
        del total, n_nodes
        if isinstance(self.alpha, str):
            raise to_be_learned(self)
        return Recipe(self.cells, self.alpha)

    def __str__(self) -> str:
        return write(type(self).__name__, alpha=self.alpha)


@dataclass(frozen=True, repr=False)
class BDeu(_Spread):
    """Bayesian Dirichlet equivalent uniform score (Heckerman et al. 1995): a = alpha / (r q).

    ``alpha="auto"`` is learned together with the graph.

    Examples
    --------
    >>> from mapdag.counts import CountTable
    >>> BDeu(alpha=1).score(CountTable.from_dense([[10, 1]]))
    -4.827...
    """

    score_equivalent = True
    cells = "declared"


@dataclass(frozen=True, repr=False)
class BDs(_Spread):
    """Bayesian Dirichlet sparse score (the paper's equation 9): a = alpha / (r q_obs) where n_ij > 0.

    ``alpha="auto"`` is learned together with the graph.

    Examples
    --------
    >>> from mapdag.counts import CountTable
    >>> dense = CountTable.from_dense([[3, 0], [0, 3], [0, 3], [3, 0]])
    >>> sparse = CountTable.from_dense([[3, 0], [0, 3], [0, 3], [0, 0], [0, 0], [0, 0], [0, 0], [3, 0]])
    >>> BDs(alpha=1).score(dense) == BDs(alpha=1).score(sparse)
    True
    """

    cells = "observed"


@dataclass(frozen=True, repr=False)
class K2(Fixed):
    """K2 score (Cooper and Herskovits 1991): a = 1."""

    fixed = Recipe("each", 1.0)


@dataclass(frozen=True, repr=False)
class BDJ(Fixed):
    """BD score with Jeffreys' prior (Suzuki 2016): a = 1/2."""

    fixed = Recipe("each", 0.5)


@dataclass(frozen=True, repr=False)
class BD(Likelihood):
    """BD score with any pseudo-count.

    Parameters
    ----------
    a : float or callable
        The pseudo-count a_ijk, or a rule ``(r, q, q_obs) -> a``.

    Examples
    --------
    >>> from mapdag.counts import CountTable
    >>> table = CountTable.from_dense([[2, 1], [1, 2]])
    >>> BD(1).score(table) == K2().score(table)
    True
    >>> BD(lambda r, q, q_obs: 10 / (r * q)).score(table) == BDeu(alpha=10).score(table)
    True
    """

    a: float | Callable[[int, int, int], float]

    def __post_init__(self) -> None:
        if not callable(self.a):
            object.__setattr__(self, "a", check_positive("a", self.a))

    def recipe(self, total: float, n_nodes: int) -> Recipe | None:
        """The pseudo-count in every cell; a rule needs the table."""
        del total, n_nodes
        return None if callable(self.a) else Recipe("each", self.a)

    def score(self, table: CountTable) -> float:
        """Score of one table."""
        if not callable(self.a):
            return super().score(table)
        a = self.a(table.r, table.q, table.q_obs)
        try:
            return BD(a).score(table)
        except ParameterError:
            shape = f"r={table.r}, q={table.q:g}, q_obs={table.q_obs}"
            raise ParameterError(f"the rule of BD must give a positive number, got {a!r} for {shape}") from None

    def __str__(self) -> str:
        return write("BD", a=getattr(self.a, "__name__", "rule") if callable(self.a) else self.a)
