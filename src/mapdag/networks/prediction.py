"""The distribution of one node in every row of a table, whatever else is known of the row.

Of each row, only a part of the network matters: the families of nodes that are known or have known descendants (others
sum to one), as far as they hang together with the node through nodes that are not known. Rows with the same part are
computed together, each with its own evidence; with gaps at random, that is a few nodes in most rows. Whether a row is
possible at all depends on the families whose tables have zeros, wherever they are.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.data.codings import TEXT
from mapdag.data.problems import listed, rows_text
from mapdag.errors import CapacityError, DataError, NetworkError
from mapdag.graphs.acyclicity import reachable
from mapdag.graphs.masks import mask_of, members
from mapdag.graphs.structure import moral
from mapdag.networks.cpts import Floats, refuse_undefined
from mapdag.networks.elimination import Order, best_order, check_capacity, run
from mapdag.networks.evidence import decoded
from mapdag.networks.factors import CALL, Factor, Families, indicator, normalised, onto
from mapdag.networks.inputs import Evidence, Unseen, readable_again, rows_as_evidence
from mapdag.networks.propagation import first_best
from mapdag.networks.questions import MAX_ENTRIES
from mapdag.networks.sparse_tables import held_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from mapdag.graphs import DAG
    from mapdag.networks.network import BayesianNetwork

_ROWS = 2**14
"""Rows whose parts of the network are found at a time."""

_BLOCK = 2**16
"""Entries of the largest table, times rows, that are computed at a time: 512 KiB."""

_MOST = 2**24
"""The same where tables are large: 128 MiB."""

_FEW = 64
"""Rows below which a part is small, and a loop over them not worth much."""

_LARGE = 64
"""Entries of a table above which it pays to look for rows with equal evidence."""


class Part(NamedTuple):
    """Rows for which the same part of the network matters."""

    rows: NDArray[np.intp]
    families: list[int]  # the nodes whose tables matter
    unknown: list[int]  # the members of these families that are not known, the node in question among them
    mixed: bool = False  # whether some rows know some of the unknown, so that these parts are several in one


class Rows(NamedTuple):
    """What is known of all nodes, by position."""

    codes: Mapping[int, NDArray[Any]]  # of the nodes that are known in some row
    known: NDArray[np.bool_]  # (nodes, rows), or one for all rows where they know the same nodes
    n_rows: int


def predict_proba(network: BayesianNetwork, data: Any, node: str, unseen: Unseen = "gap") -> Floats:
    """Return the distribution of one node in every row, given what is known of the others."""
    target = network.dag.index.position(node)
    evidence = _evidence(network, readable_again(data), node, unseen)
    families = Families(network)
    rows = _by_position(network, families, evidence, target)
    parts = list(_parts(network, rows, target))
    needed = sorted({i for part in parts for i in part.families})
    held = held_tables(network.cpts)
    refuse_undefined({network.nodes[i]: held[network.nodes[i]] for i in needed}, "predicting")
    result = np.full((evidence.n_rows, families.cards[target]), np.nan)
    together = _joined(families, rows, parts, target)
    if together is not None:
        result[together.rows] = _posterior(families, rows, together, target)
        # What is impossible elsewhere in the network is no reason not to predict.
        left = [part._replace(rows=part.rows[np.isnan(result[part.rows, 0])]) for part in parts]
        parts = [part for part in left if len(part.rows)]
    for part in parts if evidence.n_rows else ():
        result[part.rows] = _posterior(families, rows, part, target)
    result[_are_impossible(network, rows)] = np.nan
    return result


def predict(network: BayesianNetwork, data: Any, node: str, unseen: Unseen = "gap") -> NDArray[Any]:
    """Return the most probable level of one node in every row, given what is known of the others."""
    probabilities = predict_proba(network, data, node, unseen)
    impossible = np.isnan(probabilities[:, 0])
    if impossible.any():
        raise NetworkError(
            f"{rows_text(impossible)} cannot happen whatever the level of {node!r}, so there is nothing to predict; "
            "predict_proba marks them with NaN"
        )
    return decoded(network.levels[node], network.codings.get(node, TEXT), first_best(probabilities.T))


def _evidence(network: BayesianNetwork, data: Any, node: str, unseen: Unseen) -> Evidence:
    """Return what the table tells about the nodes that matter.

    As long as the Markov blanket is known throughout, nothing is asked of other columns, but for those of families
    whose tables have zeros: they may make a row impossible.
    """
    dag, blanket = network.dag, network.dag.markov_blanket(node)
    evidence = rows_as_evidence(data, blanket, network, unseen=unseen)
    sure = [name for name in evidence.codes if name not in evidence.known]
    near = set(blanket)
    if len(sure) < len(blanket):
        near = set(dag.index.select(_near(dag, dag.index.mask(node), dag.index.mask(sure))))
    zeros = {network.nodes[member] for i in _with_zeros(network) for member in (*dag.parent_indices(i), i)}
    wanted = [name for name in dag.nodes if name in near | zeros and name != node]
    if len(wanted) > len(blanket):
        evidence = rows_as_evidence(data, wanted, network, unseen=unseen)
    if not near & evidence.codes.keys() and blanket:
        raise DataError(
            f"the data have no column of a node that tells anything about {node!r}, such as {listed(blanket)}; "
            "query() gives its distribution without evidence"
        )
    return evidence


def _with_zeros(network: BayesianNetwork) -> list[int]:
    """Return the nodes whose tables have zeros."""
    return [i for i, table in enumerate(map(held_tables(network.cpts).__getitem__, network.nodes)) if not table.all()]


def _are_impossible(network: BayesianNetwork, rows: Rows) -> NDArray[np.bool_]:
    """Tell which rows have probability zero, unless finding out is too expensive.

    What is known is impossible if no levels of the others make all families positive; those without zeros always are.
    """
    impossible = np.zeros(rows.n_rows, dtype=bool)
    dag = network.dag
    alive = reachable(dag.parent_masks, mask_of(rows.codes))
    zeros = [i for i in _with_zeros(network) if alive >> i & 1]
    unsure = np.zeros(rows.n_rows, dtype=bool)
    for i in zeros:
        family = [*dag.parent_indices(i), i]
        known = np.broadcast_to(rows.known[family].all(axis=0), rows.n_rows)
        unsure |= ~known
        if known.any():
            cells = tuple(rows.codes[member][known].astype(np.intp) for member in family)
            impossible[known] |= held_tables(network.cpts)[network.nodes[i]][cells] == 0
    left = np.flatnonzero(unsure & ~impossible)
    if len(left):
        with contextlib.suppress(CapacityError):
            impossible[left] = _cannot_be_completed(network, zeros, rows, left)
    return impossible


def _cannot_be_completed(
    network: BayesianNetwork, zeros: list[int], rows: Rows, chosen: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Tell which of some rows have no completion under which these families are all positive."""
    from mapdag.graphs import DAG
    from mapdag.networks.gaps import log_known
    from mapdag.networks.network import BayesianNetwork as Network

    dag = network.dag
    needed = sorted({member for i in zeros for member in (*dag.parent_indices(i), i)})
    names = [network.nodes[i] for i in needed]
    levels = {name: network.levels[name] for name in names}
    arcs = [(parent, network.nodes[i]) for i in zeros for parent in dag.parents(network.nodes[i])]
    cpts = {name: np.full(len(levels[name]), 1 / len(levels[name])) for name in names}
    for i in zeros:  # all that counts is where they are
        positive = network.cpts[network.nodes[i]] != 0
        cpts[network.nodes[i]] = positive / positive.sum(axis=-1, keepdims=True)
    cards = np.array([len(levels[name]) for name in names], dtype=np.uint16)
    codes = np.repeat(cards[:, None], len(chosen), axis=1)
    for row, i in zip(codes, needed, strict=True):
        known = np.broadcast_to(rows.known[i], rows.n_rows)[chosen]
        if known.any():
            row[known] = rows.codes[i][chosen][known]
    distinct, back = np.unique(codes, axis=1, return_inverse=True)
    part = Network._trusted(DAG(names, arcs), levels, cpts)  # noqa: SLF001 - right by construction
    return np.isneginf(log_known(part, distinct))[back.ravel()]


