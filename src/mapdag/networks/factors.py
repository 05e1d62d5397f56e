"""Factors: non-negative functions of a few nodes, for many rows of evidence at once, and the sums over them.

The last axis of a factor is that of the rows, so that loops over it become vector instructions; it has one entry where
all rows have the same values, and what does not depend on the evidence is computed once. Nodes are positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from mapdag.networks.inputs import cell_numbers
from mapdag.networks.sparse_tables import SparseTable, held_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mapdag.networks.cpts import Floats
    from mapdag.networks.network import BayesianNetwork

Codes: TypeAlias = "NDArray[np.integer[Any]]"
"""The level of a node in every row."""

SMALL = 2.0**-100
"""Tables whose largest entry is below this are scaled: far from the smallest number, of which there are few digits."""

CALL = 12_000
"""What a family costs, however few the rows, in entries of tables: where it pays to take rows together."""

NOTHING: Floats = np.zeros(1)
"""The log of one, for all rows."""


class Factor(NamedTuple):
    """A non-negative function of a few nodes."""

    nodes: tuple[int, ...]
    values: Floats  # one axis per node, then the rows, or one entry for all of them


class Families:
    """The tables of a network, ready to have evidence put in.

    Parameters
    ----------
    network : BayesianNetwork
        Without undefined rows in the tables that are asked for.
    """

    def __init__(self, network: BayesianNetwork) -> None:
        self._network = network
        self._members: dict[int, tuple[int, ...]] = {}  # found when needed: a question is about a few of many nodes
        self.cards = [len(network.levels[node]) for node in network.nodes]

    def members(self, node: int) -> tuple[int, ...]:
        """Return the parents of a node, and the node itself: the axes of its table."""
        found = self._members.get(node)
        if found is None:
            found = self._members[node] = (*self._network.dag.parent_indices(node), node)
        return found

    def table(self, node: int) -> Floats:
        """Return the probabilities of a node given its parents."""
        return self._network.cpts[self._network.nodes[node]]

    def constants(self, asked: Sequence[int] = ()) -> dict[int, Codes]:
        """Return the nodes with a single level, but for those asked for, as evidence: they are as good as observed."""
        return {i: np.zeros(1, dtype=np.intp) for i, card in enumerate(self.cards) if card == 1 and i not in asked}

    def factor(self, node: int, known: Mapping[int, Codes]) -> Factor:
        """Return the table of a node given its parents, with the codes of the known members put in."""
        family = self.members(node)
        held = held_tables(self._network.cpts)[self._network.nodes[node]]
        if isinstance(held, SparseTable) and any(parent in known for parent in family[:-1]):
            return _sparse_factor(family, held, known)
        table = self.table(node)
        axes = [axis for axis, member in enumerate(family) if member in known]
        if not axes:
            return Factor(family, table[..., None])
        free = [axis for axis, member in enumerate(family) if member not in known]
        turned = table.transpose(*free, *axes).reshape(*(table.shape[axis] for axis in free), -1)
        return Factor(
            tuple([family[axis] for axis in free]), np.take(turned, self.cells(node, known), axis=-1, mode="clip")
        )

    def cells(self, node: int, known: Mapping[int, Codes]) -> NDArray[np.intp]:
        """Return which configuration of the known members of a family each row has; there must be some."""
        sure = [member for member in self.members(node) if member in known]
        return cell_numbers([known[member] for member in sure], [self.cards[member] for member in sure])


def _sparse_factor(family: tuple[int, ...], table: SparseTable, known: Mapping[int, Codes]) -> Factor:
    """Return a sparse table with the codes of known parents, one at least, put in, and perhaps that of the node."""
    *parents, node = family
    free = [parent for parent in parents if parent not in known]
    codes = []
    for parent, card in zip(parents, table.shape, strict=False):
        if parent in known:
            codes.append(np.minimum(known[parent].astype(np.int64), card - 1))
        else:  # an axis of its own, before the last one, of the rows
            codes.append(np.arange(card).reshape(-1, *[1] * (len(free) - free.index(parent))))
    rows = table[tuple(codes)]
    if node not in known:
        return Factor((*free, node), np.moveaxis(rows, -1, -2))
    levels = np.minimum(known[node].astype(np.int64), table.shape[-1] - 1)
    rows, levels = np.broadcast_arrays(rows, levels[..., None])
    return Factor(tuple(free), np.take_along_axis(rows, levels[..., :1], axis=-1)[..., 0])


def indicator(node: int, card: int, codes: Codes, known: NDArray[np.bool_]) -> Factor:
    """Return evidence on a node that only some rows have: one for the levels that are possible."""
    possible = (np.arange(card)[:, None] == codes) | ~known
    return Factor((node,), possible.astype(np.float64))


def product(factors: Sequence[Factor]) -> tuple[Factor, Floats]:
    """Multiply factors, small ones first; return the product, and by row the log of what it was divided by."""
    return _reduced(factors, None, largest=False)


def eliminated(factors: Sequence[Factor], node: int, *, largest: bool) -> tuple[Factor, Floats]:
    """Multiply factors and sum over one node, or take the largest; divided as in `product`."""
    return _reduced(factors, node, largest=largest)


def _reduced(factors: Sequence[Factor], node: int | None, *, largest: bool) -> tuple[Factor, Floats]:
    first, *others = sorted(factors, key=lambda factor: factor.values.size)
    log = NOTHING
    for factor in others[:-1]:
        first, lost = scaled(_contracted(first, factor, None))
        log = log + lost
    if others:
        first = _contracted(first, others[-1], None if largest else node)
    if node in first.nodes:
        first = onto(first, [other for other in first.nodes if other != node], largest=largest)
    first, lost = scaled(first)
    return first, log + lost


def _contracted(one: Factor, other: Factor, summed: int | None) -> Factor:
    """Multiply two factors and sum over a node, without storing the product."""
    nodes = tuple(dict.fromkeys(one.nodes + other.nodes))
    letters = {node: letter for letter, node in enumerate(nodes, start=1)}
    kept = tuple([node for node in nodes if node != summed])
    scopes = [[*[letters[node] for node in scope], 0] for scope in (one.nodes, other.nodes, kept)]
    operands: list[Any] = [one.values, scopes[0], other.values, scopes[1], scopes[2]]
    return Factor(kept, np.asarray(np.einsum(*operands)))


def onto(factor: Factor, nodes: Sequence[int], *, largest: bool = False) -> Factor:
    """Sum over all nodes but these, or take the largest; the axes come in the order of these."""
    kept = [node for node in factor.nodes if node in nodes]
    axes = tuple(axis for axis, node in enumerate(factor.nodes) if node not in nodes)
    values = factor.values
    if axes:
        values = values.max(axis=axes) if largest else values.sum(axis=axes)
    return Factor(tuple(nodes), values.transpose(*[kept.index(node) for node in nodes], len(kept)))


def ratio(one: Factor, other: Factor) -> Factor:
    """Divide factors of the same nodes, in the same order; nothing divided by nothing is nothing."""
    top, bottom = np.broadcast_arrays(one.values, other.values)
    return Factor(one.nodes, np.divide(top, bottom, out=np.zeros(top.shape), where=bottom > 0))


def scaled(factor: Factor) -> tuple[Factor, Floats]:
    """Divide by the largest entry of each row where it has become small, so that probabilities do not vanish.

    Returns the logs of what was divided by as well: minus infinity for rows that are zero throughout, which stay so.
    """
    values = factor.values
    top = values.max(axis=tuple(range(values.ndim - 1))) if values.ndim > 1 else values
    if top.min() > SMALL:
        return factor, NOTHING
    possible = top > 0
    divisor = np.where(possible, top, 1.0)
    return Factor(factor.nodes, values / divisor), np.where(possible, np.log(divisor), -np.inf)


def normalised(factor: Factor) -> Floats:
    """Return the values, those of each row divided by their sum; NaN where that is zero."""
    values = factor.values
    with np.errstate(invalid="ignore"):
        result: Floats = values / values.sum(axis=tuple(range(values.ndim - 1)))
    return result
