"""The tables of a diagnosis: a row for each arc, and one for each family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from mapdag.theory.diagnosis import ArcSupport, FamilySparsity

#: Fields of `FamilySparsity`: how they are written, and headings.
_FAMILY = (
    ("configurations", ",", "configurations"),
    ("observed", ",", "observed"),
    ("parameters", ",", "parameters"),
    ("effective_parameters", ",", "effective"),
    ("rows", ",.3g", "rows for each"),
    ("effective_alpha", ".3g", "BDeu's alpha"),
    ("log_bds_over_bdeu", "+.2f", "log BDs/BDeu"),
)
#: The same of `ArcSupport`.
_ARC = (
    ("log_odds", "+.2f", "log odds"),
    ("log_bdeu", "+.2f", "BDeu"),
    ("log_bds", "+.2f", "BDs"),
    ("log_mu", "+.2f", "MU"),
    ("effective_degrees_of_freedom", "+d", "d_EDF"),
    ("beta_needed", ".2g", "beta from"),
)


def family_table(families: Sequence[FamilySparsity], most: int | None) -> Table:
    """Say how much of each family was observed."""
    shown = families[:most]
    names = [Column("node", [f.node for f in shown]), Column("parents", [f.parents for f in shown], ", ".join)]
    return Table([*names, *_numbers(shown, _FAMILY)], title="Families", left=len(families) - len(shown))


def arc_table(arcs: Sequence[ArcSupport], most: int | None) -> Table:
    """Say what each arc rests on."""
    shown = arcs[:most]
    ranges = np.array([arc.alpha_range for arc in shown], dtype=np.float64).reshape(-1, 2)
    columns = [
        Column("start", [arc.start for arc in shown]),
        Column("end", [arc.end for arc in shown]),
        *_numbers(shown, _ARC),
        Column("alpha_from", ranges[:, 0], ".3g", right=True, head="alpha from"),
        Column("alpha_to", ranges[:, 1], ".3g", right=True, head="to"),
        Column("lost_by", [arc.lost_by for arc in shown], ", ".join, head="dropped by"),
    ]
    return Table(columns, title="Arcs, the weakest first", left=len(arcs) - len(shown))


def _numbers(values: Sequence[Any], fields: Iterable[tuple[str, str, str]]) -> list[Column]:
    return [
        Column(name, _array([getattr(value, name) for value in values]), form, right=True, head=head)
        for name, form, head in fields
    ]


def _array(numbers: list[Any]) -> NDArray[Any]:
    """Make an array; of floats where whole numbers are too large for any other."""
    found = np.array(numbers)
    return np.array([float(min(n, 10**300)) for n in numbers]) if found.dtype == object else found
