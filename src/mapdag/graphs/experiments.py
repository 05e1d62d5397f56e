"""Which variable to set next: how many directions an experiment would settle, on average over an equivalence class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mapdag.errors import CapacityError
from mapdag.graphs.base import check_graph
from mapdag.graphs.masks import count, members
from mapdag.graphs.meek import Orientation, meek_closure
from mapdag.tables import Column, Table, Tabular
from mapdag.wording import plural

if TYPE_CHECKING:
    from mapdag.graphs.cpdag import CPDAG

_MOST_STATES = 200_000  # partly directed components that are told apart while graphs are counted


@dataclass(frozen=True, repr=False)
class NextExperiments(Tabular):
    """What setting each variable would tell.

    Attributes
    ----------
    open : float
        Edges whose direction is not known: of the class or, where many graphs were drawn, on average.
    settled : mapping of str to float
        How many of them an experiment that sets a variable, with many rows, would settle on average.
    graphs : int
        How many graphs there are in the class, or how many were drawn.
    information : mapping of str to float
        Where graphs were drawn from a posterior: how much an experiment would tell about the class, in nats.
    """

    open: float
    settled: Mapping[str, float]
    graphs: int
    information: Mapping[str, float] = field(default_factory=dict)

    @property
    def best(self) -> str | None:
        """The variable to set: the one that settles the most; None where nothing is open."""
        ranked = self._ranked()
        return ranked[0] if ranked and self.settled[ranked[0]] > 0 else None

    def _ranked(self) -> list[str]:
        return sorted(self.settled, key=lambda name: -round(self.settled[name], 9))

    def to_table(self, most: int | None = None) -> Table:
        """Return the variables, those first that settle the most."""
        every = [name for name in self._ranked() if self.settled[name] > 0]
        names = every[:most]
        columns = [
            Column("set", names),
            Column("settled", np.array([self.settled[name] for name in names], dtype=np.float64), ".2f", right=True),
        ]
        if self.information:
            told = np.array([self.information[name] for name in names], dtype=np.float64)
            columns.append(Column("information", told, ".3f", right=True))
        return Table(columns, title=repr(self), left=len(every) - len(names), rest="more variables")

    def __repr__(self) -> str:
        drawn = "graphs that were drawn" if self.information else "graphs of the class"
        edges = plural(round(self.open), "edge") if float(self.open).is_integer() else f"{self.open:.3g} edges"
        return f"{edges} of unknown direction; averages over {self.graphs:,} {drawn}"


def next_experiments(graph: CPDAG) -> NextExperiments:
    """Tell for each node how many directions would be settled by an experiment that sets it, and nothing else.

    Such an experiment shows the direction of every edge of the node, and what follows from that by Meek's rules. Which
    directions these are depends on the true graph; all graphs of the class count the same.

    Parameters
    ----------
    graph : CPDAG
        A class, of `DAG.to_cpdag` or, with what constraints and earlier experiments tell, `Result.identified`.

    Raises
    ------
    CapacityError
        If there are too many graphs to count; a posterior (`mapdag.posterior`) is an average over some of them.

    Examples
    --------
    >>> from mapdag.graphs import CPDAG
    >>> print(next_experiments(CPDAG(list("ABCD"), edges=[("A", "B"), ("B", "C"), ("C", "D")])))
    3 edges of unknown direction; averages over 4 graphs of the class
    set  settled
    B       2.50
    C       2.50
    A       1.50
    D       1.50
    """
    check_graph("graph", graph)
    closed = meek_closure(graph)
    start = Orientation(closed.adjacent_masks, closed.parent_masks)
    counter = _Counter()
    total, n_open = counter.graphs(start), count(start.neighbours) // 2
    settled = {}
    for i, name in enumerate(closed.nodes):
        gained = sum(counter.graphs(each) * (n_open - count(each.neighbours) // 2) for each in directed_at(start, i))
        settled[name] = gained / total
    return NextExperiments(n_open, settled, total)


def directed_at(state: Orientation, node: int) -> Iterator[Orientation]:
    """Yield every way to direct the edges of a node, with what follows; each edge that is left can go either way."""
    if not state.neighbours[node]:
        yield state
        return
    other = members(state.neighbours[node])[0]
    for arc in ((node, other), (other, node)):
        more = state.copy()
        more.direct(*arc)
        more.propagate([arc])
        yield from directed_at(more, node)


class _Counter:
    """Counts the graphs that a partially directed graph stands for."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[int, int, int], ...], int] = {}

    def graphs(self, state: Orientation, within: int = -1) -> int:
        """Return how many there are: components that edges join are directed independently of each other.

        Only those `within` some nodes count.
        """
        total = 1
        for component in _components(state.neighbours):
            if component & within:
                total *= self._of_component(state, component)
        return total

    def _of_component(self, state: Orientation, component: int) -> int:
        key = tuple((i, state.parents[i] & component, state.neighbours[i]) for i in members(component))
        if key not in self._known:
            if len(self._known) >= _MOST_STATES:
                raise CapacityError(
                    "the class has too many graphs to count: mapdag.posterior(...).next_experiments() averages over "
                    "some of them"
                )
            node = max(members(component), key=lambda i: state.neighbours[i].bit_count())
            self._known[key] = sum(self.graphs(each, component) for each in directed_at(state, node))
        return self._known[key]


def _components(neighbours: list[int]) -> Iterator[int]:
    """Yield the sets of nodes that edges join, those of one node apart."""
    left = sum(1 << i for i, mask in enumerate(neighbours) if mask)
    while left:
        found, waiting = 0, left & -left
        while waiting:
            found |= waiting
            waiting = 0
            for i in members(found):
                waiting |= neighbours[i] & ~found
        yield found
        left &= ~found
