"""What can be read off the masks of a graph: v-structures, the moral graph, Markov blankets, d-separation.

Reachability is in `acyclicity`.
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


def d_connected(parents: Sequence[int], children: Sequence[int], start: int, given: int) -> int:
    """Return the mask of the nodes that are d-connected to `start` given `given`.

    The Bayes ball: coming from a child, it goes on to the parents and to the children; coming from a parent, it
    goes on to the children, or, at a given node, bounces back to the parents. A given node stops it otherwise. Every
    node is passed at most twice, so that the cost is linear in the size of the graph (Shachter, 1998, "Bayes-ball:
    the rational pastime").

    Parameters
    ----------
    parents, children : sequence of int
        The masks of the DAG.
    start, given : int
        Disjoint masks. The result holds `start` itself, and nothing of `given`.

    Examples
    --------
    In the collider 0 -> 2 <- 1 the ends are connected only if the middle is given.

    >>> parents, children = [0b000, 0b000, 0b011], [0b100, 0b100, 0b000]
    >>> bin(d_connected(parents, children, 0b001, 0)), bin(d_connected(parents, children, 0b001, 0b100))
    ('0b101', '0b11')
    """
    up_seen = up = start
    down_seen = down = 0
    while up or down:
        low = up & -up if up else down & -down
        node = low.bit_length() - 1
        if up:
            up ^= low
            to_parents, to_children = parents[node], children[node]
        else:
            down ^= low
            to_parents, to_children = (parents[node], 0) if given & low else (0, children[node])
        new = to_parents & ~(up_seen | given)
        up_seen |= new
        up |= new
        new = to_children & ~down_seen
        down_seen |= new
        down |= new
    return (up_seen | down_seen) & ~given
