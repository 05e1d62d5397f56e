"""Experiments behind docs/theory.md: each returns rows of plain values, for tables and for `mapdag.plots`.

What the paper says of uniform priors, tried out: arcs learned from pure noise, arcs learned as alpha runs, what a climb
sees of its prior, how far the limits of the theorems are from finite alphas. And what it does not say: what the best of
all graphs on noise looks like.
"""

from __future__ import annotations

from mapdag.paper.experiments.moments import ExpectationPoint, UniformPoint, expected_numbers, uniform_prior
from mapdag.paper.experiments.noise import (
    NOISE_OBJECTIVES,
    SATURATION_OBJECTIVES,
    NoisePoint,
    SaturationPoint,
    even_noise,
    noise_arcs,
    noise_table,
    saturated_arcs,
)
from mapdag.paper.experiments.sensitivity import AlphaPoint, alpha_sensitivity
from mapdag.paper.experiments.thresholds import AgreementPoint, random_pair, threshold_agreement
from mapdag.paper.experiments.trajectory import ClimbPoint, inclusion_along_climb

__all__ = [
    "NOISE_OBJECTIVES",
    "SATURATION_OBJECTIVES",
    "AgreementPoint",
    "AlphaPoint",
    "ClimbPoint",
    "ExpectationPoint",
    "NoisePoint",
    "SaturationPoint",
    "UniformPoint",
    "alpha_sensitivity",
    "even_noise",
    "expected_numbers",
    "inclusion_along_climb",
    "noise_arcs",
    "noise_table",
    "random_pair",
    "saturated_arcs",
    "threshold_agreement",
    "uniform_prior",
]
