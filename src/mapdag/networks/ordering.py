"""The order in which to eliminate nodes: greedy, by two rules, whichever turns out cheaper."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Neighbours: TypeAlias = "dict[int, set[int]]"
Rule: TypeAlias = "Callable[[int, Neighbours, Sequence[int]], float]"


def best_order(scopes: Iterable[Sequence[int]], cards: Sequence[int], kept: Sequence[int]) -> tuple[list[int], int]:
    """Return an order of elimination, and the entries of the largest table that it leads to.

    Parameters
    ----------
    scopes : iterable of sequences of int
        The nodes of each factor.
    cards : sequence of int
        The number of levels of every node.
    kept : sequence of int
        The nodes that are not eliminated.

    Examples
    --------
    >>> best_order([(0, 1), (1, 2), (2, 3)], [2, 3, 2, 2], kept=[0])
    ([3, 2, 1], 6)
    """
    graph = _interaction_graph(scopes)
    runs = [_greedy(graph, cards, set(kept), rule) for rule in (_weight, _fill)]
    order, _, largest = min(runs, key=lambda run: run[1])
    return order, max(largest, math.prod(cards[node] for node in kept))


def _interaction_graph(scopes: Iterable[Sequence[int]]) -> Neighbours:
    """Join any two nodes of one factor."""
    graph: Neighbours = {}
    for scope in scopes:
        for node in scope:
            graph.setdefault(node, set()).update(scope)
    for node, neighbours in graph.items():
        neighbours.discard(node)
    return graph


def _weight(node: int, graph: Neighbours, cards: Sequence[int]) -> float:
    """Entries of the table that eliminating the node makes."""
    return math.prod(cards[other] for other in graph[node])


def _fill(node: int, graph: Neighbours, cards: Sequence[int]) -> float:
    """Edges that eliminating the node adds, each weighing the product of the levels at its ends."""
    neighbours = graph[node]
    total = 0
    for one in neighbours:
        missing = neighbours - graph[one]
        total += cards[one] * (sum(cards[other] for other in missing) - cards[one])
    return total


def _greedy(graph: Neighbours, cards: Sequence[int], kept: set[int], rule: Rule) -> tuple[list[int], int, int]:
    """Eliminate the cheapest node again and again; return the order, the total and the largest number of entries."""
    graph = {node: set(neighbours) for node, neighbours in graph.items()}
    costs = {node: rule(node, graph, cards) for node in sorted(graph) if node not in kept}
    order, total, largest = [], 0, 0
    while costs:
        node = min(costs, key=costs.__getitem__)
        del costs[node]
        neighbours = graph.pop(node)
        entries = cards[node] * math.prod(cards[other] for other in neighbours)
        order.append(node)
        total, largest = total + entries, max(largest, entries)
        for other in neighbours:
            graph[other] |= neighbours
            graph[other] -= {node, other}
        # Only these have other neighbours now, or (for `_fill`) other edges among their neighbours.
        for other in neighbours.union(*(graph[other] for other in neighbours)):
            if other in costs:
                costs[other] = rule(other, graph, cards)
    return order, total, largest
