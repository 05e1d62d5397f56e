"""What is seen, as files: networks, pictures, reports, and how to get it again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

from mapdag.errors import ParameterError
from mapdag.explorer.learning import learn_quietly
from mapdag.explorer.recipe import command_lines, python_lines
from mapdag.graphs import DAG
from mapdag.io import to_bif
from mapdag.notices import heard
from mapdag.plots.graphs import draw
from mapdag.plots.svg import PAPER, to_svg
from mapdag.report.facts import arcs as arc_facts
from mapdag.report.facts import families
from mapdag.report.families import family_tables, is_whole
from mapdag.report.html import script_json
from mapdag.report.learned import result_page
from mapdag.report.nodes import node_facts
from mapdag.report.whatif import make_plan
from mapdag.search import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.explorer.jobs import Job
    from mapdag.explorer.library import Table
    from mapdag.explorer.settings import Arc, Settings


_UNUSUAL = re.compile(r"[^\w.-]+")
_DIFFERS = "These settings give another graph than the one that was shown, whose search was stopped early."


class File(NamedTuple):
    """A file to be saved by the browser."""

    name: str
    kind: str  # its media type
    content: bytes


class _Seen(NamedTuple):
    """A graph on the page."""

    table: Table
    settings: Settings
    result: Result
    search: str  # that has found it; the one that was asked for where none does
    reproduced: bool


def export(job: Job, table: Table, settings: Settings, arcs: Sequence[Arc], form: Any, time_limit: float) -> File:
    """Make a file of a graph on the page.

    Parameters
    ----------
    job : Job
    table : Table
    settings : Settings
    arcs : sequence of arcs
    form : str
        One of `FORMATS`.
    time_limit : float
        Seconds that learning it again may take.
    """
    if not isinstance(form, str) or form not in FORMATS:
        raise ParameterError(f"format must be one of {', '.join(FORMATS)}, got {str(form)[:80]!r}")
    ending, kind, again, write = FORMATS[form]
    with heard():
        shown = given(table, settings, arcs)
        seen = _Seen(table, settings, shown, settings.search, reproduced=False)
        if again:
            seen = _found_again(job, seen, time_limit)
        content = write(seen)
    stem = _UNUSUAL.sub("-", table.source.name.partition(".")[0]).strip("-.") or "graph"
    return File(f"{stem}{ending}", kind, content if isinstance(content, bytes) else content.encode())


def _found_again(job: Job, seen: _Seen, time_limit: float) -> _Seen:
    """Find the search that gives the graph: the one that was asked for, or hill climbing, whose answer came first."""
    wanted = set(seen.result.dag.arcs)
    for search in dict.fromkeys(("hc", seen.settings.search)):
        found = learn_quietly(seen.table, seen.settings, job, search=search, time_limit=time_limit)
        if found.converged and set(found.dag.arcs) == wanted:
            return seen._replace(result=found, search=search, reproduced=True)
    return seen


def _command(seen: _Seen) -> str:
    return _told(seen) + command_lines(seen.table.source, seen.settings, seen.search)


def _python(seen: _Seen) -> str:
    return _told(seen) + python_lines(seen.table.source, seen.settings, seen.search)


def _told(seen: _Seen) -> str:
    source = seen.table.source
    lines = [] if seen.reproduced else [_DIFFERS]
    if source.network is None and source.path is None:
        lines.append(f"{source.name!r} is the table that was opened on the page: say where it is.")
    return "".join(f"# {line}\n" for line in lines)


def _report(seen: _Seen) -> str:
    return result_page(seen.result, name=seen.table.source.name, command=_command(seen))


def _bif(seen: _Seen) -> str:
    return to_bif(seen.result.fit())


def _svg(seen: _Seen) -> str:
    title = f"{seen.table.source.name}, {seen.result.objective}"
    return to_svg(draw(seen.result), background=PAPER, title=title)


def _png(seen: _Seen) -> bytes:
    from mapdag.plots.canvas import render

    return render(draw(seen.result), "png")


def _dot(seen: _Seen) -> str:
    return seen.result.dag.to_dot()


def _graphml(seen: _Seen) -> bytes:
    """Write GraphML: nodes by their names, and whether the direction of an arc is identified."""
    root = ET.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    ET.SubElement(root, "key", {"id": "name", "for": "node", "attr.name": "name", "attr.type": "string"})
    ET.SubElement(root, "key", {"id": "compelled", "for": "edge", "attr.name": "compelled", "attr.type": "boolean"})
    graph = ET.SubElement(root, "graph", edgedefault="directed")
    dag, compelled = seen.result.dag, set(seen.result.compelled)
    for i, node in enumerate(dag.nodes):
        ET.SubElement(ET.SubElement(graph, "node", id=f"n{i}"), "data", key="name").text = _speakable(node)
    place = dag.index.position
    for arc in dag.arcs:
        edge = ET.SubElement(graph, "edge", source=f"n{place(arc[0])}", target=f"n{place(arc[1])}")
        ET.SubElement(edge, "data", key="compelled").text = str(arc in compelled).lower()
    found: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return found


def _speakable(name: str) -> str:
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", name)


#: Ending and media type of each format, whether the graph must be learned again for it, and who writes it.
FORMATS: dict[str, tuple[str, str, bool, Callable[[_Seen], str | bytes]]] = {
    "bif": (".bif", "text/plain", False, _bif),
    "svg": (".svg", "image/svg+xml", False, _svg),
    "png": (".png", "image/png", False, _png),
    "report": (".html", "text/html", True, _report),
    "command": (".sh", "text/plain", True, _command),
    "python": (".py", "text/plain", True, _python),
    "dot": (".dot", "text/plain", False, _dot),
    "graphml": (".graphml", "application/xml", False, _graphml),
}


# Tables --------------------------------------------------------------------------------------------------------------


def given(table: Table, settings: Settings, arcs: Sequence[Arc]) -> Result:
    """Look at a graph of the page as at one that was learned."""
    with heard():
        return Result.given(DAG(table.data.names, arcs), table.data, settings.objective, **settings.limits)


def probability_tables(table: Table, settings: Settings, arcs: Sequence[Arc]) -> dict[str, Any]:
    """Return what the scripts of the report find as their data: nodes, arcs, and how to answer questions."""
    result = given(table, settings, arcs)
    network = result.fit() if table.data.has_gaps else None
    known = families(result)
    tables = family_tables(known, network)
    facts = {
        "nodes": node_facts(table.data, known, tables),
        "arcs": arc_facts(result, None),
        "plan": make_plan(result, known, network, whole=is_whole(tables)),
    }
    found: dict[str, Any] = json.loads(script_json(facts))
    return found


def marginals(table: Table, settings: Settings, arcs: Sequence[Arc], evidence: Any) -> dict[str, Any]:
    """Return the distribution of every node, given levels of some of them, and the log-probability of these."""
    if not isinstance(evidence, Mapping) or not all(isinstance(level, str) for level in evidence.values()):
        raise ParameterError("evidence must be an object, node -> level")
    network = given(table, settings, arcs).fit()
    found = network.marginals(dict(evidence))
    return {
        "marginals": {node: found[node].values.tolist() for node in network.nodes},
        "probability": network.log_probability(dict(evidence)) if evidence else 0.0,
    }
