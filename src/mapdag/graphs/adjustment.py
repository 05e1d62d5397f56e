"""Which nodes to adjust for, so that what is seen tells what an intervention would do.

The generalized adjustment criterion for one cause and one effect, on DAGs, on classes of DAGs, and on classes with
background knowledge (Perkovic, Kalisch and Maathuis, 2017, "Interpreting and using CPDAGs with background knowledge").
On masks. A path is *possibly causal* if no arc joins one of its nodes to an earlier one. Some of its nodes then make a
possibly causal path in which no node is adjacent to the last but one before it; there, it is enough to look at the arcs
on the path itself, if the graph is closed under Meek's rules (ibid., lemmas 3.2 and 3.6).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mapdag.graphs.acyclicity import reachable
from mapdag.graphs.masks import members
from mapdag.graphs.structure import d_connected


class Effect(NamedTuple):
    """What a graph says about the ways from a cause to an effect."""

    cause: int  # position
    effect: int  # position
    first: int  # mask of the nodes that follow the cause on possibly causal paths; 0 if there is no such path
    undecided: int  # mask of those of them that an edge joins to the cause: it may be an arc either way
    forbidden: int  # mask of the possible descendants of the first nodes, which must not be adjusted for


def effect_of(
    parents: tuple[int, ...], children: tuple[int, ...], neighbours: tuple[int, ...], cause: int, effect: int
) -> Effect:
    """Find the ways from a cause to an effect; the directions of the graph must follow Meek's rules.

    Examples
    --------
    >>> effect_of((0b000, 0b001, 0b011), (0b110, 0b100, 0b000), (0, 0, 0), 0, 2)
    Effect(cause=0, effect=2, first=6, undecided=0, forbidden=6)
    """
    onward = [c | n for c, n in zip(children, neighbours, strict=True)]
    backward = [p | n for p, n in zip(parents, neighbours, strict=True)]
    adjacent = [p | other for p, other in zip(parents, onward, strict=True)]
    others = ((1 << len(parents)) - 1) & ~(parents[cause] | 1 << cause)
    first = onward[cause] & _reached_without_chords(backward, adjacent, 1 << effect & others, others)
    forbidden = _reached_without_chords(onward, adjacent, first, others)
    return Effect(cause, effect, first, neighbours[cause] & first, forbidden)


def _reached_without_chords(masks: Sequence[int], adjacent: Sequence[int], start: int, among: int) -> int:
    """Return what can be reached along `masks` so that no node is adjacent to the last but one before it."""
    found = start
    steps = [(-1, node) for node in members(start)]  # a node, and the one before it
    seen = set(steps)
    while steps:
        before, node = steps.pop()
        onward = masks[node] & among
        if before >= 0:
            onward &= ~(adjacent[before] | 1 << before)
        found |= onward
        new = {(node, after) for after in members(onward)} - seen
        seen |= new
        steps.extend(new)
    return found


def back_door_graph(
    parents: tuple[int, ...], children: tuple[int, ...], ways: Effect
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return parents and children without the arcs that begin a directed path from the cause to the effect."""
    cause = 1 << ways.cause
    ahead = reachable(parents, 1 << ways.effect)
    kept = tuple(mask & ~cause if ahead >> i & 1 else mask for i, mask in enumerate(parents))
    below = tuple(mask & ~ahead if i == ways.cause else mask for i, mask in enumerate(children))
    return kept, below


def is_valid(parents: tuple[int, ...], children: tuple[int, ...], ways: Effect, given: int) -> bool:
    """Tell whether adjusting for `given` is right, in a DAG of the class in which there are these ways."""
    ends = 1 << ways.cause | 1 << ways.effect
    if ways.undecided or given & (ways.forbidden | ends):
        return False
    up, down = back_door_graph(parents, children, ways)
    return not d_connected(up, down, 1 << ways.cause, given) >> ways.effect & 1


def minimal_set(parents: tuple[int, ...], children: tuple[int, ...], ways: Effect, observed: int) -> int | None:
    """Return nodes among the observed ones to adjust for, none of which can be left out, or None if there are none.

    If any set will do, the observed ancestors of the cause and the effect do (van der Zander, Liskiewicz and Textor,
    2014). Among ancestors, what separates in the moral graph separates, so that nodes can be left out one by one.
    """
    up, _ = back_door_graph(parents, children, ways)
    ends = 1 << ways.cause | 1 << ways.effect
    given = reachable(up, ends) & observed & ~(ways.forbidden | ends)
    if not is_valid(parents, children, ways, given):
        return None
    near = parents[ways.cause]
    for node in [*members(given & ~near), *members(given & near)]:  # parents of the cause are kept if they can be
        if is_valid(parents, children, ways, given & ~(1 << node)):
            given &= ~(1 << node)
    return given