def _near(dag: DAG, start: int, sure: int) -> int:
    """Return the nodes that can matter to one, whatever is known besides `sure`: paths in the moral graph."""
    married = moral(dag.parent_masks, dag.adjacent_masks)
    found = waiting = start
    while waiting:
        low = waiting & -waiting
        new = married[low.bit_length() - 1] & ~found
        found |= new
        waiting = (waiting ^ low) | new & ~sure
    return found & ~start


def _by_position(network: BayesianNetwork, families: Families, evidence: Evidence, target: int) -> Rows:
    """Return codes, and whether they are known, of all nodes; single levels always are."""
    position = network.dag.index.position
    codes: dict[int, NDArray[Any]] = {position(name): mine for name, mine in evidence.codes.items()}
    single = np.zeros(evidence.n_rows, dtype=np.uint8)
    codes |= {i: single for i, card in enumerate(families.cards) if card == 1}
    codes.pop(target, None)
    known = np.zeros((len(network.nodes), evidence.n_rows if evidence.known else 1), dtype=bool)
    known[list(codes)] = True
    for name, mine in evidence.known.items():
        if families.cards[position(name)] > 1:
            known[position(name)] = mine
    return Rows(codes, known, evidence.n_rows)


def _parts(network: BayesianNetwork, rows: Rows, target: int) -> Iterator[Part]:
    """Find the part of the network that matters for each row, and group the rows by it."""
    n, n_known = rows.known.shape
    groups: dict[bytes, list[NDArray[np.intp]]] = {}
    for start in range(0, n_known, _ROWS):
        matters = _matters(network, rows.known[:, start : start + _ROWS], target)
        keys = np.ascontiguousarray(np.packbits(matters, axis=0).T)
        distinct, which = np.unique(keys.view(f"V{keys.shape[1]}").ravel(), return_inverse=True)
        order = np.argsort(which, kind="stable") + start
        ends = np.cumsum(np.bincount(which))[:-1]
        for key, mine in zip(distinct, np.split(order, ends), strict=True):
            groups.setdefault(key.tobytes(), []).append(mine if n_known > 1 else np.arange(rows.n_rows))
    for key, pieces in groups.items():
        bits = np.unpackbits(np.frombuffer(key, dtype=np.uint8), count=2 * n).astype(bool)
        yield Part(np.concatenate(pieces), np.flatnonzero(bits[:n]).tolist(), np.flatnonzero(bits[n:]).tolist())


