"""Averages of a metric over samples: a table with a line for each network and size, a column for each objective."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.study.formats import Format, escape, lay_out
from mapdag.study.panel import METRICS, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.study.panel import Panel

    Floats = NDArray[np.float64]

_ABSENT = "-"


class Heading(NamedTuple):
    """A column of a table: an objective, and what it is called there."""

    name: str
    alpha: str
    objective: str

    def __str__(self) -> str:
        return f"{self.name} ({self.alpha})" if self.alpha else self.name


@dataclass(frozen=True)
class Averages:
    """One network and size.

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
class AverageTable:
    """A table of averages.

    Attributes
    ----------
    name, title : str
    metric : Metric
    headings : tuple of Heading
    lines : tuple of Averages
    arm : str
        Order of the columns, and search.
    """

    name: str
    title: str
    metric: Metric
    headings: tuple[Heading, ...]
    lines: tuple[Averages, ...]
    arm: str


def make_table(
    panel: Panel, headings: Sequence[Heading], *, metric: str, name: str = "", title: str = ""
) -> AverageTable:
    """Return a table of any objectives.

    Parameters
    ----------
    panel : Panel
    headings : sequence of Heading
    metric : str
        Of predictive log-likelihoods, only sizes n/p < 1 are shown, as in the paper.
    name, title : str
    """
    objectives = [heading.objective for heading in headings]
    measure, means = METRICS[metric], panel.means(metric, objectives, common=False)
    known = [panel.objectives.index(each) for each in objectives if each in panel.objectives]
    counts = np.isfinite(panel.values["shd"][..., known]).sum(axis=2)
    lines = []
    for i, network in enumerate(panel.networks):
        for size in panel.ratio_sizes(below=1.0) if metric == "loglik" else panel.sizes:
            j = panel.sizes.index(size)
            if np.isfinite(means[i, j]).any():
                values = tuple(means[i, j].tolist())
                lines.append(Averages(network, size, int(counts[i, j].min()), values, _best(means[i, j], measure)))
    return AverageTable(name or metric, title or measure.title, measure, tuple(headings), tuple(lines), panel.arm)


def _best(values: Floats, metric: Metric) -> tuple[bool, ...]:
    """Tell which of the values, some of which are known, are best at the precision shown."""
    shown = values.round(metric.digits)
    if metric.best == "one":
        shown = np.abs(shown - 1).round(metric.digits)
    elif metric.best == "higher":
        shown = -shown
    return tuple((shown == np.nanmin(shown)).tolist())


def render_table(table: AverageTable, form: Format = "text") -> str:
    """Write a table; the best of each line is marked, with * in texts, and in bold elsewhere. CSV has all digits."""
    uneven = len({line.replicates for line in table.lines}) > 1 or form == "csv"
    head = ["network", "n/p", *(["samples"] if uneven else []), *map(str, table.headings)]
    rows = [[escape(each, form) for each in head]]
    for line in table.lines:
        own = [escape(line.network, form), line.size, *([str(line.replicates)] if uneven else [])]
        marked = zip(line.values, line.best, strict=True)
        rows.append([*own, *(_shown(x, best=best, digits=table.metric.digits, form=form) for x, best in marked)])
    body = lay_out(rows, form)
    if form == "csv":
        return body
    title = escape(f"{table.title}. {table.arm}; in brackets alpha; best marked.", form)
    if form == "latex":
        before = [r"\begin{table}[p]", r"\begin{center}", r"\scriptsize"]
        after = [rf"\caption{{{title}}}", rf"\label{{tab:{table.name}}}", r"\end{center}", r"\end{table}", ""]
        return "\n".join([*before, body.rstrip(), *after])
    return f"{title}\n\n{body}"


def _shown(value: float, *, best: bool, digits: int, form: Format) -> str:
    if math.isnan(value):
        return "" if form == "csv" else _ABSENT
    if form == "csv":
        return repr(value)
    text = f"{value:.{digits}f}"
    if best:
        return {"text": f"{text}*", "markdown": f"**{text}**", "latex": rf"\textbf{{{text}}}"}[form]
    return f"{text} " if form == "text" else text
