"""Claims that compare objectives cell by cell, and how each is measured on a panel of results.

A check measures, and says which parts of what it finds agree with the paper (`mapdag.paper.measures`). Where the paper
leaves open which objectives it compares, each reading is measured, and one that agrees as a whole is enough. Claims
about trends, ratios and single networks are in `mapdag.paper.trends`.

Of the metrics that the paper looks at, lower values are better: SHD, arcs, and log-likelihoods divided by -10,000.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mapdag.paper.measures import Measure, Measured, MissingCells, Parts, best, every, judge
from mapdag.study.panel import METRICS
from mapdag.study.statistics import paired_t

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.study.panel import Panel

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]


def _scope(panel: Panel, metric: str) -> tuple[str, ...]:
    """Sizes that a metric is looked at: predictive log-likelihoods for n/p < 1 only, as in the paper."""
    return panel.ratio_sizes(below=1.0 if metric == "loglik" else math.inf)


def cells_of(
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


def at_precision(values: Floats, metric: str) -> Floats:
    """Values at the precision shown."""
    rounded: Floats = values.round(METRICS[metric].digits)
    return rounded


def counted(label: str, strict: Bools, shown: Bools, p: float | None = None) -> Measure:
    """Count where something holds, strictly and at the precision shown."""
    return Measure(label, p, int(strict.sum()), int(shown.sum()), len(strict))


def compared(label: str, a: Floats, b: Floats, metric: str) -> Measure:
    """Test whether a is better than b, and count where it is."""
    return counted(label, a < b, at_precision(a, metric) < at_precision(b, metric), paired_t(a, b))


def better(
    panel: Panel,
    pairs: Sequence[tuple[str, str]],
    metric: str,
    *,
    p: float,
    share: float | None = None,
    readings: bool = False,
) -> Measured:
    """Test whether the first objective of each pair is better than the second.

    Parameters
    ----------
    panel : Panel
    pairs : sequence of (str, str)
    metric : str
        Of arcs, fewer are better here.
    p : float
        The paper's p-value.
    share : float, optional
        The share of cells that it counts.
    readings : bool
        Whether the pairs are readings of one test, rather than several tests.
    """
    found = []
    for a, b in pairs:
        cells = cells_of(panel, metric, [a, b], least=2)
        found.append(compared(f"{a} > {b}", cells[:, 0], cells[:, 1], metric))
    parts = [judge(each, p, share) for each in found]
    return Measured(tuple(found), best(parts) if readings else every(parts))


def better_than_best(panel: Panel, objective: str, others: Sequence[str], *, p: float) -> Measured:
    """Test whether an objective has a lower SHD than the best of some others, cell by cell."""
    cells = cells_of(panel, "shd", [objective, *others], least=2)
    found = compared("", cells[:, 0], cells[:, 1:].min(axis=1), "shd")
    return Measured((found,), judge(found, p))


def wins_more_often(panel: Panel, pairs: Sequence[tuple[str, str]], metric: str, *, share: float) -> Measured:
    """Count the cells where the first objective of each pair is better: more than a share of them, for every pair."""
    found = []
    for a, b in pairs:
        cells = cells_of(panel, metric, [a, b], least=2)
        found.append(compared(f"{a} > {b}", cells[:, 0], cells[:, 1], metric))
    return Measured(tuple(found), Parts(counts=all((each.k or 0) > share * each.m for each in found)))


def nearly_best(panel: Panel, groups: Sequence[Sequence[str]], *, within: float) -> Measured:
    """Count the cells where the first of a group has the lowest SHD of it, but for a share of that: in most of them."""
    found = []
    for group in groups:
        cells = cells_of(panel, "shd", group)
        near = cells[:, 0] <= cells[:, 1:].min(axis=1) * (1 + within)
        found.append(Measure(f"{group[0]} within {within:.0%} of the best", k=int(near.sum()), m=len(cells)))
    return Measured(tuple(found), Parts(counts=all(2 * (each.k or 0) > each.m for each in found)))


def best_overall(panel: Panel, winners: Sequence[str], among: Sequence[str], share: float) -> Measured:
    """Count the cells where some objectives have the lowest SHD of all; equals at the precision shown are all best."""
    rest = [each for each in among if each not in winners]
    cells = cells_of(panel, "shd", [*winners, *rest], whose="all the objectives")
    mine, others = cells[:, : len(winners)].min(axis=1), cells[:, len(winners) :].min(axis=1)
    found = counted("", mine < others, at_precision(mine, "shd") <= at_precision(others, "shd"))
    return Measured((found,), judge(found, None, share))


def tied_for_best(panel: Panel, groups: Sequence[tuple[str, str, str]], among: Sequence[str]) -> Measured:
    """Count how often the second and the third of a group tie with the first, where its SHD is the lowest of all.

    At the precision shown; the second is to do so more often. `groups` are the three for each alpha.
    """
    found, ties = [], [0, 0]
    for first, *others in groups:
        shown = at_precision(cells_of(panel, "shd", [first, *others, *among], whose="all the objectives"), "shd")
        mine = shown[shown[:, 0] <= shown.min(axis=1)]
        for place, other in enumerate(others):
            k = int((mine[:, place + 1] == mine[:, 0]).sum())
            ties[place] += k
            found.append(Measure(f"{other} ties with {first}", shown=k, m=len(mine)))
    return Measured(tuple(found), Parts(direction=ties[0] > ties[1]))


def above_one(panel: Panel, shares: Mapping[str, float]) -> Measured:
    """Count the cells with more arcs than the true graph; the paper's share for each objective."""
    found = []
    for objective in shares:
        ratios = cells_of(panel, "arcs", [objective])[:, 0]
        found.append(counted(objective, ratios > 1, at_precision(ratios, "arcs") > 1))
    return Measured(tuple(found), every(judge(each, None, shares[each.label]) for each in found))


