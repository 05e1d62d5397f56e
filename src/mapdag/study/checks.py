"""Kinds of claims, and how each is measured on a panel of results.

A check measures and says whether what it finds agrees with the paper:

- where the paper concludes from a p-value, its conclusion at 0.01 must be ours;
- where it counts cells, its share must lie within `SHARE` of ours. Ours are two, strict and at the precision that
  tables show; anything between them counts as ours, too;
- where the paper leaves open which objectives it compares, each reading is measured, and one that agrees is enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mapdag.study.panel import METRICS
from mapdag.study.statistics import Alternative, paired_t, wins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.study.panel import Panel

    Floats = NDArray[np.float64]

LEVEL = 0.01
SHARE = 0.1


@dataclass(frozen=True)
class Measure:
    """One figure of ours beside one of the paper's.

    Attributes
    ----------
    label : str
        Which objectives, where a claim has several.
    p : float, optional
        p-value.
    k, shown, m : int
        Cells in favour, strictly and at the precision shown, out of the cells available.
    value : float, optional
        Another figure, named in the label.
    """

    label: str = ""
    p: float | None = None
    k: int | None = None
    shown: int | None = None
    m: int = 0
    value: float | None = None


@dataclass(frozen=True)
class Measured:
    """What a check found; `agrees` is None, with the reason, where cells are missing."""

    measures: tuple[Measure, ...]
    agrees: bool | None
    reason: str = ""


class Check(Protocol):
    """Measures a claim."""

    def measure(self, panel: Panel) -> Measured:
        """Measure it."""
        ...


def missing(reason: str) -> Measured:
    """Return what there is to say without the cells."""
    return Measured((), None, f"missing cells: {reason}")


def _scope(panel: Panel, metric: str) -> tuple[str, ...]:
    """Sizes that a metric is looked at: predictive log-likelihoods for n/p < 1 only, as in the paper."""
    return panel.ratio_sizes(below=1.0 if metric == "loglik" else math.inf)


def _near(paper: float, measures: Sequence[float]) -> bool:
    return min(measures) - SHARE <= paper <= max(measures) + SHARE


@dataclass(frozen=True)
class Better:
    """The first objective of each pair is better than the second: significantly, or not.

    Attributes
    ----------
    pairs : tuple of (str, str)
    metric : str
        Of arcs, fewer are better here.
    significant : bool
        What the paper concludes.
    readings : bool
        Whether the pairs are readings of one test, rather than several tests.
    """

    pairs: tuple[tuple[str, str], ...]
    metric: str
    significant: bool
    readings: bool = False

    def measure(self, panel: Panel) -> Measured:
        """Test each pair."""
        found = []
        for a, b in self.pairs:
            cells = panel.cells(self.metric, [a, b], _scope(panel, self.metric))
            if len(cells) < 2:
                return missing(f"fewer than two with {a} and {b}")
            found.append(_test(f"{a} > {b}", cells[:, 0], cells[:, 1], self.metric))
        agreeing = [(each.p < LEVEL) == self.significant for each in found if each.p is not None]
        return Measured(tuple(found), any(agreeing) if self.readings else all(agreeing))


def _test(label: str, a: Floats, b: Floats, metric: str) -> Measure:
    lower = METRICS[metric].best != "higher"
    side: Alternative = "less" if lower else "greater"
    shown = wins(a, b, lower=lower, digits=METRICS[metric].digits)
    return Measure(label, paired_t(a, b, side), wins(a, b, lower=lower), shown, len(a))


@dataclass(frozen=True)
class BetterThanBest:
    """An objective has a lower SHD than the best of some others, cell by cell."""

    objective: str
    others: tuple[str, ...]
    significant: bool

    def measure(self, panel: Panel) -> Measured:
        """Test it."""
        cells = panel.cells("shd", [self.objective, *self.others], _scope(panel, "shd"))
        if len(cells) < 2:
            return missing(f"fewer than two with {self.objective} and {', '.join(self.others)}")
        found = _test("", cells[:, 0], cells[:, 1:].min(axis=1), "shd")
        return Measured((found,), (found.p is not None and found.p < LEVEL) == self.significant)


@dataclass(frozen=True)
class BestOverall:
    """Some objectives have the lowest SHD of all, in so many cells; equals at the precision shown are all best."""

    winners: tuple[str, ...]
    among: tuple[str, ...]
    share: float

    def measure(self, panel: Panel) -> Measured:
        """Count the cells."""
        rest = [each for each in self.among if each not in self.winners]
        cells = panel.cells("shd", [*self.winners, *rest], _scope(panel, "shd"))
        if not len(cells):
            return missing("none has all the objectives")
        best, others = cells[:, : len(self.winners)].min(axis=1), cells[:, len(self.winners) :].min(axis=1)
        digits = METRICS["shd"].digits
        k, shown, m = int((best < others).sum()), int((best.round(digits) <= others.round(digits)).sum()), len(cells)
        return Measured((Measure("", None, k, shown, m),), _near(self.share, [k / m, shown / m]))


@dataclass(frozen=True)
class TiedForBest:
    """Where the first objective has the lowest SHD of all, the second ties with it more often than the third.

    `groups` are the three for each alpha.
    """

    groups: tuple[tuple[str, str, str], ...]
    among: tuple[str, ...]

    def measure(self, panel: Panel) -> Measured:
        """Count ties at the precision shown, of the cells where the first is best."""
        found, ties = [], np.zeros(2)
        for best, second, third in self.groups:
            cells = panel.cells("shd", [best, second, third, *self.among], _scope(panel, "shd"))
            if not len(cells):
                return missing("none has all the objectives")
            shown = cells.round(METRICS["shd"].digits)
            mine = shown[shown[:, 0] <= shown.min(axis=1)]
            for place, other in ((1, second), (2, third)):
                k = int((mine[:, place] == mine[:, 0]).sum())
                ties[place - 1] += k
                found.append(Measure(f"{other} ties with {best}", None, None, k, len(mine)))
        return Measured(tuple(found), bool(ties[0] > ties[1]))


@dataclass(frozen=True)
class Correlated:
    """Correlation of average SHD and log(n/p) over sizes, for every objective, below or above a limit.

    Attributes
    ----------
    objectives : tuple of str
    limit : float
    below : bool
        Whether the correlation is at most the limit; otherwise greater.
    networks : tuple of str
        Those that are looked at; all unless given.
    count : int
        Networks for which the paper finds it.
    """

    objectives: tuple[str, ...]
    limit: float
    below: bool
    networks: tuple[str, ...]
    count: int

    def measure(self, panel: Panel) -> Measured:
        """Count the networks with at least three sizes."""
        sizes = panel.ratio_sizes()
        means = panel.means("shd", self.objectives)[:, [panel.sizes.index(size) for size in sizes]]
        logs = np.log([float(size) for size in sizes])
        k, seen = 0, []
        for network in self.networks:
            if network not in panel.networks:
                continue
            rows = means[panel.networks.index(network)]
            known = np.isfinite(rows).all(axis=1)
            if known.sum() < 3:
                continue
            values = [_correlation(logs[known], rows[known, i]) for i in range(len(self.objectives))]
            k += all(value <= self.limit if self.below else value > self.limit for value in values)
            seen.append(Measure(f"{network} {min(values):+.2f} to {max(values):+.2f}", value=float(np.mean(values))))
        lacking = sorted(set(self.networks) - {each.label.split()[0] for each in seen})
        if not seen or (not self.below and lacking):
            return missing(f"fewer than three sizes of {', '.join(lacking)}")
        whole = Measure("networks", None, k, None, len(seen))
        return Measured((whole, *seen), _near(self.count / len(self.networks), [k / len(seen)]))


def _correlation(x: Floats, y: Floats) -> float:
    return float(np.corrcoef(x, y)[0, 1]) if y.std() > 0 else 0.0


@dataclass(frozen=True)
class AboveOne:
    """More arcs than the true graph, in so many cells; an objective and the paper's share each."""

    shares: tuple[tuple[str, float], ...]

    def measure(self, panel: Panel) -> Measured:
        """Count the cells."""
        found, agreeing = [], True
        for objective, share in self.shares:
            ratios = panel.cells("arcs", [objective], _scope(panel, "arcs"))[:, 0]
            if not len(ratios):
                return missing(f"none has {objective}")
            k, shown = int((ratios > 1).sum()), int((ratios.round(METRICS["arcs"].digits) > 1).sum())
            found.append(Measure(objective, None, k, shown, len(ratios)))
            agreeing &= _near(share, [k / len(ratios), shown / len(ratios)])
        return Measured(tuple(found), agreeing)


