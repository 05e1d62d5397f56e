"""A column of the paper's tables that seems to hold another's values, and what its claims are if it does.

The claims about SHD of MU(c=2)+BDeu with alpha = 1 are at odds with all their neighbours: alpha = 1 is tied with
alpha = 10 in almost all cells (58), and c = 1 and c = 5 both beat c = 2 by far (45, 46), which therefore is no better
than beta = 1/2 (39). If that column holds the values of alpha = 10, all of them follow. The tables themselves are not
part of the source that was transcribed, so that this can be supposed, and not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from mapdag.paper.claims import Finding, measure_claims
from mapdag.paper.objectives import goal
from mapdag.study.formats import Format, escape, lay_out

if TYPE_CHECKING:
    from mapdag.study.panel import Panel

#: The column of SHD that seems wrong, and the one whose values it seems to hold.
SUSPECT, INSTEAD = goal("c=2", "BDeu", 1), goal("c=2", "BDeu", 10)


class Supposed(NamedTuple):
    """A claim as it was measured, and as it would be with the values of the other column."""

    measured: Finding
    supposed: Finding


def suppose(panel: Panel, findings: Sequence[Finding]) -> tuple[Supposed, ...]:
    """Return those claims about SHD that the column has a part in; none where its objectives were not learned.

    Claims that the paper makes without figures are left out.
    """
    if not panel.has([SUSPECT, INSTEAD]):
        return ()
    pairs = zip(findings, measure_claims(panel.exchanged("shd", SUSPECT, INSTEAD)), strict=True)
    return tuple(Supposed(*each) for each in pairs if not each[0].claim.place and each[0].measures != each[1].measures)


def render_supposed(several: Sequence[tuple[str, Sequence[Supposed]]], form: Format = "text") -> str:
    """Write them for each arm that has any."""
    head = ["#", "claim", "paper", "measured", "parts", f"with {INSTEAD} for {SUSPECT}", "parts"]
    parts = []
    for arm, found in several:
        if found:
            rows = [[str(each.measured.claim.number), each.measured.claim.text, each.measured.paper] for each in found]
            for row, each in zip(rows, found, strict=True):
                row += [each.measured.measured, str(each.measured.parts)]
                row += [each.supposed.measured, str(each.supposed.parts)]
            laid = lay_out([[escape(cell, form) for cell in row] for row in (head, *rows)], form, left=range(1, 7))
            parts.append(f"{escape(_told(arm), form)}\n\n{laid}")
    return "\n".join(parts)


def _told(arm: str) -> str:
    return f"If the paper's SHD of {SUSPECT} were those of {INSTEAD}; {arm}:"
