"""What a device counts at once: which tables, in which groups, and where each family's counts will be.

A *table* belongs to a family, the digits of whose cells are the high ones, and one more variable, the lowest digit.
Tables of one family that one block of threads counts together are a *group*. Both directions of a pair share a table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.counts.device.choice import GLOBAL, SHARED, Limits, passes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.counts.engine import Request

    Ints = NDArray[np.int64]

# As in `kernels.cu`.
_GROUP = ("member_begin", "member_end", "table_begin", "table_end", "cells", "begin", "size", "unused")
GROUP = np.dtype([(name, "i4") for name in _GROUP])
MEMBER = np.dtype([("variable", "i4"), ("levels", "i4")])
TABLE = np.dtype([("place", "i8"), ("variable", "i4"), ("levels", "i4")])
FAMILY = np.dtype([("place", "i8"), ("above", "i4"), ("levels", "i4"), ("below", "i4"), ("unused", "i4")])


class Plan(NamedTuple):
    """What is counted at once."""

    groups: NDArray[Any]  # `GROUP`
    ways: Ints  # (groups,) `SHARED` or `GLOBAL`
    members: NDArray[Any]  # `MEMBER`, of all families, one after the other
    tables: NDArray[Any]  # `TABLE`
    families: NDArray[Any]  # `FAMILY`, of all requests, one after the other
    cells: int  # of all tables


def split(request: Request) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Members of the family whose cells are the high digits of the tables for a request, and who the lowest is."""
    child, parents, candidates = request
    if candidates is not None:
        return (*parents, child), candidates
    return ((*parents[:-1], child), parents[-1:]) if parents else ((), (child,))


def families_of(request: Request) -> int:
    """How many families a request has."""
    return 1 if request.candidates is None else len(request.candidates)


class Planner:
    """Makes a plan of requests, whose tables are all counted in full.

    Parameters
    ----------
    requests : sequence of Request
    cards : int64 array (nodes,)
    limits : Limits
    """

    def __init__(self, requests: Sequence[Request], cards: Ints, limits: Limits) -> None:
        self._cards = cards
        self._limits = limits
        alone = list(dict.fromkeys(each.child for each in requests if not each.parents and each.candidates))
        # Tables of nodes without parents: which of them begins where with which other node.
        self._row = np.full(len(cards), -1, dtype=np.int64)
        self._row[alone] = np.arange(len(alone))
        self._begins = np.full((len(alone), len(cards)), -1, dtype=np.int64)
        self._groups: list[NDArray[Any]] = [np.empty(0, dtype=GROUP)]
        self._ways: list[Ints] = [np.empty(0, dtype=np.int64)]
        self._tables: list[NDArray[Any]] = [np.empty(0, dtype=TABLE)]
        self._members: list[int] = []
        self._n_tables = self._cells = 0
        self._families = [self._add(each) for each in requests]

    def plan(self) -> Plan:
        """Return what was planned."""
        groups, tables, members = np.concatenate(self._groups), np.concatenate(self._tables), np.array(self._members)
        own = np.empty(len(members), dtype=MEMBER)
        own["variable"], own["levels"] = members, self._cards[members.astype(np.int64)]
        return Plan(
            groups=groups,
            ways=np.concatenate(self._ways),
            members=own,
            tables=tables,
            families=np.concatenate(self._families),
            cells=self._cells,
        )

    def _add(self, request: Request) -> NDArray[Any]:
        """Plan the tables of one request, as far as they are new; returns its families."""
        cards, child = self._cards, request.child
        family, candidates = split(request)
        more = np.array(candidates, dtype=np.int64)
        cells = math.prod(cards[list(family)].tolist())
        found = np.zeros(len(more), dtype=FAMILY)
        found["levels"], found["above"], found["below"] = cards[child], 1, 1
        if family:
            found["above"], found["below"] = cells // cards[child], cards[more]
        new = np.ones(len(more), dtype=np.bool_)
        if family == (child,) and request.candidates is not None:
            rows = self._row[more]
            known = np.where(rows >= 0, self._begins[rows, child], -1)
            new = known < 0
            # There the child's digit is the lower one.
            found["place"], found["above"] = known, np.where(new, 1, cards[more])
            found["below"] = np.where(new, cards[more], 1)
        sizes = cells * cards[more[new]]
        places = self._cells + np.cumsum(sizes) - sizes
        found["place"][new] = places
        if family == (child,) and request.candidates is not None:
            self._begins[self._row[child], more[new]] = places
        self._cells += int(sizes.sum())
        self._group(family, cells, more[new], places)
        return found

    def _group(self, family: tuple[int, ...], cells: int, candidates: Ints, places: Ints) -> None:
        """Put the tables of a family into groups: several small ones, or a part of a large one."""
        levels = self._cards[candidates]
        turns = passes(cells * levels, self._limits)
        for number in np.unique(turns).tolist():
            mine = turns == number
            tables = np.empty(int(mine.sum()), dtype=TABLE)
            tables["place"], tables["variable"], tables["levels"] = places[mine], candidates[mine], levels[mine]
            sizes = cells * levels[mine]
            together = self._together(int(sizes.max())) if number < 2 else 1
            first = np.arange(0, len(tables), together)
            groups = np.zeros(len(first), dtype=GROUP)
            groups["member_begin"], groups["member_end"] = len(self._members), len(self._members) + len(family)
            groups["table_begin"] = self._n_tables + first
            groups["table_end"] = self._n_tables + np.minimum(first + together, len(tables))
            groups["cells"], groups["size"] = cells, np.add.reduceat(sizes, first)
            if number > 1:
                groups = _in_parts(groups, number)
            self._groups.append(groups)
            self._ways.append(np.full(len(groups), SHARED if number else GLOBAL))
            self._tables.append(tables)
            self._n_tables += len(tables)
        self._members += family

    def _together(self, largest: int) -> int:
        """How many tables of at most so many cells make a group."""
        return max(min(self._limits.block // largest, self._limits.most_tables), 1)


def _in_parts(groups: NDArray[Any], parts: int) -> NDArray[Any]:
    """Have several groups, each for some cells, instead of each group."""
    found = np.repeat(groups, parts)
    size = -(-found["size"] // parts)
    found["begin"] = np.tile(np.arange(parts), len(groups)) * size
    found["size"] = np.minimum(size, found["size"] - found["begin"])
    return found
