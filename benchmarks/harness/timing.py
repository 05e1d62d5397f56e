"""Timing on a machine that has other things to do: contenders take turns, and the best of several rounds counts.

Noise only ever adds to a time, so the minimum is the best estimate; taking turns spreads a slow spell over all. A
contender that has used up its share of seconds is not asked again, so that a slow one does not make the rest wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_HOPELESS = 5  # budgets that one round may take; after that, one round is all there is
_REST = 0.02  # seconds between turns: threads of the previous contender stop spinning


@dataclass(frozen=True)
class Rounds:
    """How often to repeat: at least and at most so many rounds, or until a contender has used `budget` seconds."""

    least: int = 2
    most: int = 15
    budget: float = 5.0


@dataclass(frozen=True)
class Timing:
    """The times of one contender, and what it returned last."""

    seconds: tuple[float, ...]
    value: Any = None

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def spread(self) -> float:
        """The median over the best: how noisy the machine was."""
        return sorted(self.seconds)[len(self.seconds) // 2] / self.best


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Call a function once; return the seconds it took and its value."""
    start = time.perf_counter()
    value = function()
    return time.perf_counter() - start, value


def take_turns(contenders: Mapping[str, Callable[[], tuple[float, Any]]], rounds: Rounds) -> dict[str, Timing]:
    """Time contenders in alternating rounds; each is a function that returns (seconds, value)."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    values: dict[str, Any] = {}
    for number in range(rounds.most):
        for name, contender in contenders.items():
            used = sum(seconds[name])
            if used > _HOPELESS * rounds.budget or (number >= rounds.least and used > rounds.budget):
                continue
            time.sleep(_REST)
            took, values[name] = contender()
            seconds[name].append(took)
    return {name: Timing(tuple(seconds[name]), values[name]) for name in contenders}


def best_of(function: Callable[[], Any], rounds: Rounds) -> Timing:
    """Time one function."""
    return take_turns({"it": lambda: timed(function)}, rounds)["it"]
