"""Claims about trends, ratios and single networks, and how each is measured on a panel of results.

Claims that compare objectives cell by cell are in `mapdag.paper.checks`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mapdag.paper.checks import at_precision, cells_of, counted
from mapdag.paper.measures import LEVEL, SHARE, Check, Measure, Measured, MissingCells, NotTestable, Parts, every, judge
from mapdag.study.samples import load_network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.study.panel import Panel

    Floats = NDArray[np.float64]


def correlated(
    panel: Panel, objectives: Sequence[str], networks: Sequence[str], count: int, limit: float, *, below: bool
) -> Measured:
    """Count the networks where the correlation of average SHD and log(n/p) over sizes is beyond a limit.

    Parameters
    ----------
    panel : Panel
    objectives : sequence of str
        For each of them it must be that has at least three sizes; the rest is left out, and that is said.
    networks : sequence of str
        Those that are looked at, where any objective has at least three sizes.
    count : int
        Networks for which the paper finds it.
    limit : float
    below : bool
        Whether the correlation is at most the limit; otherwise greater.
    """
    sizes = panel.ratio_sizes()
    means = panel.means("shd", objectives, common=False)[:, [panel.sizes.index(size) for size in sizes]]
    logs = np.log([float(size) for size in sizes])
    k, seen = 0, {}
    for network in networks:
        if network not in panel.networks:
            continue
        rows = means[panel.networks.index(network)]
        known = np.isfinite(rows)
        there = np.flatnonzero(known.sum(axis=0) >= 3)
        if not len(there):
            continue
        values = [_correlation(logs[known[:, i]], rows[known[:, i], i]) for i in there]
        k += all(value <= limit if below else value > limit for value in values)
        told = "" if len(there) == len(objectives) else f", {len(there)} of {len(objectives)} objectives,"
        seen[network] = Measure(
            f"{network}{told} {min(values):+.2f} to {max(values):+.2f}", value=float(np.mean(values))
        )
    lacking = sorted(set(networks).difference(seen))
    if not seen or (not below and lacking):
        raise MissingCells(f"fewer than three sizes of {', '.join(lacking)}")
    whole = Measure("networks", k=k, m=len(seen))
    return Measured((whole, *seen.values()), judge(whole, None, count / len(networks)))


def _correlation(x: Floats, y: Floats) -> float:
    return float(np.corrcoef(x, y)[0, 1]) if y.std() > 0 else 0.0


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
    cells = cells_of(panel, "arcs", [half, *by_c], whose="all the objectives")
    means = cells.mean(axis=0)
    more, *same = (means / means[1]).tolist()
    found = tuple(
        Measure(f"arcs of {each} for each of {by_c[0]}", value=value, m=len(cells))
        for each, value in zip((half, *by_c[1:]), (more, *same[1:]), strict=True)
    )
    alike = max(same) - min(same) <= SHARE and (ratio is None or abs(more - ratio) <= SHARE)
    return Measured(found, Parts(counts=alike))


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
    return Measured(tuple(found), Parts(direction=agrees))


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
        return Measured((Measure("one c is best everywhere", m=len(best)),), Parts(p=True))
    from scipy.stats import spearmanr

    test = spearmanr(best, density)
    found = Measure("rank correlation of best c and arcs per node", float(test.pvalue), m=len(best))
    parts = Parts(p=bool(test.pvalue >= LEVEL))
    return Measured((found, Measure("correlation", value=float(test.statistic))), parts)


def between(panel: Panel, triples: Mapping[str, Sequence[tuple[str, str, str]]]) -> Measured:
    """Count the cells where the second of three objectives lies between the other two, ends included: all of them.

    `triples` are those of each metric. One count over all of them, at the precision shown.
    """
    inside, shown = [], []
    for metric, objectives in triples.items():
        for three in objectives:
            cells = cells_of(panel, metric, three)
            inside.append(_is_between(cells))
            shown.append(_is_between(at_precision(cells, metric)))
    found = counted("between", np.concatenate(inside), np.concatenate(shown))
    return Measured((found,), Parts(counts=found.shown == found.m))


def _is_between(cells: Floats) -> NDArray[np.bool_]:
    low, high = cells[:, [0, 2]].min(axis=1), cells[:, [0, 2]].max(axis=1)
    within: NDArray[np.bool_] = (low <= cells[:, 1]) & (cells[:, 1] <= high)
    return within


def grow_together(panel: Panel, pairs: Sequence[tuple[str, str]]) -> Measured:
    """Test whether SHD and arcs differ together between two objectives: rank correlation over cells, one-sided."""
    from scipy.stats import spearmanr

    found, agrees = [], True
    for a, b in pairs:
        distances, arcs = (cells_of(panel, metric, [a, b], least=2) for metric in ("shd", "arcs"))
        gaps = [each[:, 0] - each[:, 1] for each in (distances, arcs)]
        p, value = 1.0, 0.0  # where one of the two is the same everywhere
        if all(np.ptp(gap) > 0 for gap in gaps):
            test = spearmanr(gaps[0], gaps[1], alternative="greater")
            p, value = float(test.pvalue), float(test.statistic)
        found.append(Measure(f"{a} - {b}", p, m=len(arcs), value=value))
        agrees &= p < LEVEL
    return Measured(tuple(found), Parts(direction=agrees))


def every_one(panel: Panel, checks: Sequence[Check]) -> Measured:
    """Make several checks that must all agree."""
    found: list[Measured] = []
    missing = []
    for check in checks:
        try:
            found.append(check(panel))
        except NotTestable as error:  # noqa: PERF203 - there are two
            missing.append(error)
    measures = tuple(measure for each in found for measure in each.measures)
    if missing:
        missing[0].measures = measures
        raise missing[0]
    return Measured(measures, every(each.parts for each in found))
