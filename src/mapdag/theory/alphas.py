"""Functions of a count table and alpha, for one alpha or for an array of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, overload

import numpy as np

from mapdag.checks import check_positive
from mapdag.errors import ParameterError
from mapdag.wording import brief

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
    """Let a function's `alpha` be one positive number or an array of them."""
    signature = inspect.signature(function)

    @wraps(function)
    def vectorised(*arguments: Any, **named: Any) -> Any:
        given = signature.bind(*arguments, **named).arguments
        alpha = given.pop("alpha")
        if alpha is None or np.isscalar(alpha):
            return function(**given, alpha=check_positive("alpha", alpha))
        values = _numbers(alpha)
        each = [function(**given, alpha=check_positive("alpha", float(a))) for a in values.ravel()]
        return np.array(each).reshape(values.shape) if values.ndim else each[0]

    return vectorised


def _numbers(alpha: Any) -> Floats:
    try:
        return np.asarray(alpha, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"alpha must be a positive number or an array of them, got {brief(alpha)}") from None
