"""The report of a simulation study: ``mapdag study report DIR --html``; claims, figures and tables on one page."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mapdag.paper.claims import LEGEND
from mapdag.paper.misprint import INSTEAD, SUSPECT
from mapdag.paper.report import Report, make_report
from mapdag.plots.study import figure_svg, make_figures
from mapdag.report.html import Content, Html, tag
from mapdag.report.page import Section, page, write_page
from mapdag.report.parts import (
    Heading,
    Row,
    Sortable,
    figure_text,
    figures,
    how_it_was_made,
    number,
    picture,
    table,
    warning,
)
from mapdag.wording import duration, plural

if TYPE_CHECKING:
    from mapdag.paper.claims import Finding
    from mapdag.paper.report import ArmReport
    from mapdag.study.averages import Averages, AverageTable

_VERDICTS = {"agrees": "agreeing", "differs": "missing", "too few cells": "few", "not testable": "compelled"}
_CAPTIONS = {
    "shd-by-size": "SHD against n/p: lower is better.",
    "arcs-by-size": "Arcs relative to the true graph, against n/p: closer to 1 is better.",
}


def write_study(report: Report | str | os.PathLike[str], path: str | os.PathLike[str], *, command: str = "") -> None:
    """Write the report of a study: verdicts on all claims, figures, and the nine tables of each arm.

    Parameters
    ----------
    report : Report or path
        From `mapdag.paper.report.make_report`, or the directory of the results.
    path : path
        Ends in .html.
    command : str, optional
        The command that made the report, to be shown in it.

    Raises
    ------
    MissingExtraError
        Without matplotlib, which draws the figures.

    Examples
    --------
    >>> from mapdag.study import Design, run
    >>> folder = getfixture("tmp_path")
    >>> design = Design(name="tiny", networks=("asia",), sizes=("1", "2"), replicates=2, objectives=("BIC", "BDeu(1)"))
    >>> outcome = run(design, folder, workers=1)
    >>> write_study(folder, folder / "study.html")
    """
    found = report if isinstance(report, Report) else make_report(Path(report))
    write_page(path, study_page(found, command))


def study_page(report: Report, command: str = "") -> str:
    """Return the page that `write_study` writes."""
    learned = sum(arm.panel.n_results for arm in report.arms)
    sections = [
        Section("claims", "Claims of the paper, and what was measured", _claims(report), "Claims"),
        Section("figures", "Figures", _pictures(report), "Figures"),
        *(_tables(arm) for arm in report.arms),
        how_it_was_made(command or None, _details(report)),
    ]
    name = str(report.meta.get("design", {}).get("name", "study"))
    return page(
        f"Simulation study: {name}",
        [section for section in sections if section.content],
        subtitle=f"{plural(learned, 'learned network')}, {plural(len(report.arms), 'arm')}",
        lead=_lead(report),
    )


def _lead(report: Report) -> Content:
    items: list[tuple[str, Content, Content]] = []
    for arm in report.arms:
        verdicts = [finding.verdict for finding in arm.findings]
        judged = verdicts.count("agrees") + verdicts.count("differs")
        share = f"{verdicts.count('agrees')} of {judged}" if judged else "none judged"
        rest = [f"{count} {each}" for each in ("too few cells", "not testable") if (count := verdicts.count(each))]
        told = "; ".join(["claims agree" if judged else f"of {len(verdicts)} claims", *rest, _learned(arm)])
        items.append((arm.panel.arm, share, told))
    items.append(("Time", duration(report.work["cpu"]), "of the processor, all workers together"))
    return figures(items)


def _learned(arm: ArmReport) -> str:
    return plural(arm.panel.n_results, "network") + " learned"


def _claims(report: Report) -> Content:
    columns = [Heading("#", "number"), Heading("claim"), Heading("alpha"), Heading("metric"), Heading("paper")]
    several = len(report.arms) > 1
    for i, arm in enumerate(report.arms):
        mark = f" [{i + 1}]" if several else ""
        columns += [Heading(f"{each}{mark}", hint=arm.panel.arm) for each in ("measured", "parts", "verdict")]
    rows = [_claim(findings) for findings in zip(*(arm.findings for arm in report.arms), strict=True)]
    arms = [tag("li", arm.panel.extent) for arm in report.arms]
    told = f"p-values, and cells in favour (at the precision shown, in brackets, where that differs); {LEGEND}."
    listed = table(columns, rows, key="claim-table", caption="Claims beside what was measured", filter_=True)
    extent = tag("ol", arms) if several else tag("p", report.arms[0].panel.extent)
    return [extent, _too_few(report), tag("p", told), listed, *_supposed(report)]


def _supposed(report: Report) -> list[Html]:
    """Show what claims are if the paper's suspect column holds the values of another."""
    heads = ["#", "claim", "paper", "measured", "parts", f"with {INSTEAD}", "parts"]
    columns = [Heading(each, "number") if each == "#" else Heading(each) for each in heads]
    shown = []
    for arm in report.arms:
        rows: list[Row] = []
        for before, after in arm.supposed:
            own: Row = [number(before.claim.number), before.claim.text, before.paper]
            rows.append([*own, before.measured, str(before.parts), after.measured, str(after.parts)])
        if rows:
            caption = f"If the paper's SHD of {SUSPECT} were those of {INSTEAD}; {arm.panel.arm}"
            shown.append(table(columns, rows, key=f"supposed-{arm.slug}", caption=caption))
    return shown


