"""A diagnosis as people read it: sentences, and the tables of the worst families and arcs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mapdag.objective import thin_sentence
from mapdag.tables import SHOWN
from mapdag.theory.findings import arc_table, family_table
from mapdag.wording import plural

if TYPE_CHECKING:
    from mapdag.theory.diagnosis import Diagnosis

_NAMED = 5


def summary(found: Diagnosis, *, most: int | None = SHOWN) -> str:
    """Write what was found; of families and arcs the worst so many, or all of them."""
    lines = about_families(found)
    if found.sparse_families:
        lines += ["", str(family_table(found.sparse_families, most)), ""]
    lines += about_arcs(found)
    if found.arcs:
        lines += ["", str(arc_table(found.arcs, most))]
    return "\n".join(lines)


def about_families(found: Diagnosis) -> list[str]:
    """Say what was diagnosed, and how many families are spread thin or have gaps."""
    rows = plural(int(found.n_rows), "row") if found.n_rows == int(found.n_rows) else f"{found.n_rows:g} rows"
    families, arcs = plural(len(found.families), "node"), plural(len(found.arcs), "arc")
    lines = [f"{found.objective}: {families}, {arcs}, {rows}"]
    if found.gaps:
        lines.append(f"{found.gaps!r}: each family is judged by the rows that have all its members")
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
