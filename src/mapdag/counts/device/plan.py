"""What a device counts for some requests: which tables, in which groups, and where each family's counts will be.

A *table* belongs to a family, the digits of whose cells are the high ones, and one more variable, the lowest digit.
Tables of one family that one block of threads counts together are a *group*. Both directions of a pair share a table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.counts.engine import Request

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

# As in `kernels.cu`.
GROUP = np.dtype([(name, "i4") for name in ("member_begin", "member_end", "table_begin", "table_end", "copies", "cells")])
MEMBER = np.dtype([("variable", "i4"), ("levels", "i4")])
TABLE = np.dtype([("place", "i8"), ("variable", "i4"), ("levels", "i4")])
SIDES = np.dtype([("place", "i8"), ("above", "i4"), ("levels", "i4"), ("below", "i4"), ("unused", "i4")])

SHARED, GLOBAL = 0, 1  # ways to count a group: in the memory of a block of threads, or in that of all


class Limits(NamedTuple):
    """What fits where, in counts."""

    block: int = 12 << 10  # that a block of threads has, where several are to share a processor
    most_block: int = 56 << 10  # that it may have
    most_copies: int = 32  # of a table
    most_tables: int = 4  # of a group
    most_cells: int = 1 << 22  # of a table that is counted in full


class Plan(NamedTuple):
    """What is counted at once."""

    groups: NDArray[Any]
    ways: Ints  # (groups,)
    sizes: Ints  # (groups,) counts of all copies of its tables
    members: NDArray[Any]
    tables: NDArray[Any]
    families: NDArray[Any]  # `SIDES` of the families of all requests, one request after the other
    cells: int  # of all tables


def plan(requests: Sequence[Request], cards: Ints, limits: Limits) -> Plan:
    """Plan what to count for requests, whose tables are all counted in full."""
    levels: list[int] = cards.tolist()
    groups: list[NDArray[Any]] = []
    ways: list[Ints] = []
    members: list[tuple[int, int]] = []
    tables: list[NDArray[Any]] = []
    families: list[NDArray[Any]] = []
    n_tables = place = 0
    seen: dict[int, NDArray[np.int64]] = {}  # tables of a node with others: where each begins, -1: nowhere
    for child, parents, candidates in requests:
        family, more, child_last = _split(child, parents, candidates)
        which = np.array(more, dtype=np.int64)
        cells = math.prod(levels[v] for v in family)
        mine = np.zeros(len(which), dtype=SIDES)
        if child_last:
            mine["above"], mine["levels"], mine["below"] = cells, levels[child], 1
        else:
            mine["above"], mine["levels"], mine["below"] = cells // levels[child], levels[child], cards[which]
        new = np.ones(len(which), dtype=np.bool_)
        if family == (child,):  # it may have been counted as the parent of others
            for i, other in enumerate(more):
                known = seen.get(other)
                if known is not None and known[child] >= 0:
                    new[i] = False
                    mine["place"][i] = known[child]
                    mine["above"][i], mine["below"][i] = levels[other], 1
        sizes = cells * cards[which[new]]
        ends = place + np.cumsum(sizes)
        mine["place"][new] = ends - sizes
        if family == (child,):
            known = seen.setdefault(child, np.full(len(cards), -1, dtype=np.int64))
            known[which[new]] = ends - sizes
        made = np.zeros(len(sizes), dtype=TABLE)
        made["place"], made["variable"], made["levels"] = ends - sizes, which[new], cards[which[new]]
        for way, some in ((SHARED, sizes <= limits.most_block), (GLOBAL, sizes > limits.most_block)):
            if not some.any():
                continue
            found = _groups(int(some.sum()), int(sizes[some].max()), way, limits)
            found["member_begin"], found["member_end"] = len(members), len(members) + len(family)
            found["table_begin"] += n_tables
            found["table_end"] += n_tables
            found["cells"] = cells
            groups.append(found)
            ways.append(np.full(len(found), way))
            tables.append(made[some])
            n_tables += int(some.sum())
        members += [(v, levels[v]) for v in family]
        families.append(mine)
        place = int(ends[-1]) if len(ends) else place
    joined = np.concatenate(groups)
    every = np.concatenate(tables)
    starts = np.concatenate([[0], np.cumsum(every["levels"], dtype=np.int64)])
    of_groups = (starts[joined["table_end"]] - starts[joined["table_begin"]]) * joined["cells"] * joined["copies"]
    return Plan(
        joined, np.concatenate(ways), of_groups, np.array(members, dtype=MEMBER), every, np.concatenate(families), place
    )


def _split(
    child: int, parents: tuple[int, ...], candidates: tuple[int, ...] | None
) -> tuple[tuple[int, ...], tuple[int, ...], bool]:
    """Family, and the variables that it is extended by; whether that is the child itself, who has no parents."""
    if candidates is not None:
        return (*parents, child), candidates, False
    if parents:  # as one more parent added to the others
        return (*parents[:-1], child), parents[-1:], False
    return (), (child,), True


def _groups(tables: int, largest: int, way: int, limits: Limits) -> NDArray[Any]:
    """Put tables, the largest of which has so many cells, into groups."""
    together = limits.most_tables if way == GLOBAL else max(min(limits.block // largest, limits.most_tables, tables), 1)
    copies = 1
    while way == SHARED and 2 * copies <= limits.most_copies and 2 * copies * together * largest <= limits.block:
        copies *= 2
    found = np.zeros(-(-tables // together), dtype=GROUP)
    found["table_begin"] = np.arange(len(found)) * together
    found["table_end"] = np.minimum(found["table_begin"] + together, tables)
    found["copies"] = copies
    return found
