"""The claims of the paper beside what was measured: agrees, differs, or not testable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mapdag.study.transcript import Claim, all_claims

if TYPE_CHECKING:
    from mapdag.study.checks import Measure
    from mapdag.study.panel import Panel

Verdict = Literal["agrees", "differs", "not testable"]


@dataclass(frozen=True)
class Finding:
    """A claim, and what the results of one arm say to it.

    Attributes
    ----------
    claim : Claim
    measures : tuple of Measure
        Our figures.
    verdict : {"agrees", "differs", "not testable"}
        The last only where cells are missing, which `reason` names.
    reason : str
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
    def measured(self) -> str:
        """Our figures, as short as the paper's; counts at the precision shown in brackets where they differ."""
        return "; ".join(figure(each) for each in self.measures)


def figure(measure: Measure, *, label: bool = False) -> str:
    """One figure as a text."""
    parts = []
    if measure.p is not None:
        parts.append(f"{measure.p:.2g}")
    if measure.k is not None:
        shown = "" if measure.shown in (None, measure.k) else f" ({measure.shown})"
        parts.append(f"{measure.k}/{measure.m}{shown}")
    elif measure.shown is not None:
        parts.append(f"{measure.shown}/{measure.m}")
    if measure.value is not None:
        parts.append(f"{measure.value:.3g}")
    text = ", ".join(parts) or measure.label
    return f"{measure.label}: {text}" if label and measure.label and parts else text


def measure_claims(panel: Panel) -> tuple[Finding, ...]:
    """Measure all claims on one arm of the results."""
    return tuple(_find(claim, panel) for claim in all_claims())


def _find(claim: Claim, panel: Panel) -> Finding:
    found = claim.check.measure(panel)
    if found.agrees is None:
        return Finding(claim, found.measures, "not testable", found.reason)
    return Finding(claim, found.measures, "agrees" if found.agrees else "differs")
