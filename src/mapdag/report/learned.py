"""The report of a learned graph: ``mapdag learn --report`` and `Result.report`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from mapdag.objective import thin_sentence
from mapdag.plots.graphs import draw
from mapdag.report.charts import line_chart, spark
from mapdag.report.families import MOST_CONFIGURATIONS, Family, digest, families, losses
from mapdag.report.html import Content, Html, join, tag
from mapdag.report.network import panel
from mapdag.report.page import Section, page, write_page
from mapdag.report.parts import (
    Cell,
    Column,
    bar,
    figure_text,
    figures,
    how_it_was_made,
    notice,
    number,
    picture,
    plural,
    table,
)

if TYPE_CHECKING:
    from mapdag.data import Dataset
    from mapdag.resamples import Bootstrap
    from mapdag.search import Move, Result

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
    known, lost = families(result), losses(result)
    drawing = draw(result, bootstrap=bootstrap)
    arcs = _Arcs(result, bootstrap, lost)
    sections = [
        Section("graph", "The graph", _graph(result, drawing, bootstrap), "Graph"),
        Section("arcs", "Arcs", arcs.section(), "Arcs"),
        Section("trace", "How the score rose", _trace(result), "Score trace"),
        Section("data", "Data and families", _data(result.data, known), "Data"),
        how_it_was_made(command, _details(result, bootstrap)),
    ]
    return page(
        title or f"{plural(len(result.dag.nodes), 'node')}, {plural(result.dag.n_arcs, 'arc')}",
        sections,
        subtitle=["learned with ", tag("code", str(result.objective)), f" from {_rows(result.data)}"],
        lead=_figures(result),
        data={"nodes": _nodes(result, known), "arcs": arcs.values(drawing), "trace": _moves(result)},
        scripts=("tables", "details", "graph", "trace"),
    )


def _rows(data: Dataset) -> str:
    weighted = "" if data.weights is None else f" (total weight {figure_text(data.total)})"
    return f"{plural(data.n_rows, 'row')}{weighted}"


def _figures(result: Result) -> Html:
    ended = "converged" if result.converged else f"stopped early: {result.stopped.replace('_', ' ')}"
    shown = figures(
        [
            ("Score", figure_text(result.score), "log posterior, up to a constant"),
            ("Log prior", figure_text(result.log_prior), "of the graph"),
            ("Log likelihood", figure_text(result.log_likelihood), "of the data, marginal or penalised"),
            ("Compelled arcs", len(result.compelled), "same direction in every equivalent graph"),
            ("Reversible arcs", len(result.reversible), "direction not identified"),
            ("Search", plural(len(result.trace), "move"), f"{result.seconds:.2f} s, {ended}"),
        ]
    )
    said = [notice(thin_sentence(result.thin, result.objective), kind="warning")] if result.thin else []
    if not result.converged:
        said.append(notice(f"The search {ended}. This is the best graph it had found by then.", kind="warning"))
    return join([*said, shown])


def _graph(result: Result, drawing: Any, bootstrap: Bootstrap | None) -> Html:
    if result.knowledge:
        second = ("class", "Class", "What the data and the constraints tell: edges without heads may go either way")
    else:
        second = ("class", "CPDAG", "The equivalence class: edges without heads may go either way")
    views = [("dag", "DAG", "The graph that was found"), second]
    keys = [
        ("compelled", "compelled: the same in every equivalent graph"),
        ("reversible", "reversible: an equivalent graph has it the other way round"),
    ]
    if bootstrap is not None:
        keys.append(("compelled weak", "thin to thick: strength from 0 to 1"))
    return panel(drawing, views=views, keys=keys, title=f"Learned graph with {plural(result.dag.n_arcs, 'arc')}")


class _Arcs:
    """The arcs with all that is known of them, as a table and as data for the scripts."""

    def __init__(self, result: Result, bootstrap: Bootstrap | None, lost: dict[tuple[str, str], float]) -> None:
        self._result, self._bootstrap, self._lost = result, bootstrap, lost
        self._reversible = set(result.reversible)
        self._strength: dict[tuple[str, str], tuple[float, float]] = {}
        if bootstrap is not None:
            index = {name: i for i, name in enumerate(bootstrap.nodes)}
            strength, direction = bootstrap.strength, bootstrap.direction
            for a, b in result.dag.arcs:
                at = index[a], index[b]
                self._strength[a, b] = float(strength[at]), float(direction[at])

    def values(self, drawing: Any) -> list[list[Any]]:
        """For each arc, in the order of the drawing: ends, whether reversible, loss, strength, direction."""
        index = {box.name: i for i, box in enumerate(drawing.boxes)}
        ordered = [(line.link.start, line.link.end) for line in drawing.lines]
        return [
            [index[a], index[b], int((a, b) in self._reversible), self._lost[a, b], *self._strength.get((a, b), ())]
            for a, b in ordered
        ]

    def section(self) -> Content:
        if not self._result.dag.n_arcs:
            return tag("p", "The graph has no arcs: nothing in the data speaks for one, under this objective.")
        columns = [
            Column("from"),
            Column("to"),
            Column("direction", hint="compelled: the same in every equivalent graph"),
            Column("score lost", "number", "How much the score falls when the arc is removed; its log Bayes factor"),
        ]
        if self._bootstrap is not None:
            columns += [
                Column("strength", "number", "Share of resamples in which the two are adjacent"),
                Column("this way", "number", "Share of those in which the arc goes this way"),
            ]
        arcs = self._result.dag.arcs
        order = sorted(range(len(arcs)), key=lambda i: -self._lost[arcs[i]])
        rows = [self._row(arcs[i]) for i in order]
        listed = table(
            columns,
            rows,
            key="arc-table",
            caption="Arcs",
            filter_=len(arcs) > 10,
            row_data=order,
            sorted_by="score lost",
        )
        return [tag("p", _LOSS), listed, self._missed()]

    def _row(self, arc: tuple[str, str]) -> list[Any]:
        kind = "reversible" if arc in self._reversible else "compelled"
        cells: list[Any] = [*arc, tag("span", kind, class_=f"chip {kind}"), number(self._lost[arc])]
        if self._bootstrap is not None:
            cells += [bar(value, f"{value:.2f}") for value in self._strength[arc]]
        return cells

    def _missed(self) -> Content:
        """List what the resamples agree on and the graph does not have."""
        if self._bootstrap is None:
            return None
        limit, dag = self._bootstrap.threshold, self._result.dag
        strong = [
            each
            for each in self._bootstrap.arcs(above=limit)
            if not dag.has_arc(each.start, each.end) and not dag.has_arc(each.end, each.start)
        ]
        head = f"Arcs above the threshold of {limit:.2f} that the graph does not have"
        if not strong:
            return tag("p", f"No pair of nodes above the threshold of {limit:.2f} is without an arc in the graph.")
        columns = [Column("from"), Column("to"), Column("strength", "number"), Column("this way", "number")]
        rows = [
            [e.start, e.end, bar(e.strength, f"{e.strength:.2f}"), bar(e.direction, f"{e.direction:.2f}")]
            for e in strong
        ]
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


def _moves(result: Result) -> list[list[Any]]:
    index = {name: i for i, name in enumerate(result.dag.nodes)}

    def told(move: Move) -> list[Any]:
        ends = [index[move.start], index[move.end]] if move.start else [-1, -1]
        return [move.kind, *ends, round(move.delta, 4), round(move.score, 4)]

    return [told(move) for move in result.trace]


def _nodes(result: Result, known: list[Family]) -> list[dict[str, Any]]:
    index = {name: i for i, name in enumerate(result.dag.nodes)}
    tables = {family.node: digest(family) for family in known}
    # Labels of the levels that some table shows: a node may have thousands.
    shown: dict[str, set[int]] = {node: set(table["levels"]) for node, table in tables.items()}
    for family in known:
        for codes, *_ in tables[family.node]["rows"]:
            for parent, code in zip(family.parents, codes, strict=True):
                shown[parent].add(code)
    return [
        {
            "name": family.node,
            "r": family.r,
            "labels": {code: result.data.levels[family.node][code] for code in sorted(shown[family.node])},
            "parents": [index[parent] for parent in family.parents],
            "score": round(family.score, 4),
            "configurations": f"{family.q_obs:,} of {_many(family.q)}",
            "sparse": family.is_sparse,
            "table": tables[family.node],
        }
        for family in known
    ]


def _data(data: Dataset, known: list[Family]) -> Content:
    never = data.unobserved()
    sparse = sorted((f for f in known if f.is_sparse), key=lambda f: f.q_obs / f.q)
    said: list[Content] = []
    if never:
        total = sum(map(len, never.values()))
        said.append(
            notice(
                f"{plural(total, 'declared level')} in {plural(len(never), 'column')} never observed: "
                f"{_named(list(never))}. They count as levels in every score.",
                kind="warning",
            )
        )
    if sparse:
        said.append(
            notice(
                f"{plural(len(sparse), 'family').replace('familys', 'families')} with fewer than half of the parents' "
                f"configurations observed: {_named([f.node for f in sparse])}. BDs spreads its prior over the observed "
                "ones only; BDeu over all of them.",
                kind="warning",
            )
        )
    columns = [
        Column("node"),
        Column("levels", "number", "Declared levels, r"),
        Column("distribution", hint="Share of each level; marked if never observed"),
        Column("never observed", hint="Declared levels that no row has"),
        Column("parents", "number"),
        Column("q", "number", "Declared configurations of the parents"),
        Column("observed", "number", "q_obs of q: configurations that some row has"),
        Column("rows each", "number", "Observations per observed configuration, on average"),
        Column("family score", "number", "Log likelihood of the node given its parents"),
    ]
    rows = [_family_row(data, family, never.get(family.node, ())) for family in known]
    listed = table(
        columns, rows, key="node-table", caption="Nodes and families", filter_=len(rows) > 10, row_data=range(len(rows))
    )
    shown = f"Cards in the graph show the {MOST_CONFIGURATIONS} most frequent configurations of a family at most."
    return [said, listed, tag("p", shown, class_="help")]


def _family_row(data: Dataset, family: Family, never: tuple[str, ...]) -> list[Any]:
    counts = data.observed(family.node)
    shares = (counts / max(counts.sum(), 1)).tolist()
    levels = sorted(zip(shares, data.levels[family.node], strict=True), key=lambda pair: -pair[0])
    told = _named([f"{level} {share:.1%}" for share, level in levels])
    seen = family.q_obs / family.q
    return [
        family.node,
        family.r,
        Cell(
            spark(shares if len(shares) <= _COLUMNS else [share for share, _ in levels[:_COLUMNS]], told), max(shares)
        ),
        Cell(_named(list(never)), len(never)),
        Cell(len(family.parents), len(family.parents)),
        Cell(_many(family.q), min(float(min(family.q, 10**300)), 1e300)),
        bar(seen, f"{family.q_obs:,}", "warn" if family.is_sparse else ""),
        number(family.rows_per_configuration, 1),
        number(family.score, 1),
    ]


def _details(result: Result, bootstrap: Bootstrap | None) -> list[tuple[str, Content]]:
    data = result.data
    details: list[tuple[str, Content]] = [
        ("objective", tag("code", str(result.objective))),
        ("data", f"{_rows(data)}, {plural(data.n_columns, 'column')}"),
        ("search", f"{plural(len(result.trace), 'move')}, {result.families:,} families counted, {result.stopped}"),
        ("time", f"{result.seconds:.3f} s"),
    ]
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
