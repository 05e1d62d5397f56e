"""Graphs as pictures: the front doors `plot` and `to_svg`, for DAGs, equivalence classes and results of a search."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias

from mapdag.errors import ParameterError
from mapdag.graphs import CPDAG, DAG
from mapdag.graphs.drawable import Picture
from mapdag.io.files import check_writable, write_file
from mapdag.plots.drawing import PLAIN, Drawing, Link, compose, thickness
from mapdag.plots.svg import PAPER
from mapdag.plots.svg import to_svg as write_svg
from mapdag.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mapdag.networks import BayesianNetwork
    from mapdag.resamples import Bootstrap
    from mapdag.sampling import Posterior
    from mapdag.search import Result

Drawn: TypeAlias = "DAG | CPDAG | Result | BayesianNetwork"

FIGURE_SUFFIXES = (".svg", ".png", ".pdf")

_IN_NOTEBOOK = 150  # nodes beyond which a notebook gets text: the picture would be a blur


def plot(
    graph: Drawn,
    path: str | os.PathLike[str] | None = None,
    *,
    bootstrap: Bootstrap | Posterior | None = None,
) -> Picture | None:
    """Draw a graph in layers, parents above their children; write the picture to a file, or return it.

    Parameters
    ----------
    graph : DAG, CPDAG, Result or BayesianNetwork
        Of a result, arcs that an equivalent graph has the other way round are dashed, with open heads.
    path : path, optional
        SVG, PNG or PDF, by its ending. SVG is text: it can be searched, and scales without loss. Without a path, the
        picture is returned, and a notebook shows it.
    bootstrap : Bootstrap or Posterior, optional
        Draw arcs as thick as they are strong.

    Examples
    --------
    >>> import mapdag as md
    >>> folder = getfixture("tmp_path")  # any folder
    >>> md.network("asia").dag.plot(folder / "asia.svg")
    """
    if path is None:
        return Picture(_title(graph), to_svg(graph, bootstrap=bootstrap))
    check_writable(path, FIGURE_SUFFIXES)
    ending = os.fspath(path)[-3:].lower()
    drawing = draw(graph, bootstrap=bootstrap)
    if ending == "svg":
        content = write_svg(drawing, background=PAPER, title=_title(graph)).encode()
    else:
        from mapdag.plots.canvas import render

        content = render(drawing, ending)
    write_file(path, lambda stream: stream.write(content))
    return None


def to_svg(graph: Drawn, *, bootstrap: Bootstrap | Posterior | None = None) -> str:
    """Draw a graph as in `plot`, and return the SVG.

    Examples
    --------
    >>> from mapdag import DAG
    >>> to_svg(DAG(["rain", "wet"], [("rain", "wet")])).count('class="node"')
    2
    """
    return write_svg(draw(graph, bootstrap=bootstrap), title=_title(graph))


def for_notebook(graph: Any) -> Picture | None:
    """Return the picture that a notebook shows, or None where text does better or igraph is missing."""
    from mapdag.errors import MissingExtraError

    if not 0 < len(_structure(graph).nodes) <= _IN_NOTEBOOK:
        return None
    try:
        return plot(graph)
    except MissingExtraError:
        return None


def draw(
    graph: Drawn, *, bootstrap: Bootstrap | Posterior | None = None, window: tuple[float, float] | None = None
) -> Drawing:
    """Lay out a graph, for whoever writes it; for a window of this width and height, if that is known."""
    structure = _structure(graph)
    return compose(structure.nodes, list(links(graph, bootstrap)), drawing_order(structure), window=window)


def links(graph: Drawn, bootstrap: Bootstrap | Posterior | None = None) -> Iterable[Link]:
    """List what joins the nodes, and how it is drawn."""
    structure = _structure(graph)
    reversible = set(getattr(graph, "reversible", ()))
    if bootstrap is not None and set(bootstrap.nodes) != set(structure.nodes):
        raise ParameterError("bootstrap must be of the same data: its nodes are not those of the graph")
    strength = None if bootstrap is None else bootstrap.strength
    index = {} if bootstrap is None else {name: i for i, name in enumerate(bootstrap.nodes)}

    def width(a: str, b: str) -> float:
        return PLAIN if strength is None else thickness(float(strength[index[a], index[b]]))

    for a, b in structure.arcs:
        yield Link(a, b, "reversible" if (a, b) in reversible else "compelled", width(a, b))
    if isinstance(structure, CPDAG):
        for a, b in structure.edges:
            yield Link(a, b, "edge", width(a, b))


def drawing_order(graph: DAG | CPDAG) -> tuple[str, ...]:
    """Order the nodes from the top to the bottom of a drawing; an equivalence class like a DAG that belongs to it."""
    return graph.topological_order() if isinstance(graph, DAG) else _directed(graph).topological_order()


def _directed(graph: CPDAG) -> DAG:
    from mapdag.errors import GraphError

    try:
        return graph.to_dag()
    except GraphError:  # not the class of any DAG, but its arcs have no cycle
        return DAG(graph.nodes, graph.arcs)


def _structure(graph: Drawn) -> DAG | CPDAG:
    # Without asking for the class of results: that would load the compiler for every picture of a DAG.
    structure = getattr(graph, "dag", graph)
    if not isinstance(structure, (DAG, CPDAG)):
        raise ParameterError(f"graph must be a DAG, a CPDAG, a Result or a BayesianNetwork, got {type(graph).__name__}")
    return structure


def _title(graph: Drawn) -> str:
    structure = _structure(graph)
    joined = plural(structure.n_arcs, "arc")
    if isinstance(structure, CPDAG):
        joined += f" and {plural(structure.n_edges, 'edge')}"
    return f"Graph with {plural(len(structure.nodes), 'node')} and {joined}"
