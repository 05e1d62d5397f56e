"""Where arcs live: the intervals of alpha, and of the prior's number, in which the graph has them; and both at once.

Graphs are learned by hill climbing, which finds counts and scores in the memory of the table. Two nodes count as joined
whatever the direction of the arc: directions that the data do not tell come and go.
"""

from __future__ import annotations

import math
import time
from itertools import pairwise
from typing import TYPE_CHECKING

from mapdag.errors import MapdagError
from mapdag.explorer.answers import finite
from mapdag.explorer.learning import learn_quietly
from mapdag.explorer.settings import WITH_ALPHA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mapdag.explorer.jobs import Job
    from mapdag.explorer.library import Table
    from mapdag.explorer.limits import Limits
    from mapdag.explorer.settings import Arc, Settings
    from mapdag.search import Result

RANGES = {"alpha": (0.01, 1000.0), "c": (0.05, 10.0), "beta": (0.0001, 0.9999)}
"""What is looked at, of each number."""

_COARSE = 21  # values of a number to begin with
_FINEST = 1.02  # ratio of two values between which nothing is looked for
_MOST = 220  # graphs for one number
_CELLS = 13  # values of each number on a map
_EVERY = 0.25


def lives(job: Job, table: Table, settings: Settings, limits: Limits) -> None:
    """Tell for each pair of nodes where it is joined, first along alpha, then along the prior's number."""
    until = time.monotonic() + limits.background
    numbers = numbers_of(settings)
    if not numbers:
        job.tell("life", parameter=None, done=0, of=0, low=None, high=None, arcs=[], final=True)
    for parameter in numbers:
        _Strips(job, table, settings, parameter, until).run(last=parameter == numbers[-1])


def numbers_of(settings: Settings) -> list[str]:
    """Return the numbers of some settings that a graph may depend on."""
    found = ["alpha"] if settings.likelihood in WITH_ALPHA else []
    if settings.prior == "MU":
        found.append("c" if settings.beta is None else "beta")
    return [*found, "beta"] if settings.prior == "VSP" else found


class _Strips:
    """The lives of arcs along one number."""

    def __init__(self, job: Job, table: Table, settings: Settings, parameter: str, until: float) -> None:
        self._job, self._table, self._settings = job, table, settings
        self._parameter, self._until = parameter, until
        self._low, self._high = _range(parameter, table, settings)
        self._found: dict[float, frozenset[Arc]] = {}
        self._names: dict[Arc, Arc] = {}  # how each pair is written
        self._last = 0.0

    def run(self, *, last: bool) -> None:
        """Look at some values, then between those at which the graphs differ."""
        value = getattr(self._settings, self._parameter)
        coarse = _spaced(self._low, self._high, _COARSE)
        if value is not None and self._low < value < self._high:
            coarse = sorted({*coarse, value})
        for number, each in enumerate(coarse):
            self._look(each)
            self._tell(number + 1, len(coarse), final=False)
        done = len(coarse)
        while done < _MOST and time.monotonic() < self._until:
            gaps = self._gaps()
            if not gaps:
                break
            for lower, upper in gaps[: _MOST - done]:
                self._look(math.sqrt(lower * upper))
                done += 1
                self._tell(done, done + len(gaps), final=False)
        self._tell(done, done, final=True, last=last)

    def _look(self, value: float) -> None:
        self._job.check()
        try:
            found = learn_quietly(
                self._table, self._settings.changed(**{self._parameter: value}), self._job, search="hc", threads=1
            )
        except MapdagError:  # a number that this many nodes do not allow
            return
        if not self._names or value == getattr(self._settings, self._parameter):
            self._names |= {_pair(arc): arc for arc in found.dag.arcs}
        self._names = {_pair(arc): arc for arc in found.dag.arcs} | self._names
        self._found[value] = frozenset(map(_pair, found.dag.arcs))

    def _gaps(self) -> list[tuple[float, float]]:
        """Return neighbouring values with different graphs, the widest gaps first."""
        values = sorted(self._found)
        found = [
            (lower, upper)
            for lower, upper in pairwise(values)
            if upper / lower > _FINEST and self._found[lower] != self._found[upper]
        ]
        return sorted(found, key=lambda gap: gap[0] / gap[1])

    def _tell(self, done: int, size: int, *, final: bool, last: bool = False) -> None:
        now = time.monotonic()
        if not final and now - self._last < _EVERY:
            return
        self._last = now
        self._job.tell(
            "life",
            parameter=self._parameter,
            done=done,
            of=size,
            low=self._low,
            high=self._high,
            arcs=[[*self._names[pair], spans] for pair, spans in self._spans().items()],
            final=final,
            last=last,
        )

    def _spans(self) -> dict[Arc, list[list[float]]]:
        values = sorted(self._found)
        spans: dict[Arc, list[list[float]]] = {}
        for place, value in enumerate(values):
            begins = self._low if place == 0 else math.sqrt(values[place - 1] * value)
            ends = self._high if place == len(values) - 1 else math.sqrt(value * values[place + 1])
            for pair in self._found[value]:
                known = spans.setdefault(pair, [])
                if known and known[-1][1] == begins:
                    known[-1][1] = ends
                else:
                    known.append([begins, ends])
        return dict(sorted(spans.items()))


