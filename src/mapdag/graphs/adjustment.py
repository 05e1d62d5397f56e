"""Which nodes to adjust for, so that what is seen tells what an intervention would do.

The generalized adjustment criterion (Perkovic, Textor, Kalisch and Maathuis, 2018, "Complete graphical characterization
and construction of adjustment sets in Markov equivalence classes of ancestral graphs"), for one cause and one effect,
on DAGs and on classes of DAGs. On masks; paths are *possibly directed* if no arc on them points backwards.
"""

from __future__ import annotations

from typing import NamedTuple

from mapdag.graphs.acyclicity import reachable
from mapdag.graphs.masks import members
from mapdag.graphs.structure import d_connected


class Effect(NamedTuple):
    """What a graph says about the ways from a cause to an effect."""

    cause: int  # position
    effect: int  # position
    between: int  # mask of the nodes on possibly directed paths, the effect among them; 0 if there is no such path
    undecided: int  # mask of the neighbours of the cause on such paths: of an arc or against it, who knows
    forbidden: int  # mask of the possible descendants of the nodes between, which must not be adjusted for


def effect_of(
    parents: tuple[int, ...], children: tuple[int, ...], neighbours: tuple[int, ...], cause: int, effect: int
) -> Effect:
    """Find the ways from a cause to an effect.

    Examples
    --------
    >>> effect_of((0b000, 0b001, 0b011), (0b110, 0b100, 0b000), (0, 0, 0), 0, 2)
    Effect(cause=0, effect=2, between=6, undecided=0, forbidden=6)
    """
    start = 1 << cause
    onward = [c | n for c, n in zip(children, neighbours, strict=True)]
    without = [mask & ~start for mask in onward]
    backward = [(p | n) & ~start for p, n in zip(parents, neighbours, strict=True)]
    ahead = reachable(backward, 1 << effect)
    first = onward[cause] & ahead
    between = reachable(without, first) & ahead
    return Effect(cause, effect, between, neighbours[cause] & ahead, reachable(onward, between) if between else 0)


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
