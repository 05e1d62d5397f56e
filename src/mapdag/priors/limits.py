"""Priors that rule graphs out, and say nothing else: a limit on parents, and one on how thin a family may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mapdag.checks import check_positive, check_whole
from mapdag.contracts import Prior, same_odds, write

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mapdag.graphs import DAG

    Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class MaxParents(Prior):
    """Hard limit: graphs where a node has more than m parents have probability 0; the log prior is 0 otherwise.

    Composes with any other prior: ``MaxParents(3) + MU(c=1) + BDs()``.
    """

    m: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "m", check_whole("m", self.m))

    def log_odds(self, nodes: Sequence[str]) -> Floats:
        """Zero for every arc."""
        return same_odds(0.0, nodes)

    def log_prior(self, dag: DAG) -> float:
        """Zero, or minus infinity where a node has too many parents."""
        return 0.0 if all(len(dag.parent_indices(i)) <= self.m for i in range(len(dag.nodes))) else -math.inf

    @property
    def max_parents(self) -> int:
        """The limit."""
        return self.m

    def __str__(self) -> str:
        return write("MaxParents", m=self.m)


@dataclass(frozen=True, repr=False)
class Support(Prior):
    """Hard limit: for each configuration of a node's parents that occurs there must be m rows, on average.

    A graph where some node has parents with more than n / m observed configurations (q_obs), n being the number of rows
    or the sum of their weights, has probability 0. One configuration is always allowed, however few rows there are:
    that of a node without parents, and of parents that are constant.

    Likelihoods predict the first row of a configuration with 1/r, whatever their parameters, so that a family in which
    every row has a configuration of its own costs nothing for them, however many parents it has: without a limit, the
    graph with the highest score of all may have many arcs between columns that have nothing to do with each other.
    Composes with any other prior: ``Support(3) + MU(c=1) + BDs()``. Which graphs it rules out depends on the data; so
    `log_prior` alone is 0 for all of them, and it is `mapdag.score` and the searches that look at the counts.

    Parameters
    ----------
    m : float
        Rows per configuration, 3 unless given: less lets some noise through, more takes away real arcs.

    Examples
    --------
    >>> Support() + MaxParents(4)
    Support(m=3)+MaxParents(m=4)
    """

    m: float = 3.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "m", check_positive("m", self.m))

    def log_odds(self, nodes: Sequence[str]) -> Floats:
        """Zero for every arc."""
        return same_odds(0.0, nodes)

    @property
    def support(self) -> float:
        """The limit."""
        return self.m

    def __str__(self) -> str:
        return write("Support", m=self.m)
