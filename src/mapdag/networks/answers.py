"""Answers about all nodes at once: `Marginals` and `Explanation`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import numpy as np

from mapdag.tables import Column, Table, Tabular
from mapdag.wording import plural

if TYPE_CHECKING:
    from mapdag.networks.distribution import Distribution

_NODES = 100
"""Nodes that are shown of a large network."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Marginals(Tabular, Mapping[str, "Distribution"]):
    """The distribution of every node, given the same evidence: a mapping from nodes to distributions.

    Parameters
    ----------
    distributions : mapping
        By node; nodes of the evidence are certain.
    evidence : mapping
        Levels by node.

    Examples
    --------
    >>> from mapdag.reference import network
    >>> found = network("asia").marginals({"xray": "yes", "smoke": "yes"})
    >>> round(found["lung"].probability(lung="yes"), 3)
    0.646
    >>> print(found)
    node    most probable  probability
    asia    no             0.987815
    tub     no             0.932817
    smoke   yes            1            given
    lung    yes            0.645991
    bronc   yes            0.6
    either  yes            0.706456
    xray    yes            1            given
    dysp    yes            0.731937
    """

    distributions: Mapping[str, Distribution]
    evidence: Mapping[str, str]

    def __getitem__(self, node: str) -> Distribution:
        return self.distributions[node]

    def __iter__(self) -> Iterator[str]:
        return iter(self.distributions)

    def __len__(self) -> int:
        return len(self.distributions)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the probabilities by node and level.

        >>> from mapdag.reference import network
        >>> network("asia").marginals({"smoke": "yes"}).to_dict()["smoke"]
        {'yes': 1.0, 'no': 0.0}
        """
        return {node: found.to_dict() for node, found in self.items()}

    def to_table(self, most: int | None = None) -> Table:
        """Return a row for each level of each node, or of the first ones."""
        rows = [(node, *item) for node, found in self.items() for item in found.to_dict().items()]
        nodes, levels, values = zip(*rows[:most], strict=True)
        columns = [Column("node", nodes), Column("level", levels), Column("probability", np.array(values), ".6g")]
        return Table(columns, left=len(rows) - len(nodes), index=2)

    def _shown(self) -> Table:
        """Return the most probable level of every node, as far as there is room."""
        nodes = list(self)[:_NODES]
        modes = [self[node].mode[node] for node in nodes]
        best = np.array([self[node].values.max() for node in nodes])
        marks = ["given" if node in self.evidence else "" for node in nodes]
        columns = [Column("node", nodes), Column("most probable", modes), Column("probability", best, ".6g")]
        return Table([*columns, Column("", marks)], left=len(self) - len(nodes))

    def __repr__(self) -> str:
        given = "".join(f", {node}={level}" for node, level in self.evidence.items())
        return f"Marginals({plural(len(self), 'node')}{given})"


@final
@dataclass(frozen=True)
class Explanation(Tabular):
    """The most probable levels of all nodes together, given evidence.

    Parameters
    ----------
    levels : mapping
        Of every node, those of the evidence included.
    log_joint : float
        The log of the probability of exactly these levels.
    log_evidence : float
        The log of the probability of the evidence.

    Examples
    --------
    >>> from mapdag.reference import network
    >>> found = network("asia").most_probable({"xray": "yes", "smoke": "yes"})
    >>> found.levels["lung"], round(found.probability, 3)
    ('yes', 0.342)
    """

    levels: Mapping[str, str] = field(repr=False)
    log_joint: float
    log_evidence: float

    @property
    def probability(self) -> float:
        """The probability of these levels given the evidence."""
        return min(1.0, math.exp(self.log_joint - self.log_evidence))

    def to_table(self, most: int | None = None) -> Table:
        """Return the level of every node, or of the first ones."""
        nodes = list(self.levels)[:most]
        columns = [Column("node", nodes), Column("level", [self.levels[node] for node in nodes])]
        told = f"probability {self.probability:.6g}"
        return Table(columns, notes=[told], left=len(self.levels) - len(nodes), index=1)

    def _shown(self) -> Table:
        return self.to_table(_NODES)
