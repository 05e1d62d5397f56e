"""Whether columns with declared levels hold labels or positions: found out where the user does not say.

Labels come first. Only if some column holds values that are no labels, and all such columns could hold positions, does
the table hold codes; never one column alone. Rows that are left out are no evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mapdag.data.problems import listed
from mapdag.data.rows import rows_left
from mapdag.data.settle import expected_texts, meanings_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.columns import Column
    from mapdag.data.settle import Rules
    from mapdag.data.source import Weights

__all__ = ["find_codes"]


def find_codes(columns: Sequence[Column], weights: Weights | None, rules: Rules) -> tuple[Rules, str | None]:
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
    coded = replace(rules, codes=True)
    odd = _stray(declared, columns, weights, rules)
    if odd is None or _stray(declared, columns, weights, coded) is not None:
        return rules, None
    name, label = odd
    return coded, (
        f"column {name!r} holds {label!r}, which is not one of its levels {listed(rules.declared[name], 5)}; but all "
        "columns with declared levels hold whole numbers that can be positions in them, so the whole table was read "
        f"as codes, counted from 0{_other_meaning(declared, rules, coded)}: pass codes=True if that is right, or "
        "codes=False to refuse such a table"
    )


def _stray(
    declared: Sequence[Column], columns: Sequence[Column], weights: Weights | None, rules: Rules
) -> tuple[str, str] | None:
    """Return a column and a value that its declaration does not know, or None."""
    keep: NDArray[np.bool_] | None = None
    for column in declared:
        texts = expected_texts(column.name, rules)
        known = set(texts or ())
        labels = meanings_of(column, rules, texts)
        strays = [position for position, label in enumerate(labels) if label is not None and label not in known]
        if strays and keep is None:
            keep = rows_left(columns, weights, rules).keep
        used = _in_use(column, strays, keep)
        if used is not None:
            return column.name, str(labels[used])
    return None


def _other_meaning(declared: Sequence[Column], rules: Rules, coded: Rules) -> str:
    """Warn of values that would have another meaning as labels."""
    for column in declared:
        levels = rules.declared[column.name]
        texts = expected_texts(column.name, coded) or ()
        level_of, known = dict(zip(texts, levels, strict=True)), set(levels)
        as_labels, as_codes = meanings_of(column, rules, levels), meanings_of(column, coded, texts)
        other = [level_of.get(text) if text is not None else None for text in as_codes]
        moved = [
            position
            for position, (label, level) in enumerate(zip(as_labels, other, strict=True))
            if level is not None and label in known and label != level
        ]
        used = _in_use(column, moved, None)
        if used is not None:
            return f" ({column.labels[used]!r} in {column.name!r} means {other[used]!r}, for example)"
    return ""


def _in_use(column: Column, positions: Sequence[int], keep: NDArray[np.bool_] | None) -> int | None:
    """Return the first of some positions that a row has, or None: a categorical may list values that no row has."""
    if not positions:
        return None
    found = np.bincount(column.index if keep is None else column.index[keep], minlength=column.n_positions)
    return next((position for position in positions if found[position]), None)
