"""Everything that the results of a study say, as values; `write_report` writes them to files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mapdag.io.files import write_text
from mapdag.paper.claims import RESAMPLES, Finding, measure_claims, render_claims, tally
from mapdag.paper.misprint import Supposed, render_supposed, suppose
from mapdag.paper.objectives import BIC, STECK, goal
from mapdag.study import paper
from mapdag.study.averages import AverageTable, Heading, make_table, render_table
from mapdag.study.formats import SUFFIXES, check_format
from mapdag.study.pairings import compare_all, render_pairings
from mapdag.study.panel import METRICS, Panel, read_panels
from mapdag.study.records import PARTS
from mapdag.study.statistics import Ranks, rank
from mapdag.study.store import Store

if TYPE_CHECKING:
    from mapdag.study.pairings import Pairing
    from mapdag.study.panel import Panel


_COMPARED = ("shd", "arcs", "loglik")


@dataclass(frozen=True, eq=False)
class ArmReport:
    """What one arm says: the tables of the paper, its claims, and some of them with a misprint taken out."""

    panel: Panel
    tables: tuple[AverageTable, ...]
    findings: tuple[Finding, ...]
    supposed: tuple[Supposed, ...]

    @property
    def slug(self) -> str:
        """Name of the arm for files."""
        return f"{self.panel.search}-{self.panel.columns}"

    def pairings(self, metric: str) -> tuple[Pairing, ...]:
        """Compare all objectives with one another."""
        return compare_all(self.panel, metric)

    def ranks(self, metric: str) -> Ranks | None:
        """Average ranks of all objectives over the cells that have all of them; None if there are too few."""
        cells = self.panel.cells(metric, self.panel.objectives)
        if len(cells) < 2 or len(self.panel.objectives) < 2:
            return None
        return rank(cells, self.panel.objectives, lower=METRICS[metric].is_cost)


@dataclass(frozen=True, eq=False)
class Report:
    """Everything that the results say.

    Attributes
    ----------
    directory : Path
    arms : tuple of ArmReport
        The paper's first: hill climbing with columns in file order.
    meta : dict
        Seed, version, design.
    searches : dict
        Name in the library and options of each search, by label.
    runs : list of dict
        When, on which machine and for how long.
    work : dict of str to float
        Seconds of all workers: sampling, learning, judging, and those of the processor.
    """

    directory: Path
    arms: tuple[ArmReport, ...]
    meta: dict[str, Any]
    searches: dict[str, Any]
    runs: list[dict[str, Any]]
    work: dict[str, float]


def make_report(directory: str | Path, *, resamples: int = RESAMPLES) -> Report:
    """Read the results in a directory, and say what they say.

    Parameters
    ----------
    directory : path
    resamples : int
        How often to draw the samples anew, to see which verdicts are within chance.
    """
    arms = tuple(_report(panel, resamples) for panel in read_panels(directory))
    with Store(directory) as store:
        spent = [entry[5:9] for entry in store.work]
        work = {part: sum(each[i] for each in spent) for i, part in enumerate(PARTS)}
        return Report(Path(directory), arms, store.meta, store.searches, store.runs, work)


def _report(panel: Panel, resamples: int) -> ArmReport:
    findings = measure_claims(panel, resamples=resamples)
    return ArmReport(panel, make_tables(panel), findings, suppose(panel, findings))


def render_report(report: Report, form: str = "text", *, tables: bool = True) -> str:
    """Write tables and claims as one text, or the claims alone."""
    checked = check_format(form)
    shown = [table for arm in report.arms for table in arm.tables if tables and table.lines]
    findings, arms = [arm.findings for arm in report.arms], [arm.panel.extent for arm in report.arms]
    parts = [*(render_table(table, checked) for table in shown), render_claims(findings, arms, checked)]
    if checked != "csv":  # one table of all claims
        parts.append(render_supposed([(arm.panel.arm, arm.supposed) for arm in report.arms], checked))
    return "\n".join(part for part in parts if part)


def write_report(report: Report, out: str | Path) -> list[Path]:
    """Write tables and claims in all formats, comparisons and a summary; returns the files."""
    folder = Path(out)
    files: dict[str, str] = {}
    for arm in report.arms:
        for table in arm.tables:
            for form, suffix in SUFFIXES.items():
                files[f"tables/{arm.slug}/{table.name}{suffix}"] = render_table(table, form)
        for metric in _COMPARED:
            files[f"comparisons/{arm.slug}-{metric}.csv"] = render_pairings(arm.pairings(metric), "csv")
    for form, suffix in SUFFIXES.items():
        files[f"claims{suffix}"] = render_report(report, form, tables=False)
    files["summary.json"] = json.dumps(summarise(report), indent=1) + "\n"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_text(folder / name, text)
    return [folder / name for name in files]


def summarise(report: Report) -> dict[str, Any]:
    """Return the figures of the whole: design, machine, seconds, verdicts."""
    return {
        **report.meta,
        "searches": {label: {"name": name, "options": given} for label, (name, given) in report.searches.items()},
        "runs": report.runs,
        "worker_seconds": report.work,
        "arms": [
            {
                "arm": arm.panel.arm,
                "networks_learned": arm.panel.n_results,
                "claims": tally(arm.findings),
                "ranks": {metric: _as_dict(arm.ranks(metric)) for metric in _COMPARED},
            }
            for arm in report.arms
        ],
    }


def _as_dict(ranks: Ranks | None) -> dict[str, Any] | None:
    if ranks is None:
        return None
    average = dict(zip(ranks.names, ranks.ranks, strict=True))
    return {"cells": ranks.cells, "friedman_p": ranks.p, "critical_difference": ranks.critical, "ranks": average}


# Its tables ----------------------------------------------------------------------------------------------------------


def _headings(kind: str, *priors: tuple[str, str]) -> tuple[Heading, ...]:
    """Columns of one kind of likelihood with some priors, by their names in the table and in the objective."""
    return tuple(Heading(f"{name}+{kind}", str(a), goal(prior, kind, a)) for name, prior in priors for a in (1, 10))


_U, _MU = ("U", "U"), ("MU", "MU")
_PRIORS = (_U, ("MU(1/2)", "1/2"), *((f"MU({c})", c) for c in ("c=1", "c=2", "c=5")))
#: Columns of the first three tables.
SCORES = (
    *_headings("BDeu", _U),
    Heading("U+BDeu", "S", STECK),
    *_headings("BDs", _U),
    *_headings("BDeu", _MU),
    *_headings("BDs", _MU),
    Heading("BIC", "", BIC),
)
_TITLES = {
    "shd": ("Average SHD", "lower is better"),
    "arcs": ("Average number of arcs", "relative to the true graph; closer to 1 is better"),
    "loglik": ("Average predictive log-likelihood", "rescaled by -10000, for n/p < 1; lower is better"),
}


def make_tables(panel: Panel) -> tuple[AverageTable, ...]:
    """Return the nine tables: three measures for the scores with beta = 1/2, for BDeu and for BDs with each prior.

    Three more have all objectives of an arm, where it has some that the paper does not know.
    """
    kinds = [
        ("", "", SCORES),
        ("-bdeu", " for BDeu and different MU priors", _headings("BDeu", *_PRIORS)),
        ("-bds", " for BDs and different MU priors", _headings("BDs", *_PRIORS)),
    ]
    if not set(panel.objectives) <= set(paper().objectives):
        own = tuple(Heading(each, "", each) for each in panel.objectives)
        kinds.append(("-own", " for the objectives of this arm", own))
    return tuple(
        make_table(panel, headings, metric=metric, name=f"{metric}{suffix}", title=f"{title}{words} ({rule})")
        for suffix, words, headings in kinds
        for metric, (title, rule) in _TITLES.items()
    )
