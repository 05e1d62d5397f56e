"""What to count for some requests: which tables, in which passes over the rows, and where each will be found.

A table belongs to a set of variables: two families with the same members share it, whoever is the child.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.counts.blocks import Jobs
    from mapdag.counts.engine import Request

    Ints = NDArray[np.int64]

_MOST_DENSE = 1 << 20  # cells of a table up to which it is counted in full, unless there are far more than rows
_WORD = 1 << 64


@dataclass(frozen=True)
class Table:
    """Where the counts of a set of variables will be: in which pass, and where in it."""

    turn: int  # number of the pass
    place: int  # where it begins among the full tables; which one it is among the sparse ones
    order: tuple[int, ...]  # the variables, as digits of a cell's position, the highest first
    is_full: bool


@dataclass
class Turn:
    """What is counted in one pass over the rows.

    Attributes
    ----------
    families, ways
        What goes into full tables: parents and child, candidates; and how it is counted.
    sizes
        How many cells each of these takes.
    sparse
        Variables of each table of which only what occurs is kept, in words (see `words_of`).
    """

    families: list[tuple[tuple[int, ...], list[int]]] = field(default_factory=list)
    ways: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    sparse: list[tuple[tuple[int, ...], ...]] = field(default_factory=list)
    full: int = 0  # cells of all full tables

    def renamed(self, columns: Sequence[int]) -> Turn:
        """Return the same for a table in which the variables are other columns."""
        families = [
            (tuple(columns[v] for v in family), [columns[c] for c in candidates])
            for family, candidates in self.families
        ]
        sparse = [tuple(tuple(columns[v] for v in word) for word in words) for words in self.sparse]
        return replace(self, families=families, sparse=sparse)

    def jobs(self) -> Jobs:
        """Return what goes into full tables, for kernels."""
        from mapdag.counts.blocks import Jobs

        members, candidates = zip(*self.families, strict=True) if self.families else ((), ())
        joined = [
            np.array([node for nodes in kind for node in nodes], dtype=np.int64) for kind in (members, candidates)
        ]
        ends = [np.cumsum([len(nodes) for nodes in kind], dtype=np.int64) for kind in (members, candidates)]
        starts = np.cumsum([0, *self.sizes], dtype=np.int64)
        return Jobs(joined[0], ends[0], joined[1], ends[1], np.array(self.ways, dtype=np.int64), starts)


class Agenda:
    """What to count for some requests.

    Parameters
    ----------
    requests : sequence of Request
    cards : int64 array (nodes,)
    n_rows : int
        Of all blocks.
    block_rows : int
        Of one of them, about.
    most_cells : int
        How many cells the tables of one pass may have together; a single table may have more.
    """

    def __init__(self, requests: Sequence[Request], cards: Ints, n_rows: int, block_rows: int, most_cells: int) -> None:
        self._cards = cards
        self._levels: list[int] = cards.tolist()
        self._n_rows = n_rows
        self._block_rows = block_rows
        self._most_cells = most_cells
        self._tables: dict[tuple[int, ...], Table] = {}
        self._room = 0
        self.turns: list[Turn] = []
        self.families = 0
        for child, parents, candidates in requests:
            if candidates is not None:
                self._plan(child, parents, candidates)
            else:  # as one more parent added to the others, or as it is
                self._plan(child, parents[:-1], parents[-1:] or None)

    def table(self, child: int, parents: Sequence[int]) -> Table:
        """Return where the counts of a family will be."""
        return self._tables[tuple(sorted((*parents, child)))]

    def _plan(self, child: int, parents: tuple[int, ...], candidates: tuple[int, ...] | None) -> None:
        """Plan the tables of one family with each of some candidates; without any, of a node alone."""
        from mapdag.counts.choice import AUTO, BITSETS, choose

        family = (*parents, child)
        if candidates is None:
            self.families += 1
            if (child,) not in self._tables:
                self._add(family, (), BITSETS)
            return
        self.families += len(candidates)
        new = [c for c in candidates if tuple(sorted((*family, c))) not in self._tables]
        dense = math.prod(self._levels[v] for v in family)
        most = min(_MOST_DENSE, 4 * self._n_rows + 1024)
        full = [c for c in new if dense * self._levels[c] <= most]
        how = choose(self._block_rows, np.array(family), np.array(full, dtype=np.int64), self._cards, AUTO).tolist()
        for way in sorted(set(how)):
            mine = [c for c, each in zip(full, how, strict=True) if each == way]
            for some in self._portions(mine, dense):
                self._add(family, tuple(some), way)
        for c in new:
            if dense * self._levels[c] > most:
                self._add_sparse((*parents, c, child))

    def _portions(self, candidates: list[int], dense: int) -> Iterator[list[int]]:
        """Split candidates so that no portion has more cells than a pass may have."""
        some: list[int] = []
        cells = 2 * dense
        for c in candidates:
            if some and cells + dense * self._levels[c] > self._most_cells:
                yield some
                some, cells = [], 2 * dense
            some.append(c)
            cells += dense * self._levels[c]
        if some:
            yield some

    def _turn(self, cells: int) -> Turn:
        """Return a pass that has room for so many cells more, or nothing yet."""
        if not self._room or self._room < cells:
            self.turns.append(Turn())
            self._room = self._most_cells
        self._room = max(self._room - cells, 0)
        return self.turns[-1]

    def _add(self, family: tuple[int, ...], candidates: tuple[int, ...], way: int) -> None:
        """Add full tables, laid out as in `mapdag.counts.blocks.add_block`."""
        from mapdag.counts.choice import BITSETS

        dense = math.prod(self._levels[v] for v in family)
        by_bits = way == BITSETS
        size = dense * (sum(self._levels[c] for c in candidates) + 2 * by_bits)
        turn = self._turn(size)
        number, place = len(self.turns) - 1, turn.full
        turn.families.append((family, list(candidates)))
        turn.ways.append(way)
        turn.sizes.append(size)
        turn.full += size
        if not candidates:
            self._tables[family] = Table(number, place, family, is_full=True)
        place += dense if by_bits else 0
        for c in candidates:
            order = (c, *family) if by_bits else (*family, c)
            self._tables[tuple(sorted(order))] = Table(number, place, order, is_full=True)
            place += dense * self._levels[c]

    def _add_sparse(self, order: tuple[int, ...]) -> None:
        turn = self._turn(min(math.prod(self._levels[v] for v in order), self._n_rows))
        table = Table(len(self.turns) - 1, len(turn.sparse), order, is_full=False)
        turn.sparse.append(words_of(order, self._levels))
        self._tables[tuple(sorted(order))] = table


def words_of(order: Sequence[int], levels: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Split variables into words, so that the cells of each word can be numbered in 64 bits.

    >>> words_of((0, 1, 2), (2**32, 2**31, 3))
    ((0, 1), (2,))
    """
    words: list[list[int]] = [[]]
    cells = 1
    for variable in order:
        cells *= levels[variable]
        if cells > _WORD and words[-1]:
            words.append([])
            cells = levels[variable]
        words[-1].append(variable)
    return tuple(map(tuple, words))
