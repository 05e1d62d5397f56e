"""Posterior probabilities of arcs, exactly: sums over all orders of the nodes, or over all graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from mapdag.checks import check_number, check_whole, is_one_of
from mapdag.data import as_dataset, split_options
from mapdag.errors import CapacityError, GraphError, MapdagError, ParameterError
from mapdag.objective import DEFAULT, parse
from mapdag.public import public
from mapdag.search.exact.lattice import Lattice, layers
from mapdag.search.frame.watch import EarlyEnd
from mapdag.search.plan import LearnOptions, Plan
from mapdag.tables import Column, Table, Tabular
from mapdag.wording import brief

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from mapdag.contracts import Objective
    from mapdag.objective import Goal
    from mapdag.search.exact.lattice import Child

    Floats = NDArray[np.float64]

_FEW = 1 << 10  # likewise, where each set is taken with many others
MOST_DAGS = 18  # nodes beyond which the sum over graphs, 3^N terms, takes too long


class ArcProbability(NamedTuple):
    """An arc and its posterior probability."""

    start: str
    end: str
    probability: float


@dataclass(frozen=True)
class ArcPosteriors(Tabular):
    """Posterior probability of every arc.

    Attributes
    ----------
    nodes : tuple of str
    objective : Objective
    over : {"orders", "dags"}
        What was summed over.
    probabilities : float array (N, N)
        ``probabilities[i, j]`` of the arc from node i to node j.
    log_evidence : float
        Log of the sum of exp(score): over all graphs, or over all pairs of an order and a graph that goes with it.
    """

    nodes: tuple[str, ...] = field(repr=False)
    objective: Objective
    over: Literal["orders", "dags"]
    probabilities: Floats = field(repr=False)
    log_evidence: float

    def __getitem__(self, arc: tuple[str, str]) -> float:
        """Probability of an arc, given as a pair of names."""
        for name in arc:
            if name not in self.nodes:
                raise GraphError(f"{name!r} is not a node")
        return float(self.probabilities[self.nodes.index(arc[0]), self.nodes.index(arc[1])])

    def arcs(self, least: float = 0.0) -> tuple[ArcProbability, ...]:
        """Arcs of at least some probability, the most probable first."""
        least = check_number("least", least, least=0)
        found = [arc for arc in self._every() if arc.probability >= least]
        return tuple(sorted(found, key=lambda arc: -arc.probability))

    def _every(self) -> Iterator[ArcProbability]:
        for i, start in enumerate(self.nodes):
            for j, end in enumerate(self.nodes):
                if i != j:
                    yield ArcProbability(start, end, float(self.probabilities[i, j]))

    def to_table(self, most: int | None = None) -> Table:
        """Return a row for each arc, the most probable first."""
        arcs = self.arcs()
        shown = arcs if most is None else arcs[: check_whole("most", most)]
        return Table(
            [
                Column("start", [arc.start for arc in shown]),
                Column("end", [arc.end for arc in shown]),
                Column("probability", np.array([arc.probability for arc in shown]), ".4f", right=True),
            ],
            title=f"{self.objective}, summed over {self.over}: log evidence {self.log_evidence:.4f}",
            left=len(arcs) - len(shown),
            rest="less probable",
        )


@public(LearnOptions, but=["search"])
def arc_posteriors(
    data: Any, objective: Goal = DEFAULT, *, over: Literal["orders", "dags"] = "orders", **options: Unpack[LearnOptions]
) -> ArcPosteriors:
    """Compute the exact posterior probability of every arc.

    Parameters
    ----------
    data, objective
        As in `mapdag.learn`; the prior must be a sum over arcs. "auto" values are learned by the default search, and
        taken as given here.
    over : {"orders", "dags"}
        Sum over all orders of the nodes and all graphs that go with each (Koivisto and Sood 2004), for as many nodes as
        exact search takes. Then the prior of a graph is that of the objective *times the number of orders that go with
        it*: graphs with few arcs, and among equivalent graphs those with many orders, weigh more. Or sum over graphs
        (Tian and He 2009), with the prior as it is, for at most 18 nodes: time grows with 3^N.
    **options
        Constraints, `threads`, `time_limit`, `progress` and how to read the table, as in `mapdag.learn`. There is no
        result before the end: a limit that is reached is an error.

    Examples
    --------
    >>> import mapdag as md
    >>> data = md.network("asia").sample(500, seed=1)
    >>> found = md.arc_posteriors(data, "MU(c=1)+BDs(1)", over="dags")
    >>> 0.99 < found["smoke", "bronc"] + found["bronc", "smoke"] <= 1
    True
    """
    if not is_one_of(over, ("orders", "dags")):
        raise ParameterError(f"over must be 'orders' or 'dags', got {brief(over)}")
    reading, searching = split_options(options)
    plan = Plan.make(**searching, search="exact")
    table = as_dataset(data, **reading)
    goal = plan.concrete(parse(objective), table)
    if over == "dags" and table.n_columns > MOST_DAGS:
        raise CapacityError(f"over='dags' takes at most {MOST_DAGS} nodes, got {table.n_columns}; use over='orders'")
    try:
        with plan.begun() as settings:
            lattice = Lattice(settings.make_cache(table, [goal]), goal, settings, charge=0.0, copies=2)
            sums = PosteriorSums(lattice)
            probabilities, evidence = sums.over_orders() if over == "orders" else sums.over_graphs()
    except EarlyEnd as end:
        raise MapdagError(f"stopped early ({end.reason.replace('_', ' ')}): there is no result before the end") from end
    evidence += sum(lattice.base) + goal.prior.constant(table.names)
    return ArcPosteriors(table.names, goal, over, np.clip(probabilities, 0.0, 1.0), float(evidence))


class PosteriorSums:
    """All sums that are needed, for one problem.

    Attributes
    ----------
    single : float64 array
        Log weight of each family, by child and place.
    within : float64 array
        Log sum of the weights of a child's families within each set of predecessors.
    rest : float64 array (sets,)
        Log sum over all graphs on the nodes outside of each set, whose parents may be in it; after `over_graphs`.
    """

    def __init__(self, lattice: Lattice) -> None:
        from mapdag.search.exact.sums import sum_orders, sum_within

        self._lattice = lattice
        self.single = lattice.scores()
        self.within = self.single.copy()
        self._families = lattice.families_with(self.within)

        def add_up(child: Child) -> None:
            sum_within(self.within[self._mine(child)], child.pinned)

        lattice.watch.work("summing parents", [partial(add_up, child) for child in lattice.children])
        self._layers = layers(lattice.n_nodes)
        self.rest = self._before = np.empty(1 << lattice.n_nodes)
        jobs = [[partial(sum_orders, *each, self._families, self._before) for each in layer] for layer in self._layers]
        lattice.watch.work_in_layers("summing orders", jobs)
        if not np.isfinite(self._before[-1]):
            raise GraphError("no graph obeys the constraints and the prior")

    def _mine(self, child: Child) -> slice:
        return slice(child.start, child.start + child.size)

    def over_orders(self) -> tuple[Floats, float]:
        """Probabilities of arcs, and the log of the sum of all weights."""
        from mapdag.search.exact.sums import sum_around, sum_orders_after, sum_parents, weigh_predecessors

        watch, n = self._lattice.watch, self._lattice.n_nodes
        after = np.empty(1 << n)
        behind = reversed(self._layers)
        jobs = [[partial(sum_orders_after, *each, self._families, after) for each in layer] for layer in behind]
        watch.work_in_layers("summing orders", jobs)
        total = float(self._before[-1])
        probabilities = np.zeros((n, n))

        def weigh(child: Child) -> None:
            weights, found = np.empty(child.size), np.empty(len(child.candidates))
            weigh_predecessors(child.node, self._before, after, self._families.places[child.node], weights)
            watch.check()
            sum_around(weights, child.pinned)
            sum_parents(self.single[self._mine(child)], weights, found)
            probabilities[list(child.candidates), child.node] = np.exp(found - total)

        watch.work("weighing parents", [partial(weigh, child) for child in self._lattice.children])
        return probabilities, total

    def over_graphs(self) -> tuple[Floats, float]:
        """Probabilities of arcs, and the log of the sum of all weights."""
        from mapdag.search.exact.sums import Known, share_parents, sum_graphs, weigh_graphs

        watch, n = self._lattice.watch, self._lattice.n_nodes
        clashes = np.array([child.nodes(child.pinned) for child in self._lattice.children], dtype=np.int64)
        sums, after, weights = np.zeros(1 << n), np.zeros(1 << n), np.zeros((n, 1 << n))
        known = Known(self._families, clashes, self._before)
        nodes = [(first, min(first + _FEW, len(sums))) for first in range(0, len(sums), _FEW)]
        jobs = [partial(sum_graphs, *each, known, sums) for each in nodes]
        watch.work("summing graphs", jobs, in_turn=True)
        jobs = [partial(weigh_graphs, *each, known, sums, after, weights) for each in reversed(nodes)]
        watch.work("weighing graphs", jobs, in_turn=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.rest = np.log(np.maximum(after, 0.0)) + (self._before[-1] - self._before)
        probabilities = np.zeros((n, n))

        def share(child: Child) -> None:
            mine, found = self._mine(child), np.empty(len(child.candidates))
            places = self._families.places[child.node]
            share_parents(self.single[mine], self.within[mine], weights[child.node], places, child.pinned, found)
            probabilities[list(child.candidates), child.node] = found / sums[-1]

        watch.work("weighing parents", [partial(share, child) for child in self._lattice.children])
        return probabilities, float(self._before[-1] + np.log(sums[-1]))
