"""The command ``diagnose``: what sparse data do to a graph."""

from __future__ import annotations

import dataclasses
import math
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

import mapdag as md
from mapdag.cli.options import (
    DEFAULT_SCORE,
    Json,
    Network,
    ReadTable,
    option,
    print_json,
    read_with_graph,
    table_options,
    takes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag import Diagnosis
    from mapdag.theory import ArcSupport

_WIDE = 140  # columns where output is not a terminal: nothing must be cut off
_SHOWN = 20


@takes(read_table=table_options)
def diagnose(
    network: Network,
    read_table: ReadTable,
    score: Annotated[str, option("--score", "EXPR", "Objective under which arcs are judged.")] = DEFAULT_SCORE,
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="For comparing BDeu and BDs where the objective has none.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every family and arc, not the worst 20.")] = False,
    json: Json = False,
) -> None:
    """Find what sparse data do to a graph.

    Families with configurations that were never observed, where part of BDeu's alpha is lost; arcs that only BDeu or
    only the uniform prior keeps; arcs that another alpha or another beta would take away.
    """
    found = md.diagnose(*read_with_graph(network, read_table), score, alpha=alpha)
    if json:
        print_json(_as_json(found))
    else:
        _show(found, None if everything else _SHOWN)


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


def _show(found: Diagnosis, limit: int | None) -> None:
    from rich.console import Console

    from mapdag.objective import thin_sentence

    console = Console(width=None if sys.stdout.isatty() else _WIDE, highlight=False)
    sparse = found.sparse_families
    typer.echo(f"{found.objective}: {len(found.families)} nodes, {len(found.arcs)} arcs, {found.n_rows:g} rows")
    if found.thin_families:
        typer.echo(thin_sentence(found.thin_families, found.objective))
    typer.echo(f"families with configurations that were never observed: {len(sparse)}")
    if sparse:
        typer.echo()
        console.print(_family_table(found, limit))
    told = [
        (found.unsupported, f"dropped by {found.objective} itself"),
        *((found.lost(name), f"kept by U+BDeu, dropped by {name}") for name in ("U+BDs", "MU+BDeu", "MU+BDs")),
        (found.sensitive_to_alpha, "gone within one decade of alpha"),
        (found.sensitive_to_beta, "gone for some beta of MU from 2/(N-1) to 1/2"),
    ]
    for arcs, what in told:
        named = ", ".join(f"{arc.start} -> {arc.end}" for arc in arcs[:5]) + (", ..." if len(arcs) > 5 else "")
        typer.echo(f"{len(arcs)} arcs {what}" + (f": {named}" if arcs else ""))
    if found.arcs:
        typer.echo()
        console.print(_arc_table(found, limit))


def _family_table(found: Diagnosis, limit: int | None) -> Any:
    rows = [
        [
            family.node,
            ", ".join(family.parents),
            f"{family.observed:,} of {family.configurations:,}",
            f"{family.effective_parameters:,} of {family.parameters:,}",
            f"{family.effective_alpha:.3g} of {found.alpha:g}",
            f"{family.log_bds_over_bdeu:+.2f}",
        ]
        for family in found.sparse_families[:limit]
    ]
    heads = ("node", "parents", ">configurations", ">parameters", ">BDeu's alpha", ">log BDs/BDeu")
    return _table("Sparse families: observed of declared", heads, rows)


def _arc_table(found: Diagnosis, limit: int | None) -> Any:
    rows = [
        [
            f"{arc.start} -> {arc.end}",
            f"{arc.log_odds:+.2f}",
            f"{arc.log_bdeu:+.2f}",
            f"{arc.log_bds:+.2f}",
            f"{arc.effective_degrees_of_freedom:+d}",
            _range(arc),
            f"{arc.beta_needed:.2g}",
            ", ".join(arc.lost_by) or "-",
        ]
        for arc in found.arcs[:limit]
    ]
    heads = ("arc", ">log odds", ">BDeu", ">BDs", ">d_EDF", "kept for alpha", ">beta from", "dropped by")
    return _table("Arcs, the weakest first", heads, rows)


def _range(arc: ArcSupport) -> str:
    low, high = arc.alpha_range
    if math.isnan(low):
        return "-"
    if not arc.log_odds > 0:
        return "not even here"
    if low == 0 and math.isinf(high):
        return "any"
    if low == 0:
        return f"up to {high:.3g}"
    return f"from {low:.3g}" if math.isinf(high) else f"{low:.3g} to {high:.3g}"


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:
    """Make a table; heads that begin with > are for columns of numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for head in heads:
        table.add_column(head.removeprefix(">"), justify="right" if head.startswith(">") else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


COMMANDS = (diagnose,)
