"""The best of two graphs: where they differ in separate places, each place can be taken from the better one."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from mapdag.graphs.acyclicity import find_cycle, topological_order
from mapdag.graphs.masks import members, transpose
from mapdag.search.climbing.moves import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Graph = tuple[list[int], list[float]]

_FEW = 12  # nodes taken together when parts of groups are tried


def recombine(first: Graph, second: Graph, *, finely: bool = False) -> Graph:
    """Improve a graph with parts of another one.

    Nodes whose parents differ form groups: those that are among the parents in which another one differs belong with
    it. The scores of groups add up, so each group that scores better is taken from the second graph; where that closes
    a cycle, with the groups on that cycle, as long as they gain something together.

    Parameters
    ----------
    first, second : (masks, scores)
        Parents of each node as bit masks, and the scores of their families.
    finely : bool
        Whether to try parts of groups, too: single nodes that score better, with those on the cycles that they close,
        a few at most.

    Returns
    -------
    (masks, scores)
    """
    masks, scores = list(first[0]), list(first[1])
    _take_over(masks, scores, second, _groups(first[0], second[0]), finely=False)
    if finely:
        different = [[x] for x in range(len(masks)) if masks[x] != second[0][x]]
        _take_over(masks, scores, second, different, finely=True)
    return masks, scores


def _take_over(
    masks: list[int], scores: list[float], second: Graph, groups: Sequence[Sequence[int]], *, finely: bool
) -> None:
    """Take groups of nodes from the second graph where that gains something; whole groups, where nothing is lost."""
    gains = [sum(second[1][x] - scores[x] for x in group) for group in groups]
    least = TOLERANCE if finely else -TOLERANCE
    left = dict(enumerate(groups))
    for i in sorted(left, key=lambda i: (-gains[i], groups[i])):
        if i in left and gains[i] >= least:
            chosen = _close(i, masks, second[0], left, gains, finely=finely)
            if sum(gains[g] for g in chosen) >= least:
                for x in [x for g in chosen for x in left.pop(g)]:
                    masks[x], scores[x] = second[0][x], second[1][x]


def _close(
    first: int,
    masks: Sequence[int],
    other: Sequence[int],
    left: Mapping[int, Sequence[int]],
    gains: Sequence[float],
    *,
    finely: bool,
) -> list[int]:
    """Groups to take together with one of those that are left, so that there is no cycle; none if there is no way.

    Whole groups must gain something at every step; single nodes may lose on the way, but are few.
    """
    group_of = {x: i for i, group in left.items() for x in group}
    tried, chosen, total = list(masks), [first], gains[first]
    while len(chosen) <= _FEW if finely else total >= -TOLERANCE:
        for x in left[chosen[-1]]:
            tried[x] = other[x]
        order = topological_order(tried, transpose(tried))
        if len(order) == len(tried):
            return chosen
        on_cycle = {group_of[x] for x in find_cycle(tried, order) if x in group_of} - set(chosen)
        if not on_cycle:
            break
        chosen.append(max(on_cycle, key=lambda i: (gains[i], -i)))
        total += gains[chosen[-1]]
    return []


def _groups(first: Sequence[int], second: Sequence[int]) -> list[list[int]]:
    """Nodes with different parents, in connected groups."""
    different = sum(1 << x for x in range(len(first)) if first[x] != second[x])
    linked = [0] * len(first)
    for x in members(different):
        for other in members((first[x] ^ second[x]) & different):
            linked[x] |= 1 << other
            linked[other] |= 1 << x
    groups = []
    while different:
        group, border = 0, different & -different
        while border:
            group |= border
            border = reduce(or_, (linked[x] for x in members(border))) & ~group
        groups.append(members(group))
        different &= ~group
    return groups