def sparser_than_truth(panel: Panel, objective: str, sizes: Sequence[str] | None = None, *, p: float) -> Measured:
    """Test whether there are fewer arcs than in the true graph: on all sizes together, or on each of some."""
    found = []
    for each, where in ((None, ""),) if sizes is None else [((size,), f" at n/p = {size}") for size in sizes]:
        ratios = cells_of(panel, "arcs", [objective], least=2, sizes=each, where=where)[:, 0]
        found.append(compared(where.removeprefix(" at "), ratios, np.ones(len(ratios)), "arcs"))
    return Measured(tuple(found), every(judge(each, p) for each in found))


def fewer_arcs(
    panel: Panel, groups: Sequence[tuple[Sequence[tuple[str, str]], float]], *, readings: bool = True
) -> Measured:
    """Count the cells where the first of two objectives has fewer arcs.

    `groups` are (pairs, share): pairs that the paper may mean, and the share of cells that it gives. One of a group
    must agree, or all of them where they are no `readings`.
    """
    found, parts = [], []
    for pairs, share in groups:
        inside = []
        for a, b in pairs:
            cells = cells_of(panel, "arcs", [a, b])
            found.append(compared(f"{a} < {b}", cells[:, 0], cells[:, 1], "arcs"))
            inside.append(judge(found[-1], None, share))
        parts.append(best(inside) if readings else every(inside))
    return Measured(tuple(found), every(parts))


def never_better(panel: Panel, groups: Sequence[tuple[str, Sequence[str]]]) -> Measured:
    """Count the cells where an objective predicts better than all others of its group, for n/p < 1.

    There must be none, at the precision shown. `groups` are an objective and those it is compared with.
    """
    found = []
    for first, others in groups:
        cells = cells_of(panel, "loglik", [first, *others], where=" at n/p < 1")
        label = f"{first} > {' and '.join(others)}"
        found.append(compared(label, cells[:, 0], cells[:, 1:].min(axis=1), "loglik"))
    return Measured(tuple(found), Parts(counts=all(each.shown == 0 for each in found)))


def all_tied(panel: Panel, objectives: Sequence[str]) -> Measured:
    """Count the cells where all objectives have the same predictive log-likelihood, for n/p >= 1."""
    sizes, where = panel.ratio_sizes(at_least=1.0), " at n/p >= 1"
    cells = cells_of(panel, "loglik", objectives, sizes=sizes, whose="all the objectives", where=where)
    spread, shown = np.ptp(cells, axis=1), np.ptp(at_precision(cells, "loglik"), axis=1)
    tied = counted("all tied", spread == 0, shown == 0)
    parts = judge(Measure(shown=tied.shown, m=tied.m), None, 1.0)
    return Measured((tied, Measure("largest spread", value=float(spread.max()))), parts)


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
    shown = at_precision(table, "loglik")
    found, parts = [], []
    for name, objectives, share in camps:
        mine = np.isin(among, objectives)
        strict = table[:, mine].min(axis=1) < table[:, ~mine].min(axis=1)
        found.append(counted(name, strict, shown[:, mine].min(axis=1) <= shown[:, ~mine].min(axis=1)))
        parts.append(judge(found[-1], None, share))
    return Measured(tuple(found), every(parts))
