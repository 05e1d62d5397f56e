"""Tables of results, ratios and their means, and Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """A table of results: cells are texts or numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"rows of {self.title!r} must have {len(self.columns)} cells, got {row!r}")

    def markdown(self) -> str:
        """The table in Markdown, numbers aligned to the right."""
        numeric = [any(isinstance(row[j], (int, float)) for row in self.rows) for j in range(len(self.columns))]
        lines = [
            f"### {self.title}",
            "",
            _line(self.columns),
            _line("---:" if right else "---" for right in numeric),
            *(_line(map(show, row)) for row in self.rows),
        ]
        return "\n".join([*lines, "", self.note] if self.note else lines) + "\n"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Table:
        rows = tuple(map(tuple, found["rows"]))
        return cls(found["title"], tuple(found["columns"]), rows, found["note"])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def show(value: Any) -> str:
    """A cell as text: three significant digits; nothing at all for None."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value == 0 or not math.isfinite(value):
            return f"{value:g}"
        digits = 2 - math.floor(math.log10(abs(value)))
        return f"{value:,.{max(0, min(digits, 9))}f}"
    return str(value)


def ratios(slow: Sequence[float | None], fast: Sequence[float]) -> list[float | None]:
    """How many times faster, where both were measured."""
    return [None if a is None else a / b for a, b in zip(slow, fast, strict=True)]


def geometric_mean(values: Iterable[float | None]) -> float:
    """Geometric mean of what was measured: the mean for ratios."""
    found = [math.log(value) for value in values if value is not None]
    if not found:
        raise ValueError("no value was measured")
    return math.exp(math.fsum(found) / len(found))
