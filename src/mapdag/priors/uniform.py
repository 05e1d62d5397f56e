"""The priors that need no elicitation: uniform and marginal uniform."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mapdag.checks import check_positive, check_probability, is_one_of
from mapdag.contracts import AUTO, Prior, same_odds, to_be_learned, write
from mapdag.errors import ParameterError
from mapdag.notices import warn
from mapdag.wording import plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


_TINY = 1e-300
_LARGEST_BETA = 0.95  # that is learned: what is rounded must stay below 1


def _rounded(value: float) -> float:
    """Two digits of a number: what a learned value is worth."""
    return float(f"{value:.2g}")


@dataclass(frozen=True, repr=False)
class U(Prior):
    """Uniform prior over DAGs: the log prior is 0 for every graph."""

    score_equivalent = True

    def log_odds(self, nodes: Sequence[str]) -> Floats:
        """Zero for every arc."""
        return same_odds(0.0, nodes)

    def __str__(self) -> str:
        return "U"


@dataclass(frozen=True, repr=False)
class MU(Prior):
    """Marginal uniform prior (section 3.2 of the paper): each pair of nodes is adjacent with probability beta.

    ``log P = |A| log(beta/2) + (N(N-1)/2 - |A|) log(1 - beta)``, all constants kept.

    Parameters
    ----------
    beta : float or "auto", optional
        Probability of an arc in either direction, 1/2 unless given.
    c : float or "auto", optional
        Instead of beta: expected number of arcs per node, ``beta = 2c / (N - 1)``. The paper takes values in [1, 5);
        below five nodes beta is at most 1/2.

    "auto" is learned together with the graph: ``c = (arcs + 1) / (nodes + 1)``.

    Examples
    --------
    >>> MU(c=1).beta_for(37)
    0.0555...
    >>> MU()
    MU(beta=0.5)
    """

    beta: float | Literal["auto"] | None = None
    c: float | Literal["auto"] | None = None
    score_equivalent = True

    def __post_init__(self) -> None:
        if self.beta is not None and self.c is not None:
            raise ParameterError(f"MU takes beta or c, not both, got beta={self.beta!r} and c={self.c!r}")
        if self.is_auto:
            return
        if self.c is not None:
            object.__setattr__(self, "c", check_positive("c", self.c, word=AUTO))
        else:
            object.__setattr__(self, "beta", check_probability("beta", 0.5 if self.beta is None else self.beta))

    @property
    def is_auto(self) -> bool:
        """Whether beta or c is to be learned."""
        return is_one_of(self.beta, (AUTO,)) or is_one_of(self.c, (AUTO,))

    def most_probable(self, n_arcs: int, n_nodes: int) -> tuple[MU, float]:
        """Return the prior with the most probable beta given a graph, and the log of its Beta hyperprior there."""
        if not self.is_auto:
            return self, 0.0
        usual = min(2 / (n_nodes - 1), 0.5) if n_nodes > 1 else 0.5
        pairs = max((n_nodes - 1) / 2, 0.5)  # what the hyperprior is worth: one more node with one arc
        beta = min((n_arcs + pairs * usual) / (math.comb(n_nodes, 2) + pairs), _LARGEST_BETA)
        if self.c is None:
            found = MU(beta=_rounded(beta))
        else:
            found = MU(c=_rounded((min(beta, 0.5) if n_nodes < 5 else beta) * max(n_nodes - 1, 1) / 2))
        beta = found.beta_for(n_nodes)
        density = math.lgamma(pairs + 2) - math.lgamma(pairs * usual + 1) - math.lgamma(pairs * (1 - usual) + 1)
        return found, density + pairs * (usual * math.log(beta) + (1 - usual) * math.log1p(-beta))

    def beta_for(self, n_nodes: int) -> float:
        """Probability of an arc between two of `n_nodes` nodes."""
        if isinstance(self.c, str) or isinstance(self.beta, str):
            raise to_be_learned(self)
        if self.c is None:
            assert self.beta is not None
            return self.beta
        beta = 2 * self.c / (n_nodes - 1) if n_nodes > 1 else math.inf
        if n_nodes < 5:
            if beta > 0.5 and self.c > 1:  # one arc per node is what small graphs get by default, as far as it goes
                warn(
                    f"MU(c={self.c:g}) is meant for larger graphs: with {plural(n_nodes, 'node')} beta is taken as 1/2"
                )
            return min(beta, 0.5)
        if beta >= 1:
            raise ParameterError(
                f"beta = 2c/(N-1) must be below 1, got {beta:g} for c={self.c:g} and N={n_nodes} nodes; "
                f"choose c below {(n_nodes - 1) / 2:g}"
            )
        return beta

    def log_odds(self, nodes: Sequence[str]) -> Floats:
        """log(beta/2) - log(1 - beta) for every arc."""
        beta = self.beta_for(len(nodes))
        half = math.log(beta / 2) if beta > _TINY else self._log_half(len(nodes))
        return same_odds(half - math.log1p(-beta), nodes)

    def _log_half(self, n_nodes: int) -> float:
        """Log of half of a beta that is too small for a number."""
        if isinstance(self.c, float):
            return math.log(self.c) - math.log(n_nodes - 1)
        assert isinstance(self.beta, float)
        return math.log(self.beta) - math.log(2)

    def constant(self, nodes: Sequence[str]) -> float:
        """log(1 - beta) for every pair."""
        return math.comb(len(nodes), 2) * math.log1p(-self.beta_for(len(nodes)))

    def __str__(self) -> str:
        return write("MU", beta=self.beta, c=self.c)