@dataclass(frozen=True)
class SparserThanTruth:
    """Fewer arcs than the true graph: a test of one sample, on all sizes or on one."""

    objective: str
    significant: bool
    size: str | None = None

    def measure(self, panel: Panel) -> Measured:
        """Test it."""
        sizes = _scope(panel, "arcs") if self.size is None else (self.size,)
        ratios = panel.cells("arcs", [self.objective], sizes)[:, 0]
        if len(ratios) < 2:
            return missing(f"fewer than two with {self.objective}" + (f" at n/p = {self.size}" if self.size else ""))
        p, k = paired_t(ratios, 1.0, "less"), int((ratios < 1).sum())
        shown = int((ratios.round(METRICS["arcs"].digits) < 1).sum())
        return Measured((Measure("", p, k, shown, len(ratios)),), (p < LEVEL) == self.significant)


@dataclass(frozen=True)
class FewerArcs:
    """The first of two objectives has fewer arcs, in so many cells.

    `groups` are (readings, share): several pairs that the paper may mean, and the share of cells that it gives.
    """

    groups: tuple[tuple[tuple[tuple[str, str], ...], float], ...]
    every: bool = False

    def measure(self, panel: Panel) -> Measured:
        """Count the cells, for each reading; `every` asks for all of them to agree."""
        found, agreeing = [], []
        for pairs, share in self.groups:
            inside = []
            for a, b in pairs:
                cells = panel.cells("arcs", [a, b], _scope(panel, "arcs"))
                if not len(cells):
                    return missing(f"none has {a} and {b}")
                each = _test(f"{a} < {b}", cells[:, 0], cells[:, 1], "arcs")
                found.append(each)
                inside.append(_near(share, [(each.k or 0) / each.m, (each.shown or 0) / each.m]))
            agreeing.append(all(inside) if self.every else any(inside))
        return Measured(tuple(found), all(agreeing))


