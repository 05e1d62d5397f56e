"""Exact queries by variable elimination: what matters, in which order, and the sums themselves.

A factor is an array with one axis per node, the nodes being positions. Factors of nodes that are neither asked for,
nor evidence, nor ancestors of either sum to one and are left out (barren nodes). What is left falls apart into
components once the evidence is put in; those without a node that is asked for are d-separated from the question, and
only tell whether the evidence is possible at all. The order of elimination is greedy, by two rules, whichever turns out
cheaper.
"""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from mapdag.errors import CapacityError, NetworkError, ParameterError
from mapdag.graphs.acyclicity import reachable
from mapdag.graphs.masks import mask_of, members
from mapdag.networks.cpts import Floats, refuse_undefined
from mapdag.networks.distribution import Distribution
from mapdag.networks.evidence import level_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mapdag.networks.network import BayesianNetwork

Neighbours: TypeAlias = "dict[int, set[int]]"
Rule: TypeAlias = "Callable[[int, Neighbours, Sequence[int]], float]"


class Factor(NamedTuple):
    """A non-negative function of a few nodes."""

    nodes: tuple[int, ...]
    values: Floats


def query(
    network: BayesianNetwork, nodes: str | Iterable[str], evidence: Mapping[str, Any], max_entries: int
) -> Distribution:
    """Return the joint distribution of `nodes` given `evidence`."""
    index = network.dag.index
    asked = (nodes,) if isinstance(nodes, str) else tuple(nodes)
    positions = [index.position(node) for node in asked]
    observed = {
        index.position(node): level_code(network.levels, node, level, network.codings)
        for node, level in evidence.items()
    }
    if not asked:
        raise ParameterError("nodes must name at least one node to ask for")
    if len(set(asked)) < len(asked):
        raise ParameterError(f"nodes must differ, got {', '.join(asked)}")
    for node in asked:
        if node in evidence:
            raise ParameterError(f"{node!r} cannot be both asked for and evidence")
    relevant, others = _components(_factors(network, positions, observed), set(positions))
    cards = [len(network.levels[node]) for node in network.nodes]
    for component in others:
        _check_possible(component, cards, max_entries)
    joint = _eliminate(relevant, cards, positions, max_entries)
    order = [joint.nodes.index(position) for position in positions]
    values = joint.values.transpose(order)
    return Distribution(asked, {node: network.levels[node] for node in asked}, values / values.sum(), network.codings)


def _factors(network: BayesianNetwork, asked: Sequence[int], observed: Mapping[int, int]) -> list[Factor]:
    """Return the tables that matter, with the evidence put in."""
    dag = network.dag
    start = mask_of({*asked, *observed})
    needed = [network.nodes[i] for i in members(reachable(dag.parent_masks, start))]
    refuse_undefined({node: network.cpts[node] for node in needed}, "a query")
    factors = []
    for node in needed:
        family = [dag.index.position(name) for name in (*dag.parents(node), node)]
        where = [observed.get(i, slice(None)) for i in family]
        kept = tuple(i for i in family if i not in observed)
        factors.append(Factor(kept, np.asarray(network.cpts[node][tuple(where)])))
    return factors


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
        _eliminate(factors, cards, (), max_entries)


def _eliminate(factors: list[Factor], cards: Sequence[int], kept: Sequence[int], max_entries: int) -> Factor:
    """Multiply all factors and sum over all nodes that are not kept; up to a constant."""
    order, largest = best_order([factor.nodes for factor in factors], cards, kept)
    if largest > max_entries:
        raise CapacityError(
            f"this query would need a table of {largest:,} entries ({largest * 8 / 2**30:,.1f} GiB), more than "
            f"max_entries={max_entries:,}: the part of the network it involves is too densely connected (its treewidth "
            "is too large); ask for fewer nodes, give evidence that cuts it apart, or estimate from a sample"
        )
    factors = list(factors)
    for node in order:
        bucket = [factor for factor in factors if node in factor.nodes]
        factors = [factor for factor in factors if node not in factor.nodes]
        factors.append(_product(bucket, node))
    return _product(factors, None)


def _product(factors: Sequence[Factor], summed: int | None) -> Factor:
    """Multiply factors, small ones first, and sum over one node in the last step."""
    first, *others = sorted(factors, key=lambda factor: factor.values.size)
    if not others:
        return _scaled(_contract([first], summed))
    for factor in others[:-1]:
        first = _scaled(_contract([first, factor], None))
    return _scaled(_contract([first, others[-1]], summed))


def _contract(factors: Sequence[Factor], summed: int | None) -> Factor:
    """Multiply one or two factors and sum over one node, without storing the product."""
    nodes = tuple(dict.fromkeys(node for factor in factors for node in factor.nodes))
    letters = {node: letter for letter, node in enumerate(nodes)}
    kept = tuple(node for node in nodes if node != summed)
    operands: list[Any] = []
    for factor in factors:
        operands += [factor.values, [letters[node] for node in factor.nodes]]
    return Factor(kept, np.asarray(np.einsum(*operands, [letters[node] for node in kept])))


def _scaled(factor: Factor) -> Factor:
    """Divide by the largest entry, so that many small probabilities do not vanish; all zero means impossible."""
    largest = float(factor.values.max())
    if largest <= 0 or not math.isfinite(largest):
        raise NetworkError("the evidence has probability zero under this network")
    return Factor(factor.nodes, factor.values / largest)


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
