"""Any two objectives, cell by cell: wins, paired t and Wilcoxon tests, corrected for their number."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mapdag.errors import ParameterError
from mapdag.study.formats import Format, escape, lay_out
from mapdag.study.goals import canonical
from mapdag.study.panel import METRICS, Panel
from mapdag.study.statistics import Alternative, holm, paired_t, wilcoxon, wins

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Pairing:
    """Two objectives compared on one metric.

    Attributes
    ----------
    first, second, metric : str
    cells : int
        Cells that have both.
    mean_first, mean_second : float
        Averages over the cells.
    wins, losses : int
        Cells where the first is strictly better, and worse.
    shown_wins, shown_losses : int
        The same at the precision that tables show.
    t, w : float
        p-values of the paired t test and of Wilcoxon's, one-sided: that the first is better.
    t_holm, w_holm : float
        The same, corrected for the number of comparisons that were made together.
    """

    first: str
    second: str
    metric: str
    cells: int
    mean_first: float
    mean_second: float
    wins: int
    losses: int
    shown_wins: int
    shown_losses: int
    t: float
    w: float
    t_holm: float
    w_holm: float


def compare_pairs(
    panel: Panel, pairs: Iterable[tuple[str, str]], metric: str = "shd", *, sizes: Sequence[str] | None = None
) -> tuple[Pairing, ...]:
    """Compare pairs of objectives, each first one against its second.

    Parameters
    ----------
    panel : Panel
    pairs : iterable of (str, str)
        Objectives; p-values are small if the first of a pair is better.
    metric : str
        As in `METRICS`. Of arcs, fewer count as better.
    sizes : sequence of str, optional
        Only these sizes.
    """
    if metric not in METRICS:
        raise ParameterError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}")
    found = [_compare(panel, canonical(a), canonical(b), metric, sizes) for a, b in pairs]
    t, w = holm([each.t for each in found]), holm([each.w for each in found])
    return tuple(replace(each, t_holm=t[i], w_holm=w[i]) for i, each in enumerate(found))


def compare_all(panel: Panel, metric: str = "shd", *, objectives: Sequence[str] | None = None) -> tuple[Pairing, ...]:
    """Compare every two objectives, the better one on average first."""
    chosen = [canonical(each) for each in objectives] if objectives else list(panel.objectives)
    pairs = []
    for a, b in itertools.combinations(chosen, 2):
        both = panel.cells(metric, [a, b])
        worse = len(both) and (both[:, 0].mean() > both[:, 1].mean()) == METRICS[metric].is_cost
        pairs.append((b, a) if worse else (a, b))
    return compare_pairs(panel, pairs, metric)


def _compare(panel: Panel, a: str, b: str, metric: str, sizes: Sequence[str] | None) -> Pairing:
    for each in (a, b):
        if each not in panel.objectives:
            raise ParameterError(f"there are no results of {each}; objectives are {', '.join(panel.objectives)}")
    both = panel.cells(metric, [a, b], sizes)
    x, y = both[:, 0], both[:, 1]
    lower, digits = METRICS[metric].is_cost, METRICS[metric].digits
    side: Alternative = "less" if lower else "greater"
    p, w = paired_t(x, y, side), wilcoxon(x, y, side)
    return Pairing(
        *(a, b, metric, len(both)),
        *(_mean(x), _mean(y)),
        *(wins(x, y, lower=lower), wins(y, x, lower=lower)),
        *(wins(x, y, lower=lower, digits=digits), wins(y, x, lower=lower, digits=digits)),
        *(p, w, p, w),
    )


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def render_pairings(pairings: Iterable[Pairing], form: Format = "text") -> str:
    """Write pairwise comparisons."""
    head = ["first", "second", "metric", "cells", "mean 1", "mean 2", "wins", "losses", "t", "Holm", "Wilcoxon", "Holm"]
    if form == "csv":
        head = ["first", "second", "metric", "cells", "mean_first", "mean_second", "wins", "losses", "shown_wins"]
        head += ["shown_losses", "t", "t_holm", "wilcoxon", "wilcoxon_holm"]
    rows = [head]
    for each in pairings:
        start = [escape(each.first, form), escape(each.second, form), each.metric, str(each.cells)]
        p = (each.t, each.t_holm, each.w, each.w_holm)
        if form == "csv":
            counts = [each.wins, each.losses, each.shown_wins, each.shown_losses]
            rows.append([*start, *map(repr, (each.mean_first, each.mean_second)), *map(str, counts), *map(repr, p)])
            continue
        means = [f"{each.mean_first:.3f}", f"{each.mean_second:.3f}"]
        rows.append([*start, *means, str(each.wins), str(each.losses), *(f"{x:.2g}" for x in p)])
    return lay_out(rows, form, left=(0, 1, 2))
