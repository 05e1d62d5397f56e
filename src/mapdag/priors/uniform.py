"""The priors that need no elicitation: uniform and marginal uniform."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mapdag.checks import check_positive, check_probability
from mapdag.contracts import Prior, same_odds, write
from mapdag.errors import ParameterError
from mapdag.notices import warn
from mapdag.wording import plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


_TINY = 1e-300


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
    beta : float, optional
        Probability of an arc in either direction, 1/2 unless given.
    c : float, optional
        Instead of beta: expected number of arcs per node, ``beta = 2c / (N - 1)``. Sensible values lie in [1, 5); below
        five nodes beta is at most 1/2.

    Examples
    --------
    >>> MU(c=1).beta_for(37)
    0.0555...
    >>> MU()
    MU(beta=0.5)
    """

    beta: float | None = None
    c: float | None = None
    score_equivalent = True

    def __post_init__(self) -> None:
        if self.beta is not None and self.c is not None:
            raise ParameterError(f"MU takes beta or c, not both, got beta={self.beta!r} and c={self.c!r}")
        if self.c is not None:
            object.__setattr__(self, "c", check_positive("c", self.c))
            if not 1 <= self.c < 5:
                warn(
                    f"c is the expected number of arcs per node; values outside [1, 5) are unusual, got {self.c:g}",
                )
        else:
            object.__setattr__(self, "beta", check_probability("beta", 0.5 if self.beta is None else self.beta))

    def beta_for(self, n_nodes: int) -> float:
        """Probability of an arc between two of `n_nodes` nodes."""
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
        if self.c is None:
            assert self.beta is not None
            return math.log(self.beta) - math.log(2)
        return math.log(self.c) - math.log(n_nodes - 1)

    def constant(self, nodes: Sequence[str]) -> float:
        """log(1 - beta) for every pair."""
        return math.comb(len(nodes), 2) * math.log1p(-self.beta_for(len(nodes)))

    def __str__(self) -> str:
        return write("MU", beta=self.beta, c=self.c)
