"""The score of a whole graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from mapdag.data import ReadingOptions, as_dataset
from mapdag.errors import GraphError
from mapdag.families import FamilyScores
from mapdag.graphs.dag import check_dag
from mapdag.objective.hyperparameters import concrete
from mapdag.objective.notation import DEFAULT, parse_all
from mapdag.objective.support import thin_families
from mapdag.public import public

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self, Unpack

    from mapdag.contracts import Objective
    from mapdag.data import Dataset
    from mapdag.graphs import DAG
    from mapdag.objective.notation import Goal


class Score(float):
    """The posterior score of a graph: a float that knows its parts.

    Attributes
    ----------
    log_prior, log_likelihood : float
        Their sum is the score. The log prior is minus infinity where `MaxParents` or `Support` rules the graph out.
    by_node : mapping of str to float
        Log-likelihood of each node's family.
    objective : Objective, optional
        The objective that it is a score under: with the values of alpha, and of c or beta, that are the most probable
        ones for the graph where these were left to the data.
    """

    log_prior: float
    log_likelihood: float
    by_node: Mapping[str, float]
    objective: Objective | None

    def __new__(cls, log_prior: float, by_node: Mapping[str, float], objective: Objective | None = None) -> Self:
        """Add up the families, then the prior."""
        likelihood = math.fsum(by_node.values())
        self = super().__new__(cls, log_prior + likelihood)
        self.log_prior, self.log_likelihood, self.by_node = (
            log_prior,
            likelihood,
            MappingProxyType(dict(by_node)),
        )
        self.objective = objective
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Score, (self.log_prior, dict(self.by_node), self.objective)


@overload
def score(dag: DAG, data: Any, objective: Goal = ..., **reading: Unpack[ReadingOptions]) -> Score: ...
@overload
def score(dag: DAG, data: Any, objective: Sequence[Goal], **reading: Unpack[ReadingOptions]) -> tuple[Score, ...]: ...
@public(ReadingOptions)
def score(
    dag: DAG, data: Any, objective: Goal | Sequence[Goal] = DEFAULT, **reading: Unpack[ReadingOptions]
) -> Score | tuple[Score, ...]:
    """Posterior score of a graph: log prior + log marginal likelihood.

    Parameters
    ----------
    dag : DAG
        Its nodes are the columns of the data, in any order.
    data : Dataset, or anything that `mapdag.read` takes
    objective : Objective, Likelihood, str, or a sequence of them
        Such as ``MU(c=1) + BDs(alpha=1)`` or the same as a text; a likelihood alone means the uniform prior. Several
        objectives take one pass over the data and give a tuple of scores. Where alpha, c or beta is "auto", it has its
        most probable value given the graph.
    **reading
        How to read the table, as in `mapdag.read`.

    Examples
    --------
    >>> import math
    >>> import mapdag as md
    >>> data = md.Dataset.from_codes([[0, 1]] * 2 + [[1, 1]] * 5, names=["X", "Y"], levels=[2, 2])
    >>> result = md.score(md.DAG(["X", "Y"], [("X", "Y")]), data, "BDs(alpha=1)")
    >>> round(math.exp(result), 4)
    0.0006
    """
    goals, several = parse_all(objective)
    table = as_dataset(data, **reading)
    align(dag, table)
    goals = tuple(concrete(goal, dag, table) for goal in goals)
    likelihoods = list(dict.fromkeys(goal.likelihood for goal in goals))
    families = FamilyScores(table, likelihoods)
    index = {name: i for i, name in enumerate(table.names)}
    by_node = {node: families.family(index[node], [index[p] for p in dag.parents(node)]) for node in table.names}
    found = []
    for goal in goals:
        which = likelihoods.index(goal.likelihood)
        support = goal.prior.support
        is_thin = support is not None and bool(thin_families(dag, table, support))
        log_prior = -math.inf if is_thin else goal.prior.log_prior(dag)
        found.append(Score(log_prior, {node: float(each[which]) for node, each in by_node.items()}, goal))
    return tuple(found) if several else found[0]


def align(dag: DAG, data: Dataset) -> None:
    """Check that the nodes of a graph are the columns of a table."""
    nodes, columns = set(check_dag("dag", dag).nodes), set(data.names)
    if nodes != columns:
        missing = sorted(nodes - columns)[:5]
        extra = sorted(columns - nodes)[:5]
        told = [f"the data lack {missing}"] * bool(missing) + [f"the graph lacks {extra}"] * bool(extra)
        raise GraphError("the nodes of the graph must be the columns of the data: " + "; ".join(told))
