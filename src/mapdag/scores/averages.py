"""Node-average likelihoods: scores of families from the rows that have all their members, whatever else these lack.

With m of n rows complete in a family, its log-likelihood over these is taken m rows at a time: (n / m) times their sum
of n_ijk log(n_ijk / n_ij), which is n times the average that Balov (2013, "Consistent model selection of discrete
Bayesian networks from incomplete data") defines and R bnlearn returns. So scores stay on the scale of a log-likelihood,
which priors are made for, and without gaps they are `LogLik` and its penalised forms.
"""

from __future__ import annotations

from dataclasses import dataclass

from mapdag.checks import check_positive
from mapdag.contracts import Likelihood, Recipe, write
from mapdag.scores.fixed import Fixed


@dataclass(frozen=True, repr=False)
class NAL(Fixed):
    """Node-average log-likelihood, times the number of rows, without any penalty: always prefers more arcs.

    Minus infinity where no row is complete in a family with parents.

    Examples
    --------
    >>> import mapdag as md
    >>> data = md.Dataset.from_codes([[0, 0], [1, 1], [1, -1], [-1, 0]], names=["X", "Y"], gap=-1)
    >>> md.score(md.DAG(["X", "Y"], [("X", "Y")]), data, "NAL").by_node["Y"]
    0.0
    """

    takes_gaps = True
    fixed = Recipe("averaged")


@dataclass(frozen=True, repr=False)
class PNAL(Likelihood):
    """Penalised node-average likelihood (Balov 2013; Bodewes and Scutari 2021), times the number of rows.

    A family with d parameters gets n (average - k d), with k = n^(-1/4) / N unless given, N being the number of nodes.
    If values are missing completely at random, the graph that maximises it is consistent as long as k goes to 0 more
    slowly than n^(-1/2); the penalty of BIC, k = log(n) / (2 n), does not where there are gaps. Of a node without any
    value the average is 0, and its parameters cost what others do.

    R bnlearn documents the same default, and charges k / n for each parameter instead of k: its `pnal` is that of
    ``PNAL(k / n)`` here, divided by n. With its default, that is a penalty which goes to 0 as n^(-5/4), too fast for
    what is known about consistency, and hardly any in practice.

    Examples
    --------
    >>> import mapdag as md
    >>> data = md.network("asia").sample(500, seed=1)
    >>> md.score(md.DAG(data.names), data, "PNAL(k=0.01)") == md.score(md.DAG(data.names), data, "BIC(k=5)")
    True
    """

    k: float | None = None
    takes_gaps = True

    def __post_init__(self) -> None:
        if self.k is not None:
            object.__setattr__(self, "k", check_positive("k", self.k))

    def recipe(self, total: float, n_nodes: int) -> Recipe:
        """The penalty of each parameter, in all rows."""
        if not total:
            return Recipe("averaged")
        return Recipe("averaged", total * (total**-0.25 / n_nodes if self.k is None else self.k))

    def __str__(self) -> str:
        return write("PNAL", k=self.k)
