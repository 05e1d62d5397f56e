"""Drawing rows from a network: block by block, in several threads, and the same rows whatever the blocks.

The number that decides the level of a node in a row is a function of the seed, the row and the node's position alone:
the level is the first one whose cumulated probability exceeds it. The generator is Philox4x32-10 (Salmon, Moraes, Dror
and Shaw, 2011, "Parallel random numbers: as easy as 1, 2, 3"), a function of a key and a counter without any state;
the key is `numpy.random.SeedSequence(seed).generate_state(2)`. Every number of a sample has a counter of its own, so it
does not matter who draws it, or when.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.data.dataset import Dataset
from mapdag.data.labels import Codes, code_dtype
from mapdag.errors import CapacityError, ParameterError
from mapdag.kernels import entry
from mapdag.networks.cpts import Floats, refuse_undefined
from mapdag.networks.sparse_tables import SparseTable, held_tables
from mapdag.tasks import divide, threads_for
from mapdag.wording import brief

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from mapdag.networks.network import BayesianNetwork

_ROWS = 2**12
"""Rows that one call of the kernel draws: even, and few enough for all their columns to stay in the cache."""

_ROUNDS = 10
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (np.uint32(0x9E3779B9), np.uint32(0xBB67AE85))
_HALF = np.uint64(32)
_DROPPED = np.uint64(11)  # 64 random bits make one of the 2**53 multiples of 2**-53


class FlatNetwork(NamedTuple):
    """A network as the kernel wants it; nodes are positions.

    Parameters
    ----------
    order : int64 array
        The nodes, parents before children.
    cards : int64 array
        Levels of each node.
    parents, parent_ends : int64 array
        Parents of all nodes, one node after the other, and where each ends.
    cumulative : float64 array
        Distribution functions of all tables, one node after the other.
    starts : int64 array
        Where the table of each node starts.
    """

    order: NDArray[np.int64]
    cards: NDArray[np.int64]
    parents: NDArray[np.int64]
    parent_ends: NDArray[np.int64]
    cumulative: NDArray[np.float64]
    starts: NDArray[np.int64]


def sample(network: BayesianNetwork, n: int, seed: int | Sequence[int]) -> Dataset:
    """Draw `n` rows."""
    n = checked_count("n", n)
    flat, key = _prepare(network, seed)
    return _draw(network, flat, key, 0, n)


def sample_rows(network: BayesianNetwork, start: int, n: int, seed: int | Sequence[int]) -> Dataset:
    """Draw `n` rows from one on: those that `sample` would draw there."""
    flat, key = _prepare(network, seed)
    return _draw(network, flat, key, start, start + n)


def sample_blocks(network: BayesianNetwork, n: int, seed: int | Sequence[int], block: int) -> Iterator[Dataset]:
    """Draw `n` rows, `block` at a time."""
    n, block = checked_count("n", n), checked_count("block", block, least=1)
    flat, key = _prepare(network, seed)
    return (_draw(network, flat, key, start, min(start + block, n)) for start in range(0, n, block))


def checked_count(name: str, value: int, least: int = 0) -> int:
    """Return a number of rows, which must be whole and not too small."""
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if number < least:
        raise ParameterError(f"{name} must be a whole number, at least {least}, got {brief(value)}")
    if number >= 2**63:
        raise CapacityError(f"{name} must be less than 2**63, got {brief(value)}")
    return number


def _prepare(network: BayesianNetwork, seed: int | Sequence[int]) -> tuple[FlatNetwork | None, NDArray[np.uint32]]:
    """Return the network as the kernel wants it, if no table is sparse, and the key."""
    refuse_undefined(network.cpts, "sampling")
    sparse = any(isinstance(table, SparseTable) for table in held_tables(network.cpts).values())
    return None if sparse else flatten(network), key_of(seed)


def key_of(seed: int | Sequence[int]) -> NDArray[np.uint32]:
    """Return the key of the generator for a seed."""
    try:
        entropy: int | list[int]
        if isinstance(seed, Sequence) and not isinstance(seed, str | bytes):
            entropy = [operator.index(each) for each in seed]
        else:
            entropy = operator.index(seed)  # type: ignore[arg-type]  # a text is refused here
        return np.random.SeedSequence(entropy).generate_state(2).astype(np.uint32)
    except (TypeError, ValueError):
        raise ParameterError(f"seed must be a whole number, not negative, or several, got {brief(seed)}") from None


def flatten(network: BayesianNetwork) -> FlatNetwork:
    """Return the network as the kernel wants it."""
    dag, tables = network.dag, [network.cpts[node] for node in network.nodes]
    positions = {node: position for position, node in enumerate(dag.nodes)}
    parents = [dag.parent_indices(i) for i in range(len(tables))]
    return FlatNetwork(
        order=np.array([positions[node] for node in dag.topological_order()], dtype=np.int64),
        cards=np.array([table.shape[-1] for table in tables], dtype=np.int64),
        parents=np.array([parent for family in parents for parent in family], dtype=np.int64),
        parent_ends=np.cumsum([len(family) for family in parents], dtype=np.int64),
        cumulative=np.concatenate([_cumulative(table).ravel() for table in tables]),
        starts=np.cumsum([0, *(table.size for table in tables[:-1])], dtype=np.int64),
    )


def _cumulative(table: Floats) -> Floats:
    """Return the distribution functions, one from the last possible level on, so that no other is ever drawn."""
    cumulative = np.cumsum(table, axis=-1)
    possible_after = np.flip(np.logical_or.accumulate(np.flip(table > 0, axis=-1), axis=-1), axis=-1)
    cumulative[..., :-1][~possible_after[..., 1:]] = 1.0
    cumulative[..., -1] = 1.0
    return cumulative


def _draw(
    network: BayesianNetwork, flat: FlatNetwork | None, key: NDArray[np.uint32], start: int, stop: int
) -> Dataset:
    """Draw the rows from `start` to before `stop`."""
    n_nodes, dtype = len(network.nodes), code_dtype([len(network.levels[node]) for node in network.nodes])
    codes = room_for(n_nodes, stop - start, dtype, "; use sample_blocks")
    # The kernel starts at even rows, so a piece may have to begin one row early.
    pieces = [(first, min(first + _ROWS, stop)) for first in range(start - start % 2, stop, _ROWS)]

    def work(piece: tuple[int, int]) -> None:
        first, end = piece
        part: Codes = np.empty((n_nodes, end - first), dtype=dtype)
        if flat is None:
            _draw_sparse(network, key, first, part)
        else:
            draw_rows(flat, key, first, part)
        codes[:, max(first, start) - start : end - start] = part[:, max(start - first, 0) :]

    if len(pieces) == 1:
        work(pieces[0])
    elif pieces:
        with threads_for(len(divide(None, len(pieces)))) as pool:
            list(pool.map(work, pieces))
    # The codes are right by construction.
    return Dataset._trusted(network.nodes, network.levels, codes, None, network.codings)  # noqa: SLF001


def _draw_sparse(network: BayesianNetwork, key: NDArray[np.uint32], first_row: int, codes: Codes) -> None:
    """Do what `draw_rows` does, the same rows, for a network with sparse tables."""
    held, n = held_tables(network.cpts), codes.shape[1]
    draws = np.empty(n + n % 2)
    position = network.dag.index.position
    for name in network.dag.topological_order():
        node, table = position(name), held[name]
        uniforms(key, node, first_row, draws)
        parents = tuple(codes[position(parent)].astype(np.intp) for parent in network.parents(name))
        cumulative = _cumulative(np.broadcast_to(table[parents] if parents else table, (n, table.shape[-1])))
        codes[node] = (draws[:n, None] >= cumulative[:, :-1]).sum(axis=1)


def room_for(n_nodes: int, rows: int, dtype: DTypeLike, way_out: str = "") -> Codes:
    """Return an array for the codes of some rows, or say how much memory they would take."""
    try:
        return np.empty((n_nodes, rows), dtype=dtype)
    except (MemoryError, ValueError):  # the latter: beyond what numpy can address
        size = n_nodes * rows * np.dtype(dtype).itemsize / 2**30
        raise CapacityError(f"{rows:,} rows of {n_nodes:,} nodes need {size:,.1f} GiB{way_out}") from None


@entry
def uniforms(key: NDArray[np.uint32], node: int, first_row: int, out: Floats) -> None:
    """Fill `out` with uniform numbers from [0, 1) for the rows of one node from an even `first_row` on.

    Rows 2i and 2i + 1 share the block with the counter (low half of i, high half of i, node, 0): the first two of its
    four words, low word first, make the number of the even row, the last two that of the odd one.
    """
    for pair in range(len(out) // 2):
        index = np.uint64((first_row >> 1) + pair)
        x0, x1 = np.uint32(index), np.uint32(index >> _HALF)
        x2, x3 = np.uint32(node), np.uint32(0)
        k0, k1 = key[0], key[1]
        for _ in range(_ROUNDS):
            low, high = np.uint64(x0) * _MULTIPLIERS[0], np.uint64(x2) * _MULTIPLIERS[1]
            x0 = np.uint32(np.uint32(high >> _HALF) ^ x1 ^ k0)
            x2 = np.uint32(np.uint32(low >> _HALF) ^ x3 ^ k1)
            x1, x3 = np.uint32(high), np.uint32(low)
            k0, k1 = np.uint32(k0 + _WEYL[0]), np.uint32(k1 + _WEYL[1])
        even = np.uint64(x0) | (np.uint64(x1) << _HALF)
        odd = np.uint64(x2) | (np.uint64(x3) << _HALF)
        out[2 * pair] = np.float64(even >> _DROPPED) * 2.0**-53
        out[2 * pair + 1] = np.float64(odd >> _DROPPED) * 2.0**-53


@entry
def draw_rows(flat: FlatNetwork, key: NDArray[np.uint32], first_row: int, codes: Codes) -> None:
    """Fill `codes` (nodes x rows) with the rows of a sample from an even `first_row` on."""
    n = codes.shape[1]
    draws = np.empty(n + n % 2, dtype=np.float64)
    base = np.empty(n, dtype=np.int64)
    for node in flat.order:
        uniforms(key, node, first_row, draws)
        base[:] = 0
        for i in range(flat.parent_ends[node - 1] if node else 0, flat.parent_ends[node]):
            parent = flat.parents[i]
            card, column = flat.cards[parent], codes[parent]
            for row in range(n):
                base[row] = base[row] * card + column[row]
        r = flat.cards[node]
        for row in range(n):
            base[row] = flat.starts[node] + base[row] * r
        # All rows halve the range of their levels together: without branches, the loop becomes vector instructions.
        level, size = np.zeros(n, dtype=np.int64), r
        while size > 1:
            half = size >> 1
            for row in range(n):
                level[row] += half * np.int64(draws[row] >= flat.cumulative[base[row] + level[row] + half - 1])
            size -= half
        for row in range(n):
            codes[node, row] = level[row]
