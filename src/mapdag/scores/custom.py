"""A user's own likelihood: any function of a count table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mapdag.contracts import Likelihood
from mapdag.errors import ParameterError
from mapdag.wording import brief

if TYPE_CHECKING:
    from mapdag.counts import CountTable


@dataclass(frozen=True, repr=False)
class Custom(Likelihood):
    """Score families with a Python function; every search accepts it.

    Parameters
    ----------
    function : callable
        Takes a `CountTable`, returns a float, a natural log, higher is better. It must depend on its argument only.
    score_equivalent : bool
        Promise that graphs of one equivalence class always get the same score.

    Examples
    --------
    >>> from mapdag.counts import CountTable
    >>> def pairs(table):
    ...     return -float(table.q_obs * table.r)
    >>> Custom(pairs)
    Custom(pairs)
    >>> Custom(pairs).score(CountTable.from_dense([[2, 1], [1, 2]]))
    -4.0
    """

    function: Callable[[CountTable], float]
    score_equivalent: bool = False  # type: ignore[misc]  # here it is the user's word

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError(f"function must be one that takes a CountTable, got {brief(self.function)}")

    def score(self, table: CountTable) -> float:
        """Score of one table."""
        value = self.function(table)
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(f"the function of {self} must return a number, got {brief(value)}") from None

    def __str__(self) -> str:
        return f"Custom({getattr(self.function, '__name__', 'function')})"
