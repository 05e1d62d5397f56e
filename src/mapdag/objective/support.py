"""How thin families are spread: rows for each observed configuration of a node's parents.

Any likelihood predicts the first row of a configuration with 1/r, whatever was seen elsewhere. Where hardly any
configuration occurs twice, a family predicts nothing, at no cost; so its score says nothing either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mapdag.counts import engine_of
from mapdag.priors import Support

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.contracts import Objective
    from mapdag.data import Dataset
    from mapdag.graphs import DAG

#: Below so many rows per configuration a family is called thin where the objective itself sets no limit.
USUAL = Support().m

_SATURATED = 1.5  # rows per configuration below which most configurations occur once
_NAMED = 4  # families that a sentence names


@dataclass(frozen=True)
class ThinFamily:
    """A node whose parents have many configurations for few rows.

    Attributes
    ----------
    node : str
    parents : tuple of str
    configurations : int
        Observed configurations of the parents.
    rows : float
        Rows for each of them, on average.
    """

    node: str
    parents: tuple[str, ...]
    configurations: int
    rows: float

    @property
    def is_saturated(self) -> bool:
        """Whether most configurations occur once: then the score says nothing about these parents."""
        return self.rows < _SATURATED

    def __str__(self) -> str:
        rows = f"{self.rows:.3g}"
        return f"{self.node} ({rows} row{'s' * (rows != '1')} for each of {self.configurations:,} configurations)"


def most_configurations(total: float, support: float | None) -> float:
    """Return how many configurations of its parents a node may have under `mapdag.Support`; one is always allowed.

    >>> most_configurations(300, 2), most_configurations(1, 2)
    (150.0, 1.0)
    """
    return float("inf") if support is None else max(total / support, 1.0)


def thin_families(dag: DAG, data: Dataset, support: float) -> tuple[ThinFamily, ...]:
    """Families of a graph that `mapdag.Support` would rule out, the thinnest first.

    Parameters
    ----------
    dag : DAG
        Its nodes are columns of the data.
    data : Dataset
    support : float
        Rows that there must be for each observed configuration.
    """
    counter, index = engine_of(data), {name: i for i, name in enumerate(data.names)}
    most = most_configurations(data.total, support)
    found = []
    for node in dag.nodes:
        parents = dag.parents(node)
        members = [index[p] for p in parents]
        observed = counter.observed(members) if parents else 1
        if data.has_gaps and parents:
            observed = counter.table(index[node], members).q_obs
        if observed > most:
            found.append(ThinFamily(node, parents, observed, data.total / observed))
    return tuple(sorted(found, key=lambda family: (family.rows, family.node)))


def thin_sentence(families: Sequence[ThinFamily], objective: Objective) -> str:
    """Say what thin families mean for a graph under an objective; nothing where there are none."""
    if not families:
        return ""
    support = objective.prior.support
    many = f"{len(families)} families are" if len(families) > 1 else "1 family is"
    named = ", ".join(map(str, families[:_NAMED])) + (", ..." if len(families) > _NAMED else "")
    told = f"{many} spread over fewer than {USUAL if support is None else support:g} rows per configuration: {named}. "
    if support is not None:
        return f"{told}The objective rules that out: only required arcs lead to it."
    saturated = sum(family.is_saturated for family in families)
    most = f" {saturated} of them saturated, most configurations occurring once." if saturated else ""
    advice = f"Their scores are no evidence for these arcs; Support({USUAL:g}) in the objective rules them out."
    return f"{told.rstrip('. ')}.{most} {advice}"
