"""What it means to be acyclic: reachability, topological order, cycles, and arcs that may be added.

All on bitmasks of parents or children; names appear only in the message of a `CycleError`.
"""

from __future__ import annotations

from collections.abc import Sequence

from mapdag.errors import CycleError, GraphError
from mapdag.graphs.masks import mask_of, members


def reachable(masks: Sequence[int], start: int) -> int:
    """Return `start` and everything that can be reached from it along `masks`.

    With parent masks these are the ancestors, with child masks the descendants.

    Parameters
    ----------
    masks : sequence of int
        The successors of each node.
    start : int
        Mask of the nodes to start from.

    Examples
    --------
    >>> bin(reachable([0b000, 0b001, 0b010], 0b010))
    '0b11'
    """
    found = frontier = start
    while frontier:
        low = frontier & -frontier
        new = masks[low.bit_length() - 1] & ~found
        found |= new
        frontier = (frontier ^ low) | new
    return found


def topological_order(parents: Sequence[int], children: Sequence[int]) -> list[int]:
    """Return the nodes so that parents precede children, the smallest position first among those ready.

    Nodes on a cycle, and below one, are left out: the order is complete if and only if there is no cycle.
    (Kahn, 1962, "Topological sorting of large networks".)

    Examples
    --------
    >>> topological_order([0b010, 0b000, 0b011], [0b100, 0b101, 0b000])
    [1, 0, 2]
    """
    missing = [mask.bit_count() for mask in parents]
    ready = mask_of(i for i, number in enumerate(missing) if not number)
    order = []
    while ready:
        low = ready & -ready
        ready ^= low
        node = low.bit_length() - 1
        order.append(node)
        for child in members(children[node]):
            missing[child] -= 1
            if not missing[child]:
                ready |= 1 << child
    return order


def by_depth(parents: Sequence[int], order: Sequence[int]) -> list[int]:
    """Return the nodes sorted by the length of the longest path to them, then by position.

    This, too, is a topological order: the one in which bnlearn lists nodes.

    Examples
    --------
    >>> by_depth([0b000, 0b001, 0b000], [0, 1, 2])
    [0, 2, 1]
    """
    depth = [0] * len(parents)
    for node in order:
        depth[node] = max((depth[parent] + 1 for parent in members(parents[node])), default=0)
    return sorted(range(len(parents)), key=depth.__getitem__)


def shortest_path(parents: Sequence[int], start: int, end: int) -> list[int] | None:
    """Return the nodes of a shortest directed path from `start` to `end`, or None.

    The path has at least one arc, so that `start == end` asks for a shortest cycle through a node.

    Examples
    --------
    >>> shortest_path([0b000, 0b001, 0b010, 0b100], 0, 2)
    [0, 1, 2]
    >>> shortest_path([0b000, 0b001, 0b010, 0b100], 2, 0) is None
    True
    """
    child_of: dict[int, int] = {}
    queue = [end]
    for node in queue:  # which grows meanwhile: the nearest come first
        for parent in members(parents[node]):
            if parent not in child_of:
                child_of[parent] = node
                queue.append(parent)
    if start not in child_of:
        return None
    path = [start, child_of[start]]
    while path[-1] != end:
        path.append(child_of[path[-1]])
    return path


def find_cycle(parents: Sequence[int], order: Sequence[int]) -> list[int]:
    """Return a cycle, its first node repeated at the end, of a graph whose topological `order` is incomplete.

    It is a shortest one through its first node, hence without chords that would shorten it there.

    Examples
    --------
    >>> find_cycle([0b100, 0b001, 0b010], [])
    [0, 1, 2, 0]
    """
    ordered = set(order)
    node = min(i for i in range(len(parents)) if i not in ordered)
    # Outside the order every node has a parent outside the order: walking up must come round.
    visited: set[int] = set()
    while node not in visited:
        visited.add(node)
        node = next(i for i in members(parents[node]) if i not in ordered)
    cycle = shortest_path(parents, node, node)
    if cycle is None:  # pragma: no cover
        raise AssertionError("a node that was met twice is on a cycle")
    return cycle


def check_masks(nodes: Sequence[str], masks: Sequence[int]) -> None:
    """Raise `GraphError` unless there is one mask for each node, with bits for these nodes only.

    Examples
    --------
    >>> check_masks(["A", "B"], [0b00, 0b100])
    Traceback (most recent call last):
    mapdag.errors.GraphError: the masks of 2 nodes must be 2 integers from 0 to 2**2 - 1
    """
    size = len(nodes)
    if len(masks) != size or any(type(mask) is not int or mask >> size for mask in masks):
        raise GraphError(f"the masks of {size} nodes must be {size} integers from 0 to 2**{size} - 1")


def checked_order(nodes: Sequence[str], parents: Sequence[int], children: Sequence[int]) -> tuple[int, ...]:
    """Return the topological order; raise `CycleError`, with an actual cycle, if there is none.

    Examples
    --------
    >>> checked_order(["A", "B"], [0b10, 0b01], [0b10, 0b01])
    Traceback (most recent call last):
    mapdag.errors.CycleError: the arcs contain a cycle: A -> B -> A
    """
    order = topological_order(parents, children)
    if len(order) < len(parents):
        raise CycleError([nodes[i] for i in find_cycle(parents, order)])
    return tuple(order)


def add_arc(nodes: Sequence[str], parents: Sequence[int], tail: int, head: int) -> list[int]:
    """Return the parents with `tail -> head` added; raise `CycleError` if `tail` can be reached from `head`.

    Examples
    --------
    >>> add_arc(["A", "B", "C"], [0b000, 0b001, 0b000], 1, 2)
    [0, 1, 2]
    """
    if reachable(parents, 1 << tail) >> head & 1:
        path = shortest_path(parents, head, tail) or []
        raise CycleError([nodes[i] for i in (*path, head)])
    masks = list(parents)
    masks[head] |= 1 << tail
    return masks


def remove_arc(parents: Sequence[int], tail: int, head: int) -> list[int]:
    """Return the parents with `tail -> head` removed.

    Examples
    --------
    >>> remove_arc([0b00, 0b01], 0, 1)
    [0, 0]
    """
    masks = list(parents)
    masks[head] &= ~(1 << tail)
    return masks
