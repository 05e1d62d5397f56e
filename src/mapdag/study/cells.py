"""The units of a study: a cell is one learned network, a task all the cells of one sample in one order of columns.

A `Row` is what is known of a cell afterwards.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from mapdag.study.design import Columns, Design, Search, network_name


class Cell(NamedTuple):
    """Which network was learned; the key of the results."""

    network: str
    size: str
    replicate: int
    columns: str
    search: str
    objective: str


@dataclass(frozen=True, kw_only=True)
class Row:
    """One learned network.

    Attributes
    ----------
    network, size, replicate, columns, search, objective
        The cell.
    n : int
        Rows of the sample.
    shd : int
        Structural Hamming distance between the equivalence classes of the learned and the true graph.
    arcs, true_arcs : int
        Arcs of the learned and of the true graph.
    log_likelihood : float
        Of the test set, with the posterior means of a uniform Dirichlet prior with alpha = 1.
    score : float
        Posterior score of the learned graph.
    precision, recall : float
        Pairs of nodes joined in the same way (arc or edge) in both equivalence classes, as a share of those joined in
        the learned one, and in the true one.
    skeleton_precision, skeleton_recall : float
        The same, directions ignored.
    moves : int
        Steps of the search; with an optimised alpha, of the last one.
    stopped : str
        Why the search ended.
    graph : str
        Digest of the learned graph.
    alpha : float, optional
        The optimal alpha, where it was asked for.
    flag : str
        "cycle" where the optimal alpha circles and the smallest of the cycle was taken, "rounds" where it did not
        settle in the rounds allowed, otherwise nothing.
    families : int
        Families counted for this row; those that were counted for an earlier row of the sample are free.
    seconds : float
        Seconds to learn it, likewise.

    Notes
    -----
    `families` and `seconds` are costs: they depend on what was learned before from the same sample in the same process.
    Everything else is a function of the cell and the seed.
    """

    network: str
    size: str
    replicate: int
    columns: str
    search: str
    objective: str
    n: int
    shd: int
    arcs: int
    true_arcs: int
    log_likelihood: float
    score: float
    precision: float
    recall: float
    skeleton_precision: float
    skeleton_recall: float
    moves: int
    stopped: str
    graph: str
    alpha: float | None
    flag: str
    families: int
    seconds: float

    @property
    def cell(self) -> Cell:
        """The key of the row."""
        return Cell(self.network, self.size, self.replicate, self.columns, self.search, self.objective)

    @property
    def arc_ratio(self) -> float:
        """Arcs learned for each true one."""
        return self.arcs / self.true_arcs


#: Names of a row's columns, the key first.
FIELDS = tuple(field.name for field in fields(Row))
#: Columns that depend on what else was learned in the same process.
COSTS = ("families", "seconds")


@dataclass(frozen=True)
class Task:
    """The cells of one sample with its columns in one order, all or some: what one worker does in one go.

    Attributes
    ----------
    source : str
        Where the network is from: the name of a bundled one, or a file.
    size, replicate, columns
        Which sample, and the order of its columns.
    work : tuple of (Search, tuple of str)
        The objectives to be learned by each search.
    seed, test_rows : int
        As in the design.
    """

    source: str
    size: str
    replicate: int
    columns: Columns
    work: tuple[tuple[Search, tuple[str, ...]], ...]
    seed: int
    test_rows: int

    @property
    def network(self) -> str:
        """Name of the network in the results."""
        return network_name(self.source)

    @property
    def sample(self) -> tuple[str, str, int, str]:
        """Network, size, replicate and order of the columns: what all cells of the task have in common."""
        return self.network, self.size, self.replicate, self.columns

    def cell(self, search: Search, objective: str) -> Cell:
        """One cell of the task."""
        return Cell(*self.sample, search.label, objective)

    @property
    def n_cells(self) -> int:
        """Networks to be learned."""
        return sum(len(objectives) for _, objectives in self.work)

    def __str__(self) -> str:
        return f"{self.network}, size {self.size}, replicate {self.replicate}, columns {self.columns}"


def missing_tasks(design: Design, done: Collection[Cell] = ()) -> Iterator[Task]:
    """Tasks for those cells of a design that are not done yet, replicate by replicate."""
    replicates, orders = range(1, design.replicates + 1), dict.fromkeys(arm.columns for arm in design.arms)
    for replicate, source, size, columns in itertools.product(replicates, design.networks, design.sizes, orders):
        work = tuple((arm.search, design.objectives_of(arm)) for arm in design.arms if arm.columns == columns)
        task = Task(source, size, replicate, columns, work, design.seed, design.test_rows)
        left = [
            (search, tuple(goal for goal in goals if task.cell(search, goal) not in done)) for search, goals in work
        ]
        if any(goals for _, goals in left):
            yield replace(task, work=tuple((search, goals) for search, goals in left if goals))


def all_cells(design: Design) -> Iterator[Cell]:
    """Every cell of a design."""
    for task in missing_tasks(design):
        for search, objectives in task.work:
            for objective in objectives:
                yield task.cell(search, objective)
