"""`Distribution`: the joint distribution of a few nodes, the answer to a query."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from mapdag.data.codings import Sealed
from mapdag.errors import NetworkError, ParameterError
from mapdag.tables import Column, Table, Tabular

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_SHOWN = 20


@final
@dataclass(frozen=True, eq=False)
class Distribution(Tabular):
    """Probabilities of every combination of levels of a few nodes.

    Parameters
    ----------
    nodes : tuple of str
        The nodes, in the order of the axes.
    levels : mapping
        The levels of each, in the order of the entries along its axis.
    values : array
        The probabilities, which sum to one.

    Examples
    --------
    >>> posterior = Distribution(("A", "B"), {"A": ("no", "yes"), "B": ("low", "high")}, [[0.4, 0.1], [0.2, 0.3]])
    >>> print(posterior)
    A    B     probability
    no   low   0.4
    no   high  0.1
    yes  low   0.2
    yes  high  0.3
    >>> posterior.probability(A="yes"), posterior.mode
    (0.5, {'A': 'no', 'B': 'low'})
    >>> float(posterior.to_pandas()["probability"]["yes", "high"])
    0.3
    """

    nodes: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        values.flags.writeable = False
        levels = {node: tuple(self.levels[node]) for node in self.nodes}
        expected = tuple(map(len, levels.values()))
        if values.shape != expected:
            raise NetworkError(f"the probabilities of {self.nodes} must have shape {expected}, got {values.shape}")
        for field, value in (("levels", Sealed(levels)), ("values", values)):
            object.__setattr__(self, field, value)

    def probability(self, given: Mapping[str, str] | None = None, /, **levels: str) -> float:
        """Return the probability that some of the nodes have these levels, the others whatever they may."""
        chosen = {**(given or {}), **levels}
        where: list[int | slice] = [slice(None)] * len(self.nodes)
        for node, level in chosen.items():
            if node not in self.levels:
                raise ParameterError(f"there is no node {node!r} in this distribution of {', '.join(self.nodes)}")
            where[self.nodes.index(node)] = level_code(self.levels, node, level)
        return float(np.sum(self.values[tuple(where)]))

    @property
    def mode(self) -> dict[str, str]:
        """The most probable combination of levels; of several, the first."""
        where = np.unravel_index(int(np.argmax(self.values)), self.values.shape)
        return {node: self.levels[node][int(code)] for node, code in zip(self.nodes, where, strict=True)}

    def to_dict(self) -> dict[Any, float]:
        """Return the probabilities by level, or by tuple of levels where there are several nodes.

        >>> Distribution(("A",), {"A": ("no", "yes")}, [0.25, 0.75]).to_dict()
        {'no': 0.25, 'yes': 0.75}
        """
        combinations = itertools.product(*(self.levels[node] for node in self.nodes))
        keys = (one[0] if len(one) == 1 else one for one in combinations)
        return dict(zip(keys, self.values.ravel().tolist(), strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Distribution):
            return NotImplemented
        same = self.nodes == other.nodes and dict(self.levels) == dict(other.levels)
        return same and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash((self.nodes, self.values.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Distribution, (self.nodes, dict(self.levels), self.values))

    def to_table(self, most: int | None = None) -> Table:
        """Return a row for each combination of levels; the most probable ones where there are more than `most`."""
        flat = self.values.ravel()
        rows = np.arange(flat.size)
        if most is not None and flat.size > most:
            rows = np.argsort(-flat, kind="stable")[:most]
        codes = np.unravel_index(rows, self.values.shape)
        levels = [Column(node, code, levels=self.levels[node]) for node, code in zip(self.nodes, codes, strict=True)]
        return Table(
            [*levels, Column("probability", flat[rows], ".6g")],
            left=flat.size - len(rows),
            rest="less probable",
            index=len(levels),
        )


def level_code(levels: Mapping[str, tuple[str, ...]], node: str, level: str) -> int:
    """Return the code of a level of a node, or say which there are."""
    try:
        return levels[node].index(level)
    except ValueError:
        known = ", ".join(map(repr, levels[node][:_SHOWN]))
        raise ParameterError(f"{node!r} has no level {level!r}; its levels are {known}") from None
