"""`CPT`: the probabilities of a node given its parents, with the names of their levels, to be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from mapdag.tables import Column, Table, Tabular
from mapdag.wording import plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mapdag.networks.cpts import Floats

_SIDE_BY_SIDE = 8  # most levels of a node that are shown next to each other


@final
@dataclass(frozen=True, eq=False)
class CPT(Tabular):
    """A conditional probability table; see `BayesianNetwork.table`.

    Attributes
    ----------
    node : str
    parents : tuple of str
    levels : mapping
        The levels of the node and its parents.
    values : array
        One axis per parent, in their order, and the last for the node.
    done : bool
        Whether the parents' levels were set by an intervention; see `BayesianNetwork.effect`.

    Examples
    --------
    >>> from mapdag.reference import network
    >>> table = network("asia").table("dysp")
    >>> print(table)
    dysp given bronc, either
    bronc  either  yes  no
    yes    yes     0.9  0.1
    yes    no      0.8  0.2
    no     yes     0.7  0.3
    no     no      0.1  0.9
    >>> float(table.to_pandas().loc[("yes", "no"), "yes"])
    0.8
    """

    node: str
    parents: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    values: Floats
    done: bool = False

    def to_table(self, most: int | None = None) -> Table:
        """Return a row for each configuration of the parents; for each level, too, where the node has many."""
        levels = self.levels[self.node]
        if len(levels) > _SIDE_BY_SIDE:
            return self._long(most)
        rows = self.values.reshape(-1, len(levels))
        shown = rows[:most]
        beside = [Column(level, shown[:, k], ".6g") for k, level in enumerate(levels)]
        columns = [*self._labels(self.parents, len(shown)), *beside]
        return Table(columns, title=self._title, left=len(rows) - len(shown), rest="more configurations")

    def to_polars(self) -> Any:
        """Return a polars DataFrame with a row for each configuration and level, and its probability."""
        return self._long(None).to_polars()

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame: rows by the levels of the parents, a column for each level of the node."""
        import pandas as pd

        levels = self.levels[self.node]
        rows = self.values.reshape(-1, len(levels))
        frame = pd.DataFrame(rows.copy(), columns=pd.CategoricalIndex(levels, categories=levels, name=self.node))
        if self.parents:
            labels = [column.array() for column in self._labels(self.parents, len(rows))]
            frame.index = pd.MultiIndex.from_arrays(labels, names=self.parents)
        return frame

    @property
    def _title(self) -> str:
        parents = ", ".join(self.parents)
        given = f"do({parents})" if self.done else parents
        return f"{self.node} given {given}" if self.parents else self.node

    def _long(self, most: int | None) -> Table:
        flat = self.values.reshape(-1)
        shown = flat[:most]
        columns = [*self._labels((*self.parents, self.node), len(shown)), Column("probability", shown, ".6g")]
        return Table(columns, title=self._title, left=flat.size - shown.size)

    def _labels(self, nodes: tuple[str, ...], rows: int) -> list[Column]:
        """Return a column of levels for each of the nodes, for the first rows of their product."""
        shape = [len(self.levels[node]) for node in nodes]
        codes = np.unravel_index(np.arange(rows), shape) if nodes else ()
        return [Column(node, code, levels=self.levels[node]) for node, code in zip(nodes, codes, strict=True)]

    def __repr__(self) -> str:
        return f"CPT({self._title!r}, {plural(self.values.size, 'entry')})"
