"""The score of a whole graph."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mapdag.errors import GraphError
from mapdag.objective.families import FamilyScores
from mapdag.objective.notation import DEFAULT, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

    from mapdag.contracts import Likelihood, Objective
    from mapdag.data import Dataset
    from mapdag.graphs import DAG


class Score(float):
    """The posterior score of a graph: a float that knows its parts.

    Attributes
    ----------
    log_prior, log_likelihood : float
        Their sum is the score.
    by_node : mapping of str to float
        Log-likelihood of each node's family.
    """

    log_prior: float
    log_likelihood: float
    by_node: Mapping[str, float]

    def __new__(cls, log_prior: float, by_node: Mapping[str, float]) -> Self:
        """Add up the families, then the prior."""
        likelihood = sum(by_node.values())
        self = super().__new__(cls, log_prior + likelihood)
        self.log_prior, self.log_likelihood, self.by_node = (
            log_prior,
            likelihood,
            MappingProxyType(dict(by_node)),
        )
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Score, (self.log_prior, dict(self.by_node))


def score(dag: DAG, data: Dataset, objective: str | Objective | Likelihood = DEFAULT) -> Score:
    """Posterior score of a graph: log prior + log marginal likelihood.

    Parameters
    ----------
    dag : DAG
        Its nodes are the columns of the data, in any order.
    data : Dataset
    objective : Objective, Likelihood or str
        Such as ``MU(c=1) + BDs(alpha=1)`` or the same as a text; a likelihood alone means the uniform prior.

    Examples
    --------
    >>> import math
    >>> import mapdag as md
    >>> data = md.Dataset.from_codes([[0, 1]] * 2 + [[1, 1]] * 5, names=["X", "Y"], levels=[2, 2])
    >>> result = md.score(md.DAG(["X", "Y"], [("X", "Y")]), data, "BDs(alpha=1)")
    >>> round(math.exp(result), 4)
    0.0006
    """
    objective = parse(objective)
    align(dag, data)
    families = FamilyScores(data, [objective.likelihood])
    index = {name: i for i, name in enumerate(data.names)}
    by_node = {
        node: float(families.family(index[node], [index[p] for p in dag.parents(node)])[0]) for node in data.names
    }
    return Score(objective.prior.log_prior(dag), by_node)


def align(dag: DAG, data: Dataset) -> None:
    """Check that the nodes of a graph are the columns of a table."""
    nodes, columns = set(dag.nodes), set(data.names)
    if nodes != columns:
        missing = sorted(nodes - columns)[:5]
        extra = sorted(columns - nodes)[:5]
        told = [f"the data lack {missing}"] * bool(missing) + [f"the graph lacks {extra}"] * bool(extra)
        raise GraphError("the nodes of the graph must be the columns of the data: " + "; ".join(told))
