"""The door to counts: what a counting engine promises, and which ones there are.

Whoever can answer ``tables(requests)`` can be searched with: counts are whole numbers, sums of whole numbers have no
order, so every engine gives the same tables, hence the same scores to the last bit, hence the same graph. An engine is
one file and one line in `ENGINES`; `docs/extend.md` has a worked example.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from mapdag.counts.table import declared
from mapdag.errors import ParameterError
from mapdag.wording import brief

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mapdag.counts.table import CountTable, TableBatch
    from mapdag.data import Dataset


class Request(NamedTuple):
    """A child with some parents: extended by each of some candidate parents, or as it is."""

    child: int
    parents: tuple[int, ...]  # ascending
    candidates: tuple[int, ...] | None = None  # None: as it is

    def families(self) -> list[tuple[int, ...]]:
        """Parents of every family that is asked for, ascending."""
        if self.candidates is None:
            return [self.parents]
        return [tuple(sorted((*self.parents, extra))) for extra in self.candidates]


class Engine(ABC):
    """Counts families of one data set, wherever its rows are; nodes are column indices.

    Attributes
    ----------
    cards : int64 array (nodes,)
        Declared levels.
    n_rows : int
    total : float
        Number of rows, or the sum of their weights.
    fractions : int
        How many counts a table can have that are not whole; 0 where all are.
    threads : int
        How many threads it may count with.
    """

    cards: NDArray[np.int64]
    n_rows: int
    total: float
    fractions: int
    threads: int = 1

    counts_gaps: ClassVar[bool] = False
    """Whether rows may have gaps: those that lack a member of a family are then not in its table."""

    counts_interventions: ClassVar[bool] = False
    """Whether values may have been set in some rows: these are then not in the tables of the variables that were."""

    @property
    def n_nodes(self) -> int:
        """Number of variables."""
        return len(self.cards)

    @property
    def is_compiled(self) -> bool:
        """Whether compiled code may count by itself, from `Rows`, without asking here; only a `Counter` may say so."""
        return False

    @cached_property
    def card_values(self) -> NDArray[np.float64]:
        """Different numbers of levels, ascending."""
        return np.unique(self.cards).astype(np.float64)

    @cached_property
    def card_index(self) -> NDArray[np.int64]:
        """Which of them each variable has."""
        return np.searchsorted(self.card_values, self.cards)

    def configurations(self, parents: Sequence[int]) -> int:
        """Return how many configurations of these parents are declared."""
        return math.prod(int(self.cards[p]) for p in parents)

    def declared(self, parents: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Declared configurations of these parents and one more with the i-th number of levels, and their logs.

        Whole numbers until the end, so that the order of the parents leaves no trace.
        """
        q = self.configurations(parents)
        if q not in self._declared:
            self._declared[q] = declared([q * int(r) for r in self.card_values])
        return self._declared[q]

    @cached_property
    def _declared(self) -> dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        return {}

    @abstractmethod
    def tables(self, requests: Sequence[Request]) -> list[TableBatch]:
        """Count every family of some requests: a batch of tables for each, positive counts only."""

    @abstractmethod
    def table(self, child: int, parents: Sequence[int]) -> CountTable:
        """Count one family in full: which configuration and level each count belongs to."""

    def observed(self, parents: Sequence[int]) -> int:
        """Return how many configurations of these parents occur."""
        if not parents:
            return 1 if self.n_rows else 0
        return len(self.table(parents[-1], parents[:-1]).counts)


#: Where each engine is: a class that takes a data set.
ENGINES: dict[str, str | Callable[[Dataset], Engine]] = {
    "cores": "mapdag.counts.cores:Counter",
    "blocks": "mapdag.counts.summed:BlocksEngine",
}


def engine_of(data: Dataset) -> Engine:
    """Make the engine that a data set is counted by unless somebody asks for another."""
    return make_engine(data.engine, data)


def make_engine(engine: str | Callable[[Dataset], Engine], data: Dataset) -> Engine:
    """Make an engine from its name, or from a function of a data set."""
    found = ENGINES.get(engine) if isinstance(engine, str) else engine
    if isinstance(found, str):
        module, _, name = found.partition(":")
        found = getattr(import_module(module), name)
    made = found(data) if callable(found) else None
    if not isinstance(made, Engine):
        raise ParameterError(f"engine must be one of {', '.join(ENGINES)}, or make an Engine, got {brief(engine)}")
    if data.has_gaps and not made.counts_gaps:
        raise ParameterError(f'engine must be one that counts rows with gaps, such as "cores", got {engine!r}')
    if data.interventions is not None and not made.counts_interventions:
        raise ParameterError(
            f'engine must be one that takes interventions into account, such as "cores", got {engine!r}'
        )
    return made
