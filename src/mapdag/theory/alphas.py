"""Functions of a count table and alpha, for one alpha or for an array of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, overload

import numpy as np

from mapdag.checks import check_positive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.counts import CountTable

    Floats: TypeAlias = NDArray[np.float64]
    Alphas: TypeAlias = "float | Sequence[float] | Floats"


class OfTable(Protocol):
    """A quantity of a table at one alpha, or at several."""

    @overload
    def __call__(self, table: CountTable, alpha: float) -> float: ...
    @overload
    def __call__(self, table: CountTable, alpha: Sequence[float] | Floats) -> Floats: ...
    def __call__(self, table: CountTable, alpha: Alphas) -> Any:
        """Return a float for one alpha, an array of the same shape for several."""


class OfPair(Protocol):
    """A quantity of the larger and the smaller table of a family, at one alpha or at several."""

    @overload
    def __call__(self, with_arc: CountTable, without: CountTable, alpha: float) -> float: ...
    @overload
    def __call__(self, with_arc: CountTable, without: CountTable, alpha: Sequence[float] | Floats) -> Floats: ...
    def __call__(self, with_arc: CountTable, without: CountTable, alpha: Alphas) -> Any:
        """Return a float for one alpha, an array of the same shape for several."""


def of_table(function: Callable[[CountTable, float], float]) -> OfTable:
    """Let a function of a table and one alpha take several."""
    vectorised: OfTable = over_alpha(function)
    return vectorised


def of_pair(function: Callable[[CountTable, CountTable, float], float]) -> OfPair:
    """Let a function of two tables and one alpha take several."""
    vectorised: OfPair = over_alpha(function)
    return vectorised


def over_alpha(function: Callable[..., float]) -> Any:
    """Let the last argument be one positive number or an array of them."""

    @wraps(function)
    def vectorised(*arguments: Any, **named: Any) -> Any:
        if "alpha" in named:
            arguments = (*arguments, named.pop("alpha"))
        *tables, alpha = arguments
        if np.ndim(alpha) == 0:
            return function(*tables, check_positive("alpha", alpha), **named)
        values = np.asarray(alpha, dtype=np.float64)
        each = [function(*tables, check_positive("alpha", float(a)), **named) for a in values.ravel()]
        return np.array(each).reshape(values.shape)

    return vectorised
