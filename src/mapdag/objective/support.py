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
    from collections.abc import Callable, Sequence

    from mapdag.contracts import Objective
    from mapdag.counts import Engine
    from mapdag.data import Dataset
    from mapdag.graphs import DAG
    from mapdag.objective.constraints import Rules

#: Below so many rows per configuration a family is called thin where the objective itself sets no limit.
USUAL = Support().m

_SATURATED = 1.5  # rows per configuration below which most configurations occur once
_NAMED = 4  # families that a sentence names
_MOST_TRIED = 10_000  # sets of nodes that are tried to find directions of arcs


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
    return counter.table(node, sorted(parents)).q_obs if data.drops_rows else counter.observed(sorted(parents))


class Limits(NamedTuple):
    """How many configurations `mapdag.Support` allows, given which arcs are required."""

    most: tuple[float, ...]  # of the parents of each node
    waived: tuple[int, ...]  # nodes whose required parents have more than the usual limit
    parents: tuple[int, ...]  # of each node in a graph of required arcs that these limits allow, as sets


def limits_of(data: Dataset, support: float | None, rules: Rules) -> Limits:
    """Return the limits of `mapdag.Support` on all nodes, if there is one; required arcs win against it.

    Where the required parents of a node alone have more configurations than is usual, its parents may have that many.
    Two nodes that a prior joins without saying which way (`CS` with no chance of "no arc") are no exception as long as
    these arcs can be directed so that no family has too many. Where they cannot, the nodes that are in the way may have
    as many as they need.
    """
    n, usual = data.n_columns, [most_configurations(total, support) for total in data.totals.tolist()]
    if not rules.fixed.any():
        return Limits(tuple(usual), (), (0,) * n)
    counter = engine_of(data)

    @cache
    def count(node: int, parents: int) -> int:
        return observed_configurations(counter, data, node, members(parents))

    demanded = rules.fixed & rules.allowed & ~rules.allowed.T
    either = rules.fixed & rules.allowed & rules.allowed.T
    parents, pairs = ([mask_of(np.flatnonzero(arcs[:, x]).tolist()) for x in range(n)] for arcs in (demanded, either))
    most = [max(usual[x], float(count(x, parents[x]))) for x in range(n)]
    if any(pairs):
        placing = _Placing(parents, pairs, rules.max_parents, count, backtracks=not data.refines)
        found = placing.run(most)
        while found is None and (stuck := placing.stuck()):
            for x, needed in stuck.items():
                most[x] = float(needed)
            found = placing.run(most)
        parents = parents if found is None else found  # no graph obeys the rules
    return Limits(tuple(most), tuple(x for x in range(n) if most[x] > usual[x]), tuple(parents))


class _Placing:
    """Directs arcs by putting nodes last one after the other, each with arcs from all that are left.

    Without missing values, any node that can be last may be: others then have fewer parents, hence no more
    configurations. With missing values they may have more, and other nodes are tried.

    Parameters
    ----------
    parents, pairs : list of int
        Sets: parents that each node must have, and nodes that it is joined to, either way.
    max_parents : int
    count : callable
        Configurations of the parents of a node.
    backtracks : bool
        Whether other nodes are tried.
    """

    def __init__(
        self,
        parents: Sequence[int],
        pairs: Sequence[int],
        max_parents: int,
        count: Callable[[int, int], int],
        *,
        backtracks: bool,
    ) -> None:
        self._parents, self._pairs, self._count = parents, pairs, count
        self._children = transpose(parents)
        self._max_parents = max_parents
        self._backtracks = backtracks
        self._stuck: dict[int, dict[int, int]] = {}  # dead ends: what the nodes need that could come next

    def run(self, most: Sequence[float]) -> list[int] | None:
        """Return the parents of all nodes in a graph where none has more configurations than these, if there is one."""
        n = len(most)
        self._stuck = {}
        placed: list[tuple[int, int]] = []  # nodes and their parents, those that come last first
        left = (1 << n) - 1
        waiting = [self._next(left, most)]  # nodes that may be put last, for each number of nodes that are placed
        met = {left}
        while left and waiting:
            node = waiting[-1].pop() if waiting[-1] else None
            if node is None:
                waiting.pop()
                if placed and self._backtracks and len(met) < _MOST_TRIED:
                    left |= 1 << placed.pop()[0]
                    continue
                return None
            after = left & ~(1 << node)
            if after in met:
                continue
            met.add(after)
            placed.append((node, self._family(node, left)))
            left = after
            waiting.append(self._next(left, most))
        return [parents for _, parents in sorted(placed)] if not left else None

    def stuck(self) -> dict[int, int]:
        """Return the nodes that were in the way where the fewest were left, and the configurations that they need."""
        known = [left for left, nodes in self._stuck.items() if nodes]
        fewest = min((left.bit_count() for left in known), default=0)
        found: dict[int, int] = {}
        for left in known:
            if left.bit_count() == fewest:
                for node, needed in self._stuck[left].items():
                    found[node] = max(needed, found.get(node, 0))
        return found

    def _family(self, node: int, left: int) -> int:
        return self._parents[node] | self._pairs[node] & left

    def _next(self, left: int, most: Sequence[float]) -> list[int]:
        """List the nodes that can come last of some, the one to be tried first last; notes what stands in the way."""
        fitting: list[int] = []
        stuck = {}
        for node in members(left):
            family = self._family(node, left)
            if self._children[node] & left or family.bit_count() > self._max_parents:
                continue
            needed = self._count(node, family)
            if family == self._parents[node] and needed <= most[node]:
                return [node]  # it stands in nobody's way any more, and its parents are what they must be
            if 0 < needed <= most[node]:
                fitting.append(node)
            elif needed:  # where no row has the whole family, no limit helps
                stuck[node] = needed
        if not fitting:
            self._stuck[left] = stuck
        return fitting if self._backtracks else fitting[:1]


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
    totals, found = data.totals, []
    for node in dag.nodes:
        parents = dag.parents(node)
        observed = observed_configurations(counter, data, index[node], [index[p] for p in parents])
        total = float(totals[index[node]])
        if observed > most_configurations(total, support):
            found.append(ThinFamily(node, parents, observed, total / observed))
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
