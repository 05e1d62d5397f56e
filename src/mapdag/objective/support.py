"""How thin families are spread: rows for each observed configuration of a node's parents.

Any likelihood predicts the first row of a configuration with 1/r, whatever was seen elsewhere. Where hardly any
configuration occurs twice, a family predicts nothing, at no cost; so its score says nothing either.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.counts import engine_of
from mapdag.graphs.masks import mask_of, members, transpose
from mapdag.priors import Support

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.contracts import Objective
    from mapdag.counts import Engine
    from mapdag.data import Dataset
    from mapdag.graphs import DAG
    from mapdag.objective.constraints import Rules

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


def observed_configurations(counter: Engine, data: Dataset, node: int, parents: Sequence[int]) -> int:
    """Return q_obs of a family: configurations of the parents in the rows that are complete in it."""
    if not parents:
        return 1
    return counter.table(node, sorted(parents)).q_obs if data.has_gaps else counter.observed(sorted(parents))


class Limits(NamedTuple):
    """How many configurations `mapdag.Support` allows, given which arcs are required."""

    most: tuple[float, ...]  # of the parents of each node
    waived: tuple[int, ...]  # nodes whose required parents have more than the usual limit
    parents: tuple[int, ...]  # of each node in a graph of required arcs that these limits allow, as sets


def limits_of(data: Dataset, support: float, rules: Rules) -> Limits:
    """Return the limits of `mapdag.Support` on all nodes; required arcs win against it.

    Where the required parents of a node alone have more configurations than is usual, its parents may have that many.
    Two nodes that a prior joins without saying which way (`CS` with no chance of "no arc") are no exception as long as
    these arcs can be directed so that no family has too many. Nodes are put last one after the other for that, each
    with arcs from those that are left; where none can be, all that are left and have no required child among these are
    allowed as many as they need.
    """
    n, usual = data.n_columns, most_configurations(data.total, support)
    if not rules.fixed.any():
        return Limits((usual,) * n, (), (0,) * n)
    counter = engine_of(data)

    @cache
    def count(node: int, parents: int) -> int:
        return observed_configurations(counter, data, node, members(parents))

    demanded = rules.fixed & rules.allowed & ~rules.allowed.T
    either = rules.fixed & rules.allowed & rules.allowed.T
    parents, pairs = ([mask_of(np.flatnonzero(arcs[:, x]).tolist()) for x in range(n)] for arcs in (demanded, either))
    most = [max(usual, float(count(x, parents[x]))) for x in range(n)]
    if not any(pairs):
        return Limits(tuple(most), tuple(x for x in range(n) if most[x] > usual), tuple(parents))
    children, left = transpose(parents), (1 << n) - 1
    nodes = sorted(range(n), key=lambda x: data.names[x])  # whatever the order of the columns
    while left:
        stuck = []
        for x in nodes:
            before = parents[x] | pairs[x] & left
            if left >> x & 1 and not children[x] & left and before.bit_count() <= rules.max_parents:
                if count(x, before) <= most[x]:
                    parents[x], left = before, left & ~(1 << x)
                    break
                stuck.append((x, count(x, before)))
        else:
            if not stuck:
                break  # because of the limit on parents: no graph obeys the rules
            for x, needed in stuck:
                most[x] = float(needed)
    return Limits(tuple(most), tuple(x for x in range(n) if most[x] > usual), tuple(parents))


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
        observed = observed_configurations(counter, data, index[node], [index[p] for p in parents])
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
