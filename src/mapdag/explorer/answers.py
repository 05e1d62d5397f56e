"""What the page is told of a graph: arcs, score, thin families, and where everything is drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mapdag.graphs import DAG
from mapdag.plots.drawing import Link, compose
from mapdag.plots.graphs import drawing_order
from mapdag.plots.svg import curve
from mapdag.report.viewer import WINDOW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.plots.arrangement import Point
    from mapdag.plots.drawing import Arrow
    from mapdag.search import Certificate, Result


def finite(value: float) -> float | None:
    """Return a number that JSON has, or nothing."""
    return value if math.isfinite(value) else None


def graph_facts(result: Result) -> dict[str, Any]:
    """Return what the page is told of a graph that was learned."""
    compelled = set(result.compelled)
    return {
        "nodes": result.dag.nodes,
        "arcs": [[a, b, (a, b) in compelled] for a, b in result.dag.arcs],
        "score": finite(result.score),
        "prior_part": finite(result.log_prior),
        "likelihood_part": finite(result.log_likelihood),
        "seconds": result.seconds,
        "counted": result.families,
        "moves": len(result.trace),
        "stopped": result.stopped,
        "objective": str(result.objective),
        "alike": result.alike,
        "thin": [
            {"node": each.node, "rows": each.rows, "configurations": each.configurations, "text": str(each)}
            for each in result.thin
        ],
        "certificate": None if result.certificate is None else certificate_facts(result.certificate),
    }


def certificate_facts(found: Certificate) -> dict[str, Any]:
    """Return what the page is told of a certificate."""
    return {
        "bound": finite(found.bound),
        "gap": finite(found.gap),
        "proved": found.proved,
        "among": found.among,
        "complete": found.complete,
        "text": str(found),
    }


def lay_out(nodes: Sequence[str], arcs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Draw a graph as the report does: boxes, and the lines of the arcs in their order."""
    dag = DAG(nodes, arcs)
    drawing = compose(dag.nodes, [Link(a, b) for a, b in arcs], drawing_order(dag), window=WINDOW)
    return {
        "width": drawing.width,
        "height": drawing.height,
        "layered": drawing.layered,
        "x": [round(box.x, 2) for box in drawing.boxes],
        "y": [round(box.y, 2) for box in drawing.boxes],
        "w": [round(box.width, 2) for box in drawing.boxes],
        "labels": [box.label for box in drawing.boxes],
        "lines": [_line(line) for line in drawing.lines],
    }


def _line(line: Arrow) -> dict[str, str]:
    assert line.head is not None
    assert line.stub is not None
    return {"line": curve(line), "stub": _path(line.stub), "head": f"{_path(line.head)}Z"}


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
