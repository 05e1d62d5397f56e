"""How far a run is, and how long it will take: values for whoever shows them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mapdag.study.design import n_rows, network_name
from mapdag.study.samples import load_network
from mapdag.wording import duration

if TYPE_CHECKING:
    from mapdag.study.cells import Cell, Task
    from mapdag.study.design import Design

_ROWS = 500  # rows whose counting takes as long as what does not depend on the rows


@dataclass(frozen=True)
class Share:
    """How much of a network's part is done."""

    network: str
    done: int
    total: int


@dataclass(frozen=True)
class Progress:
    """The state of a run.

    Attributes
    ----------
    done, total : int
        Cells done, those of earlier runs included, and cells of the design.
    fresh : int
        Cells done by this run.
    seconds : float
        Since this run began.
    left : float, optional
        Estimate of the seconds that the rest will take; None as long as there is nothing to estimate it from.
    networks : tuple of Share
    failures : int
        Cells or tasks that failed so far.
    """

    done: int
    total: int
    fresh: int
    seconds: float
    left: float | None
    networks: tuple[Share, ...]
    failures: int = 0

    @property
    def rate(self) -> float:
        """Cells per second of this run."""
        return self.fresh / self.seconds if self.seconds > 0 else 0.0

    def __str__(self) -> str:
        left = "" if self.left is None else f", {duration(self.left)} left"
        busy = [f"{s.network} {s.done}/{s.total}" for s in self.networks if 0 < s.done < s.total]
        failed = f", {self.failures} failed" if self.failures else ""
        text = f"{self.done:,}/{self.total:,} cells, {self.rate:.1f}/s{left}{failed}"
        return text + (f" ({', '.join(busy)})" if busy else "")


def cost(task: Task) -> float:
    """Rough cost of a task, to put tasks in order and to share out the time left: nodes squared times rows."""
    network = load_network(task.source)
    levels = sum(len(each) for each in network.levels.values())
    return levels * len(network.nodes) * (n_rows(task.size, network.n_parameters) + _ROWS) * 1e-6


def shares(design: Design, done: Iterable[Cell]) -> tuple[Share, ...]:
    """How much of each network's part of a design is done; `done` are cells of the design."""
    counted = Counter(cell.network for cell in done)
    names = [network_name(source) for source in design.networks]
    each = design.n_cells // len(names)
    return tuple(Share(name, counted[name], each) for name in names)


class Tracker:
    """Keeps count while a run goes on.

    Time left: each network's seconds per unit of cost so far, the average of all for those that have none yet. Only
    whole tasks tell: the first cell of a task counts most families for the others, too.
    """

    def __init__(self, design: Design, done: Iterable[Cell], tasks: Iterable[Task], workers: int) -> None:
        self._shares = {share.network: share for share in shares(design, done)}
        self._total = design.n_cells
        self._workers = workers
        self._per_cell: dict[tuple[str, str], float] = {}
        self._left: defaultdict[str, float] = defaultdict(float)
        for task in tasks:
            whole = cost(task)
            self._per_cell[task.network, task.size] = whole / len(design.objectives)
            self._left[task.network] += whole * task.n_cells / len(design.objectives)
        self._spent: defaultdict[str, float] = defaultdict(float)
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self.fresh = 0
        self.failures = 0

    def add(self, task: Task, cells: int) -> None:
        """Count cells that are done."""
        share = self._shares[task.network]
        self._shares[task.network] = Share(share.network, share.done + cells, share.total)
        self._left[task.network] -= self._per_cell[task.network, task.size] * cells
        self.fresh += cells

    def finish(self, task: Task, cells: int, seconds: float) -> None:
        """Take the time of a task that has ended."""
        self._spent[task.network] += self._per_cell[task.network, task.size] * cells
        self._seconds[task.network] += seconds

    def progress(self, seconds: float) -> Progress:
        """The state now."""
        everything = sum(self._spent.values())
        left = None
        if everything > 0:
            average = sum(self._seconds.values()) / everything
            left = 0.0
            for network, units in self._left.items():
                spent = self._spent[network]
                left += max(units, 0.0) * (self._seconds[network] / spent if spent else average)
            left /= self._workers
        done = sum(share.done for share in self._shares.values())
        return Progress(done, self._total, self.fresh, seconds, left, tuple(self._shares.values()), self.failures)
