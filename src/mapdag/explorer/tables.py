"""Probability tables of a graph on the page, and what follows from evidence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mapdag.errors import ParameterError
from mapdag.graphs import DAG
from mapdag.notices import heard
from mapdag.report.facts import arcs as arc_facts
from mapdag.report.facts import families
from mapdag.report.families import family_tables, is_whole
from mapdag.report.html import script_json
from mapdag.report.nodes import node_facts
from mapdag.report.whatif import make_plan
from mapdag.search import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.explorer.library import Table
    from mapdag.explorer.settings import Arc, Settings


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
