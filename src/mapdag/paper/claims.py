"""The claims of the paper beside what was measured: agrees, differs, too few cells, or not testable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from mapdag.paper.asides import EVERY_CLAIM
from mapdag.paper.measures import NotTestable, Parts
from mapdag.study.formats import Format, escape, lay_out

if TYPE_CHECKING:
    from mapdag.paper.measures import Measure
    from mapdag.paper.transcript import Claim
    from mapdag.study.panel import Panel

Verdict = Literal["agrees", "differs", "too few cells", "not testable"]

#: How often samples are drawn anew to see whether a verdict stands.
RESAMPLES = 100

_LEAST = 10  # cells from which a share can be told to a tenth, which is how near ours must be to the paper's
_CELLS = 60  # of the paper
_STEADY = 0.95  # of the resamples: a verdict that fewer of them come to is within chance
_SEED = 1
_NONE = Parts()


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
    parts : Parts
        Whether p-value, direction and counts agree; it takes all that the paper prints to agree.
    reason : str
        What is missing.
    steady : tuple of float
        The shares of resamples that come to the same: the verdict, and each of its parts. Empty without resamples.
    """

    claim: Claim
    measures: tuple[Measure, ...]
    verdict: Verdict
    parts: Parts = _NONE
    reason: str = ""
    steady: tuple[float, ...] = ()

    @property
    def is_judged(self) -> bool:
        """Whether it agrees or differs."""
        return self.verdict in {"agrees", "differs"}

    @property
    def is_within_chance(self) -> bool:
        """Whether other samples of the same networks might well have led to the other verdict."""
        return bool(self.steady) and self.steady[0] < _STEADY

    @property
    def judged(self) -> str:
        """The parts as signs, with a question mark where other samples might well say otherwise."""
        if not self.is_judged:
            return ""
        shares = self.steady[1:] or (1.0,) * len(self.parts)
        signs = zip(str(self.parts).split(), shares, strict=True)
        return " ".join(sign + "?" * (share < _STEADY) for sign, share in signs)

    @property
    def paper(self) -> str:
        """The paper's figures, as they are printed."""
        if self.claim.printed:
            return self.claim.printed
        parts = [" ".join(f"{p:.2g}" for p in self.claim.p)] if self.claim.p else []
        parts += ["; ".join(f"{k}/{self.claim.of}" for k in self.claim.k)] if self.claim.k else []
        return ", ".join(parts)

    @property
    def remark(self) -> str:
        """What to say after the verdict, in brackets; mostly nothing."""
        if self.verdict == "too few cells":
            return f" ({self.reason})"
        return " (within chance)" if self.is_within_chance else ""

    @property
    def measured(self) -> str:
        """Our figures, as short as the paper's; counts at the precision shown in brackets where they differ."""
        return "; ".join(map(str, self.measures))


def measure_claims(panel: Panel, *, resamples: int = 0) -> tuple[Finding, ...]:
    """Measure all claims on one arm of the results.

    Parameters
    ----------
    panel : Panel
    resamples : int
        How often to draw the samples anew, to see how often the verdicts are the same.
    """
    found = [_find(claim, panel) for claim in EVERY_CLAIM]
    judged = [i for i, each in enumerate(found) if each.is_judged]
    if not resamples or not judged:
        return tuple(found)
    same = np.zeros((len(found), 1 + len(Parts._fields)))
    rng = np.random.default_rng(_SEED)
    for _ in range(resamples):
        drawn = panel.resampled(rng)
        for i in judged:
            again = _find(found[i].claim, drawn)
            equal = [a == b for a, b in zip(again.parts, found[i].parts, strict=True)]
            same[i] += [again.verdict == found[i].verdict, *equal]
    shares = (same / resamples).tolist()
    return tuple(replace(each, steady=tuple(shares[i]) if i in judged else ()) for i, each in enumerate(found))


def _find(claim: Claim, panel: Panel) -> Finding:
    try:
        found = claim.check(panel)
    except NotTestable as error:
        return Finding(claim, error.measures, "not testable", reason=str(error))
    cells = min((each.m for each in found.measures if each.m), default=claim.of)
    if cells < _least(claim):
        return Finding(claim, found.measures, "too few cells", reason=f"{cells} of the paper's {claim.of}")
    return Finding(claim, found.measures, "agrees" if found.parts.agrees else "differs", found.parts)


def _least(claim: Claim) -> float:
    """Return how many cells it takes to judge a claim; where the paper itself has few, half of those.

    In proportion where a claim is about several comparisons in each cell.
    """
    return min(_LEAST * max(1.0, claim.of / _CELLS), claim.of / 2)


#: What the column of the parts and the words after a verdict mean.
LEGEND = (
    "parts: p-value, direction, counts; + agrees, - differs, . not in the paper; ? and within chance: fewer than 95 % "
    "of the resamples come to the same"
)


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
        head += [f"measured{mark}", f"parts{mark}", f"verdict{mark}"]
    rows = [head]
    for several in zip(*findings, strict=True):
        claim = several[0].claim
        row = [str(claim.number), claim.text, claim.alpha, claim.metric, several[0].paper]
        for finding in several:
            row += [finding.measured or finding.reason, finding.judged, finding.verdict + finding.remark]
        rows.append(row)
    body = lay_out([[escape(each, form) for each in row] for row in rows], form, left=range(1, len(head)))
    told = [f"[{i + 1}] {arm}: {tally(each)}" for i, (arm, each) in enumerate(zip(arms, findings, strict=True))]
    legend = "p-values, and cells in favour (at the precision shown, in brackets, where that differs)"
    lines = [escape(each, form) for each in (*told, legend, LEGEND)]
    return "\n".join(f"{each}\n" for each in lines) + "\n" + body


def tally(findings: Iterable[Finding]) -> str:
    """Count the verdicts; those on too few cells only where there are any."""
    several = list(findings)
    verdicts = [finding.verdict for finding in several]
    counts = {each: verdicts.count(each) for each in get_args(Verdict)}
    told = ", ".join(f"{count} {each}" for each, count in counts.items() if count or each != "too few cells")
    chance = sum(finding.is_within_chance for finding in several)
    return f"{told}; {chance} within chance" if chance else told


def _claims_as_csv(findings: Sequence[Sequence[Finding]], arms: Sequence[str]) -> str:
    head = ["arm", "number", "section", "claim", "alpha", "metric", "paper_p", "paper_k", "paper_of", "conclusion"]
    kinds = [f"{each}_agrees" for each in Parts._fields] + [f"steady_{each}" for each in ("verdict", *Parts._fields)]
    rows = [[*head, "verdict", *kinds, "reason", "note", "compared", "p", "k", "k_shown", "m", "value"]]
    for arm, several in zip(arms, findings, strict=True):
        for finding in several:
            claim = finding.claim
            paper = [" ".join(map(repr, claim.p)), " ".join(map(str, claim.k)), str(claim.of), claim.conclusion]
            own = [arm, str(claim.number), claim.section, claim.text, claim.alpha, claim.metric, *paper]
            steady = finding.steady or [None] * (1 + len(finding.parts))
            own += [finding.verdict, *map(_known, (*finding.parts, *steady)), finding.reason, claim.note]
            for each in finding.measures or (None,):
                numbers = [each.p, each.k, each.shown, each.m, each.value] if each else [None] * 5
                rows.append([*own, each.label if each else "", *map(_known, numbers)])
    return lay_out(rows, "csv")


def _known(value: float | None) -> str:
    return "" if value is None else repr(value)
