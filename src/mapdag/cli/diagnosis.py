"""The command ``diagnose``: what sparse data do to a graph."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

import mapdag as md
from mapdag.cli.inputs import read_with_graph
from mapdag.cli.options import DEFAULT_SCORE, Json, Network, ReadTable, option, table_options, takes
from mapdag.cli.outputs import print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag import Diagnosis
    from mapdag.theory import ArcSupport


@takes(read_table=table_options)
def diagnose(
    network: Network,
    read_table: ReadTable,
    score: Annotated[str, option("--score", "EXPR", "Objective under which arcs are judged.")] = DEFAULT_SCORE,
    alpha: Annotated[
        float | None, option("--alpha", "ALPHA", "For comparing BDeu and BDs where the objective has none.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every family and arc, not the worst 20.")] = False,
    json: Json = False,
) -> None:
    """Find what sparse data do to a graph.

    Families with configurations that were never observed, where part of BDeu's alpha is lost; arcs that only BDeu or
    only the uniform prior keeps; arcs that another alpha or another beta would take away.
    """
    from mapdag.tables import SHOWN
    from mapdag.theory.summary import summary

    found = md.diagnose(*read_with_graph(network, read_table), score, alpha=alpha)
    if json:
        print_json(_as_json(found))
    else:
        typer.echo(summary(found, most=None if everything else SHOWN))


def _as_json(found: Diagnosis) -> dict[str, Any]:
    families = [{**dataclasses.asdict(family), "sparse": family.is_sparse} for family in found.families]
    arcs = [{**dataclasses.asdict(arc), "supported_by": arc.supported_by} for arc in found.arcs]
    return {
        "objective": str(found.objective),
        "alpha": found.alpha,
        "rows": found.n_rows,
        "families": families,
        "thin": [{**dataclasses.asdict(family), "saturated": family.is_saturated} for family in found.thin_families],
        "arcs": arcs,
        "unsupported": _ends(found.unsupported),
        "lost": {name: _ends(found.lost(name)) for name in ("U+BDs", "MU+BDeu", "MU+BDs")},
        "sensitive_to_alpha": _ends(found.sensitive_to_alpha),
        "sensitive_to_beta": _ends(found.sensitive_to_beta),
    }


def _ends(arcs: Sequence[ArcSupport]) -> list[tuple[str, str]]:
    return [(arc.start, arc.end) for arc in arcs]


COMMANDS = (diagnose,)
