"""Kinds of claims, and how each is measured on a panel of results.

A check measures and says whether what it finds agrees with the paper:

- where the paper concludes from a p-value, its conclusion at 0.01 must be ours;
- where it counts cells, its share must lie within `SHARE` of ours. Ours are two, strict and at the precision that
  tables show; anything between them counts as ours, too;
- where the paper leaves open which objectives it compares, each reading is measured, and one that agrees is enough.

Of the metrics that the paper looks at, lower values are better: SHD, arcs, and log-likelihoods divided by -10,000.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.study.panel import METRICS
from mapdag.study.samples import load_network
from mapdag.study.statistics import paired_t

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.study.panel import Panel

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

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

    @property
    def is_significant(self) -> bool:
        """Whether there is a p-value, below the level."""
        return self.p is not None and self.p < LEVEL

    def is_near(self, share: float) -> bool:
        """Whether the paper's share of cells is about ours."""
        shares = [count / self.m for count in (self.k, self.shown) if count is not None]
        return min(shares) - SHARE <= share <= max(shares) + SHARE

    def __str__(self) -> str:
        parts = []
        if self.p is not None:
            parts.append(f"{self.p:.2g}")
        if self.k is not None:
            shown = "" if self.shown in (None, self.k) else f" ({self.shown})"
            parts.append(f"{self.k}/{self.m}{shown}")
        elif self.shown is not None:
            parts.append(f"{self.shown}/{self.m}")
        if self.value is not None:
            parts.append(f"{self.value:.3g}")
        return ", ".join(parts) or self.label


class Measured(NamedTuple):
    """What a check found."""

    measures: tuple[Measure, ...]
    agrees: bool


class MissingCells(Exception):  # noqa: N818 - not an error: the claim cannot be tested
    """Says which cells a check lacks; what it could measure without them is in `measures`."""

    measures: tuple[Measure, ...] = ()


#: Measures a claim.
Check = Callable[["Panel"], Measured]


def _scope(panel: Panel, metric: str) -> tuple[str, ...]:
    """Sizes that a metric is looked at: predictive log-likelihoods for n/p < 1 only, as in the paper."""
    return panel.ratio_sizes(below=1.0 if metric == "loglik" else math.inf)


def _cells(
    panel: Panel,
    metric: str,
    objectives: Sequence[str],
    *,
    least: int = 1,
    sizes: Sequence[str] | None = None,
    whose: str = "",
    where: str = "",
) -> Floats:
    """Averages of the cells that have all the objectives, or word of their absence."""
    cells = panel.cells(metric, objectives, _scope(panel, metric) if sizes is None else sizes)
    if len(cells) < least:
        first, *others = objectives
        named = whose or first + (f" and {', '.join(others)}" if others else "")
        raise MissingCells(f"{'none has' if least == 1 else 'fewer than two with'} {named}{where}")
    return cells


def _shown(values: Floats, metric: str) -> Floats:
    """Values at the precision shown."""
    rounded: Floats = values.round(METRICS[metric].digits)
    return rounded


def _counted(label: str, strict: Bools, shown: Bools, p: float | None = None) -> Measure:
    return Measure(label, p, int(strict.sum()), int(shown.sum()), len(strict))


def _compared(label: str, a: Floats, b: Floats, metric: str) -> Measure:
    """Test whether a is better than b, and count where it is."""
    return _counted(label, a < b, _shown(a, metric) < _shown(b, metric), paired_t(a, b))


def better(
    panel: Panel, pairs: Sequence[tuple[str, str]], metric: str, *, significant: bool, readings: bool = False
) -> Measured:
    """Test whether the first objective of each pair is better than the second.

    Parameters
    ----------
    panel : Panel
    pairs : sequence of (str, str)
    metric : str
        Of arcs, fewer are better here.
    significant : bool
        What the paper concludes.
    readings : bool
        Whether the pairs are readings of one test, rather than several tests.
    """
    found = []
    for a, b in pairs:
        cells = _cells(panel, metric, [a, b], least=2)
        found.append(_compared(f"{a} > {b}", cells[:, 0], cells[:, 1], metric))
    agreeing = [each.is_significant == significant for each in found]
    return Measured(tuple(found), any(agreeing) if readings else all(agreeing))


def better_than_best(panel: Panel, objective: str, others: Sequence[str], *, significant: bool) -> Measured:
    """Test whether an objective has a lower SHD than the best of some others, cell by cell."""
    cells = _cells(panel, "shd", [objective, *others], least=2)
    found = _compared("", cells[:, 0], cells[:, 1:].min(axis=1), "shd")
    return Measured((found,), found.is_significant == significant)


def best_overall(panel: Panel, winners: Sequence[str], among: Sequence[str], share: float) -> Measured:
    """Count the cells where some objectives have the lowest SHD of all; equals at the precision shown are all best."""
    rest = [each for each in among if each not in winners]
    cells = _cells(panel, "shd", [*winners, *rest], whose="all the objectives")
    best, others = cells[:, : len(winners)].min(axis=1), cells[:, len(winners) :].min(axis=1)
    found = _counted("", best < others, _shown(best, "shd") <= _shown(others, "shd"))
    return Measured((found,), found.is_near(share))


