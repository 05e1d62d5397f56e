"""How much a search over orders does, counted in estimated work and never by a clock: the same on any machine."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mapdag.checks import check_number
from mapdag.counts.choice import estimate
from mapdag.errors import ParameterError
from mapdag.search.orders.sample import rows_of

if TYPE_CHECKING:
    from typing import Any, Literal

    from numpy.typing import NDArray

    from mapdag.data import Dataset
    from mapdag.search.orders.lists import Families, Lists

    Effort = float | Literal["full"]

FULL = "full"
# Estimated nanoseconds of one core: about a minute of two cores, as others share the machine and not all is counted.
_USUAL = 1e11
_FAMILY = 250.0  # nanoseconds to score and keep a family, beside counting it
_POSITION = 500.0  # nanoseconds to look at a position of a node, in one exploration
_LISTED = 10.0  # nanoseconds to put one graph together, for each node and each family that is known
_SEEDS = 1 / 2  # of the work that looking at pairs of parents may take
_MIX = np.random.default_rng(35).integers(2**64, size=1, dtype=np.uint64)[0] | np.uint64(1)


def check_effort(effort: Any) -> tuple[float, float]:
    """Return a multiple of the usual steps, and the most work that they may be."""
    if isinstance(effort, str):
        if effort != FULL:
            raise ParameterError(f'effort must be a number of at least 0, or "{FULL}", got {effort!r}')
        return 1.0, math.inf
    multiple = check_number("effort", effort, least=0)
    return multiple, _USUAL * max(multiple, 1.0)


class Budget:
    """The work that one search may do, and has done, in estimated nanoseconds of one core.

    What several explorations meet is counted once, as its scores are kept: so the sum is close to what is counted.

    Parameters
    ----------
    most : float
        At most so much, more or less: what has been begun is finished.
    """

    def __init__(self, most: float) -> None:
        self.most = most
        self._done = 0.0
        self._met = np.zeros(0, dtype=np.uint64)  # families, as numbers, ascending
        self._left_out: list[str] = []

    @property
    def left(self) -> float:
        """What remains."""
        return max(self.most - self._done, 0.0)

    def lasts(self, share: float = 1.0) -> bool:
        """Tell whether less than a share of the work was done."""
        return self._done < share * self.most

    def pairs(self, data: Dataset, n_leading: int) -> int:
        """Say how many candidates of each node may lead pairs of parents, and count the work that this is."""
        n, cards = data.n_columns, data.cards
        middle = np.argsort(cards)[n // 2]
        family = np.array([middle, middle])
        one = n * (estimate(rows_of(data), family, np.arange(n), cards) + n * _FAMILY)
        if n_leading == n:
            one /= 2  # each pair is looked at once
        allowed = min(n_leading, int(min(_SEEDS * self.left / one, n)))
        if allowed < n_leading:
            self.leave_out(f"pairs of parents with {allowed} instead of {n_leading} leading candidates")
        self._done += allowed * one
        return allowed

    def explored(self, work: float, families: Families, n_nodes: int) -> None:
        """Count an exploration that met some families."""
        new = _numbers(families)
        share = 1 - np.isin(new, self._met).mean() if len(self._met) else 1.0
        self._met = np.union1d(self._met, new)
        self._done += work * float(share) + _POSITION * n_nodes * n_nodes

    def cut(self) -> None:
        """Note that an exploration has ended with all work done."""
        self._done = self.most

    def assembled(self, lists: Lists, graphs: int) -> None:
        """Count graphs that were put together."""
        self._done += _LISTED * graphs * len(lists.scores) * (len(lists.starts) - 1)

    def leave_out(self, what: str) -> None:
        """Note what is not done for want of work."""
        if what not in self._left_out:
            self._left_out.append(what)

    @property
    def left_out(self) -> str:
        """What was not done."""
        return "; ".join(self._left_out)


def _numbers(families: Families) -> NDArray[np.uint64]:
    """Turn each family into a number, hardly ever that of another one."""
    found = families.children.astype(np.uint64)
    with np.errstate(over="ignore"):
        for word in families.sets.T:
            found = (found ^ word) * _MIX
            found ^= found >> np.uint64(29)
    return found
