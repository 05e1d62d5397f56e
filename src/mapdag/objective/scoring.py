"""The score of a whole graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from mapdag.data import ReadingOptions, as_dataset, split_options
from mapdag.errors import GraphError
from mapdag.families import FamilyScores
from mapdag.graphs.dag import check_dag
from mapdag.objective.constraints import Constraints, broken_rule, make_rules
from mapdag.objective.hyperparameters import concrete
from mapdag.objective.notation import DEFAULT, parse_all
from mapdag.objective.support import limits_of, thin_families
from mapdag.public import public

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
        Their sum is the score. The log prior is minus infinity where constraints, `MaxParents` or `Support` rule the
        graph out.
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


class ScoreOptions(ReadingOptions, total=False):
    """How to read the table, and what the graph must obey: options of `score`."""

    required: Iterable[tuple[str, str]]
    forbidden: Iterable[tuple[str, str]]
    tiers: Sequence[Sequence[str]]
    max_parents: int | None


@overload
def score(dag: DAG, data: Any, objective: Goal = ..., **options: Unpack[ScoreOptions]) -> Score: ...
@overload
def score(dag: DAG, data: Any, objective: Sequence[Goal], **options: Unpack[ScoreOptions]) -> tuple[Score, ...]: ...
@public(ScoreOptions)
def score(
    dag: DAG, data: Any, objective: Goal | Sequence[Goal] = DEFAULT, **options: Unpack[ScoreOptions]
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
    **options
        Constraints (`required`, `forbidden`, `tiers`, `max_parents`) and how to read the table, as in `mapdag.learn`.
        A graph that breaks constraints has the score minus infinity; one that was learned under constraints has its
        score there only with the same ones, as required arcs win against `Support`.

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
    reading, given = split_options(options)
    constraints = Constraints(**given)
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
        log_prior = log_prior_of(dag, table, goal, constraints)
        found.append(Score(log_prior, {node: float(each[which]) for node, each in by_node.items()}, goal))
    return tuple(found) if several else found[0]


def log_prior_of(dag: DAG, data: Dataset, objective: Objective, constraints: Constraints) -> float:
    """Log prior of a graph; minus infinity where it breaks the constraints, or is thinner than `mapdag.Support` allows.

    Its nodes are the columns of the data.
    """
    prior, support = objective.prior, objective.prior.support
    log_prior = prior.log_prior(dag)
    thin = thin_families(dag, data, support) if support is not None else ()
    if log_prior == -math.inf or not (thin or constraints != Constraints()):
        return log_prior
    rules = make_rules(constraints, prior, data.names)
    if broken_rule(dag.reordered(data.names), rules):
        return -math.inf
    if support is not None and thin:
        most = limits_of(data, support, rules).most
        if any(family.configurations > most[data.index(family.node)] for family in thin):
            return -math.inf
    return log_prior


def align(dag: DAG, data: Dataset) -> None:
    """Check that the nodes of a graph are the columns of a table."""
    nodes, columns = set(check_dag("dag", dag).nodes), set(data.names)
    if nodes != columns:
        missing = sorted(nodes - columns)[:5]
        extra = sorted(columns - nodes)[:5]
        told = [f"the data lack {missing}"] * bool(missing) + [f"the graph lacks {extra}"] * bool(extra)
        raise GraphError("the nodes of the graph must be the columns of the data: " + "; ".join(told))
