"""The claims of the paper beside what was measured: agrees, differs, too few cells, or not testable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from mapdag.paper.checks import MissingCells
from mapdag.paper.transcript import CLAIMS, Claim
from mapdag.study.formats import Format, escape, lay_out

if TYPE_CHECKING:
    from mapdag.paper.checks import Measure
    from mapdag.study.panel import Panel

Verdict = Literal["agrees", "differs", "too few cells", "not testable"]

_LEAST = 10  # cells from which a share can be told to a tenth, which is how near ours must be to the paper's


@dataclass(frozen=True)
class Finding:
    """A claim, and what the results of one arm say to it.

    Attributes
    ----------
    claim : Claim
    measures : tuple of Measure
        Our figures.
    verdict : {"agrees", "differs", "too few cells", "not testable"}
        The last two where cells are missing: some, so that the measures are of too few to judge by, or all of a kind.
    reason : str
        What is missing.
    """

    claim: Claim
    measures: tuple[Measure, ...]
    verdict: Verdict
    reason: str = ""

    @property
    def paper(self) -> str:
        """The paper's figures, as they are printed."""
        if self.claim.printed:
            return self.claim.printed
        parts = [" ".join(f"{p:.2g}" for p in self.claim.p)] if self.claim.p else []
        parts += ["; ".join(f"{k}/{self.claim.of}" for k in self.claim.k)] if self.claim.k else []
        return ", ".join(parts)

    @property
    def direction(self) -> str:
        """Whether the difference tested points the same way as in the paper; empty where nothing was tested."""
        ours = [each.p for each in self.measures if each.p is not None]
        if not self.claim.p or not ours:
            return ""
        same = [(p < 0.5) == (self.claim.p[0] < 0.5) for p in ours]
        return "same" if all(same) else "mixed" if any(same) else "opposite"

    @property
    def remark(self) -> str:
        """What to say after the verdict, in brackets; mostly nothing."""
        if self.verdict == "too few cells":
            return f" ({self.reason})"
        return " (other direction)" if self.verdict != "not testable" and self.direction == "opposite" else ""

    @property
    def measured(self) -> str:
        """Our figures, as short as the paper's; counts at the precision shown in brackets where they differ."""
        return "; ".join(map(str, self.measures))


def measure_claims(panel: Panel) -> tuple[Finding, ...]:
    """Measure all claims on one arm of the results."""
    return tuple(_find(claim, panel) for claim in CLAIMS)


def _find(claim: Claim, panel: Panel) -> Finding:
    try:
        found = claim.check(panel)
    except MissingCells as error:
        return Finding(claim, error.measures, "not testable", f"missing cells: {error}")
    cells = min((each.m for each in found.measures if each.m), default=claim.of)
    if cells < _least(claim):
        return Finding(claim, found.measures, "too few cells", f"{cells} of the paper's {claim.of}")
    return Finding(claim, found.measures, "agrees" if found.agrees else "differs")


def _least(claim: Claim) -> float:
    """Return how many cells it takes to judge a claim; where the paper itself has few, half of those."""
    return min(_LEAST, claim.of / 2)


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
            row += [finding.measured or finding.reason, finding.verdict + finding.remark]
        rows.append(row)
    body = lay_out([[escape(each, form) for each in row] for row in rows], form, left=range(1, len(head)))
    told = [f"[{i + 1}] {arm}: {tally(each)}" for i, (arm, each) in enumerate(zip(arms, findings, strict=True))]
    legend = "p-values, and cells in favour (at the precision shown, in brackets, where that differs)"
    lines = [escape(each, form) for each in (*told, legend)]
    return "\n".join(f"{each}\n" for each in lines) + "\n" + body


def tally(findings: Iterable[Finding]) -> str:
    """Count the verdicts; those on too few cells only where there are any."""
    verdicts = [finding.verdict for finding in findings]
    counts = {each: verdicts.count(each) for each in get_args(Verdict)}
    return ", ".join(f"{count} {each}" for each, count in counts.items() if count or each != "too few cells")


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
