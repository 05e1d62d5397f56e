"""What can be read off the masks of a graph node by node: v-structures, the moral graph, Markov blankets.

Reachability is in `acyclicity`, d-separation in `separation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mapdag.graphs.masks import members


def v_structures(parents: Sequence[int], adjacent: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield `(a, child, b)`, `a < b`, for every `a -> child <- b` with `a` and `b` not adjacent.

    Ordered by child, then `a`, then `b`.

    Examples
    --------
    >>> list(v_structures([0b000, 0b000, 0b011], [0b100, 0b100, 0b011]))
    [(0, 2, 1)]
    """
    for child, family in enumerate(parents):
        if family & (family - 1):
            for a in members(family):
                for b in members((family & ~adjacent[a]) >> (a + 1)):
                    yield a, child, a + 1 + b


def moral(parents: Sequence[int], adjacent: Sequence[int]) -> list[int]:
    """Return the masks of the moral graph: the skeleton, and the parents of each node married.

    Examples
    --------
    >>> moral([0b000, 0b000, 0b011], [0b100, 0b100, 0b011])
    [6, 5, 3]
    """
    married = list(adjacent)
    for family in parents:
        if family & (family - 1):
            for a in members(family):
                married[a] |= family ^ (1 << a)
    return married


def markov_blanket(parents: Sequence[int], children: Sequence[int], node: int) -> int:
    """Return the mask of a node's parents, children and children's other parents.

    Examples
    --------
    >>> bin(markov_blanket([0b000, 0b000, 0b011], [0b100, 0b100, 0b000], 0))
    '0b110'
    """
    blanket = parents[node] | children[node]
    for child in members(children[node]):
        blanket |= parents[child]
    return blanket & ~(1 << node)
