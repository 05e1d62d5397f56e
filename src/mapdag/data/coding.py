"""Whether columns with declared levels hold labels or positions: found out where the user does not say.

Labels come first. Only if some column holds values that are no labels, and all such columns could hold positions, does
the table hold codes; never one column alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mapdag.data.problems import listed
from mapdag.data.settle import expected_texts, meanings_of

if TYPE_CHECKING:
    from mapdag.data.columns import Column
    from mapdag.data.settle import Rules

__all__ = ["find_codes"]


def find_codes(columns: Sequence[Column], rules: Rules) -> tuple[Rules, str | None]:
    """Find out whether the columns with declared levels hold positions in them.

    Returns
    -------
    Rules
        Those given, or the same with `codes` if they do.
    str or None
        What the user is to be warned of, if they do.
    """
    declared = [column for column in columns if column.name in rules.declared and column.name not in rules.cut]
    if any(column.kind == "nested" for column in declared):
        return rules, None
    odd = next(((column, label) for column in declared if (label := _stray(column, rules)) is not None), None)
    coded = replace(rules, codes=True)
    if odd is None or any(_stray(column, coded) is not None for column in declared):
        return rules, None
    name, label = odd[0].name, odd[1]
    return coded, (
        f"column {name!r} holds {label!r}, which is not one of its levels {listed(rules.declared[name], 5)}; but all "
        "columns with declared levels hold whole numbers that can be positions in them, so the whole table was read "
        f"as codes, counted from 0{_other_meaning(declared, rules, coded)}: pass codes=True if that is right, or "
        "codes=False to refuse such a table"
    )


def _stray(column: Column, rules: Rules) -> str | None:
    """Return a value of the column that its declaration does not know, or None."""
    texts = expected_texts(column.name, rules)
    known = set(texts or ())
    labels = meanings_of(column, rules, texts)
    strays = [position for position, label in enumerate(labels) if label is not None and label not in known]
    used = _in_use(column, strays)
    return None if used is None else labels[used]


def _other_meaning(declared: Sequence[Column], rules: Rules, coded: Rules) -> str:
    """Warn of values that would have another meaning as labels."""
    for column in declared:
        levels = rules.declared[column.name]
        as_labels = meanings_of(column, rules, levels)
        as_codes = meanings_of(column, coded, expected_texts(column.name, coded))
        moved = [
            position
            for position, (label, code) in enumerate(zip(as_labels, as_codes, strict=True))
            if code is not None and label in levels and label != levels[int(code)]
        ]
        used = _in_use(column, moved)
        if used is not None:
            level = levels[int(as_codes[used] or 0)]
            return f" ({column.labels[used]!r} in {column.name!r} means {level!r}, for example)"
    return ""


def _in_use(column: Column, positions: Sequence[int]) -> int | None:
    """Return the first of some positions that a row has, or None: a categorical may list values that no row has."""
    if not positions:
        return None
    found = np.bincount(column.index, minlength=column.n_positions)
    return next((position for position in positions if found[position]), None)
