"""Exact queries by variable elimination: what matters, in which order, and the sums themselves.

Factors of nodes that are neither asked for, nor evidence, nor ancestors of either sum to one and are left out (barren
nodes). What is left falls apart into components once the evidence is put in; those without a node that is asked for
are d-separated from the question, and only tell whether the evidence is possible at all. The order of elimination is
greedy, by two rules, whichever turns out cheaper.

Elimination leaves a bucket for each node: all that mentioned it when its turn came, and the message that remained.
Buckets are the cliques of a junction tree; `propagation` goes back through them to find the distributions of all nodes.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from mapdag.checks import check_whole
from mapdag.errors import CapacityError, NetworkError, ParameterError
from mapdag.graphs.acyclicity import reachable
from mapdag.graphs.masks import mask_of, members
from mapdag.networks.cpts import Floats, refuse_undefined
from mapdag.networks.distribution import Distribution
from mapdag.networks.evidence import level_code
from mapdag.networks.factors import NOTHING, Codes, Factor, Families, eliminated, normalised, onto, product
from mapdag.networks.sparse_tables import held_tables
from mapdag.wording import brief

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mapdag.networks.network import BayesianNetwork

Neighbours: TypeAlias = "dict[int, set[int]]"
Rule: TypeAlias = "Callable[[int, Neighbours, Sequence[int]], float]"


class Order(NamedTuple):
    """An order of elimination, and what it costs."""

    nodes: list[int]
    largest: int  # the entries of its largest table
    total: int  # the entries of all of its tables


class Bucket(NamedTuple):
    """What happens when a node is eliminated."""

    node: int
    factors: tuple[Factor, ...]  # all that mention it: tables, and messages of nodes before it
    message: Factor  # what remains, a function of nodes that come later


class Elimination(NamedTuple):
    """What elimination finds, for every row of the evidence."""

    buckets: list[Bucket]  # in the order of elimination
    joint: Factor  # of the nodes that are kept
    divided: Floats  # by row, the log of what it was divided by

    @property
    def log(self) -> Floats:
        """By row, the log-probability of the evidence, or, of largest entries, of the best levels together with it."""
        values = self.joint.values
        with np.errstate(divide="ignore"):
            log: Floats = self.divided + np.log(values.sum(axis=tuple(range(values.ndim - 1))))
        return log


def query(
    network: BayesianNetwork, nodes: str | Iterable[str], evidence: Mapping[str, Any], max_entries: int
) -> Distribution:
    """Return the joint distribution of `nodes` given `evidence`."""
    index = network.dag.index
    asked = (nodes,) if isinstance(nodes, str) else tuple(nodes)
    positions = [index.position(node) for node in asked]
    known = codes_of(network, evidence)
    if not asked:
        raise ParameterError("nodes must name at least one node to ask for")
    if len(set(asked)) < len(asked):
        raise ParameterError(f"nodes must differ, got {', '.join(asked)}")
    for node in asked:
        if node in evidence:
            raise ParameterError(f"{node!r} cannot be both asked for and evidence")
    families = Families(network)
    needed = relevant_nodes(network, {*positions, *known}, "a query")
    known = {**known, **families.constants(positions)}
    relevant, others = _components([families.factor(i, known) for i in needed], set(positions))
    for component in others:
        _check_possible(component, families.cards, max_entries)
    found = eliminate(relevant, families.cards, positions, max_entries)
    refuse_impossible(found.log)
    values = normalised(onto(found.joint, positions))[..., 0]
    return Distribution(asked, {node: network.levels[node] for node in asked}, values, network.codings)


def codes_of(network: BayesianNetwork, evidence: Mapping[str, Any]) -> dict[int, Codes]:
    """Return evidence as a single row of codes."""
    if not isinstance(evidence, Mapping):
        raise ParameterError(f"evidence must be a mapping from nodes to levels, got {brief(evidence)}")
    position = network.dag.index.position
    return {
        position(node): np.array([level_code(network.levels, node, value, network.codings)])
        for node, value in evidence.items()
    }


def relevant_nodes(network: BayesianNetwork, start: Iterable[int], what: str) -> list[int]:
    """Return the nodes whose tables `what` needs: these nodes and their ancestors."""
    needed = members(reachable(network.dag.parent_masks, mask_of(start)))
    held = held_tables(network.cpts)
    refuse_undefined({network.nodes[i]: held[network.nodes[i]] for i in needed}, what)
    return needed


def refuse_impossible(log: Floats) -> None:
    """Refuse evidence of probability zero, given the log of it."""
    if np.isneginf(log).any():
        raise NetworkError("the evidence has probability zero under this network")


def _components(factors: list[Factor], asked: set[int]) -> tuple[list[Factor], list[list[Factor]]]:
    """Split factors into those connected to a node that is asked for and the other components."""
    groups: list[tuple[set[int], list[Factor]]] = []
    for factor in factors:
        nodes, mine = set(factor.nodes), [factor]
        apart = []
        for group in groups:
            if nodes.isdisjoint(group[0]):
                apart.append(group)
            else:
                nodes |= group[0]
                mine += group[1]
        groups = [*apart, (nodes, mine)]
    relevant = [factor for nodes, group in groups if nodes & asked for factor in group]
    return relevant, [group for nodes, group in groups if not nodes & asked]


def _check_possible(factors: list[Factor], cards: Sequence[int], max_entries: int) -> None:
    """Refuse evidence of probability zero, unless finding out is too expensive.

    Without zeros in the tables there is no such evidence. The answer to the question is the same in any case.
    """
    if all(factor.values.all() for factor in factors):
        return
    with contextlib.suppress(CapacityError):
        refuse_impossible(eliminate(factors, cards, (), max_entries).log)


def eliminate(factors: list[Factor], cards: Sequence[int], kept: Sequence[int], max_entries: int) -> Elimination:
    """Multiply all factors and sum over all nodes that are not kept, after a look at the size of the tables."""
    order = best_order([factor.nodes for factor in factors], cards, kept)
    check_capacity(order.largest, max_entries)
    return run(factors, order.nodes)


def check_capacity(entries: int, max_entries: int, what: str = "this query would need a table") -> None:
    """Refuse tables that are too large, before they are made."""
    max_entries = check_whole("max_entries", max_entries)
    if entries > max_entries:
        raise CapacityError(
            f"{what} of {entries:,} entries ({entries * 8 / 2**30:,.1f} GiB), more than max_entries={max_entries:,}: "
            "the part of the network it involves is too densely connected (its treewidth is too large); ask for fewer "
            "nodes, give evidence that cuts it apart, or estimate from a sample"
        )


def run(factors: Iterable[Factor], order: Sequence[int], *, largest: bool = False) -> Elimination:
    """Eliminate nodes in this order by sums, or by taking the largest; the others are kept."""
    place = {node: position for position, node in enumerate(order)}
    waiting: list[list[Factor]] = [[] for _ in range(len(order) + 1)]  # for their first node to be eliminated

    def put(factor: Factor) -> None:
        waiting[min((place.get(node, len(order)) for node in factor.nodes), default=len(order))].append(factor)

    for factor in factors:
        put(factor)
    buckets, log = [], NOTHING
    for node, mine in zip(order, waiting, strict=False):
        message, lost = eliminated(mine, node, largest=largest)
        log = log + lost
        buckets.append(Bucket(node, tuple(mine), message))
        put(message)
    joint, lost = product(waiting[-1] or [Factor((), np.ones(1))])
    return Elimination(buckets, joint, log + lost)


def best_order(scopes: Iterable[Sequence[int]], cards: Sequence[int], kept: Sequence[int]) -> Order:
    """Return an order of elimination, and what it costs.

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
    Order(nodes=[3, 2, 1], largest=6, total=16)
    """
    graph = _interaction_graph(scopes)
    best = min((_greedy(graph, cards, set(kept), rule) for rule in (_weight, _fill)), key=lambda order: order.total)
    return best._replace(largest=max(best.largest, math.prod(cards[node] for node in kept)))


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


def _greedy(graph: Neighbours, cards: Sequence[int], kept: set[int], rule: Rule) -> Order:
    """Eliminate the cheapest node again and again; return the order and its cost."""
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
    return Order(order, largest, total)
