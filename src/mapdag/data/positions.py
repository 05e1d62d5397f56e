"""Labels or codes: whether columns with declared levels hold the labels of these or positions in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mapdag.data.meanings import ReadOptions, meanings_of
from mapdag.data.problems import listed
from mapdag.data.rows import Weights, find_remaining
from mapdag.errors import MapdagWarning, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.columns import Column


def find_codes(
    columns: Sequence[Column], weights: Weights | None, options: ReadOptions
) -> tuple[ReadOptions, MapdagWarning | None]:
    """Find out whether the columns with declared levels hold positions in them.

    Labels come first. Only if some column holds values that are no labels, and all such columns could hold positions,
    does the table hold codes; never one column alone. Rows that are left out are no evidence. Returns the options, with
    `codes` if they do, and what the user then is to be warned of.
    """
    declared = [column for column in columns if column.name in options.declared and not options.cuts(column)]
    if any(column.kind == "nested" for column in declared):
        return options, None
    coded = replace(options, codes=True)
    odd = _stray(declared, columns, weights, options)
    if odd is None:
        return options, None
    if _stray(declared, columns, weights, coded) is not None:
        return replace(options, truths=options.gaps), None  # rows of evidence mean what single pieces of it do
    name, label = odd
    return coded, MapdagWarning(
        f"column {name!r} holds {label!r}, which is not one of its levels {listed(options.declared[name], 5)}; but all "
        "columns with declared levels hold whole numbers that can be positions in them, so the whole table was read "
        f"as codes, counted from 0{_other_meaning(declared, options, coded)}: pass ",
        *(Setting("codes", True), " if that is right, or ", Setting("codes", False), " to refuse such a table"),
    )


def _stray(
    declared: Sequence[Column], columns: Sequence[Column], weights: Weights | None, options: ReadOptions
) -> tuple[str, str] | None:
    """Return a column and a value that its declaration does not know, or None."""
    keep: NDArray[np.bool_] | None = None
    for column in declared:
        texts = options.expected(column.name)
        known = set(texts or ())
        labels = meanings_of(column, options, texts)
        strays = [position for position, label in enumerate(labels) if label is not None and label not in known]
        if strays and keep is None and column.times is None:  # else those that are left out are gone already
            keep = find_remaining(columns, weights, options).keep
        used = _in_use(column, strays, keep)
        if used is not None:
            return column.name, str(labels[used])
    return None


def _other_meaning(declared: Sequence[Column], options: ReadOptions, coded: ReadOptions) -> str:
    """Warn of values that would have another meaning as labels."""
    for column in declared:
        levels = options.declared[column.name]
        texts = coded.expected(column.name) or ()
        level_of, known = dict(zip(texts, levels, strict=True)), set(levels)
        as_labels, as_codes = meanings_of(column, options, levels), meanings_of(column, coded, texts)
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
