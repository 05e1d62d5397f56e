"""Node names: their rules, their order, and the way from a name to a position and back.

Every graph holds one `NodeIndex`; graphs derived from each other share it. Nothing here knows of arcs beyond
reading a pair of names.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from mapdag.errors import CapacityError, GraphError
from mapdag.graphs.masks import mask_of, members
from mapdag.wording import brief, did_you_mean, near

T = TypeVar("T")

Arc = tuple[str, str]
"""An arc `(from, to)`, or an edge `(a, b)`, as users write it."""

_SHOWN = 5

MAX_NODES = 2**15
"""The most nodes of a graph: the sets of parents, one bit for each node, then take 128 MiB."""


class NodeIndex:
    """Unique node names in a fixed order, and the position of each.

    Parameters
    ----------
    names : iterable of str
        Non-empty and unique; otherwise anything goes.

    Examples
    --------
    >>> index = NodeIndex(["A", "B", "C"])
    >>> index.position("C"), index.mask(["A", "C"]), index.select(0b110)
    (2, 5, ('B', 'C'))
    """

    __slots__ = ("_positions", "names")

    names: tuple[str, ...]

    def __init__(self, names: Iterable[str]) -> None:
        if isinstance(names, str):
            raise GraphError(f"nodes must be a collection of names, got the single string {brief(names)}")
        positions: dict[str, int] = {}
        for name in several("nodes", names):
            _check_name(name, len(positions) + 1)
            if name in positions:
                raise GraphError(f"node names must be unique, got {name!r} twice")
            if len(positions) == MAX_NODES:
                raise CapacityError(f"a graph has at most {MAX_NODES:,} nodes")
            positions[str(name)] = len(positions)
        self.names = tuple(positions)
        self._positions = positions

    def __len__(self) -> int:
        return len(self.names)

    def position(self, name: str) -> int:
        """Return the position of a node; an unknown name raises `GraphError` with a suggestion."""
        try:
            return self._positions[name]
        except (KeyError, TypeError):
            raise GraphError(f"unknown node {brief(name)}{self._hint(name)}") from None

    def mask(self, names: str | Iterable[str]) -> int:
        """Return the mask of one node or of several."""
        if isinstance(names, str):
            return 1 << self.position(names)
        return mask_of(map(self.position, several("nodes", names)))

    def select(self, mask: int) -> tuple[str, ...]:
        """Return the names in a mask, in node order."""
        return tuple([self.names[i] for i in members(mask)])

    def mask_at(self, positions: Iterable[int]) -> int:
        """Return the mask of some positions, which must exist."""
        try:
            chosen = [operator.index(position) for position in several("positions", positions)]
        except TypeError:
            raise GraphError(f"positions must be whole numbers, got {brief(positions)}") from None
        if any(not 0 <= position < len(self) for position in chosen):
            raise GraphError(f"positions must be from 0 to {len(self) - 1}, got {brief(chosen)}")
        return mask_of(chosen)

    def pair(self, arc: object) -> tuple[int, int]:
        """Return the two positions of an arc or edge, which must differ."""
        first, second = ends(arc)
        tail, head = self.position(first), self.position(second)
        if tail == head:
            raise GraphError(f"node {first!r} cannot be joined to itself")
        return tail, head

    def joined(self, arcs: Iterable[Arc], what: str = "arcs") -> Iterator[tuple[int, int]]:
        """Return the two positions of each of several arcs or edges."""
        return map(self.pair, several(what, arcs))

    def pairs(self, masks: Iterable[int]) -> Iterator[Arc]:
        """Yield `(name of i, name of j)` for every bit `j` of every `masks[i]`."""
        names = self.names
        for name, mask in zip(names, masks, strict=True):
            for j in members(mask):
                yield name, names[j]

    def edges(self, masks: Iterable[int]) -> tuple[Arc, ...]:
        """Return the pairs of a symmetric relation once each, the node of smaller position first."""
        return tuple(self.pairs((mask >> i) << i for i, mask in enumerate(masks)))

    def positions_in(self, other: NodeIndex, first: str = "the graph", second: str = "the new order") -> list[int]:
        """Return where each of our nodes stands in `other`, which must have the same names.

        `first` and `second` say in the error message what our names and the others belong to.
        """
        positions = {name: i for i, name in enumerate(other.names)}
        if positions.keys() != self._positions.keys():
            only = {
                first: [name for name in self.names if name not in positions],
                second: [name for name in other.names if name not in self._positions],
            }
            parts = [f"only in {where}: {listed(names)}" for where, names in only.items() if names]
            raise GraphError(f"the node names differ; {'; '.join(parts)}")
        return [positions[name] for name in self.names]

    def renamed(self, mapping: Mapping[str, str]) -> NodeIndex:
        """Return the index with some names replaced; the keys must be nodes."""
        if not isinstance(mapping, Mapping):
            raise GraphError(f"mapping must be one from old names to new ones, got {brief(mapping)}")
        for name in mapping:
            self.position(name)
        return NodeIndex(mapping.get(name, name) for name in self.names)

    def _hint(self, name: object) -> str:
        """Return what to append to "unknown node": near misses, or the first few names."""
        return did_you_mean(near(name, self.names, 3)) or f"; the nodes are {listed(self.names)}"


def _check_name(name: object, number: int) -> None:
    """Refuse what is no name of a node: files must be able to hold it."""
    if not isinstance(name, str):
        raise GraphError(f"a node name must be a string, got {brief(name)} ({type(name).__name__})")
    if not name:
        raise GraphError(f"a node name must not be empty (node number {number} is)")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise GraphError(f"a node name must be text that files can hold, got {brief(name)}") from None


def several(name: str, values: Iterable[T]) -> Iterator[T]:
    """Go through values, or say that they must be several; what a mapping says of them would be lost."""
    if isinstance(values, Mapping):
        raise GraphError(f"{name} must be a collection, got a mapping {brief(values)}; list() of it has its keys")
    try:
        return iter(values)
    except TypeError:
        raise GraphError(f"{name} must be a collection, got {brief(values)}") from None


def listed(names: Sequence[str]) -> str:
    """Return a few names, quoted, and how many more there are."""
    shown = ", ".join(map(repr, names[:_SHOWN])) or "none"
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def as_index(nodes: NodeIndex | Iterable[str]) -> NodeIndex:
    """Return `nodes` as an index, itself if it is one already."""
    return nodes if isinstance(nodes, NodeIndex) else NodeIndex(nodes)


def first_appearance(arcs: Iterable[Arc]) -> list[str]:
    """Return the names in some arcs, in the order in which they first appear.

    Examples
    --------
    >>> first_appearance([("B", "A"), ("A", "C")])
    ['B', 'A', 'C']
    """
    return list(dict.fromkeys(name for arc in several("arcs", arcs) for name in ends(arc)))


def ends(arc: object) -> Arc:
    """Return the two ends of an arc, which must be a pair: a string of two letters is not.

    Examples
    --------
    >>> ends(["A", "B"])
    ('A', 'B')
    """
    if isinstance(arc, tuple | list) and len(arc) == 2:
        return arc[0], arc[1]
    raise GraphError(f"an arc is a pair (from, to) of node names, got {brief(arc)}")
