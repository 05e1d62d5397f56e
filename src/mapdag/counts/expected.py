"""The engine that counts rows with gaps by what a network expects of them, exactly.

Given what is known of a row, its gaps fall apart into components that are independent of each other, and each has a
list of joint levels with their probabilities (`Posterior`). The expected count of a cell of any family is a sum over
rows of products over components. Contributions are rounded to multiples of a power of two, 2^-62 of all rows together,
and added up as whole numbers: sums have no order. A count is a function of a set of variables and a cell, whoever is
the child, so that scores that should be equal are.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.counts.engine import Engine, Request
from mapdag.counts.table import Counted, CountTable, TableBatch, declared
from mapdag.errors import CapacityError
from mapdag.tasks import pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

DENSE = 1 << 22
"""Cells of a set of variables that are counted into a full table."""

_KEPT = 1 << 24  # cells of all sets that are remembered
_BUFFER = 1 << 20  # contributions that are added up at a time where tables are not full
_WORTH_A_THREAD = 1 << 16  # rows times sets


class Posterior(NamedTuple):
    """What is known of rows with gaps, and the distributions of their gaps given that."""

    codes: Any  # (variables, rows) unsigned; a gap is the number of levels
    cards: Ints  # (variables,)
    weights: Floats  # (rows,)
    cells: NDArray[np.int32]  # (variables, rows) number of each gap, -1 where there is none
    components: NDArray[np.int32]  # (gaps,) which component each belongs to,
    columns: NDArray[np.int32]  # (gaps,) and which of its variables it is
    marginal_starts: Ints  # (gaps,) where its own distribution is
    marginals: Floats  # of all gaps
    state_ends: Ints  # (components + 1,) where the joint levels of each component begin, and end
    code_starts: Ints  # (components,) where their codes begin, one joint level after the other
    sizes: NDArray[np.int32]  # (components,) variables of each
    probabilities: Floats  # of all joint levels
    levels: Any  # unsigned; codes of all joint levels
    longest: int  # most joint levels of a component, or levels of a variable

    def select(self, columns: Sequence[int]) -> Posterior:
        """Return some of the variables."""
        mine = list(columns)
        return self._replace(
            codes=np.ascontiguousarray(self.codes[mine]),
            cards=self.cards[mine],
            cells=np.ascontiguousarray(self.cells[mine]),
        )


class Table(NamedTuple):
    """Expected counts of a set of variables, in units: of all its cells, or of those with these numbers, ascending."""

    counts: Ints
    cells: Ints | None


class ExpectedEngine(Engine):
    """Counts what rows with gaps are expected to hold.

    Parameters
    ----------
    data : Completed
        With a `posterior`, and `least`: configurations of parents that are expected in fewer rows are left out.
    """

    counts_gaps = True
    fractions = DENSE  # tables with more positive cells than that are none that anybody would keep

    def __init__(self, data: Any) -> None:
        self._posterior: Posterior = data.posterior
        self._least = float(data.least)
        self.cards = self._posterior.cards
        self.n_rows = self._posterior.codes.shape[1]
        self.total = float(data.total)
        self._bits = 62 - math.frexp(max(self.total, 1.0))[1]
        self._known: dict[tuple[int, ...], Table] = {}
        self._cells = 0

    @cached_property
    def _levels(self) -> list[int]:
        return self.cards.tolist()

    def tables(self, requests: Sequence[Request]) -> list[TableBatch]:
        """Count every family of some requests: a batch of tables for each, positive counts only."""
        wanted = set()
        for request in requests:
            for parents in request.families():
                wanted |= {tuple(sorted(parents)), tuple(sorted((request.child, *parents)))}
        self._count(wanted)
        return [self._batch(request.child, request.families()) for request in requests]

    def _batch(self, child: int, families: list[tuple[int, ...]]) -> TableBatch:
        """Put the tables of one child together; which configuration a count belongs to does not matter here."""
        q, log_q = declared([self.configurations(parents) for parents in families])
        every, totals = [], []
        for parents in families:
            cells, counts = self._positive(tuple(sorted((child, *parents))))
            of_parents = self._positive(tuple(sorted(parents)))[1]
            if self._least > 0:
                counts = counts[self._above(child, parents, cells) >= self._threshold]
                of_parents = of_parents[of_parents >= self._threshold]
            every.append(counts)
            totals.append(of_parents)
        sizes = np.array([[len(a), len(b)] for a, b in zip(every, totals, strict=True)], dtype=np.int64)
        ends = np.cumsum(sizes, axis=0)
        found = [np.ldexp(np.concatenate(each).astype(np.float64), -self._bits) for each in (every, totals)]
        mine = [np.ascontiguousarray(each) for each in (*ends.T, *sizes.T)]
        return TableBatch(
            counts=Counted(found[0], mine[0], found[1], mine[1], mine[2], mine[3]),
            child=child,
            r=self._levels[child],
            q=q,
            log_q=log_q,
            n_parents=np.array([len(parents) for parents in families], dtype=np.int64),
            total=self.total,
        )

    @property
    def _threshold(self) -> float:
        """What a configuration must have to be observed, in units."""
        return max(self._least * 2.0**self._bits, 1.0)

    def _above(self, child: int, parents: Sequence[int], cells: Ints) -> Ints:
        """Return the counts of the configurations that some cells of a family belong to."""
        family = tuple(sorted((child, *parents)))
        return self._totals(tuple(sorted(parents)), dict(zip(family, self._digits(family, cells), strict=True)))

    def table(self, child: int, parents: Sequence[int]) -> CountTable:
        """Count one family in full: which configuration and level each count belongs to."""
        family, order = tuple(sorted((child, *parents))), tuple(parents)
        self._count([family, tuple(sorted(parents))])
        cells, counts = self._positive(family)
        digits = dict(zip(family, self._digits(family, cells), strict=True))
        above = self._totals(tuple(sorted(parents)), digits)
        kept = above >= self._threshold
        place = np.lexsort([digits[v][kept] for v in (child, *reversed(order))]) if order else np.arange(kept.sum())
        kept_at = np.flatnonzero(kept)[place]
        configurations = (
            np.array([digits[v][kept_at] for v in order], dtype=np.int64).reshape(len(order), len(kept_at)).T
        )
        new = np.ones(len(kept_at), dtype=np.bool_)
        new[1:] = (configurations[1:] != configurations[:-1]).any(axis=1)
        starts = np.flatnonzero(new)
        found = CountTable(
            r=self._levels[child],
            q=self.configurations(order),
            offsets=np.append(starts, len(kept_at)),
            levels=digits[child][kept_at],
            counts=np.ldexp(counts[kept_at].astype(np.float64), -self._bits),
            configurations=configurations[new],
            n_nodes=self.n_nodes,
        )
        # Counts of configurations are those of any other table that has them, not sums of rounded numbers.
        return found.with_totals(np.ldexp(above[kept_at][starts].astype(np.float64), -self._bits))

    def observed(self, parents: Sequence[int]) -> int:
        """Return how many configurations of these parents are expected to occur."""
        if not parents:
            return 1 if self.n_rows else 0
        family = tuple(sorted(parents))
        self._count([family])
        return int((self._positive(family)[1] >= self._threshold).sum())

    def expected(self, family: Sequence[int]) -> Floats:
        """Return the expected counts of all cells of some variables, one axis for each, in this order."""
        ordered = tuple(sorted(family))
        self._count([ordered])
        cells, counts = self._positive(ordered)
        full = np.zeros(math.prod(self._levels[v] for v in ordered))
        full[cells] = np.ldexp(counts.astype(np.float64), -self._bits)
        shaped = full.reshape([self._levels[v] for v in ordered])
        found: Floats = shaped.transpose([ordered.index(v) for v in family])
        return found

    def _positive(self, family: tuple[int, ...]) -> tuple[Ints, Ints]:
        """Return the numbers of the positive cells of a set of variables that was counted, and their counts."""
        counts, cells = self._known[family]
        if cells is None:
            cells = np.flatnonzero(counts)
            counts = counts[cells]
        return cells, counts

    def _totals(self, parents: tuple[int, ...], digits: dict[int, Ints]) -> Ints:
        """Return the counts of the configurations that some cells belong to."""
        place = np.zeros(len(next(iter(digits.values()))), dtype=np.int64)
        for v in parents:
            place = place * self._levels[v] + digits[v]
        counts, cells = self._known[parents]
        if cells is None:
            return counts[place]
        at = np.minimum(np.searchsorted(cells, place), max(len(cells) - 1, 0))
        return np.where(cells[at] == place, counts[at], 0)

    def _digits(self, family: tuple[int, ...], cells: Ints) -> list[Ints]:
        """Return the levels of each variable that cells stand for."""
        found = []
        for v in reversed(family):
            cells, digit = np.divmod(cells, self._levels[v])
            found.append(digit)
        return found[::-1]

    def _count(self, sets: Iterable[tuple[int, ...]]) -> None:
        """Make sure that some sets of variables are counted."""
        wanted = sorted(each for each in set(sets) if each not in self._known)
        if not wanted:
            return
        if self._cells > _KEPT:
            kept = {each: self._known[each] for each in set(sets) if each in self._known}
            self._known, self._cells = kept, 0
        together = len(wanted) * self.n_rows >= _WORTH_A_THREAD and len(wanted) > 1 and self.threads > 1
        found = pool(self.threads).map(self._set, wanted) if together else map(self._set, wanted)
        for each, table in zip(wanted, found, strict=True):
            self._known[each] = table
            self._cells += len(table.counts)

    def _set(self, family: tuple[int, ...]) -> Table:
        """Count a set of variables."""
        from mapdag.counts.expectations import add_up

        cards = [self._levels[v] for v in family]
        size = math.prod(cards)
        if size >= 1 << 62:
            raise CapacityError(
                f"expected counts of {len(family):,} columns together have {size:.3g} cells, which are too many; limit "
                "max_parents, or leave out columns with many levels"
            )
        members = np.array(family, dtype=np.int64)
        strides = np.array([math.prod(cards[i + 1 :]) for i in range(len(cards))], dtype=np.int64)
        scale = 2.0**self._bits
        none = np.empty(0, dtype=np.int64)
        if size <= DENSE:
            table = np.zeros(size, dtype=np.int64)
            add_up(members, strides, scale, self._posterior, 0, table, none, none)
            return Table(table, None)
        done, keys, values, parts = 0, np.empty(_BUFFER, dtype=np.int64), np.empty(_BUFFER, dtype=np.int64), []
        while done < self.n_rows:
            before, (done, used) = done, add_up(members, strides, scale, self._posterior, done, none, keys, values)
            if done == before:  # a single row fills the buffer
                keys, values = (np.empty(2 * len(each), dtype=np.int64) for each in (keys, values))
                continue
            parts.append(_summed(keys[:used], values[:used]))
        cells, counts = _summed(*(np.concatenate(each) for each in zip(*parts, strict=True))) if parts else (none, none)
        return Table(counts[counts > 0], cells[counts > 0])


def _summed(keys: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Add up what belongs to one cell."""
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    if not len(keys):
        return keys, values
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return keys[starts], np.add.reduceat(values, starts)