def _joined(families: Families, rows: Rows, parts: list[Part], target: int) -> Part | None:
    """Return the rows of all small parts as one, if that is cheaper than one after the other.

    The families of one part do no harm to the others: where they do not matter, they contribute a constant. But nodes
    that some of the rows know have to be summed over like the others.
    """
    small = [part for part in parts if len(part.rows) < _FEW]
    if len(small) < 2:
        return None
    together = sorted({i for part in small for i in part.families})
    where = np.sort(np.concatenate([part.rows for part in small]))
    members_of = sorted({member for i in together for member in families.members(i)})
    partly = [i for i in members_of if not rows.known[i, where].all()]
    joined = Part(where, together, partly, mixed=True)
    apart = sum(len(part.families) for part in small) * CALL
    order = _order(families, joined, target)
    return joined if order.largest <= MAX_ENTRIES and order.total * len(where) < apart else None


def _matters(network: BayesianNetwork, known: NDArray[np.bool_], target: int) -> NDArray[np.bool_]:
    """Tell for every row which families matter (the first half), and which unknown nodes (the second)."""
    dag, n = network.dag, len(network.nodes)
    order = [dag.index.position(node) for node in dag.topological_order()]
    parents = [dag.parent_indices(i) for i in range(n)]
    alive = known.copy()  # known, or with known descendants
    alive[target] = True
    for i in reversed(order):
        for parent in parents[i]:
            alive[parent] |= alive[i]
    both = np.zeros((2 * n, known.shape[1]), dtype=bool)
    matters, reached = both[:n], both[n:]
    reached[target] = True
    unknown = ~known
    waiting = {target, *members(dag.child_masks[target])}  # families with a member that was reached of late
    while waiting:
        i = min(waiting)
        waiting.discard(i)
        family = [*parents[i], i]
        hit = alive[i] & np.logical_or.reduce(reached[family])
        if not np.any(hit & ~matters[i]):
            continue
        matters[i] |= hit
        for member in family:
            new = hit & unknown[member] & ~reached[member]
            if new.any():
                reached[member] |= new
                waiting |= {member, *members(dag.child_masks[member])}
    return both


def _posterior(families: Families, rows: Rows, part: Part, target: int) -> Floats:
    """Return the distribution of the node in the rows of a part."""
    order = _order(families, part, target)
    check_capacity(order.largest, MAX_ENTRIES, f"predicting row {int(part.rows[0]) + 1:,} would need a table")
    free = set(part.unknown)
    needed = sorted({member for i in part.families for member in families.members(i)} - free)
    mine, back = part.rows, None
    if order.largest > _LARGE and not part.mixed:
        evidence = np.array([np.zeros(len(mine)), *(rows.codes[i][mine] for i in needed)], dtype=np.uint16)
        _, first, back = np.unique(evidence, axis=1, return_index=True, return_inverse=True)
        mine = mine[first]
    result = np.empty((len(mine), families.cards[target]))
    size = min(max(_BLOCK // order.largest, _FEW), max(_MOST // order.largest, 1))
    for start in range(0, len(mine), size):
        block = mine[start : start + size]
        known = {i: rows.codes[i][block] for i in needed}
        factors = [families.factor(i, known) for i in part.families]
        if part.mixed:
            factors += [_indicator(families, rows, i, block) for i in part.unknown if i in rows.codes]
        joint = run(factors, order.nodes).joint
        result[start : start + size] = normalised(onto(joint, [target])).T
    return result if back is None else result[back.ravel()]


def _order(families: Families, part: Part, target: int) -> Order:
    free = set(part.unknown)
    scopes = [[member for member in families.members(i) if member in free] for i in part.families]
    return best_order(scopes, families.cards, [target])


def _indicator(families: Families, rows: Rows, node: int, block: NDArray[np.intp]) -> Factor:
    return indicator(node, families.cards[node], rows.codes[node][block], rows.known[node, block])
