"""Drawing rows from a network: block by block, in several threads, and the same rows whatever the blocks.

The number that decides the level of a node in a row is a function of the seed, the row and the node's position alone
(Philox4x32-10, see `draws`; the key is `numpy.random.SeedSequence(seed).generate_state(2)`). The level is the first
one whose cumulated probability exceeds it.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.dataset import Dataset
from mapdag.data.labels import Codes, code_dtype
from mapdag.errors import CapacityError, ParameterError
from mapdag.networks.checks import Floats, refuse_undefined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.networks.draws import Plan
    from mapdag.networks.network import BayesianNetwork

_ROWS = 2**12
"""Rows that one call of the kernel draws: even, and few enough for all their columns to stay in the cache."""


def sample(network: BayesianNetwork, n: int, seed: int | Sequence[int]) -> Dataset:
    """Draw `n` rows."""
    n = _count("n", n, least=0)
    plan, key = _prepare(network, seed)
    return _draw(network, plan, key, 0, n)


def sample_blocks(network: BayesianNetwork, n: int, seed: int | Sequence[int], block: int) -> Iterator[Dataset]:
    """Draw `n` rows, `block` at a time."""
    n, block = _count("n", n, least=0), _count("block", block, least=1)
    plan, key = _prepare(network, seed)
    return (_draw(network, plan, key, start, min(start + block, n)) for start in range(0, n, block))


def _count(name: str, value: int, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if number < least:
        raise ParameterError(f"{name} must be a whole number, at least {least}, got {value!r}")
    return number


def _prepare(network: BayesianNetwork, seed: int | Sequence[int]) -> tuple[Plan, NDArray[np.uint32]]:
    refuse_undefined(network.cpts, "sampling")
    try:
        entropy = seed if isinstance(seed, Sequence) else operator.index(seed)
        key = np.random.SeedSequence(entropy).generate_state(2).astype(np.uint32)
    except (TypeError, ValueError):
        raise ParameterError(f"seed must be a whole number, not negative, or several, got {seed!r}") from None
    return make_plan(network), key


def make_plan(network: BayesianNetwork) -> Plan:
    """Return the network as the kernel wants it."""
    from mapdag.networks.draws import Plan

    dag, tables = network.dag, [network.cpts[node] for node in network.nodes]
    positions = {node: position for position, node in enumerate(dag.nodes)}
    parents = [dag.parent_indices(i) for i in range(len(tables))]
    return Plan(
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


def _draw(network: BayesianNetwork, plan: Plan, key: NDArray[np.uint32], start: int, stop: int) -> Dataset:
    """Draw the rows from `start` to before `stop`."""
    from mapdag.networks.draws import draw_rows

    n_nodes, dtype = len(network.nodes), code_dtype(plan.cards.tolist())
    try:
        codes: Codes = np.empty((n_nodes, stop - start), dtype=dtype)
    except MemoryError:
        size = n_nodes * (stop - start) * np.dtype(dtype).itemsize / 2**30
        raise CapacityError(
            f"{stop - start:,} rows of {n_nodes:,} nodes need {size:,.1f} GiB; use sample_blocks"
        ) from None
    # The kernel starts at even rows, so a piece may have to begin one row early.
    pieces = [(first, min(first + _ROWS, stop)) for first in range(start - start % 2, stop, _ROWS)]

    def work(piece: tuple[int, int]) -> None:
        first, end = piece
        part: NDArray[Any] = np.empty((n_nodes, end - first), dtype=dtype)
        draw_rows(plan, key, first, part)
        codes[:, max(first, start) - start : end - start] = part[:, max(start - first, 0) :]

    if len(pieces) == 1:
        work(pieces[0])
    elif pieces:
        with ThreadPoolExecutor(min(len(pieces), _cpus())) as pool:
            list(pool.map(work, pieces))
    return Dataset._trusted(network.nodes, network.levels, codes, None)  # noqa: SLF001 - codes are right by construction


def _cpus() -> int:
    """Return how many threads this process may run at once."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
