"""The report of a comparison: ``mapdag compare A B --report``; two graphs in one picture."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from mapdag.errors import GraphError
from mapdag.graphs import CPDAG, DAG, compare
from mapdag.plots.drawing import Drawing, Link, compose
from mapdag.report.html import Content, Html, tag
from mapdag.report.network import panel
from mapdag.report.page import Section, page, write_page
from mapdag.report.parts import Cell, Column, figures, how_it_was_made, plural, table

Status = Literal["agreeing", "missing", "extra", "reversed", "differing"]

_TOLD: dict[Status, str] = {
    "agreeing": "in both",
    "missing": "in A only",
    "extra": "in B only",
    "reversed": "the other way round in B",
    "differing": "directed in one, not in the other",
}
_ORDER: dict[Status, int] = {"missing": 0, "extra": 1, "reversed": 2, "differing": 3, "agreeing": 4}


@dataclass(frozen=True)
class Pair:
    """Two nodes that are joined in at least one of the graphs, and how; `start` and `end` as B has them, if it does."""

    start: str
    end: str
    in_a: str
    in_b: str
    class_a: str
    class_b: str

    @property
    def arcs(self) -> Status:
        """How the two graphs differ."""
        return _status(self.in_a, self.in_b)

    @property
    def classes(self) -> Status:
        """How their equivalence classes differ: what the structural Hamming distance counts."""
        return _status(self.class_a, self.class_b)


def write_comparison(
    a: DAG,
    b: DAG,
    path: str | os.PathLike[str],
    *,
    names: tuple[str, str] = ("A", "B"),
    command: str | None = None,
) -> None:
    """Write the report of a comparison: agreeing, missing, extra and reversed arcs in one picture.

    Parameters
    ----------
    a : DAG
        The target.
    b : DAG
        What is compared with it; the same nodes.
    path : path
        Ends in .html.
    names : (str, str)
        What to call the graphs.
    command : str, optional
        The command that made the report, to be shown in it.

    Examples
    --------
    >>> from mapdag import DAG
    >>> chain, fork = DAG.from_modelstring("[A][B|A][C|B]"), DAG.from_modelstring("[A][C][B|A:C]")
    >>> write_comparison(chain, fork, getfixture("tmp_path") / "comparison.html")
    """
    write_page(path, comparison_page(a, b, names=names, command=command))


def comparison_page(a: DAG, b: DAG, *, names: tuple[str, str] = ("A", "B"), command: str | None = None) -> str:
    """Return the page that `write_comparison` writes."""
    if set(a.nodes) != set(b.nodes):
        raise GraphError("the graphs must have the same nodes")
    found = pairs(a, b)
    drawing = _draw(a, found)
    sections = [
        Section("graph", "Both graphs", _graph(drawing, found), "Graph"),
        Section("pairs", "Arcs", _table(found), "Arcs"),
        how_it_was_made(command, [("A, the target", names[0]), ("B", names[1])]),
    ]
    index = {name: i for i, name in enumerate(a.nodes)}
    nodes = [
        {
            "name": name,
            "parents": [index[p] for p in b.parents(name)],
            "target": [index[p] for p in a.parents(name)],
        }
        for name in a.nodes
    ]
    arcs = [
        [
            index[line.link.start],
            index[line.link.end],
            {"arcs": [p.arcs, p.in_a, p.in_b], "class": [p.classes, p.class_a, p.class_b]},
        ]
        for line, p in zip(drawing.lines, found, strict=True)
    ]
    return page(
        f"{names[1]} against {names[0]}",
        sections,
        subtitle=f"{plural(len(a.nodes), 'node')}; A, the target, has {plural(a.n_arcs, 'arc')}, B has {b.n_arcs:,}",
        lead=_figures(a, b),
        data={"nodes": nodes, "arcs": arcs},
        scripts=("tables", "details", "graph"),
    )


def pairs(a: DAG, b: DAG) -> list[Pair]:
    """List the pairs of nodes that are joined in one graph or both.

    Examples
    --------
    >>> found = pairs(DAG.from_modelstring("[A][B|A][C]"), DAG.from_modelstring("[B][A|B][C|A]"))
    >>> [(pair.start, pair.end, pair.arcs, pair.classes) for pair in found]
    [('B', 'A', 'reversed', 'agreeing'), ('A', 'C', 'extra', 'extra')]
    """
    class_a, class_b = a.to_cpdag(), b.to_cpdag()
    joined = [*b.arcs, *(arc for arc in a.arcs if not b.has_arc(*arc) and not b.has_arc(arc[1], arc[0]))]
    place = a.index.position
    joined.sort(key=lambda arc: sorted((place(arc[0]), place(arc[1]))))
    return [
        Pair(x, y, _joint(a, x, y), _joint(b, x, y), _joint(class_a, x, y), _joint(class_b, x, y)) for x, y in joined
    ]


def _joint(graph: DAG | CPDAG, x: str, y: str) -> str:
    """Say how two nodes are joined: "", "->", "<-" or "--"."""
    if graph.has_arc(x, y):
        return "->"
    if graph.has_arc(y, x):
        return "<-"
    return "--" if isinstance(graph, CPDAG) and graph.has_edge(x, y) else ""


def _status(in_a: str, in_b: str) -> Status:
    if in_a == in_b:
        return "agreeing"
    if not in_a or not in_b:
        return "extra" if in_b else "missing"
    return "differing" if "--" in (in_a, in_b) else "reversed"


def _draw(target: DAG, found: list[Pair]) -> Drawing:
    links = []
    for pair in found:
        shown = pair.class_b or pair.class_a
        classes = (f"arcs-{pair.arcs}", f"class-{pair.classes}", *(["loose"] if shown == "--" else []))
        links.append(Link(pair.start, pair.end, "compelled", classes=classes))
    return compose(target.nodes, links, target.topological_order())


def _graph(drawing: Drawing, found: list[Pair]) -> Html:
    views = [
        ("arcs", "Arcs", "The two graphs as they are"),
        ("class", "Classes", "Their equivalence classes, which the structural Hamming distance compares"),
    ]
    present = {status for pair in found for status in (pair.arcs, pair.classes)}
    keys = [(f"arcs-{status} class-{status}", f"{status}: {_TOLD[status]}") for status in _ORDER if status in present]
    return panel(drawing, views=views, keys=keys, title="Two graphs in one picture")


def _figures(a: DAG, b: DAG) -> Html:
    arcs = compare(a, b)
    return figures(
        [
            ("SHD", arcs.shd, "pairs that the equivalence classes join differently"),
            ("Agreeing", arcs.true_positives, f"of {plural(a.n_arcs, 'arc')} in A"),
            ("Missing", arcs.false_negatives - arcs.reversed, "in A, not adjacent in B"),
            ("Extra", arcs.false_positives - arcs.reversed, "in B, not adjacent in A"),
            ("Reversed", arcs.reversed, "the other way round"),
            ("F1", f"{arcs.f1:.3f}", f"precision {arcs.precision:.3f}, recall {arcs.recall:.3f}"),
            ("Skeleton F1", f"{arcs.skeleton_f1:.3f}", "directions ignored"),
        ]
    )


def _table(found: list[Pair]) -> Content:
    if not found:
        return tag("p", "Neither graph has an arc.")
    columns = [
        Column("from"),
        Column("to"),
        Column("arcs", hint="How the graphs as they are differ"),
        Column("in A"),
        Column("in B"),
        Column("classes", hint="How their equivalence classes differ"),
        Column("class of A"),
        Column("class of B"),
    ]
    numbered = sorted(enumerate(found), key=lambda item: (_ORDER[item[1].arcs], _ORDER[item[1].classes], item[0]))
    rows = [
        [
            pair.start,
            pair.end,
            _chip(pair.arcs),
            _arrow(pair.in_a),
            _arrow(pair.in_b),
            _chip(pair.classes),
            _arrow(pair.class_a),
            _arrow(pair.class_b),
        ]
        for _, pair in numbered
    ]
    told = "Errors first. Click a row to see the pair in the graph."
    listed = table(
        columns,
        rows,
        key="arc-table",
        caption="Arcs of both graphs",
        filter_=len(rows) > 10,
        row_data=[i for i, _ in numbered],
    )
    return [tag("p", told), listed]


def _chip(status: Status) -> Cell:
    return Cell(tag("span", status, class_=f"chip {status}"), _ORDER[status])


def _arrow(joint: str) -> str:
    return {"->": "→", "<-": "←", "--": "—", "": ""}[joint]
