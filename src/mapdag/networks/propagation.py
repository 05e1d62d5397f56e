"""All nodes at once: elimination, and then back through its buckets, the cliques of a junction tree.

The distribution of a bucket is the product of what it held and of what the rest of the network knows about the nodes of
its message: the distribution of the bucket that the message went to, divided by the message (Lauritzen and
Spiegelhalter, 1988). Going back and deciding on one node after the other instead gives the most probable levels if
elimination took largest entries in place of sums, and a draw from the distribution if it took sums.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.data.dataset import Dataset
from mapdag.data.labels import code_dtype
from mapdag.networks.answers import Explanation, Marginals
from mapdag.networks.distribution import Distribution
from mapdag.networks.draws import checked_count, key_of, room_for, uniforms
from mapdag.networks.elimination import (
    Elimination,
    Order,
    best_order,
    check_capacity,
    codes_of,
    refuse_impossible,
    relevant_nodes,
    run,
)
from mapdag.networks.factors import Codes, Factor, Families, normalised, onto, product, ratio
from mapdag.networks.questions import MAX_ENTRIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from mapdag.networks.cpts import Floats
    from mapdag.networks.network import BayesianNetwork

_ROWS = 2**14
"""Rows that are drawn at a time: even."""

TIE = 1e-12
"""Relative: levels that differ by rounding only are equally probable."""


class Beliefs(NamedTuple):
    """The distributions of all cliques given the evidence, for every row of it."""

    cliques: dict[int, Factor]  # by the node that was eliminated; each row up to a constant
    place: dict[int, int]  # when each node was
    log: Floats  # by row, the log-probability of the evidence

    def joint(self, nodes: list[int]) -> Floats:
        """Return the joint distribution of some nodes of one factor, for every row; NaN if that is impossible."""
        return normalised(onto(self.cliques[min(nodes, key=self.place.__getitem__)], nodes))


def calibrate(factors: Iterable[Factor], order: list[int]) -> Beliefs:
    """Find the distributions of all cliques that this order of elimination leads to."""
    found = run(factors, order)
    place = {node: position for position, node in enumerate(order)}
    cliques: dict[int, Factor] = {}
    for node, mine, message in reversed(found.buckets):
        rest: tuple[Factor, ...] = ()
        if message.nodes:
            above = cliques[min(message.nodes, key=place.__getitem__)]
            rest = (ratio(onto(above, message.nodes), message),)
        cliques[node] = product(mine + rest)[0]
    return Beliefs(cliques, place, found.log)


def decide(found: Elimination, choose: Callable[[int, Floats], Codes], codes: dict[int, Codes]) -> None:
    """Go back through the buckets and choose a level of each node, given those chosen before.

    Parameters
    ----------
    found : Elimination
        Nothing kept.
    choose : function
        Takes a node and the weights of its levels, by row, and returns codes.
    codes : dict
        Where the codes go.
    """
    for node, factors, _ in reversed(found.buckets):
        fitting = [Factor((node,), _at(factor, node, codes)) for factor in factors]
        codes[node] = choose(node, product(fitting)[0].values)


def _at(factor: Factor, node: int, codes: Mapping[int, Codes]) -> Floats:
    """Return the values of a factor for all levels of one node, the others having these codes."""
    values = np.moveaxis(factor.values, factor.nodes.index(node), 0)
    others = tuple(codes[other] for other in factor.nodes if other != node)
    if not others:
        return values
    rows = np.arange(values.shape[-1]) if values.shape[-1] > 1 else 0
    where = (slice(None), *others, rows)
    return values[where]


def first_best(weights: Floats) -> NDArray[np.intp]:
    """Return the first of the best levels, which are on the first axis, in every row."""
    return np.argmax(weights >= weights.max(axis=0) * (1 - TIE), axis=0)


# One piece of evidence ----------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A network with one piece of evidence put in."""

    known: dict[int, Codes]  # single levels included
    factors: list[Factor]
    order: Order


