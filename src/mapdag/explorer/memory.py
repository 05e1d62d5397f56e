"""What was counted and scored of one table: shared by all requests, so that a slider need not count again.

A change of the prior or of the constraints finds all scores on the same `Shelf`. A change of alpha, or of the
likelihood, finds the tables that hill climbing has counted (`RememberedTables`) and scores them anew.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from mapdag.counts import engine_of
from mapdag.counts.remembered import RememberedTables
from mapdag.search.cache import FamilyCache, Shelf
from mapdag.search.plan import SEARCHES

if TYPE_CHECKING:
    from mapdag.contracts import Objective
    from mapdag.counts import Engine
    from mapdag.data import Dataset
    from mapdag.families import Criterion
    from mapdag.search import Result
    from mapdag.search.frame.options import Options
    from mapdag.search.plan import Plan

_PATIENCE = 0.5  # seconds to wait for a search that was told to end, before its scores are made anew
_WAIT = 0.002


class Memory:
    """Scores and counts of one table.

    Parameters
    ----------
    data : Dataset
        In the order of columns by which ties are broken.
    alike : tuple of tuples of str
        Columns that cannot be told apart.
    most : int
        Bytes to remember: half of them counts, half of them scores.
    """

    def __init__(self, data: Dataset, alike: tuple[tuple[str, ...], ...], most: int) -> None:
        self.data, self.alike = data, alike
        self._most = most
        self._engine = engine_of(data)
        self._tables = RememberedTables(self._engine, most // 2)
        self._shelves: OrderedDict[tuple[Criterion, ...], Shelf] = OrderedDict()
        self._taken: set[int] = set()
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Bytes that are remembered."""
        with self._lock:
            return self._tables.size + sum(shelf.size for shelf in self._shelves.values())

    @contextmanager
    def scores(self, objective: Objective, options: Options) -> Iterator[Scores]:
        """Give the scores of an objective under the constraints of some options, to one search at a time."""
        found = Scores(self, objective, options)
        try:
            yield found
        finally:
            found.close()

    def learn(self, objective: Objective, plan: Plan, names: Sequence[str], data: Dataset) -> Result:
        """Learn once, from what is known."""
        with self.scores(objective, plan.options) as scores:
            return scores.learn(plan, names, data)

    def engine(self, search: str) -> Engine:
        """Return who counts for a search: one that remembers where a search asks for little."""
        return self._tables if search == "hc" else self._engine

    def take(self, criteria: Sequence[Criterion]) -> Shelf:
        """Take a shelf for some criteria; one that another search has not given back is made anew."""
        key, until = tuple(criteria), time.monotonic() + _PATIENCE
        while True:
            with self._lock:
                known = self._shelves.get(key)
                if known is None or id(known) not in self._taken:
                    break
            if time.monotonic() > until:
                known = None
                break
            time.sleep(_WAIT)
        with self._lock:
            shelf = Shelf(self.data.n_columns, key) if known is None or id(known) in self._taken else known
            self._taken.add(id(shelf))
            return shelf

    def give_back(self, shelf: Shelf) -> None:
        """Keep the scores of a search that has ended; what was not used for the longest is forgotten first."""
        with self._lock:
            self._taken.discard(id(shelf))
            self._shelves[shelf.criteria] = shelf
            self._shelves.move_to_end(shelf.criteria)
            while len(self._shelves) > 1 and sum(each.size for each in self._shelves.values()) > self._most // 2:
                self._shelves.popitem(last=False)

    @property
    def counted(self) -> int:
        """Tables that were counted to be remembered."""
        return self._tables.counted


class Scores:
    """The scores of one objective, as long as somebody searches with them.

    Parameters
    ----------
    memory : Memory
    objective : Objective
    options : Options
        Whose constraints hold.
    """

    def __init__(self, memory: Memory, objective: Objective, options: Options) -> None:
        self._memory, self._objective, self._options = memory, objective, options
        self._shelf: Shelf | None = None

    def learn(self, plan: Plan, names: Sequence[str], data: Dataset) -> Result:
        """Search; the result is of the table as it was given, its columns in their own order."""
        cache = self._cache(plan.search)
        counted = self._memory.counted
        found = SEARCHES[plan.search](self._objective, cache, plan.options, **plan.special)
        certificate = found.certificate and found.certificate.reordered(names)
        families = self._memory.counted - counted if plan.search == "hc" else found.families
        return replace(
            found,
            dag=found.dag.reordered(names),
            data=data,
            alike=self._memory.alike,
            certificate=certificate,
            families=families,
        )

    def close(self) -> None:
        """Let others have them."""
        if self._shelf is not None:
            self._memory.give_back(self._shelf)
            self._shelf = None

    def _cache(self, search: str) -> FamilyCache:
        engine = self._memory.engine(search)
        return FamilyCache(
            self._memory.data,
            [self._objective],
            constraints=self._options.constraints,
            engine=lambda _: engine,
            threads=self._options.n_threads,
            shelf=self._take,
        )

    def _take(self, criteria: Sequence[Criterion]) -> Shelf:
        if self._shelf is None:
            self._shelf = self._memory.take(criteria)
        return self._shelf
