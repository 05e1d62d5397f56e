"""The section about gaps: where they are, and what they were filled with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mapdag.report.html import Content, tag
from mapdag.report.page import Section
from mapdag.report.parts import Heading, Row, Sortable, bar, table
from mapdag.search import EMResult
from mapdag.wording import named, plural

if TYPE_CHECKING:
    from mapdag.data import Dataset
    from mapdag.search import Result

_NAMED = 4  # levels that a cell names

_FILLED = "Counts and scores here are expected ones: each gap counts as all that it may hold, by its probability."
_LOCAL = "Counts and scores here are of the rows that have all members of a family; probabilities are found by EM."


def gaps_section(result: Result) -> list[Section]:
    """Write where values are missing and what they were filled with; nothing where none is."""
    filled = isinstance(result, EMResult)
    data = result.incomplete if isinstance(result, EMResult) else result.data
    gaps = data.gaps
    if not gaps:
        return []
    columns = [Heading("column"), Heading("missing", "number"), Heading("share", "number")]
    if filled:
        columns.append(Heading("filled with", hint="What the gaps are expected to hold"))
    rows: list[Row] = []
    for name, count in gaps.missing.items():
        told: Row = [name, Sortable(f"{count:,}", count), bar(count / gaps.rows, f"{count / gaps.rows:.1%}")]
        rows.append([*told, _expected(data, result.data, name)] if filled else told)
    listed = table(columns, rows, key="gap-table", caption="Gaps", filter_=len(rows) > 10, sorted_by="missing")
    pairs = sorted(gaps.together.items(), key=lambda pair: -pair[1])[:_NAMED]
    together = ", ".join(f"{a} and {b} ({plural(n, 'row')})" for (a, b), n in pairs if n)
    said: list[Content] = [
        tag("p", f"{gaps!r}. To drop these rows would leave {plural(gaps.complete, 'row')}."),
        tag("p", f"Most often missing together: {together}.") if together else None,
        tag("p", _FILLED if filled else _LOCAL),
    ]
    return [Section("gaps", "Gaps", [*said, listed], "Gaps")]


def _expected(data: Dataset, completed: Dataset, name: str) -> str:
    """Say what the gaps of a column were filled with."""
    more = np.maximum(completed.observed(name) - data.observed(name), 0)
    shares = more / max(float(more.sum()), 1e-300)
    order = np.argsort(-shares, kind="stable").tolist()
    return named([f"{data.levels[name][i]} {shares[i]:.1%}" for i in order], _NAMED)