def put_in(network: BayesianNetwork, evidence: Mapping[str, Any], what: str, *, all_nodes: bool = True) -> Case:
    """Put evidence into the tables of all nodes, or of those that the probability of the evidence depends on."""
    known = codes_of(network, evidence)
    needed = relevant_nodes(network, range(len(network.nodes)) if all_nodes else known, what)
    families = Families(network)
    known = {**families.constants(), **known}
    factors = [families.factor(i, known) for i in needed]
    return Case(known, factors, best_order([factor.nodes for factor in factors], families.cards, ()))


def marginals(network: BayesianNetwork, evidence: Mapping[str, Any], max_entries: int) -> Marginals:
    """Return the distribution of every node given the evidence."""
    what = "marginals of all nodes"
    case = put_in(network, evidence, what)
    check_capacity(case.order.total, max_entries, f"{what} would need tables")
    beliefs = calibrate(case.factors, case.order.nodes)
    refuse_impossible(beliefs.log)
    found = {}
    for i, node in enumerate(network.nodes):
        sure = np.eye(len(network.levels[node]))
        values = sure[case.known[i][0]] if i in case.known else beliefs.joint([i])[:, 0]
        found[node] = Distribution((node,), network.levels, values, network.codings)
    return Marginals(found, _labels(network, evidence, case.known))


def log_probability(network: BayesianNetwork, evidence: Mapping[str, Any], max_entries: int) -> float:
    """Return the log of the probability of evidence."""
    what = "the probability of evidence"
    case = put_in(network, evidence, what, all_nodes=False)
    check_capacity(case.order.largest, max_entries, f"{what} would need a table")
    return float(run(case.factors, case.order.nodes).log[0])


def most_probable(network: BayesianNetwork, evidence: Mapping[str, Any], max_entries: int) -> Explanation:
    """Return the most probable levels of all nodes given the evidence."""
    what = "the most probable explanation"
    case = put_in(network, evidence, what)
    check_capacity(case.order.total, max_entries, f"{what} would need tables")
    found = run(case.factors, case.order.nodes, largest=True)
    refuse_impossible(found.log)
    codes = dict(case.known)
    decide(found, lambda _, weights: first_best(weights), codes)
    log_evidence = log_probability(network, evidence, max_entries)
    return Explanation(_labels(network, network.nodes, codes), float(found.log[0]), log_evidence)


def _labels(network: BayesianNetwork, nodes: Iterable[str], codes: Mapping[int, Codes]) -> dict[str, str]:
    position = network.dag.index.position
    return {node: network.levels[node][int(codes[position(node)][0])] for node in nodes}


def sample(network: BayesianNetwork, n: int, seed: int | Sequence[int], evidence: Mapping[str, Any]) -> Dataset:
    """Draw rows from the distribution given the evidence, with the numbers of `mapdag.networks.draws`."""
    what = "sampling given evidence"
    n, key = checked_count("n", n), key_of(seed)
    case = put_in(network, evidence, what)
    check_capacity(case.order.total, MAX_ENTRIES, f"{what} would need tables")
    found = run(case.factors, case.order.nodes)
    refuse_impossible(found.log)
    cards = [len(network.levels[node]) for node in network.nodes]
    codes = room_for(len(cards), n, code_dtype(cards))
    for start in range(0, n, _ROWS):
        rows = min(_ROWS, n - start)
        drawn = dict(case.known)
        decide(found, partial(_draw, key, start, rows), drawn)
        for i, mine in drawn.items():
            codes[i, start : start + rows] = mine
    return Dataset._trusted(network.nodes, network.levels, codes, None, network.codings)  # noqa: SLF001


def _draw(key: NDArray[np.uint32], start: int, rows: int, node: int, weights: Floats) -> Codes:
    """Draw a level of a node for some rows, from an even one on; levels without weight are never drawn."""
    numbers = np.empty(rows + rows % 2)
    uniforms(key, node, start, numbers)
    cumulative = np.cumsum(weights, axis=0)
    drawn = (numbers[:rows] * cumulative[-1] >= cumulative).sum(axis=0)
    last = len(weights) - 1 - np.argmax(weights[::-1] > 0, axis=0)
    return np.minimum(drawn, last)
