"""The report of a learned graph: ``mapdag learn --report`` and `Result.report`."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mapdag.objective import thin_sentence
from mapdag.plots.graphs import draw
from mapdag.report.charts import line_chart, spark
from mapdag.report.facts import (
    MOST_CONFIGURATIONS,
    ArcFacts,
    FamilyFacts,
    ProbabilityTable,
    arcs,
    digest,
    families,
)
from mapdag.report.html import Content, Html, join, tag
from mapdag.report.page import Section, page, write_page
from mapdag.report.parts import (
    Heading,
    Row,
    Sortable,
    bar,
    figure_text,
    figures,
    how_it_was_made,
    number,
    picture,
    table,
    warning,
)
from mapdag.report.viewer import View, viewer
from mapdag.wording import plural

if TYPE_CHECKING:
    from mapdag.data import Dataset
    from mapdag.resamples import Bootstrap
    from mapdag.search import Result

_NAMED = 8  # columns or levels that a sentence names
_COLUMNS = 60  # levels of a distribution that are drawn, the most frequent ones if there are more


def write_result(
    result: Result,
    path: str | os.PathLike[str],
    *,
    bootstrap: Bootstrap | None = None,
    command: str | None = None,
    title: str | None = None,
) -> None:
    """Write the report of a learned graph: one HTML file that needs nothing else.

    Parameters
    ----------
    result : Result
    path : path
        Ends in .html.
    bootstrap : Bootstrap, optional
        Strengths of arcs, as `mapdag.bootstrap` finds them from the same data: arcs are drawn as thick as they are
        strong.
    command : str, optional
        The command that made the report, to be shown in it.
    title : str, optional

    Examples
    --------
    >>> import mapdag as md
    >>> result = md.learn(md.network("asia").sample(500, seed=1))
    >>> write_result(result, getfixture("tmp_path") / "report.html")
    """
    write_page(path, result_page(result, bootstrap=bootstrap, command=command, title=title))


def result_page(
    result: Result, *, bootstrap: Bootstrap | None = None, command: str | None = None, title: str | None = None
) -> str:
    """Return the page that `write_result` writes."""
    known, joined = families(result), arcs(result, bootstrap)
    moves = [replace(move, delta=round(move.delta, 4), score=round(move.score, 4)) for move in result.trace]
    sections = [
        Section("graph", "The graph", _graph(result, bootstrap), "Graph"),
        Section("arcs", "Arcs", _arcs(result, joined, bootstrap), "Arcs"),
        *([] if _is_given(result) else [Section("trace", "How the score rose", _trace(result), "Score trace")]),
        Section("data", "Data and families", _data(result.data, known), "Data"),
        how_it_was_made(command, _details(result, bootstrap)),
    ]
    return page(
        title or f"{plural(len(result.dag.nodes), 'node')}, {plural(result.dag.n_arcs, 'arc')}",
        sections,
        subtitle=[
            "given, judged by " if _is_given(result) else "learned with ",
            tag("code", str(result.objective)),
            f" from {_rows(result.data)}",
        ],
        lead=_figures(result),
        data={"nodes": _nodes(result.data, known), "arcs": joined, "trace": moves},
        scripts=("tables", "details", "graph", "trace"),
    )


def _is_given(result: Result) -> bool:
    return result.stopped == "given"


def _rows(data: Dataset) -> str:
    weighted = "" if data.weights is None else f" (total weight {figure_text(data.total)})"
    return f"{plural(data.n_rows, 'row')}{weighted}"


def _figures(result: Result) -> Html:
    ended = "converged" if result.converged else f"stopped early: {result.stopped.replace('_', ' ')}"
    told = f"{result.seconds:.2f} s, {ended}"
    shown = figures(
        [
            ("Score", figure_text(result.score), "log posterior, up to a constant"),
            ("Log prior", figure_text(result.log_prior), "of the graph"),
            ("Log likelihood", figure_text(result.log_likelihood), "of the data, marginal or penalised"),
            ("Compelled arcs", len(result.compelled), "same direction in every equivalent graph"),
            ("Reversible arcs", len(result.reversible), "direction not identified"),
            *([] if _is_given(result) else [("Search", plural(len(result.trace), "move"), told)]),
        ]
    )
    said = [warning(thin_sentence(result.thin, result.objective))] if result.thin else []
    if not result.converged and not _is_given(result):
        said.append(warning(f"The search {ended}. This is the best graph it had found by then."))
    return join([*said, shown])


def _graph(result: Result, bootstrap: Bootstrap | None) -> Html:
    if result.knowledge:
        second = View("class", "Class", "What the data and the constraints tell: edges without heads may go either way")
    else:
        second = View("class", "CPDAG", "The equivalence class: edges without heads may go either way")
    views = [View("dag", "DAG", "The graph that was found"), second]
    keys = [
        ("compelled", "compelled: the same in every equivalent graph"),
        ("reversible", "reversible: an equivalent graph has it the other way round"),
    ]
    if bootstrap is not None:
        keys.append(("compelled weak", "thin to thick: strength from 0 to 1"))
    drawing = draw(result, bootstrap=bootstrap)
    return viewer(
        drawing,
        views=views,
        keys=keys,
        title=f"{'Given' if _is_given(result) else 'Learned'} graph with {plural(result.dag.n_arcs, 'arc')}",
    )


def _arcs(result: Result, joined: list[ArcFacts], bootstrap: Bootstrap | None) -> Content:
    if not joined:
        return tag("p", "The graph has no arcs: nothing in the data speaks for one, under this objective.")
    columns = [
        Heading("from"),
        Heading("to"),
        Heading("direction", hint="compelled: the same in every equivalent graph"),
        Heading("score lost", "number", "How much the score falls when the arc is removed; its log Bayes factor"),
    ]
    if bootstrap is not None:
        columns += [
            Heading("strength", "number", "Share of resamples in which the two are adjacent"),
            Heading("this way", "number", "Share of those in which the arc goes this way"),
        ]
    order = sorted(range(len(joined)), key=lambda i: -joined[i].loss)
    listed = table(
        columns,
        [_arc_row(joined[i]) for i in order],
        key="arc-table",
        caption="Arcs",
        filter_=len(joined) > 10,
        row_data=order,
        sorted_by="score lost",
    )
    return [tag("p", _LOSS), listed, None if bootstrap is None else _missed(result, bootstrap)]


def _arc_row(arc: ArcFacts) -> Row:
    kind = "reversible" if arc.reversible else "compelled"
    chip = tag("span", kind, class_=f"chip {kind}")
    return [arc.start, arc.end, chip, number(arc.loss), *_shares(arc.strength, arc.direction)]


def _shares(*shares: float | None) -> list[Sortable]:
    return [bar(share, f"{share:.2f}") for share in shares if share is not None]


def _missed(result: Result, bootstrap: Bootstrap) -> Content:
    """List what the resamples agree on and the graph does not have."""
    limit, dag = bootstrap.threshold, result.dag
    strong = [
        each
        for each in bootstrap.arcs(above=limit)
        if not dag.has_arc(each.start, each.end) and not dag.has_arc(each.end, each.start)
    ]
    head = f"Arcs above the threshold of {limit:.2f} that the graph does not have"
    if not strong:
        return tag("p", f"No pair of nodes above the threshold of {limit:.2f} is without an arc in the graph.")
    columns = [Heading("from"), Heading("to"), Heading("strength", "number"), Heading("this way", "number")]
    rows: list[Row] = [[each.start, each.end, *_shares(each.strength, each.direction)] for each in strong]
    return [tag("h3", head), table(columns, rows, key="missed-table", caption=head)]


_LOSS = (
    "Score lost is how much the log posterior falls when the arc is taken out and all else stays: the larger, the more "
    "the data insist on it. Click a row to see the arc in the graph."
)


def _trace(result: Result) -> Content:
    if not result.trace:
        return tag("p", "The search made no move: the graph it started from is a local optimum.")
    scores = [result.trace[0].score - result.trace[0].delta, *(move.score for move in result.trace)]
    told = f"Score after each of {plural(len(result.trace), 'move')}"
    chart = line_chart(scores, x_title="move", y_title="score", label=told)
    return picture(chart, [told, ". ", tag("span", id="move", aria_live="polite")])


@dataclass(frozen=True)
class _NodeCard:
    """What the scripts know of a node: `labels` of the levels that some table shows, as there may be thousands."""

    name: str
    r: int
    labels: dict[int, str]
    parents: tuple[str, ...]
    score: float
    configurations: str
    sparse: bool
    table: ProbabilityTable


def _nodes(data: Dataset, known: list[FamilyFacts]) -> list[_NodeCard]:
    tables = {family.node: digest(family) for family in known}
    shown: dict[str, set[int]] = {node: set(table.levels) for node, table in tables.items()}
    for family in known:
        for row in tables[family.node].rows:
            for parent, code in zip(family.parents, row.given, strict=True):
                shown[parent].add(code)
    return [
        _NodeCard(
            name=family.node,
            r=family.table.r,
            labels={code: data.levels[family.node][code] for code in sorted(shown[family.node])},
            parents=family.parents,
            score=round(family.score, 4),
            configurations=f"{family.table.q_obs:,} of {_many(family.table.q)}",
            sparse=family.is_half_empty,
            table=tables[family.node],
        )
        for family in known
    ]


def _data(data: Dataset, known: list[FamilyFacts]) -> Content:
    never = data.unobserved()
    sparse = sorted((f for f in known if f.is_half_empty), key=lambda f: f.table.q_obs / f.table.q)
    said: list[Content] = []
    if never:
        total = sum(map(len, never.values()))
        said.append(
            warning(
                f"{plural(total, 'declared level')} in {plural(len(never), 'column')} never observed: "
                f"{_named(list(never))}. They count as levels in every score."
            )
        )
    if sparse:
        said.append(
            warning(
                f"{plural(len(sparse), 'family').replace('familys', 'families')} with fewer than half of the parents' "
                f"configurations observed: {_named([f.node for f in sparse])}. BDs spreads its prior over the observed "
                "ones only; BDeu over all of them."
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
    shown = f"Cards in the graph show the {MOST_CONFIGURATIONS} most frequent configurations of a family at most."
    return [said, listed, tag("p", shown, class_="help")]


def _family_row(data: Dataset, family: FamilyFacts, never: tuple[str, ...]) -> Row:
    counts = data.observed(family.node)
    shares = (counts / max(counts.sum(), 1)).tolist()
    levels = sorted(zip(shares, data.levels[family.node], strict=True), key=lambda pair: -pair[0])
    told = _named([f"{level} {share:.1%}" for share, level in levels])
    seen = family.table.q_obs / family.table.q
    return [
        family.node,
        family.table.r,
        Sortable(
            spark(shares if len(shares) <= _COLUMNS else [share for share, _ in levels[:_COLUMNS]], told), max(shares)
        ),
        Sortable(_named(list(never)), len(never)),
        Sortable(len(family.parents), len(family.parents)),
        Sortable(_many(family.table.q), min(float(min(family.table.q, 10**300)), 1e300)),
        bar(seen, f"{family.table.q_obs:,}", "warn" if family.is_half_empty else ""),
        number(family.rows_per_configuration, 1),
        number(family.score, 1),
    ]


def _details(result: Result, bootstrap: Bootstrap | None) -> list[tuple[str, Content]]:
    data = result.data
    details: list[tuple[str, Content]] = [
        ("objective", tag("code", str(result.objective))),
        ("data", f"{_rows(data)}, {plural(data.n_columns, 'column')}"),
    ]
    if not _is_given(result):
        counted = f"{plural(len(result.trace), 'move')}, {plural(result.families, 'family')} counted, {result.stopped}"
        details += [("search", counted), ("time", f"{result.seconds:.3f} s")]
    if bootstrap is not None:
        details.append(
            ("bootstrap", f"{plural(bootstrap.replicates, 'resample')}, threshold {bootstrap.threshold:.3f}")
        )
    return details


def _named(names: list[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")


def _many(q: int) -> str:
    """Write a number of configurations, which may have hundreds of digits.

    >>> _many(1024), _many(10**30)
    ('1,024', '1.0e+30')
    """
    return f"{q:,}" if q < 10**9 else f"{float(q):.1e}" if q < 10**300 else f"10^{len(str(q)) - 1}"