def fill_map(job: Job, table: Table, settings: Settings, limits: Limits) -> None:
    """Tell the graph at each point of a grid of alpha and the prior's number, coarse first."""
    until = time.monotonic() + limits.background
    numbers = numbers_of(settings)
    alphas = _spaced(*_range("alpha", table, settings), _CELLS) if "alpha" in numbers else [settings.alpha]
    other = next((each for each in numbers if each != "alpha"), None)
    values = [None] if other is None else _spaced(*_range(other, table, settings), _CELLS)
    job.tell("grid", alphas=alphas, parameter=other, values=values)
    for i, j in _coarse_first(len(alphas), len(values)):
        if time.monotonic() > until:
            break
        job.check()
        changed = {"alpha": alphas[i]} | ({} if other is None else {other: values[j]})
        try:
            found: Result = learn_quietly(table, settings.changed(**changed), job, search="hc", threads=1)
        except MapdagError as error:
            job.tell("cell", i=i, j=j, score=None, arcs=[], error=str(error))
            continue
        job.tell("cell", i=i, j=j, score=finite(found.score), arcs=found.dag.arcs)
    job.tell("done")


def _range(parameter: str, table: Table, settings: Settings) -> tuple[float, float]:
    """Return what is looked at of a number: c is below half the nodes less one, and what is set is always in it."""
    low, high = RANGES[parameter]
    value = getattr(settings, parameter)
    if value is not None:
        low, high = min(low, value), max(high, value)
    if parameter == "c":
        nodes = table.data.n_columns
        high = min(high, 0.999 * (nodes - 1) / 2) if nodes >= 5 else high
    return low, high


def _spaced(low: float, high: float, size: int) -> list[float]:
    """Return values at equal distances of their logs, three digits each."""
    step = math.log(high / low) / (size - 1)
    inner = [float(f"{low * math.exp(step * i):.3g}") for i in range(1, size - 1)]
    return sorted({low, *(value for value in inner if low < value < high), high})


def _pair(arc: Sequence[str]) -> Arc:
    return (arc[0], arc[1]) if arc[0] <= arc[1] else (arc[1], arc[0])


def _coarse_first(rows: int, columns: int) -> Iterator[tuple[int, int]]:
    """Go through a grid, every fourth point first, then every second, then all.

    >>> list(_coarse_first(3, 1))
    [(0, 0), (2, 0), (1, 0)]
    """
    seen: set[tuple[int, int]] = set()
    for step in (4, 2, 1):
        for i in range(0, rows, step):
            for j in range(0, columns, step):
                if (i, j) not in seen:
                    seen.add((i, j))
                    yield i, j