def _too_few(report: Report) -> Html | None:
    """Say why so little is concluded, where claims were measured on too few cells."""
    most = max([finding.verdict == "too few cells" for finding in arm.findings].count(True) for arm in report.arms)
    if not most:
        return None
    return warning(
        f"{plural(most, 'claim')} measured on too few cells to agree or differ: figures are shown, but not judged. "
        "A cell is a network at a sample size; the paper has 60."
    )


def _claim(findings: Sequence[Finding]) -> Row:
    claim = findings[0].claim
    row: list[Content | Sortable] = [number(claim.number), claim.text, claim.alpha, claim.metric, findings[0].paper]
    for finding in findings:
        chip = tag("span", finding.verdict, class_=f"chip {_VERDICTS[finding.verdict]}")
        verdict = Sortable([chip, finding.remark], finding.verdict)
        row += [finding.measured or finding.reason, finding.judged, verdict]
    return row


def _pictures(report: Report) -> list[Html]:
    return [
        picture(figure_svg(drawn, name, title := _CAPTIONS.get(name, "Average ranks; a bar joins equals.")), title)
        for name, drawn in make_figures(report).items()
    ]


def _tables(arm: ArmReport) -> Section:
    shown = [part for each in arm.tables if each.lines for part in _table(each, f"{arm.slug}-{each.name}")]
    return Section(f"tables-{arm.slug}", f"Tables: {arm.panel.arm}", shown, f"Tables: {arm.panel.arm}")


def _table(averages: AverageTable, key: str) -> Iterable[Html]:
    columns = [Heading("network"), Heading("n/p", "number"), Heading("samples", "number")]
    columns += [Heading(str(heading), "number") for heading in averages.headings]
    rows = [_averages(line, averages.metric.digits) for line in averages.lines]
    yield tag("h3", averages.title)
    if len({line.replicates for line in averages.lines}) > 1:
        yield warning("Not all averages are over the same number of samples.")
    yield table(columns, rows, key=key, caption=averages.title, filter_=len(rows) > 10)


def _averages(line: Averages, digits: int) -> Row:
    size = line.size.removeprefix("n=")
    row: list[Content | Sortable] = [line.network, Sortable(line.size, float(size)), number(line.replicates)]
    for value, best in zip(line.values, line.best, strict=True):
        if math.isnan(value):
            row.append(Sortable("", "inf"))
        else:
            text = figure_text(value, digits)
            row.append(Sortable(tag("strong", text) if best else text, value))
    return row


def _details(report: Report) -> list[tuple[str, Content]]:
    found: list[tuple[str, Content]] = [
        ("seed", str(report.meta.get("seed", ""))),
        ("version of the results", str(report.meta.get("results_version", ""))),
    ]
    for run in report.runs:
        spent = duration(float(run["seconds"])) if run.get("seconds") is not None else "unfinished"
        workers = plural(int(run["workers"]), "worker")
        found.append((f"run {run['id']}", f"{run['started']}, {run['cells']} cells in {spent}, {workers}"))
    return found
