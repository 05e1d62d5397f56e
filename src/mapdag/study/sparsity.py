"""Checks of what the paper says on the expected number of arcs (c) and the arcs and SHD of the learned graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mapdag.study.checks import LEVEL, SHARE, Measure, Measured, missing
from mapdag.study.samples import load_network

if TYPE_CHECKING:
    from mapdag.study.panel import Panel


@dataclass(frozen=True)
class SimilarArcs:
    """Objectives with c = 1, 2, 5 learn about the same number of arcs (within a tenth); beta = 1/2 more of them.

    Attributes
    ----------
    half : str
        The objective with beta = 1/2.
    by_c : tuple of str
        Those with c = 1, 2, 5.
    ratio : float, optional
        Arcs with beta = 1/2 for each with c = 1, in the paper.
    """

    half: str
    by_c: tuple[str, ...]
    ratio: float | None = None

    def measure(self, panel: Panel) -> Measured:
        """Compare averages over cells."""
        cells = panel.cells("arcs", [self.half, *self.by_c], panel.ratio_sizes())
        if not len(cells):
            return missing("none has all the objectives")
        means = cells.mean(axis=0)
        relative = means / means[1]
        labels = [f"arcs of {each} for each of {self.by_c[0]}" for each in (self.half, *self.by_c[1:])]
        values = [float(relative[0]), *map(float, relative[2:])]
        found = tuple(Measure(label, value=value, m=len(cells)) for label, value in zip(labels, values, strict=True))
        same = float(np.ptp(relative[1:])) <= SHARE
        return Measured(found, same and (self.ratio is None or abs(values[0] - self.ratio) <= SHARE))


@dataclass(frozen=True)
class LowestOn:
    """On some networks, the average SHD of one objective is below those of others: (network, objective, others)."""

    cases: tuple[tuple[str, str, tuple[str, ...]], ...]

    def measure(self, panel: Panel) -> Measured:
        """Average over all sizes."""
        found, agreeing = [], True
        for network, objective, others in self.cases:
            if network not in panel.networks:
                return missing(f"none of {network}")
            means = panel.means("shd", [objective, *others])[panel.networks.index(network)]
            known = means[np.isfinite(means).all(axis=1)]
            if not len(known):
                return missing(f"none of {network}")
            average = known.mean(axis=0)
            for other, value in zip((objective, *others), average, strict=True):
                found.append(Measure(f"{network} {other}", value=float(value), m=len(known)))
            agreeing &= bool(average[0] < average[1:].min())
        return Measured(tuple(found), agreeing)


@dataclass(frozen=True)
class UnrelatedToTruth:
    """The c with the lowest SHD on a network has nothing to do with the true number of arcs per node."""

    by_c: tuple[str, ...]

    def measure(self, panel: Panel) -> Measured:
        """Rank correlation over networks between the best c and the true arcs per node, two-sided."""
        means = panel.means("shd", self.by_c)
        best, density = [], []
        for i, network in enumerate(panel.networks):
            known = means[i][np.isfinite(means[i]).all(axis=1)]
            if len(known):
                best.append(int(known.mean(axis=0).argmin()))
                density.append(panel.true_arcs[network] / _nodes(network))
        if len(best) < 4:
            return missing("fewer than four networks")
        if len(set(best)) == 1:
            return Measured((Measure("one c is best everywhere", m=len(best)),), agrees=True)
        from scipy.stats import spearmanr

        test = spearmanr(best, density)
        found = Measure("rank correlation of best c and arcs per node", float(test.pvalue), m=len(best))
        return Measured((found, Measure("correlation", value=float(test.statistic))), bool(test.pvalue >= LEVEL))


def _nodes(network: str) -> int:
    return len(load_network(network).nodes)


@dataclass(frozen=True)
class Both:
    """Two checks that must both agree."""

    first: SimilarArcs
    second: UnrelatedToTruth

    def measure(self, panel: Panel) -> Measured:
        """Measure both."""
        a, b = self.first.measure(panel), self.second.measure(panel)
        if a.agrees is None or b.agrees is None:
            return Measured((*a.measures, *b.measures), None, a.reason or b.reason)
        return Measured((*a.measures, *b.measures), a.agrees and b.agrees)
