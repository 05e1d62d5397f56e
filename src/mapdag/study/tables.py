"""The nine tables of the paper: averages of SHD, arcs and predictive log-likelihood, for each network and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mapdag.study.design import paper
from mapdag.study.panel import METRICS, Metric
from mapdag.study.transcript import BIC, STECK, goal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.study.panel import Panel

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """Averages of one network and size.

    Attributes
    ----------
    network, size : str
    replicates : int
        Samples that the averages are over; the fewest, where objectives differ.
    values : tuple of float
        NaN where there is none.
    best : tuple of bool
        Which are best, at the precision shown.
    """

    network: str
    size: str
    replicates: int
    values: tuple[float, ...]
    best: tuple[bool, ...]


@dataclass(frozen=True)
class Table:
    """A table of averages.

    Attributes
    ----------
    name, title : str
    metric : Metric
    headings : tuple of (str, str)
        Objective and alpha of each column.
    lines : tuple of Line
    arm : str
        Order of the columns, and search.
    """

    name: str
    title: str
    metric: Metric
    headings: tuple[tuple[str, str], ...]
    lines: tuple[Line, ...]
    arm: str


#: Columns of the three kinds of tables: heading, alpha, objective.
SCORES = (
    *[("U+BDeu", str(a), goal("U", "BDeu", a)) for a in (1, 10)],
    ("U+BDeu", "S", STECK),
    *[
        (f"{p}+{kind}", str(a), goal(p, kind, a))
        for p, kind in (("U", "BDs"), ("MU", "BDeu"), ("MU", "BDs"))
        for a in (1, 10)
    ],
    ("BIC", "", BIC),
)
_PRIORS = (("U", "U"), ("1/2", "MU(1/2)"), ("c=1", "MU(c=1)"), ("c=2", "MU(c=2)"), ("c=5", "MU(c=5)"))


def _by_prior(kind: str) -> tuple[tuple[str, str, str], ...]:
    return tuple((f"{name}+{kind}", str(a), goal(prior, kind, a)) for prior, name in _PRIORS for a in (1, 10))


_TITLES = {"shd": "Average SHD", "arcs": "Average number of arcs", "loglik": "Average predictive log-likelihood"}
_RULES = {
    "shd": "lower is better",
    "arcs": "relative to the true graph; closer to 1 is better",
    "loglik": "rescaled by -10000, for n/p < 1; lower is better",
}


def make_tables(panel: Panel) -> tuple[Table, ...]:
    """Return the nine tables: three measures for the scores with beta = 1/2, for BDeu and for BDs with each prior.

    Three more have all objectives of an arm, where it has some that the paper does not know.
    """
    kinds = [
        ("", "", SCORES),
        ("-bdeu", " for BDeu and different MU priors", _by_prior("BDeu")),
        ("-bds", " for BDs and different MU priors", _by_prior("BDs")),
    ]
    if not set(panel.objectives) <= set(paper().objectives):
        kinds.append(("-own", " for the objectives of this arm", tuple((each, "", each) for each in panel.objectives)))
    return tuple(
        make_table(
            panel,
            columns,
            metric=metric,
            name=f"{metric}{suffix}",
            title=f"{_TITLES[metric]}{words} ({_RULES[metric]})",
        )
        for suffix, words, columns in kinds
        for metric in ("shd", "arcs", "loglik")
    )


def make_table(
    panel: Panel, columns: Sequence[tuple[str, str, str]], *, metric: str, name: str = "", title: str = ""
) -> Table:
    """Return a table of any objectives.

    Parameters
    ----------
    panel : Panel
    columns : sequence of (str, str, str)
        Heading, alpha and objective of each.
    metric : str
        Of predictive log-likelihoods, only sizes n/p < 1 are shown, as in the paper.
    name, title : str
    """
    objectives = [objective for _, _, objective in columns]
    means = panel.means(metric, objectives, common=False)
    counts = _replicates(panel, objectives)
    sizes = panel.ratio_sizes(below=1.0) if metric == "loglik" else panel.sizes
    lines = []
    for i, network in enumerate(panel.networks):
        for size in sizes:
            j = panel.sizes.index(size)
            if np.isfinite(means[i, j]).any():
                best = _best(means[i, j], METRICS[metric])
                lines.append(Line(network, size, int(counts[i, j]), tuple(means[i, j].tolist()), best))
    headings = tuple((heading, alpha) for heading, alpha, _ in columns)
    return Table(name or metric, title or METRICS[metric].title, METRICS[metric], headings, tuple(lines), panel.arm)


def _replicates(panel: Panel, objectives: Sequence[str]) -> NDArray[np.int64]:
    known = [panel.objectives.index(each) for each in objectives if each in panel.objectives]
    if not known:
        return np.zeros((len(panel.networks), len(panel.sizes)), dtype=np.int64)
    fewest: NDArray[np.int64] = np.isfinite(panel.values["shd"][..., known]).sum(axis=2).min(axis=-1)
    return fewest


def _best(values: Floats, metric: Metric) -> tuple[bool, ...]:
    shown = values.round(metric.digits)
    if metric.best == "one":
        shown = np.abs(shown - 1).round(metric.digits)
    elif metric.best == "higher":
        shown = -shown
    least = np.nanmin(shown) if np.isfinite(shown).any() else np.nan
    return tuple(bool(each == least) for each in shown)
