"""What a device does for the engine: it keeps rows and counts in its memory, and works on all of them at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mapdag.counts.device.plan import Plan


class Device(ABC):
    """A processor with a memory of its own; what is there is known here by handles, and goes with them.

    Attributes
    ----------
    name : str
        As people know it.
    memory : int
        Bytes that are free.
    """

    name: str
    memory: int

    @abstractmethod
    def load(self, blocks: Iterable[NDArray[Any]], shape: tuple[int, int], dtype: np.dtype[Any]) -> Any:
        """Take rows, in blocks (columns, some rows) of unsigned codes that make an array of this shape."""

    @abstractmethod
    def new_counts(self, cells: int) -> Any:
        """Make room for so many counts, all zero; the room of earlier ones may be used for it."""

    @abstractmethod
    def count(self, rows: Any, plan: Plan, counts: Any) -> None:
        """Add rows to the tables of a plan."""

    @abstractmethod
    def read(self, counts: Any, begin: int, end: int) -> NDArray[np.uint32]:
        """Return some counts."""

    @abstractmethod
    def shapes(self, families: NDArray[Any], counts: Any) -> NDArray[np.int32]:
        """Return positive cells and observed configurations of families of a plan: an array (families, 2)."""

    @abstractmethod
    def new_functions(self, scale: float, tables: tuple[NDArray[Any], ...], start: int) -> Any:
        """Take what all functions need, see `mapdag.terms.functions.Constants`, and make room for functions."""

    @abstractmethod
    def add_functions(self, functions: Any, new: NDArray[Any], values: NDArray[np.int64]) -> None:
        """Take some more functions, and the terms that are looked up for them, see `mapdag.terms.functions`."""

    @abstractmethod
    def sums(self, families: NDArray[Any], counts: Any, functions: Any, which: NDArray[np.int32]) -> NDArray[np.int64]:
        """Sum terms over cells, and over configurations, of families of a plan.

        Parameters
        ----------
        families : array of `mapdag.counts.device.plan.FAMILY`
        counts, functions
            From `new_counts`, `new_functions`.
        which : int32 array (recipes, families, 2)
            The functions of cells and of configurations; where the first is negative, nothing is summed.

        Returns
        -------
        int64 array (recipes, families, 4)
            Both sums, in two words each.
        """
