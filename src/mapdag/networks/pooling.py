"""Rubin's rules: one estimate, and how sure it is, from the same analysis of several imputed tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mapdag.checks import check_probability
from mapdag.errors import ParameterError
from mapdag.public import public


@dataclass(frozen=True)
class PooledEstimate:
    """An estimate from several imputed tables; made by `pool_estimates`.

    Attributes
    ----------
    estimate : float
        The mean of the estimates.
    standard_error : float
        The square root of the total variance: within tables, and between them.
    lower, upper : float
        A confidence interval.
    degrees_of_freedom : float
        Of the t distribution that the interval comes from.
    missing_information : float
        The share of the total variance that is there because values are missing.
    """

    estimate: float
    standard_error: float
    lower: float
    upper: float
    degrees_of_freedom: float
    missing_information: float


@public()
def pool_estimates(
    estimates: Sequence[float],
    variances: Sequence[float],
    *,
    confidence: float = 0.95,
    degrees_of_freedom: float = math.inf,
) -> PooledEstimate:
    r"""Pool what several imputed tables say of one number by Rubin's rules (Rubin 1987).

    The total variance is :math:`W + (1 + 1/m) B`, of the mean variance within m tables and the variance between
    their estimates.

    Parameters
    ----------
    estimates : sequence of float
        From each table, such as an effect.
    variances : sequence of float
        Of each estimate, as if its table had never had gaps: the square of the standard error.
    confidence : float
        Of the interval.
    degrees_of_freedom : float
        Those that the analysis would have without gaps, where there are few (Barnard and Rubin 1999).

    Returns
    -------
    PooledEstimate

    Examples
    --------
    >>> import mapdag as md
    >>> found = md.pool_estimates([0.42, 0.38, 0.45, 0.40], [0.0016, 0.0015, 0.0016, 0.0017])
    >>> round(found.estimate, 4), round(found.standard_error, 4), round(found.missing_information, 2)
    (0.4125, 0.0521, 0.41)
    """
    values, within = _numbers("estimates", estimates), _numbers("variances", variances)
    if len(values) < 2 or len(values) != len(within):
        raise ParameterError(
            "estimates and variances must be as many as there are tables, at least 2, got "
            f"{len(values)} and {len(within)}"
        )
    if (within < 0).any():
        raise ParameterError(f"variances must not be negative, got {within.min():g}")
    confidence = check_probability("confidence", confidence)
    if not degrees_of_freedom > 0:
        raise ParameterError(f"degrees_of_freedom must be positive, got {degrees_of_freedom}")
    m = len(values)
    mean, between = float(values.mean()), float((1 + 1 / m) * values.var(ddof=1))
    total = float(within.mean()) + between
    share = between / total if total else 0.0
    free = (m - 1) / share**2 if share else math.inf
    if math.isfinite(degrees_of_freedom):
        left = (degrees_of_freedom + 1) / (degrees_of_freedom + 3) * degrees_of_freedom * (1 - share)
        free = 1 / (1 / free + 1 / left) if left else 0.0
    error = math.sqrt(total)
    half = _quantile(0.5 + confidence / 2, free) * error if error else 0.0
    return PooledEstimate(mean, error, mean - half, mean + half, free, share)


def _numbers(name: str, given: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    try:
        found = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all():
        raise ParameterError(f"{name} must be a sequence of finite numbers, one for each table")
    return found


def _quantile(share: float, free: float) -> float:
    from scipy.stats import norm, t

    return float(norm.ppf(share) if math.isinf(free) else t.ppf(share, free))
