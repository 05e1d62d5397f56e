"""Commands that show a given network: ``plot`` as a picture, ``report`` as a page."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

import mapdag as md
from mapdag.cli.inputs import load_graph, load_network, read_with_graph
from mapdag.cli.options import Json, Limits, Network, ReadTable, limit_options, option, table_options, takes
from mapdag.cli.outputs import check_out, check_page, command_line, print_json
from mapdag.errors import MapdagError

# The default of `learn` but for `Support`, which a graph that was not learned with it may well break.
_SCORE = "MU(c=1)+BDs(alpha=1)"


def plot(
    network: Network,
    out: Annotated[str, option("--out", "FILE", "Where to write the picture: .svg, .png or .pdf.")],
    cpdag: Annotated[
        bool, typer.Option("--cpdag", help="Draw the equivalence class: edges without heads may go either way.")
    ] = False,
    json: Json = False,
) -> None:
    """Draw a network or graph, parents above their children."""
    check_out(out, "picture")
    dag = load_graph(network)
    (dag.to_cpdag() if cpdag else dag).plot(out)
    if json:
        print_json({"out": out, "nodes": len(dag.nodes), "arcs": dag.n_arcs})
    else:
        typer.echo(f"written to {out}")


@takes(read_table=table_options, limits=limit_options)
def report(
    network: Network,
    read_table: ReadTable,
    limits: Limits,
    out: Annotated[str, option("--out", "FILE", "Where to write the page: .html.")],
    score: Annotated[str, option("--score", "EXPR", "Objective by which arcs are judged.")] = _SCORE,
    json: Json = False,
) -> None:
    """Write a page about a given network, and what data say of it."""
    check_page(out, drawn=True)
    dag, table = read_with_graph(network, read_table)
    result, fitted = md.Result.given(dag, table, score, **limits), None
    with suppress(MapdagError):  # a file that holds a graph alone
        fitted = load_network(network)
    # Its own probabilities, where these are of the same levels; else those of the data.
    same = fitted is not None and all(fitted.levels[node] == result.data.levels[node] for node in dag.nodes)
    name = ", ".join(filter(None, (_name(network), read_table.name)))
    result.report(out, network=fitted if same else None, name=name, command=command_line())
    likelihood = None if fitted is None else fitted.log_likelihood(table)
    if json:
        found = {"out": out, "objective": str(result.objective), "score": result.score}
        print_json(found if likelihood is None else {**found, "log_likelihood": likelihood})
        return
    typer.echo(str(result))
    if likelihood is not None:
        typer.echo(f"log-likelihood of these rows, by the probabilities of the network: {likelihood:.4f}")
    typer.echo(f"written to {out}")


def _name(source: str) -> str:
    return Path(source).name.partition(".")[0]


COMMANDS = (plot, report)
