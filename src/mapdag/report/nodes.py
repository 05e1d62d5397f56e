"""Nodes and families: what the scripts know of each, and the section with the table of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mapdag.report.charts import spark
from mapdag.report.families import FamilyTable, shown_levels
from mapdag.report.html import Content, tag
from mapdag.report.parts import Heading, Row, Sortable, bar, number, table, warning
from mapdag.wording import named, plural

if TYPE_CHECKING:
    from mapdag.data import Dataset
    from mapdag.report.facts import FamilyFacts

_NAMED = 8  # columns or levels that a sentence names
_COLUMNS = 60  # levels of a distribution that are drawn, the most frequent ones if there are more


@dataclass(frozen=True)
class NodeFacts:
    """What the scripts know of a node.

    Attributes
    ----------
    name : str
    r : int
        Declared levels.
    codes : list of int or None
        The levels that are named, if they are not all: there may be thousands.
    labels : list of str
        Their names.
    observed : list of float
        How many rows have each of them.
    parents : tuple of str
    score : float
    configurations : str
        How many were observed, of how many.
    sparse : bool
    table : FamilyTable
    """

    name: str
    r: int
    codes: list[int] | None
    labels: list[str]
    observed: list[float]
    parents: tuple[str, ...]
    score: float
    configurations: str
    sparse: bool
    table: FamilyTable


def node_facts(data: Dataset, known: Sequence[FamilyFacts], tables: Sequence[FamilyTable]) -> list[NodeFacts]:
    """Gather what the scripts know of every node."""
    found = []
    for family, cells, shown in zip(known, tables, shown_levels(known), strict=True):
        levels, r = data.levels[family.node], family.table.r
        found.append(
            NodeFacts(
                name=family.node,
                r=r,
                codes=None if len(shown) == r else shown.tolist(),
                labels=[levels[code] for code in shown.tolist()],
                observed=data.observed(family.node)[shown].tolist(),
                parents=family.parents,
                score=round(family.score, 4),
                configurations=f"{family.table.q_obs:,} of {_many(family.table.q)}",
                sparse=family.is_half_empty,
                table=cells,
            )
        )
    return found


def data_section(data: Dataset, known: Sequence[FamilyFacts]) -> Content:
    """Write the table of all nodes, and what is odd about the data."""
    never = data.unobserved()
    sparse = sorted((f for f in known if f.is_half_empty), key=lambda f: f.table.q_obs / f.table.q)
    said: list[Content] = []
    if never:
        total = sum(map(len, never.values()))
        said.append(
            warning(
                f"{plural(total, 'declared level')} in {plural(len(never), 'column')} never observed: "
                f"{named(list(never), _NAMED)}. They count as levels in every score."
            )
        )
    if sparse:
        said.append(
            warning(
                f"{plural(len(sparse), 'family')} with fewer than half of the parents' configurations observed: "
                f"{named([f.node for f in sparse], _NAMED)}. BDs spreads its prior over the observed ones only; BDeu "
                "over all of them."
            )
        )
    columns = [
        Heading("node"),
        Heading("levels", "number", "Declared levels, r"),
        Heading("distribution", hint="Share of each level; marked if never observed"),
        Heading("never observed", hint="Declared levels that no row has"),
        Heading("parents", "number"),
        Heading("q", "number", "Declared configurations of the parents"),
        Heading("observed", "number", "q_obs of q: configurations that some row has"),
        Heading("rows each", "number", "Observations per observed configuration, on average"),
        Heading("family score", "number", "Log likelihood of the node given its parents"),
    ]
    rows = [_family_row(data, family, never.get(family.node, ())) for family in known]
    listed = table(
        columns, rows, key="node-table", caption="Nodes and families", filter_=len(rows) > 10, row_data=range(len(rows))
    )
    return [said, listed, tag("p", "Click a row for the node's probability table, in the graph.", class_="help")]


def _family_row(data: Dataset, family: FamilyFacts, never: tuple[str, ...]) -> Row:
    counts = data.observed(family.node)
    shares = (counts / max(counts.sum(), 1)).tolist()
    levels = sorted(zip(shares, data.levels[family.node], strict=True), key=lambda pair: -pair[0])
    told = named([f"{level} {share:.1%}" for share, level in levels], _NAMED)
    seen = family.table.q_obs / family.table.q
    return [
        family.node,
        family.table.r,
        Sortable(
            spark(shares if len(shares) <= _COLUMNS else [share for share, _ in levels[:_COLUMNS]], told), max(shares)
        ),
        Sortable(named(never, _NAMED), len(never)),
        Sortable(len(family.parents), len(family.parents)),
        Sortable(_many(family.table.q), min(float(min(family.table.q, 10**300)), 1e300)),
        bar(seen, f"{family.table.q_obs:,}", "warn" if family.is_half_empty else ""),
        number(family.rows_per_configuration, 1),
        number(family.score, 1),
    ]


def _many(q: int) -> str:
    """Write a number of configurations, which may have hundreds of digits.

    >>> _many(1024), _many(10**30)
    ('1,024', '1.0e+30')
    """
    return f"{q:,}" if q < 10**9 else f"{float(q):.1e}" if q < 10**300 else f"10^{len(str(q)) - 1}"
