"""A diagnosis as people read it: sentences and two tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mapdag.objective import thin_sentence
from mapdag.wording import columns, plural

if TYPE_CHECKING:
    from mapdag.theory.diagnosis import ArcSupport, Diagnosis

_NAMED = 5
SHOWN = 20


def summary(found: Diagnosis, *, limit: int | None = SHOWN) -> str:
    """Write what was found; of families and arcs the worst so many, or all of them."""
    sparse = found.sparse_families
    lines = about_families(found)
    if sparse:
        shown = sparse[:limit]
        lines += ["", f"Sparse families: observed of declared{_part(len(shown), len(sparse))}", _families(found, limit)]
        lines.append("")
    lines += about_arcs(found)
    if found.arcs:
        part = _part(len(found.arcs[:limit]), len(found.arcs))
        lines += ["", f"Arcs, the weakest first{part}", _arcs(found, limit)]
    return "\n".join(lines)


def about_families(found: Diagnosis) -> list[str]:
    """Say what was diagnosed, and how many families are spread thin or have gaps."""
    rows = plural(int(found.n_rows), "row") if found.n_rows == int(found.n_rows) else f"{found.n_rows:g} rows"
    families, arcs = plural(len(found.families), "node"), plural(len(found.arcs), "arc")
    lines = [f"{found.objective}: {families}, {arcs}, {rows}"]
    if found.thin_families:
        lines.append(thin_sentence(found.thin_families, found.objective))
    return [*lines, f"families with configurations that were never observed: {len(found.sparse_families)}"]


def about_arcs(found: Diagnosis) -> list[str]:
    """Say how many arcs hang on what, and name some of them."""
    lines = []
    told = [
        (found.unsupported, f"dropped by {found.objective} itself"),
        *((found.lost(name), f"kept by U+BDeu, dropped by {name}") for name in ("U+BDs", "MU+BDeu", "MU+BDs")),
        (found.sensitive_to_alpha, "gone within one decade of alpha"),
        (found.sensitive_to_beta, "gone for some beta of MU from 2/(N-1) to 1/2"),
    ]
    for some, what in told:
        named = ", ".join(f"{arc.start} -> {arc.end}" for arc in some[:_NAMED]) + ", ..." * (len(some) > _NAMED)
        lines.append(f"{plural(len(some), 'arc')} {what}" + (f": {named}" if some else ""))
    return lines


def _part(shown: int, there: int) -> str:
    return f" ({shown} of {there:,})" if shown < there else ""


def _families(found: Diagnosis, limit: int | None) -> str:
    heads = ["node", "configurations", "parameters", "BDeu's alpha", "log BDs/BDeu", "parents"]
    rows = [
        [
            family.node,
            f"{family.observed:,} of {family.configurations:,}",
            f"{family.effective_parameters:,} of {family.parameters:,}",
            f"{family.effective_alpha:.3g} of {found.alpha:g}",
            f"{family.log_bds_over_bdeu:+.2f}",
            ", ".join(family.parents),
        ]
        for family in found.sparse_families[:limit]
    ]
    return columns([heads, *rows], right=(1, 2, 3, 4))


def _arcs(found: Diagnosis, limit: int | None) -> str:
    heads = ["arc", "log odds", "BDeu", "BDs", "d_EDF", "kept for alpha", "beta from", "dropped by"]
    rows = [
        [
            f"{arc.start} -> {arc.end}",
            f"{arc.log_odds:+.2f}",
            f"{arc.log_bdeu:+.2f}",
            f"{arc.log_bds:+.2f}",
            f"{arc.effective_degrees_of_freedom:+d}",
            _range(arc),
            f"{arc.beta_needed:.2g}",
            ", ".join(arc.lost_by) or "-",
        ]
        for arc in found.arcs[:limit]
    ]
    return columns([heads, *rows], right=(1, 2, 3, 4, 6))


def _range(arc: ArcSupport) -> str:
    low, high = arc.alpha_range
    if math.isnan(low):
        return "-"
    if not arc.log_odds > 0:
        return "not even here"
    if low == 0 and math.isinf(high):
        return "any"
    if low == 0:
        return f"up to {high:.3g}"
    return f"from {low:.3g}" if math.isinf(high) else f"{low:.3g} to {high:.3g}"
