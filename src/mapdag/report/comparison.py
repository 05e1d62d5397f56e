"""The report of a comparison: ``mapdag compare A B --report``; two graphs in one picture."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from mapdag.errors import GraphError
from mapdag.graphs import CPDAG, DAG, compare
from mapdag.plots.drawing import Drawing, Link, compose
from mapdag.report.html import Content, Html, tag
from mapdag.report.page import Section, page, write_page
from mapdag.report.parts import Heading, Sortable, figures, how_it_was_made, table
from mapdag.report.viewer import WINDOW, View, viewer
from mapdag.wording import plural

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
class Joint:
    """How A and B join two nodes, "", "->", "<-" or "--", and how that differs."""

    in_a: str
    in_b: str
    status: Status


@dataclass(frozen=True)
class Pair:
    """Two nodes that are joined in at least one of the graphs; `start` and `end` as B has them, if it does.

    The structural Hamming distance counts how the equivalence classes differ, `classes`.
    """

    start: str
    end: str
    arcs: Joint
    classes: Joint


@dataclass(frozen=True)
class _ComparedNode:
    """What the scripts know of a node: its parents in B, and in A, the target."""

    name: str
    parents: tuple[str, ...]
    target: tuple[str, ...]


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
    return page(
        f"{names[1]} against {names[0]}",
        sections,
        subtitle=f"{plural(len(a.nodes), 'node')}; A, the target, has {plural(a.n_arcs, 'arc')}, B has {b.n_arcs:,}",
        lead=_figures(a, b),
        data={"nodes": [_ComparedNode(name, b.parents(name), a.parents(name)) for name in a.nodes], "arcs": found},
        scripts=("tables", "viewer"),
    )


def pairs(a: DAG, b: DAG) -> list[Pair]:
    """List the pairs of nodes that are joined in one graph or both.

    Examples
    --------
    >>> found = pairs(DAG.from_modelstring("[A][B|A][C]"), DAG.from_modelstring("[B][A|B][C|A]"))
    >>> [(pair.start, pair.end, pair.arcs.status, pair.classes.status) for pair in found]
    [('B', 'A', 'reversed', 'agreeing'), ('A', 'C', 'extra', 'extra')]
    """
    class_a, class_b = a.to_cpdag(), b.to_cpdag()
    joined = [*b.arcs, *(arc for arc in a.arcs if not b.has_arc(*arc) and not b.has_arc(arc[1], arc[0]))]
    place = a.index.position
    joined.sort(key=lambda arc: sorted((place(arc[0]), place(arc[1]))))
    return [Pair(x, y, _joint(a, b, x, y), _joint(class_a, class_b, x, y)) for x, y in joined]


def _joint(a: DAG | CPDAG, b: DAG | CPDAG, x: str, y: str) -> Joint:
    in_a, in_b = _line(a, x, y), _line(b, x, y)
    status: Status = "agreeing"
    if not in_a or not in_b:
        status = "extra" if in_b else "missing"
    elif in_a != in_b:
        status = "differing" if "--" in (in_a, in_b) else "reversed"
    return Joint(in_a, in_b, status)


def _line(graph: DAG | CPDAG, x: str, y: str) -> str:
    if graph.has_arc(x, y):
        return "->"
    if graph.has_arc(y, x):
        return "<-"
    return "--" if isinstance(graph, CPDAG) and graph.has_edge(x, y) else ""


def _draw(target: DAG, found: list[Pair]) -> Drawing:
    links = []
    for pair in found:
        shown = pair.classes.in_b or pair.classes.in_a
        classes = (f"arcs-{pair.arcs.status}", f"class-{pair.classes.status}", *(["loose"] if shown == "--" else []))
        links.append(Link(pair.start, pair.end, "compelled", classes=classes))
    return compose(target.nodes, links, target.topological_order(), window=WINDOW)


def _graph(drawing: Drawing, found: list[Pair]) -> Html:
    views = [
        View("arcs", "Arcs", "The two graphs as they are"),
        View("class", "Classes", "Their equivalence classes, which the structural Hamming distance compares"),
    ]
    present = {status for pair in found for status in (pair.arcs.status, pair.classes.status)}
    keys = [(f"arcs-{status} class-{status}", f"{status}: {_TOLD[status]}") for status in _ORDER if status in present]
    return viewer(drawing, views=views, keys=keys, title="Two graphs in one picture")


def _figures(a: DAG, b: DAG) -> Html:
    arcs = compare(a, b)
    return figures(
        [
            ("SHD", arcs.shd, "pairs that the equivalence classes join differently"),
            ("Agreeing", arcs.true_positives, f"of {plural(a.n_arcs, 'arc')} in A"),
            ("Missing", arcs.missing, "in A, not adjacent in B"),
            ("Extra", arcs.extra, "in B, not adjacent in A"),
            ("Reversed", arcs.reversed, "the other way round"),
            ("F1", f"{arcs.f1:.3f}", f"precision {arcs.precision:.3f}, recall {arcs.recall:.3f}"),
            ("Skeleton F1", f"{arcs.skeleton_f1:.3f}", "directions ignored"),
        ]
    )


def _table(found: list[Pair]) -> Content:
    if not found:
        return tag("p", "Neither graph has an arc.")
    columns = [
        Heading("from"),
        Heading("to"),
        Heading("arcs", hint="How the graphs as they are differ"),
        Heading("in A"),
        Heading("in B"),
        Heading("classes", hint="How their equivalence classes differ"),
        Heading("class of A"),
        Heading("class of B"),
    ]
    order = sorted(range(len(found)), key=lambda i: (_ORDER[found[i].arcs.status], _ORDER[found[i].classes.status]))
    rows = [[pair.start, pair.end, *_cells(pair.arcs), *_cells(pair.classes)] for pair in map(found.__getitem__, order)]
    told = "Errors first. Click a row to see the pair in the graph."
    listed = table(
        columns,
        rows,
        key="arc-table",
        caption="Arcs of both graphs",
        filter_=len(rows) > 10,
        row_data=order,
    )
    return [tag("p", told), listed]


def _cells(joint: Joint) -> list[Content | Sortable]:
    arrows = {"->": "→", "<-": "←", "--": "—", "": ""}
    chip = tag("span", joint.status, class_=f"chip {joint.status}")
    return [Sortable(chip, _ORDER[joint.status]), arrows[joint.in_a], arrows[joint.in_b]]
