"""Commands that show a given network: ``plot`` as a picture, ``report`` as a page."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

import mapdag as md
from mapdag.cli.options import (
    Json,
    Network,
    ReadTable,
    check_out,
    check_page,
    command_line,
    load_graph,
    load_network,
    option,
    print_json,
    read_with_graph,
    table_options,
    takes,
)
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


@takes(read_table=table_options)
def report(
    network: Network,
    read_table: ReadTable,
    out: Annotated[str, option("--out", "FILE", "Where to write the page: .html.")],
    score: Annotated[str, option("--score", "EXPR", "Objective by which arcs are judged.")] = _SCORE,
    json: Json = False,
) -> None:
    """Write a page about a given network: what these data say about its arcs and families."""
    check_page(out, drawn=True)
    dag, table = read_with_graph(network, read_table)
    result = md.Result.given(dag, table, score)
    given = None
    with suppress(MapdagError):  # a file that holds a graph alone
        given = load_network(network)
    is_shown = given is not None and all(given.levels[node] == result.data.levels[node] for node in dag.nodes)
    name = ", ".join(filter(None, (_name(network), read_table.name)))
    result.report(out, network=given if is_shown else None, name=name, command=command_line())
    found: dict[str, object] = {"out": out, "objective": str(result.objective), "score": result.score}
    if given is not None:
        found["log_likelihood"] = given.log_likelihood(table)
    if json:
        print_json(found)
        return
    typer.echo(str(result))
    if "log_likelihood" in found:
        typer.echo(f"log-likelihood of these rows, by the probabilities of the network: {found['log_likelihood']:.4f}")
    typer.echo(f"written to {out}")


def _name(source: str) -> str:
    return Path(source).name.partition(".")[0]


COMMANDS = (plot, report)
