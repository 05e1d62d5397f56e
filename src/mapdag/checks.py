"""Checks of options that many functions have: each returns the value to be used, or names the rule that it breaks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mapdag.errors import ParameterError


def check_positive(name: str, value: Any) -> float:
    """Return `value` as a float, or say that it must be a positive number."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not value > 0 or not math.isfinite(value):
        raise ParameterError(f"{name} must be a positive number, got {value!r}")
    return float(value)


def check_whole(name: str, value: Any, *, least: int = 0) -> int:
    """Return `value` as an int, or say that it must be a whole number of at least `least`."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not number or not least <= value < 2**63 or int(value) != value:
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def check_number(name: str, value: Any, *, least: float) -> float:
    """Return `value` as a float, or say that it must be a number of at least `least`."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not number or not least <= value < math.inf:
        raise ParameterError(f"{name} must be a number of at least {least:g}, got {value!r}")
    return float(value)


def check_probability(name: str, value: Any) -> float:
    """Return `value` as a float, or say that it must lie strictly between 0 and 1."""
    if not (isinstance(value, (int, float, np.floating)) and 0 < value < 1):
        raise ParameterError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return float(value)
