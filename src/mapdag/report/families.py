"""What a page knows of the probability tables: counts, from which its scripts compute what `mapdag.fit` would.

Only observed configurations are written, the most frequent first; all others are uniform. Where a network is given, its
probabilities are written, too. Tables that are too large for a page lose their rarest configurations, and say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mapdag.networks.sparse_tables import held_tables
from mapdag.objective import USUAL_ALPHA

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.networks import BayesianNetwork
    from mapdag.report.facts import FamilyFacts

MOST_CELLS = 400_000
"""The most cells, of all tables together, that a page holds: two to three megabytes."""

MOST_LABELS = 250
"""The most levels of a node that a page names: the most frequent ones, if there are more."""

_DIGITS = 12
_BEYOND = 1 << 1000  # whole numbers that no float can hold


@dataclass(frozen=True)
class FamilyTable:
    """The table of a family, as the scripts find it.

    Attributes
    ----------
    given : list of int
        Codes of the parents, configuration after configuration, those with most rows first.
    sizes : list of int
        The number of positive cells of each configuration.
    levels, counts : list
        The cells, configuration after configuration.
    hidden : int
        Observed configurations that were left out.
    imaginary : float
        Imaginary rows of each configuration: alpha / q.
    chances : list of float or None
        Probabilities of a network, row after row. Without them, they are posterior means.
    dense : bool
        Whether these are of all configurations, in order; otherwise of those that are here.
    """

    given: list[int]
    sizes: list[int]
    levels: list[int]
    counts: list[float]
    hidden: int
    imaginary: float
    chances: list[float] | None = None
    dense: bool = False


def family_tables(
    known: Sequence[FamilyFacts],
    network: BayesianNetwork | None = None,
    *,
    alpha: float = USUAL_ALPHA,
    most: int = MOST_CELLS,
) -> list[FamilyTable]:
    """Write the tables of all families, as much of each as a page of `most` cells has room for.

    Parameters
    ----------
    known : sequence of FamilyFacts
    network : BayesianNetwork, optional
        Whose probabilities to write, instead of those that the counts say.
    alpha : float
        Imaginary sample size of those that the counts say.
    """
    limit = _share([len(family.table.counts) for family in known], most)
    room = network is not None and sum(table.size for table in held_tables(network.cpts).values()) <= most
    return [_family_table(family, limit, network, alpha, whole=room) for family in known]


def is_whole(tables: Sequence[FamilyTable]) -> bool:
    """Whether the tables tell all probabilities of the network."""
    return all(table.dense or (table.chances is None and not table.hidden) for table in tables)


def shown_levels(known: Sequence[FamilyFacts], most: int = MOST_LABELS) -> list[NDArray[np.int64]]:
    """Choose the levels of each node that the page names: all, or the most frequent ones, in their order."""
    shown = []
    for family in known:
        table = family.table
        totals = np.bincount(table.levels, weights=table.counts, minlength=table.r)
        shown.append(np.sort(np.argsort(-totals, kind="stable")[:most]))
    return shown


def _family_table(
    family: FamilyFacts, limit: int, network: BayesianNetwork | None, alpha: float, *, whole: bool
) -> FamilyTable:
    table = family.table
    often = np.argsort(-table.n_ij, kind="stable")
    sizes = np.diff(table.offsets)[often]
    kept = max(int(np.searchsorted(np.cumsum(sizes), limit, side="right")), min(1, len(often)))
    often, sizes = often[:kept], sizes[:kept]
    cells = np.concatenate([np.arange(*table.offsets[j : j + 2]) for j in often]) if kept else np.arange(0)
    chances = None
    if network is not None:
        if whole or not table.n_parents:
            rows = network.cpt(family.node)
        else:
            rows = held_tables(network.cpts)[family.node][tuple(table.configurations[often].T)]
        chances = [float(f"{p:.{_DIGITS}g}") for p in rows.ravel().tolist()]
    return FamilyTable(
        given=table.configurations[often].ravel().tolist(),
        sizes=sizes.tolist(),
        levels=table.levels[cells].tolist(),
        counts=[int(n) if n == int(n) else n for n in table.counts[cells].tolist()],
        hidden=table.q_obs - kept,
        imaginary=alpha / table.q if table.q < _BEYOND else 0.0,
        chances=chances,
        dense=whole,
    )


def _share(sizes: Sequence[int], most: int) -> int:
    """Find the size to which tables must be cut so that all have room.

    >>> _share([5, 1, 100], 20)
    14
    """
    left, limit = most, 0
    for place, size in enumerate(sorted(sizes)):
        limit = left // (len(sizes) - place)
        if size > limit:
            return limit
        left -= size
    return max(sizes, default=0)
