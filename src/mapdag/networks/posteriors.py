"""Answers about all nodes at once: `Marginals` and `Explanation`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from mapdag.networks.distribution import Distribution


@final
@dataclass(frozen=True, eq=False, repr=False)
class Marginals(Mapping[str, "Distribution"]):
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
    >>> found["lung"].to_dict()["yes"].__round__(3)
    0.646
    >>> print(found)
    node    most probable  probability
    asia    no             0.987484
    tub     no             0.915222
    smoke   yes            1            given
    lung    yes            0.645991
    bronc   yes            0.6
    either  yes            0.725289
    xray    yes            1            given
    dysp    yes            0.76667
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
        >>> network("asia").marginals().to_dict()["smoke"]
        {'yes': 0.5, 'no': 0.5}
        """
        return {node: found.to_dict() for node, found in self.items()}

    def __repr__(self) -> str:
        given = "".join(f", {node}={level}" for node, level in self.evidence.items())
        return f"Marginals({len(self):,} node{'s' * (len(self) != 1)}{given})"

    def __str__(self) -> str:
        """Write a table with the most probable level of every node."""
        rows = [["node", "most probable", "probability", ""]]
        for node, found in self.items():
            level = found.mode[node]
            mark = "given" if node in self.evidence else ""
            rows.append([node, level, f"{found.probability({node: level}):.6g}", mark])
        return _aligned(rows)


@final
@dataclass(frozen=True)
class Explanation:
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
    ('yes', 0.341)
    """

    levels: Mapping[str, str]
    log_joint: float
    log_evidence: float

    @property
    def probability(self) -> float:
        """The probability of these levels given the evidence."""
        return min(1.0, math.exp(self.log_joint - self.log_evidence))

    def __str__(self) -> str:
        rows = [["node", "level"], *([node, level] for node, level in self.levels.items())]
        return f"{_aligned(rows)}\nprobability {self.probability:.6g}"


def _aligned(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
