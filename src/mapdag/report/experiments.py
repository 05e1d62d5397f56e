"""The section of a report on experiments: rows by what was set in them, arcs they settled, what to set next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mapdag.data.interventions import always_set
from mapdag.errors import CapacityError
from mapdag.report.html import Content, tag
from mapdag.report.page import Section
from mapdag.report.parts import Heading, Row, number, table, warning
from mapdag.wording import named, plural

if TYPE_CHECKING:
    from mapdag.search import Result

_NAMED = 10
_COUNTED = (
    "Rows in which a variable was set say nothing of what its parents do to it: they are left out where its family is "
    "counted, and kept where it is a parent."
)


def experiments_section(result: Result) -> list[Section]:
    """Write what was set in which rows, and what that has told; nothing where nothing was set."""
    data, was_set = result.data, result.data.interventions
    if was_set is None:
        return []
    counts = was_set.counts(data.weights)
    rows: list[Row] = [
        [", ".join(each) or "nothing", number(n)] for each, n in zip(was_set.targets, counts.tolist(), strict=True)
    ]
    content: list[Content] = [
        tag("p", _COUNTED),
        table([Heading("set"), Heading("rows", "number")], rows, key="experiment-table", caption="Rows by experiment"),
    ]
    never = always_set(was_set)
    if never:
        content.append(warning(f"Set in every row, so that nothing is known of their parents: {named(never, _NAMED)}."))
    settled: list[Row] = [[a, b] for a, b in result.settled]
    told = f"{plural(len(settled), 'arc')} would be reversible without the experiments"
    content.append(tag("h3", told))
    if settled:
        content.append(table([Heading("from"), Heading("to")], settled, key="settled-table", caption=told))
    return [Section("experiments", "Experiments", [*content, *_next(result)], "Experiments")]


def _next(result: Result) -> list[Content]:
    try:
        found = result.next_experiments()
    except CapacityError:
        return []
    if found.best is None:
        return [tag("p", "No direction is left open.")]
    ranked = sorted(found.settled.items(), key=lambda each: -each[1])
    rows: list[Row] = [[name, number(value)] for name, value in ranked if value > 0]
    head = "What to set next"
    columns = [Heading("set"), Heading("settled", "number", "Open directions that this would settle, on average")]
    return [tag("h3", head), tag("p", f"{found}."), table(columns, rows, key="next-table", caption=head)]
