"""Tables and claims as text, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from mapdag.errors import ParameterError
from mapdag.study.claims import figure

if TYPE_CHECKING:
    from mapdag.study.claims import Finding
    from mapdag.study.comparing import Pairing
    from mapdag.study.tables import Line, Table

Format = Literal["text", "markdown", "latex", "csv"]
SUFFIXES = {"text": ".txt", "markdown": ".md", "latex": ".tex", "csv": ".csv"}

_ABSENT = "-"
_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_SPECIAL |= {each: f"\\{each}" for each in "&%$#_{}"}


def check_format(form: str) -> Format:
    """Return the format, or say which there are."""
    if form not in get_args(Format):
        raise ParameterError(f"format must be one of {', '.join(get_args(Format))}, got {form!r}")
    return form  # type: ignore[return-value]


def lay_out(rows: Sequence[Sequence[str]], form: Format, *, left: Iterable[int] = (0,)) -> str:
    """Write rows, the first one the headings; columns in `left` are aligned to the left, others to the right."""
    check_format(form)
    lefts = set(left)
    if form == "csv":
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(rows)
        return out.getvalue()
    if form == "latex":
        spec = "".join("l" if i in lefts else "r" for i in range(len(rows[0])))
        head, *body = [" & ".join(row) + r" \\" for row in rows]
        lines = [rf"\begin{{tabular}}{{{spec}}}", r"\hline", head, r"\hline", *body, r"\hline", r"\end{tabular}"]
        return "\n".join(lines) + "\n"
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    cells = [
        [each.ljust(w) if i in lefts else each.rjust(w) for i, (each, w) in enumerate(zip(row, widths, strict=True))]
        for row in rows
    ]
    if form == "text":
        return "\n".join("  ".join(row).rstrip() for row in cells) + "\n"
    rule = ["-" * max(w, 3) if i in lefts else "-" * max(w - 1, 2) + ":" for i, w in enumerate(widths)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (cells[0], rule, *cells[1:])) + "\n"


def escape(text: str, form: Format) -> str:
    """Text that means itself in a format."""
    if form == "latex":
        return "".join(_SPECIAL.get(each, each) for each in text)
    return text.replace("|", r"\|") if form == "markdown" else text


def render_table(table: Table, form: Format = "text") -> str:
    """Write a table; the best of each line is marked, with * in texts, and in bold elsewhere. CSV has all digits."""
    uneven = len({line.replicates for line in table.lines}) > 1 or form == "csv"
    names = [f"{name} ({alpha})" if alpha else name for name, alpha in table.headings]
    head = ["network", "n/p", *(["samples"] if uneven else []), *names]
    rows = [[escape(each, form) for each in head]]
    for line in table.lines:
        own = [escape(line.network, form), line.size, *([str(line.replicates)] if uneven else [])]
        rows.append([*own, *_values(line, table, form)])
    body = lay_out(rows, form)
    if form == "csv":
        return body
    title = escape(f"{table.title}. {table.arm}; in brackets alpha; best marked.", form)
    if form == "latex":
        before = [r"\begin{table}[p]", r"\begin{center}", r"\scriptsize"]
        after = [rf"\caption{{{title}}}", rf"\label{{tab:{table.name}}}", r"\end{center}", r"\end{table}", ""]
        return "\n".join([*before, body.rstrip(), *after])
    return f"{title}\n\n{body}"


def _values(line: Line, table: Table, form: Format) -> list[str]:
    texts = []
    for value, best in zip(line.values, line.best, strict=True):
        if math.isnan(value):
            texts.append("" if form == "csv" else _ABSENT)
        elif form == "csv":
            texts.append(repr(value))
        else:
            texts.append(_marked(f"{value:.{table.metric.digits}f}", best=best, form=form))
    return texts


def _marked(text: str, *, best: bool, form: Format) -> str:
    if not best:
        return f"{text} " if form == "text" else text
    return {"text": f"{text}*", "markdown": f"**{text}**", "latex": rf"\textbf{{{text}}}"}[form]


def render_claims(findings: Sequence[Sequence[Finding]], arms: Sequence[str], form: Format = "text") -> str:
    """Write the claims: the paper's figures, and for each arm ours and the verdict.

    Parameters
    ----------
    findings : sequence of sequences of Finding
        All claims, for each arm.
    arms : sequence of str
    form : {"text", "markdown", "latex", "csv"}
        CSV has one row for every figure of ours.
    """
    if form == "csv":
        return _claims_as_csv(findings, arms)
    head = ["#", "claim", "alpha", "metric", "paper"]
    for i, _ in enumerate(arms):
        mark = f" [{i + 1}]" if len(arms) > 1 else ""
        head += [f"measured{mark}", f"verdict{mark}"]
    rows = [head]
    for several in zip(*findings, strict=True):
        claim = several[0].claim
        row = [str(claim.number), claim.text, claim.alpha, claim.metric, several[0].paper]
        for finding in several:
            opposite = " (other direction)" if finding.direction == "opposite" else ""
            row += [finding.measured or finding.reason, finding.verdict + opposite]
        rows.append(row)
    body = lay_out([[escape(each, form) for each in row] for row in rows], form, left=range(1, len(head)))
    told = [f"[{i + 1}] {arm}: {tally(each)}" for i, (arm, each) in enumerate(zip(arms, findings, strict=True))]
    legend = "p-values, and cells in favour (at the precision shown, in brackets, where that differs)"
    lines = [escape(each, form) for each in (*told, legend)]
    return "\n".join(f"{each}\n" for each in lines) + "\n" + body


def tally(findings: Iterable[Finding]) -> str:
    """Count the verdicts."""
    verdicts = [finding.verdict for finding in findings]
    return ", ".join(f"{verdicts.count(each)} {each}" for each in ("agrees", "differs", "not testable"))


def _claims_as_csv(findings: Sequence[Sequence[Finding]], arms: Sequence[str]) -> str:
    head = ["arm", "number", "section", "claim", "alpha", "metric", "paper_p", "paper_k", "paper_of", "conclusion"]
    rows = [[*head, "verdict", "direction", "reason", "note", "compared", "p", "k", "k_shown", "m", "value"]]
    for arm, several in zip(arms, findings, strict=True):
        for finding in several:
            claim = finding.claim
            paper = [" ".join(map(repr, claim.p)), " ".join(map(str, claim.k)), str(claim.of), claim.conclusion]
            own = [arm, str(claim.number), claim.section, claim.text, claim.alpha, claim.metric, *paper]
            own += [finding.verdict, finding.direction, finding.reason, claim.note]
            for each in finding.measures or (None,):
                numbers = [each.p, each.k, each.shown, each.m, each.value] if each else [None] * 5
                rows.append([*own, each.label if each else "", *("" if x is None else repr(x) for x in numbers)])
    return lay_out(rows, "csv")


def render_details(finding: Finding) -> str:
    """Write all figures of a claim, one a line."""
    return "\n".join(figure(each, label=True) for each in finding.measures)


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
