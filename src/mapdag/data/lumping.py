"""Rare levels become one level, "other"; which they were is kept in the coding, so that new rows are coded alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.meanings import EVERY_COLUMN, meanings_of
from mapdag.data.problems import unknown_names
from mapdag.errors import ParameterError
from mapdag.wording import brief

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from mapdag.data.columns import Column
    from mapdag.data.meanings import ReadOptions
    from mapdag.data.rows import Weights

#: The level that stands for all that are rare; one of that name is joined with them.
OTHER = "other"


@dataclass(frozen=True)
class Lumping:
    """Which levels are rare: those that fewer than a share of the rows have.

    Attributes
    ----------
    shares : mapping of str to float
        By column; these are taken for categories, however many levels they have.
    default : float, optional
        Of other columns of text, where more than one of their levels is rare.
    known : mapping of str to sequence of str
        What was rare in the table that the levels come from, by column.
    """

    shares: Mapping[str, float] = field(default_factory=dict)
    default: float | None = None
    known: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Any, names: Collection[str], like: Any = None) -> Lumping:
        """Understand the option `lump` for a table with these columns.

        >>> Lumping.of({"breed": 0.01}, ["breed", "sex"]).shares, Lumping.of(0.05, ["sex"]).default
        ({'breed': 0.01}, 0.05)
        """
        shares = given if isinstance(given, Mapping) else {} if given is None else {EVERY_COLUMN: given}
        for name, share in shares.items():
            if isinstance(share, bool) or not isinstance(share, int | float | np.number) or not 0 <= share < 1:
                what = "lump" + (f" of {name!r}" if isinstance(given, Mapping) else "")
                also = "" if isinstance(given, Mapping) else ", or a mapping from columns to such shares"
                raise ParameterError(
                    f"{what} must be a share of the rows of at least 0 and less than 1{also}, got {brief(share)}"
                )
        unknown = [str(name) for name in shares if name != EVERY_COLUMN and str(name) not in names]
        if unknown:
            raise unknown_names(unknown, list(names), "lump")
        codings = getattr(like, "codings", None)
        known = {name: coding.lumped for name, coding in codings.items() if coding.lumped} if codings else {}
        by_column = {str(name): float(share) for name, share in shares.items() if name != EVERY_COLUMN}
        return cls(by_column, shares.get(EVERY_COLUMN), {n: labels for n, labels in known.items() if n in names})

    def __bool__(self) -> bool:
        return bool(self.shares) or self.default is not None or bool(self.known)

    def applied(self, column: Column, options: ReadOptions, weights: Weights | None) -> Column:
        """Return a column with its rare levels as one."""
        if column.kind == "nested" or options.cuts(column):
            return column
        if column.name in options.declared or column.declared is not None:
            return column
        share = self.shares.get(column.name, self.default if column.kind == "text" else None)
        if share is None:
            return column
        if column.name not in self.shares and column.numbers(options.missing_texts(column.name)) is not None:
            return column
        meanings = meanings_of(column, options, None)
        rare = _rare(meanings, _tally(column, weights), share)
        return _joined(column, meanings, rare) if len(rare) > 1 or (rare and OTHER in meanings) else column

    def as_known(self, column: Column, options: ReadOptions) -> Column:
        """Return a column whose levels are declared with those joined that were joined in the table they are from."""
        rare = set(self.known.get(column.name, ())) - set(options.declared.get(column.name, ()))
        if not rare or column.kind == "nested" or OTHER not in options.declared.get(column.name, ()):
            return column
        return _joined(column, meanings_of(column, options, None), rare)


def _tally(column: Column, weights: Weights | None) -> NDArray[Any]:
    if weights is None:
        return column.tally()
    return np.bincount(column.index, weights=weights, minlength=column.n_positions)


def _rare(meanings: Sequence[str | None], counts: NDArray[Any], share: float) -> set[str]:
    """Return the labels that fewer rows have than a share of those with a label."""
    rows: dict[str, float] = {}
    for label, count in zip(meanings, counts.tolist(), strict=True):
        if label is not None and count:
            rows[label] = rows.get(label, 0) + count
    least = share * sum(rows.values())
    return {label for label, count in rows.items() if count < least and label != OTHER}


def _joined(column: Column, meanings: Sequence[str | None], rare: set[str]) -> Column:
    texts = [OTHER if label in rare else label for label in meanings]
    coding = replace(column.coding, type="text", lumped=tuple(sorted(rare)))
    return replace(column, kind="text", texts=texts, values=None, coding=coding)