@dataclass(frozen=True)
class NeverBetter:
    """The first objective is better than none of the others, at the precision shown, for n/p < 1.

    `groups` are an objective and those it is compared with: it must not be better than all of these at once.
    """

    groups: tuple[tuple[str, tuple[str, ...]], ...]

    def measure(self, panel: Panel) -> Measured:
        """Count the cells where it is."""
        found = []
        for first, others in self.groups:
            cells = panel.cells("loglik", [first, *others], _scope(panel, "loglik"))
            if not len(cells):
                return missing(f"none has {first} and {', '.join(others)} at n/p < 1")
            best, digits = cells[:, 1:].min(axis=1), METRICS["loglik"].digits
            label = f"{first} > {' and '.join(others)}"
            k, shown = wins(cells[:, 0], best), wins(cells[:, 0], best, digits=digits)
            found.append(Measure(label, paired_t(cells[:, 0], best), k, shown, len(cells)))
        return Measured(tuple(found), all(each.shown == 0 for each in found))


@dataclass(frozen=True)
class AllTied:
    """All objectives have the same predictive log-likelihood, at the precision shown, for n/p >= 1."""

    objectives: tuple[str, ...]

    def measure(self, panel: Panel) -> Measured:
        """Count the cells where they have."""
        cells = panel.cells("loglik", self.objectives, panel.ratio_sizes(at_least=1.0))
        if not len(cells):
            return missing("none has all the objectives at n/p >= 1")
        digits = METRICS["loglik"].digits
        strict, shown = np.ptp(cells, axis=1) == 0, np.ptp(cells.round(digits), axis=1) == 0
        k, m = int(shown.sum()), len(cells)
        spread = float(np.ptp(cells, axis=1).max())
        measures = (Measure("all tied", None, int(strict.sum()), k, m), Measure("largest spread", value=spread))
        return Measured(measures, _near(1.0, [k / m]))


@dataclass(frozen=True)
class BestByNetwork:
    """Which objectives predict best on a network, averaged over n/p < 1; (name, objectives, the paper's share) each."""

    camps: tuple[tuple[str, tuple[str, ...], float], ...]
    among: tuple[str, ...]

    def measure(self, panel: Panel) -> Measured:
        """Count the networks; equals at the precision shown are all best."""
        sizes = [panel.sizes.index(size) for size in _scope(panel, "loglik")]
        means = panel.means("loglik", self.among)[:, sizes]
        whole = np.isfinite(means).all(axis=(1, 2)) if sizes else np.zeros(len(means), dtype=np.bool_)
        if not whole.any():
            return missing("no network has all the objectives at n/p < 1")
        table = means[whole].mean(axis=1)
        shown = table.round(METRICS["loglik"].digits)
        found, agreeing = [], True
        for name, objectives, share in self.camps:
            mine = [self.among.index(each) for each in objectives]
            rest = [i for i in range(len(self.among)) if i not in mine]
            k = int((table[:, mine].min(axis=1) < table[:, rest].min(axis=1)).sum())
            ties = int((shown[:, mine].min(axis=1) <= shown[:, rest].min(axis=1)).sum())
            found.append(Measure(name, None, k, ties, len(table)))
            agreeing &= _near(share, [k / len(table), ties / len(table)])
        return Measured(tuple(found), agreeing)
