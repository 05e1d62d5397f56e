"""What a network says of rows with gaps: how probable they are, expected counts, and what the gaps hold.

Rows go through the kernel of `completion` in pieces, in threads; the few that are too much for it through elimination.
Results are added up piece by piece, so that they do not depend on the number of threads.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.data.labels import code_dtype
from mapdag.networks.cpts import refuse_undefined
from mapdag.networks.elimination import run
from mapdag.networks.expectation import expected_counts, groups_of
from mapdag.networks.factors import Families
from mapdag.networks.inputs import matched_codes
from mapdag.networks.propagation import decide, first_best
from mapdag.networks.sparse_tables import held_tables
from mapdag.tasks import available_cores, pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data import Dataset
    from mapdag.data.labels import Codes
    from mapdag.networks.cpts import Floats
    from mapdag.networks.network import BayesianNetwork

_PIECE = 2**11
"""Rows that are done at a time."""


class Expected(NamedTuple):
    """What rows with gaps lead to expect."""

    counts: list[Floats]  # of every cell of every family, in the shape of its table
    log: Floats  # by row, the log-probability of what is known


def codes_with_gaps(network: BayesianNetwork, data: Dataset) -> Codes:
    """Return the codes of a data set, one row per node, as the network orders levels; a gap is their number."""
    matched = matched_codes(network.levels, data, network.nodes)
    dtype = code_dtype([len(network.levels[node]) for node in network.nodes], gaps=True)
    codes: Codes = np.array([matched[node] for node in network.nodes], dtype=dtype)
    return codes


def log_known(network: BayesianNetwork, codes: Codes) -> Floats:
    """Return the log-probability of what is known of each row; `codes` as from `codes_with_gaps`."""
    from mapdag.networks.completion import LOG

    return _visited(network, codes, None, LOG)[0]


def expect(network: BayesianNetwork, codes: Codes, weights: NDArray[Any] | None = None, threads: int = 0) -> Expected:
    """Return the expected counts of all families, and the log-probability of what is known."""
    from mapdag.networks.completion import COUNT

    log, flat, _ = _visited(network, codes, weights, COUNT, threads=threads)
    shapes = [held_tables(network.cpts)[node].shape for node in network.nodes]
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
    return Expected([part.reshape(shape) for part, shape in zip(np.split(flat, ends), shapes, strict=True)], log)


def fill(
    network: BayesianNetwork, codes: Codes, *, draws: int = 0, spread: bool = False, seed: int = 0, threads: int = 0
) -> Codes:
    """Return rows without gaps, an array (draws, nodes, rows): the most probable ones, or draws given what is known.

    Parameters
    ----------
    network : BayesianNetwork
    codes : array (nodes, rows)
        From `codes_with_gaps`. Rows that cannot happen are filled with anything.
    draws : int
        How many; 0 for the most probable levels.
    spread : bool
        Spread the draws of a row evenly over what is possible: they must be a power of two, and are to be taken
        together. Otherwise each is independent of the others.
    seed : int
        The same gives the same.
    threads : int
        How many to use; 0 for all cores.
    """
    from mapdag.networks.completion import BEST, DRAW, SPREAD

    task = BEST if not draws else SPREAD if spread else DRAW
    return _visited(network, codes, None, task, times=max(draws, 1), seed=seed, threads=threads)[2]


def _visited(
    network: BayesianNetwork,
    codes: Codes,
    weights: NDArray[Any] | None,
    task: int,
    *,
    times: int = 0,
    seed: int = 0,
    threads: int = 0,
) -> tuple[Floats, Floats, Codes]:
    """Let all rows go through the kernel: logs, expected counts, and rows without gaps, as far as they are wanted."""
    from mapdag.networks.completion import COUNT, flatten, visit

    refuse_undefined(network.cpts, "filling gaps")
    tables, n_rows = flatten(network), codes.shape[1]
    by_row = np.ones(n_rows) if weights is None else weights.astype(np.float64)
    out: Codes = np.empty((n_rows, times, len(codes)), dtype=codes.dtype)
    log = np.empty(n_rows)

    def do(first: int) -> Floats:
        mine = slice(first, first + _PIECE)
        counts = np.zeros(len(tables.probabilities) if task == COUNT else 0)
        rows = np.ascontiguousarray(codes[:, mine].T)
        out[mine] = rows[:, None]
        log[mine] = visit(task, rows, by_row[mine], first, seed, tables, counts, out[mine])
        return counts

    starts = range(0, n_rows, _PIECE)
    workers = threads or available_cores()
    found = map(do, starts) if workers == 1 or len(starts) < 2 else pool(workers, "gaps").map(do, starts)
    counts = np.zeros(len(tables.probabilities) if task == COUNT else 0)
    for each in found:
        counts += each
    large = np.flatnonzero(np.isnan(log))
    if len(large):
        counts = _leave_to_elimination(network, codes, by_row, large, log, counts, out, (task, seed))
    return log, counts, np.ascontiguousarray(out.transpose(1, 2, 0))


def _leave_to_elimination(
    network: BayesianNetwork,
    codes: Codes,
    weights: Floats,
    rows: NDArray[np.intp],
    log: Floats,
    counts: Floats,
    out: Codes,
    how: tuple[int, int],
) -> Floats:
    """Do the same for rows with too large components: `log` and `out` in place; returns the counts."""
    from mapdag.networks.completion import BEST

    families, mine = Families(network), codes[:, rows]
    known = mine < np.array(families.cards)[:, None]
    task, seed = how
    if task < BEST:
        more, log[rows] = expected_counts(families, mine, known, weights[rows])
        return counts + np.concatenate([each.ravel() for each in more]) if len(counts) else counts
    rng = np.random.default_rng([seed, len(rows)])
    for group in groups_of(families, known, apart=True):
        sure = {i: mine[i, group.rows] for i in group.sure}
        factors = [families.factor(i, sure) for i in range(len(families.cards))]
        found = run(factors, group.order.nodes, largest=task == BEST)
        log[rows[group.rows]] = run(factors, group.order.nodes).log if task == BEST else found.log
        for time in range(out.shape[1]):
            filled: dict[int, Any] = dict(sure)
            decide(found, _best if task == BEST else partial(_drawn, rng, len(group.rows)), filled)
            for node, levels in filled.items():
                out[rows[group.rows], time, node] = levels
    return counts


def _best(_: int, weights: Floats) -> NDArray[np.intp]:
    return first_best(weights)


def _drawn(rng: np.random.Generator, n_rows: int, _: int, weights: Floats) -> NDArray[np.intp]:
    """Draw a level of a node for some rows, given the weights of its levels."""
    cumulative = np.cumsum(np.broadcast_to(weights, (len(weights), n_rows)), axis=0)
    drawn = (rng.random(n_rows) * cumulative[-1] >= cumulative).sum(axis=0)
    last = len(weights) - 1 - np.argmax(np.broadcast_to(weights, cumulative.shape)[::-1] > 0, axis=0)
    return np.minimum(drawn, last)
