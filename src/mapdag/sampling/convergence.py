"""Diagnosis of Markov chains: split R-hat, effective sample size (Vehtari and others 2021), Monte Carlo error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_CHANCE = 0.001  # of chains that agree to be taken for some that differ, for each arc
_ROUNDING = 1e-12


def split(draws: Floats) -> Floats:
    """Split each chain into halves: (chains, draws, ...) becomes (2 chains, draws / 2, ...)."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def normal_scores(draws: Floats) -> Floats:
    """Turn numbers into normal scores of their ranks, ties sharing the mean of theirs."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    ranks = rankdata(draws, axis=None).reshape(draws.shape)
    found: Floats = ndtri((ranks - 0.375) / (draws.size + 0.25))
    return found


def r_hat(draws: Floats) -> Floats:
    """Split R-hat of each quantity, ``draws`` being (chains, draws, ...); 1 where nothing varies.

    Of numbers that take two values only, such as whether an arc is there, ranks say the same as the numbers.
    """
    parts = split(draws)
    size = parts.shape[1]
    if size < 2:
        return np.full(parts.shape[2:], np.nan)
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = parts.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.sqrt((size - 1) / size + between / within)
    found = np.where(within > 0, found, np.where(between > 0, np.inf, 1.0))
    return np.asarray(found)


def effective_size(draws: Floats) -> Floats:
    """Effective number of independent draws of each quantity, ``draws`` being (chains, draws, ...).

    Autocorrelations of split chains are summed by Geyer's initial monotone sequence. Where nothing varies it is the
    number of draws.
    """
    parts = split(draws)
    m, n = parts.shape[:2]
    flat = parts.reshape(m, n, -1)
    if n < 4:
        return np.full(parts.shape[2:], np.nan)
    centred = flat - flat.mean(axis=1, keepdims=True)
    length = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(centred, n=length, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, n=length, axis=1)[:, :n].mean(axis=0) / n
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + (flat.mean(axis=1).var(axis=0, ddof=1) if m > 1 else 0.0)
    found = np.full(flat.shape[2], float(m * n))
    for k in np.flatnonzero(total > 0):
        rho = 1 - (within[k] - covariance[:, k]) / total[k]
        pairs = rho[: 2 * (n // 2)].reshape(-1, 2).sum(axis=1)
        negative = np.flatnonzero(pairs <= 0)
        pairs = np.minimum.accumulate(pairs[: negative[0]] if len(negative) else pairs)
        tau = max(2 * pairs.sum() - 1, 1 / np.log10(m * n))
        found[k] = m * n / tau
    return found.reshape(parts.shape[2:])


def monte_carlo_error(means: Floats) -> Floats:
    """Monte Carlo standard error of the mean over batches, ``means`` being (chains, batches, ...).

    That of independent batches; but where chains differ by more than independent batches would in one case of a
    thousand, that of as many numbers as there are chains. So chains that do not meet have a large error, however long
    each of them is.
    """
    from scipy.special import fdtri

    chains, batches = means.shape[:2]
    total = chains * batches
    independent = means.reshape(total, *means.shape[2:]).std(axis=0, ddof=1) / np.sqrt(total)
    if chains < 2 or batches < 2:
        return np.asarray(independent)
    within = means.var(axis=1, ddof=1).mean(axis=0)
    between = means.mean(axis=1).var(axis=0, ddof=1)
    limit = fdtri(chains - 1, total - chains, 1 - _CHANCE)
    differ = between * batches > limit * within + _ROUNDING
    return np.where(differ, np.maximum(np.sqrt(between / chains), independent), independent)