def tied_for_best(panel: Panel, groups: Sequence[tuple[str, str, str]], among: Sequence[str]) -> Measured:
    """Count how often the second and the third of a group tie with the first, where its SHD is the lowest of all.

    At the precision shown; the second is to do so more often. `groups` are the three for each alpha.
    """
    found, ties = [], [0, 0]
    for best, *others in groups:
        shown = _shown(_cells(panel, "shd", [best, *others, *among], whose="all the objectives"), "shd")
        mine = shown[shown[:, 0] <= shown.min(axis=1)]
        for place, other in enumerate(others):
            k = int((mine[:, place + 1] == mine[:, 0]).sum())
            ties[place] += k
            found.append(Measure(f"{other} ties with {best}", shown=k, m=len(mine)))
    return Measured(tuple(found), ties[0] > ties[1])


def correlated(
    panel: Panel, objectives: Sequence[str], networks: Sequence[str], count: int, limit: float, *, below: bool
) -> Measured:
    """Count the networks where the correlation of average SHD and log(n/p) over sizes is beyond a limit.

    Parameters
    ----------
    panel : Panel
    objectives : sequence of str
        For each of them it must be.
    networks : sequence of str
        Those that are looked at, where they have at least three sizes.
    count : int
        Networks for which the paper finds it.
    limit : float
    below : bool
        Whether the correlation is at most the limit; otherwise greater.
    """
    sizes = panel.ratio_sizes()
    means = panel.means("shd", objectives)[:, [panel.sizes.index(size) for size in sizes]]
    logs = np.log([float(size) for size in sizes])
    k, seen = 0, {}
    for network in networks:
        if network not in panel.networks:
            continue
        rows = means[panel.networks.index(network)]
        known = np.isfinite(rows).all(axis=1)
        if known.sum() < 3:
            continue
        values = [_correlation(logs[known], rows[known, i]) for i in range(len(objectives))]
        k += all(value <= limit if below else value > limit for value in values)
        seen[network] = Measure(f"{network} {min(values):+.2f} to {max(values):+.2f}", value=float(np.mean(values)))
    lacking = sorted(set(networks).difference(seen))
    if not seen or (not below and lacking):
        raise MissingCells(f"fewer than three sizes of {', '.join(lacking)}")
    whole = Measure("networks", k=k, m=len(seen))
    return Measured((whole, *seen.values()), whole.is_near(count / len(networks)))


def _correlation(x: Floats, y: Floats) -> float:
    return float(np.corrcoef(x, y)[0, 1]) if y.std() > 0 else 0.0


def above_one(panel: Panel, shares: Mapping[str, float]) -> Measured:
    """Count the cells with more arcs than the true graph; the paper's share for each objective."""
    found, agrees = [], True
    for objective, share in shares.items():
        ratios = _cells(panel, "arcs", [objective])[:, 0]
        found.append(_counted(objective, ratios > 1, _shown(ratios, "arcs") > 1))
        agrees &= found[-1].is_near(share)
    return Measured(tuple(found), agrees)


def sparser_than_truth(panel: Panel, objective: str, size: str | None = None, *, significant: bool) -> Measured:
    """Test whether there are fewer arcs than in the true graph, on all sizes or on one."""
    sizes, where = (None, "") if size is None else ((size,), f" at n/p = {size}")
    ratios = _cells(panel, "arcs", [objective], least=2, sizes=sizes, where=where)[:, 0]
    found = _compared("", ratios, np.ones(len(ratios)), "arcs")
    return Measured((found,), found.is_significant == significant)


def fewer_arcs(
    panel: Panel, groups: Sequence[tuple[Sequence[tuple[str, str]], float]], *, every: bool = False
) -> Measured:
    """Count the cells where the first of two objectives has fewer arcs.

    `groups` are (readings, share): several pairs that the paper may mean, and the share of cells that it gives. One
    reading must agree, or `every` one.
    """
    found, agrees = [], True
    for pairs, share in groups:
        inside = []
        for a, b in pairs:
            cells = _cells(panel, "arcs", [a, b])
            found.append(_compared(f"{a} < {b}", cells[:, 0], cells[:, 1], "arcs"))
            inside.append(found[-1].is_near(share))
        agrees &= all(inside) if every else any(inside)
    return Measured(tuple(found), agrees)


def never_better(panel: Panel, groups: Sequence[tuple[str, Sequence[str]]]) -> Measured:
    """Count the cells where an objective predicts better than all others of its group, for n/p < 1.

    There must be none, at the precision shown. `groups` are an objective and those it is compared with.
    """
    found = []
    for first, others in groups:
        cells = _cells(panel, "loglik", [first, *others], where=" at n/p < 1")
        label = f"{first} > {' and '.join(others)}"
        found.append(_compared(label, cells[:, 0], cells[:, 1:].min(axis=1), "loglik"))
    return Measured(tuple(found), all(each.shown == 0 for each in found))


