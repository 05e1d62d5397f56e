"""Rows with gaps as a network completes them: by expected counts, by a draw, or by what is most probable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mapdag.data import Dataset
from mapdag.networks.completed import Completed
from mapdag.networks.gaps import codes_with_gaps, fill

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mapdag.data.labels import Codes
    from mapdag.networks import BayesianNetwork


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


def _dataset(network: BayesianNetwork, codes: Codes, weights: NDArray[np.generic] | None) -> Dataset:
    return Dataset(network.nodes, network.levels, codes, weights, network.codings)  # type: ignore[arg-type]
