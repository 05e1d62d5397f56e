"""Rows with gaps as a network completes them: all completions with their probabilities, draws, or the best one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mapdag.data import Dataset
from mapdag.networks.completed import Completed
from mapdag.networks.gaps import codes_with_gaps, fill
from mapdag.networks.likelihood import log_by_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.labels import Codes
    from mapdag.networks import BayesianNetwork

_MOST = 50_000
"""Completions of all rows together that are listed."""


def best_completion(network: BayesianNetwork, data: Dataset, threads: int) -> Dataset:
    """Return the rows with their gaps filled by what is most probable."""
    codes = fill(network, codes_with_gaps(network, data), threads=threads)[0]
    return _dataset(network, codes, data.weights)


def drawn_completion(network: BayesianNetwork, data: Dataset, seed: int, threads: int) -> Dataset:
    """Return the rows with their gaps filled at random, by what the network says of them."""
    codes = fill(network, codes_with_gaps(network, data), draws=1, seed=seed, threads=threads)[0]
    return _dataset(network, codes, data.weights)


def expected_rows(
    network: BayesianNetwork, data: Dataset, draws: int, seed: int, threads: int, least: float = 0.0
) -> Completed:
    """Return the rows as the network completes them, by expected counts.

    Exact but for gaps that depend on so many others that these cannot be listed together; there as many draws stand for
    them, spread evenly, a power of two. Configurations that are expected in fewer than `least` rows are not observed.
    """
    from mapdag.networks.posteriors import describe_gaps

    codes = codes_with_gaps(network, data)
    posterior, drawn = describe_gaps(network, codes, data.weights, draws=draws, seed=seed, threads=threads)
    return Completed(network.nodes, network.levels, posterior, network.codings, least, drawn)


def completions(network: BayesianNetwork, data: Dataset, draws: int, seed: int, threads: int) -> Dataset:
    """Return the completions of all rows, weighted so that counts are expected counts: for searches that need rows.

    Where there are few, all of them with their probabilities; otherwise so many draws for each row, spread evenly, a
    power of two: the counts of any family are then expected ones but for an error that rows average out.
    """
    codes = codes_with_gaps(network, data)
    if _how_many(network, codes) <= _MOST:
        return _listed(network, codes, data.weights)
    drawn = fill(network, codes, draws=draws, spread=True, seed=seed, threads=threads)
    rows: Codes = drawn.transpose(1, 0, 2).reshape(len(codes), -1)
    weights = np.ones(codes.shape[1]) if data.weights is None else data.weights.astype(np.float64)
    return _dataset(network, rows, np.tile(weights / draws, draws))


def _how_many(network: BayesianNetwork, codes: Codes) -> float:
    """Count the completions of all rows."""
    each = np.ones(codes.shape[1])
    for node, column in zip(network.nodes, codes, strict=True):
        card = len(network.levels[node])
        each *= np.where(column == card, float(card), 1.0)
    return float(each.sum())


def _listed(network: BayesianNetwork, codes: Codes, weights: NDArray[np.generic] | None) -> Dataset:
    """List all completions, those that occur in several rows once."""
    origin = np.arange(codes.shape[1])
    for i, node in enumerate(network.nodes):
        card = len(network.levels[node])
        gaps = codes[i] == card
        if gaps.any():
            times = np.where(gaps, card, 1)
            first = np.repeat(np.cumsum(times) - times, times)
            codes, origin = np.repeat(codes, times, axis=1), np.repeat(origin, times)
            missing = codes[i] == card
            codes[i, missing] = (np.arange(len(origin)) - first)[missing]
    log = log_by_row(network, _dataset(network, codes, None))
    n = int(origin[-1]) + 1 if len(origin) else 0
    top = np.full(n, -np.inf)
    np.maximum.at(top, origin, log)
    with np.errstate(invalid="ignore"):
        share = np.nan_to_num(np.exp(log - top[origin]))
    share /= np.bincount(origin, share, minlength=n)[origin]
    if weights is not None:
        share *= weights.astype(np.float64)[origin]
    return _dataset(network, codes, share).aggregated()


def _dataset(network: BayesianNetwork, codes: Codes, weights: NDArray[np.generic] | None) -> Dataset:
    return Dataset(network.nodes, network.levels, codes, weights, network.codings)  # type: ignore[arg-type]