def all_tied(panel: Panel, objectives: Sequence[str]) -> Measured:
    """Count the cells where all objectives have the same predictive log-likelihood, for n/p >= 1."""
    sizes, where = panel.ratio_sizes(at_least=1.0), " at n/p >= 1"
    cells = _cells(panel, "loglik", objectives, sizes=sizes, whose="all the objectives", where=where)
    spread, shown = np.ptp(cells, axis=1), np.ptp(_shown(cells, "loglik"), axis=1)
    tied = _counted("all tied", spread == 0, shown == 0)
    agrees = Measure(shown=tied.shown, m=tied.m).is_near(1.0)
    return Measured((tied, Measure("largest spread", value=float(spread.max()))), agrees)


def best_by_network(panel: Panel, camps: Sequence[tuple[str, Sequence[str], float]], among: Sequence[str]) -> Measured:
    """Count the networks that some objectives predict best, averaged over n/p < 1.

    `camps` are (name, objectives, the paper's share); equals at the precision shown are all best.
    """
    sizes = [panel.sizes.index(size) for size in _scope(panel, "loglik")]
    means = panel.means("loglik", among)[:, sizes]
    whole = np.isfinite(means).all(axis=(1, 2))
    if not sizes or not whole.any():
        raise MissingCells("no network has all the objectives at n/p < 1")
    table = means[whole].mean(axis=1)
    shown = _shown(table, "loglik")
    found, agrees = [], True
    for name, objectives, share in camps:
        mine = np.isin(among, objectives)
        strict = table[:, mine].min(axis=1) < table[:, ~mine].min(axis=1)
        found.append(_counted(name, strict, shown[:, mine].min(axis=1) <= shown[:, ~mine].min(axis=1)))
        agrees &= found[-1].is_near(share)
    return Measured(tuple(found), agrees)


def similar_arcs(panel: Panel, half: str, by_c: Sequence[str], ratio: float | None = None) -> Measured:
    """Compare the arcs with c = 1, 2, 5, about the same (within a tenth), and beta = 1/2, more of them.

    Parameters
    ----------
    panel : Panel
    half : str
        The objective with beta = 1/2.
    by_c : sequence of str
        Those with c = 1, 2, 5.
    ratio : float, optional
        Arcs with beta = 1/2 for each with c = 1, in the paper.
    """
    cells = _cells(panel, "arcs", [half, *by_c], whose="all the objectives")
    means = cells.mean(axis=0)
    more, *same = (means / means[1]).tolist()
    found = tuple(
        Measure(f"arcs of {each} for each of {by_c[0]}", value=value, m=len(cells))
        for each, value in zip((half, *by_c[1:]), (more, *same[1:]), strict=True)
    )
    return Measured(found, max(same) - min(same) <= SHARE and (ratio is None or abs(more - ratio) <= SHARE))


def _known_means(panel: Panel, objectives: Sequence[str], network: str) -> Floats:
    """Average SHD of a network at all sizes that have all the objectives: (sizes, objectives)."""
    means = panel.means("shd", objectives)[[each == network for each in panel.networks]]
    return means[np.isfinite(means).all(axis=-1)]


def lowest_on(panel: Panel, cases: Sequence[tuple[str, str, Sequence[str]]]) -> Measured:
    """Compare the average SHD of one objective with those of others, to be higher: (network, objective, others)."""
    found, agrees = [], True
    for network, *objectives in ((network, first, *others) for network, first, others in cases):
        known = _known_means(panel, objectives, network)
        if not len(known):
            raise MissingCells(f"none of {network}")
        values = known.mean(axis=0).tolist()
        for objective, value in zip(objectives, values, strict=True):
            found.append(Measure(f"{network} {objective}", value=value, m=len(known)))
        agrees &= values[0] < min(values[1:])
    return Measured(tuple(found), agrees)


def unrelated_to_truth(panel: Panel, by_c: Sequence[str]) -> Measured:
    """Test whether the c with the lowest SHD on a network has to do with the true number of arcs per node.

    Rank correlation over networks, two-sided.
    """
    best, density = [], []
    for network in panel.networks:
        known = _known_means(panel, by_c, network)
        if len(known):
            best.append(int(known.mean(axis=0).argmin()))
            density.append(panel.true_arcs[network] / len(load_network(network).nodes))
    if len(best) < 4:
        raise MissingCells("fewer than four networks")
    if len(set(best)) == 1:
        return Measured((Measure("one c is best everywhere", m=len(best)),), agrees=True)
    from scipy.stats import spearmanr

    test = spearmanr(best, density)
    found = Measure("rank correlation of best c and arcs per node", float(test.pvalue), m=len(best))
    return Measured((found, Measure("correlation", value=float(test.statistic))), bool(test.pvalue >= LEVEL))


def every_one(panel: Panel, checks: Sequence[Check]) -> Measured:
    """Make several checks that must all agree."""
    measures: list[Measure] = []
    agrees, missing = True, []
    for check in checks:
        try:
            found = check(panel)
        except MissingCells as error:  # noqa: PERF203 - there are two
            missing.append(error)
        else:
            measures += found.measures
            agrees &= found.agrees
    if missing:
        missing[0].measures = tuple(measures)
        raise missing[0]
    return Measured(tuple(measures), agrees)
