"""What a check finds: figures of ours beside the paper's, and in which parts the two agree.

A claim has up to three parts, each judged apart, and only what the paper prints counts:

- the p-value: its conclusion at `LEVEL` must be ours;
- the direction: the difference must point the same way, which a one-sided p-value says by being below 1/2 or above;
- the count of cells, or another figure: the paper's share must lie within `SHARE` of ours. Ours are two, strict and at
  the precision that tables show; anything between them counts as ours, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mapdag.study.panel import Panel

LEVEL = 0.01
SHARE = 0.1


@dataclass(frozen=True)
class Measure:
    """One figure of ours beside one of the paper's.

    Attributes
    ----------
    label : str
        Which objectives, where a claim has several.
    p : float, optional
        p-value.
    k, shown, m : int
        Cells in favour, strictly and at the precision shown, out of the cells available.
    value : float, optional
        Another figure, named in the label.
    """

    label: str = ""
    p: float | None = None
    k: int | None = None
    shown: int | None = None
    m: int = 0
    value: float | None = None

    def is_near(self, share: float) -> bool:
        """Whether the paper's share of cells is about ours."""
        shares = [count / self.m for count in (self.k, self.shown) if count is not None]
        return min(shares) - SHARE <= share <= max(shares) + SHARE

    def __str__(self) -> str:
        parts = []
        if self.p is not None:
            parts.append(f"{self.p:.2g}")
        if self.k is not None:
            shown = "" if self.shown in (None, self.k) else f" ({self.shown})"
            parts.append(f"{self.k}/{self.m}{shown}")
        elif self.shown is not None:
            parts.append(f"{self.shown}/{self.m}")
        if self.value is not None:
            parts.append(f"{self.value:.3g}")
        return ", ".join(parts) or self.label


class Parts(NamedTuple):
    """Which parts of a claim agree; None where the paper prints nothing of the kind.

    Examples
    --------
    >>> found = judge(Measure(p=0.6, k=30, m=60), p=0.043, share=4 / 60)
    >>> found, found.agrees
    (Parts(p=True, direction=False, counts=False), False)
    >>> str(found)
    '+ - -'
    """

    p: bool | None = None
    direction: bool | None = None
    counts: bool | None = None

    @property
    def agrees(self) -> bool:
        """Whether all parts do that there are."""
        return False not in self

    @property
    def differing(self) -> tuple[str, ...]:
        """Names of the parts that do not."""
        return tuple(name for name, agrees in self._asdict().items() if agrees is False)

    def __str__(self) -> str:
        return " ".join({True: "+", False: "-", None: "."}[each] for each in self)


class Measured(NamedTuple):
    """What a check found."""

    measures: tuple[Measure, ...]
    parts: Parts


class NotTestable(Exception):  # noqa: N818 - not an error: the claim cannot be tested
    """Says why not; what could be measured nevertheless is in `measures`."""

    measures: tuple[Measure, ...] = ()


class MissingCells(NotTestable):
    """Says which cells a check lacks."""

    def __str__(self) -> str:
        return f"missing cells: {super().__str__()}"


#: Measures a claim.
Check = Callable[["Panel"], Measured]


def judge(found: Measure, p: float | None, share: float | None = None) -> Parts:
    """Compare a figure of ours with the paper's p-value and share of cells, where it prints them."""
    counts = None if share is None else found.is_near(share)
    if p is None or found.p is None:
        return Parts(counts=counts)
    return Parts((found.p < LEVEL) == (p < LEVEL), (found.p < 0.5) == (p < 0.5), counts)


def every(parts: Iterable[Parts]) -> Parts:
    """Join the parts of several figures that must all agree."""
    kinds = [[each for each in kind if each is not None] for kind in zip(*parts, strict=True)]
    return Parts(*(all(kind) if kind else None for kind in kinds))


def best(parts: Iterable[Parts]) -> Parts:
    """Return the parts of that reading of a claim in which most agree, as a whole; the first of equals."""
    return max(parts, key=lambda each: -len(each.differing))
