"""Checks of options that many functions have: each returns the value to be used, or names the rule that it breaks."""

from __future__ import annotations

import math
from collections.abc import Container
from typing import Any

import numpy as np

from mapdag.errors import ParameterError
from mapdag.wording import brief

#: Numbers beyond this make no sense as parameters of scores, and may overflow where they are multiplied.
LARGEST = 1e100


def check_positive(name: str, value: Any, *, word: str = "") -> float:
    """Return `value` as a float, or say that it must be a positive number; or `word`, which the caller has checked."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not 0 < value < math.inf:
        other = f" or {word!r}" if word and isinstance(value, str) else ""
        raise ParameterError(f"{name} must be a positive number{other}, got {brief(value)}")
    if value > LARGEST:
        raise ParameterError(f"{name} must be at most {LARGEST:g}, got {brief(value)}")
    return float(value)


def check_whole(name: str, value: Any, *, least: int = 0) -> int:
    """Return `value` as an int, or say that it must be a whole number of at least `least`."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not least <= value < 2**63 or int(value) != value:
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {brief(value)}")
    return int(value)


def check_number(name: str, value: Any, *, least: float) -> float:
    """Return `value` as a float, or say that it must be a number of at least `least`."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not least <= value <= LARGEST:
        rule = f"of at most {LARGEST:g}" if number and LARGEST < value < math.inf else f"of at least {least:g}"
        raise ParameterError(f"{name} must be a number {rule}, got {brief(value)}")
    return float(value)


def check_probability(name: str, value: Any) -> float:
    """Return `value` as a float, or say that it must lie strictly between 0 and 1."""
    if not (isinstance(value, (int, float, np.floating)) and 0 < value < 1):
        raise ParameterError(f"{name} must lie strictly between 0 and 1, got {brief(value)}")
    return float(value)


def is_one_of(value: Any, choices: Container[str]) -> bool:
    """Tell whether `value` is one of some words; arrays and what cannot be hashed are not.

    >>> is_one_of("hc", ["hc", "tabu"]), is_one_of(np.array(["hc", "tabu"]), ["hc", "tabu"])
    (True, False)
    """
    return isinstance(value, str) and value in choices
