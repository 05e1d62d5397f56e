"""Commands that show a given network: ``plot`` as a picture, ``report`` as a page; and tables: ``explore``."""

from __future__ import annotations

import inspect
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

import mapdag as md
from mapdag.cli.interrupts import left_to_others
from mapdag.cli.options import (
    Json,
    Limits,
    Network,
    ReadTable,
    Seed,
    limit_options,
    load_graph,
    load_network,
    option,
    read_with_graph,
    table_options,
    takes,
)
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


# explore -------------------------------------------------------------------------------------------------------------

_MEGABYTE = 1_000_000


def _table_if_any(**given: Any) -> ReadTable | None:
    """Make the function that reads the table, if one is given."""
    return table_options(**given) if given["data"] else None


def _optional(signature: inspect.Signature) -> inspect.Signature:
    parameters = [each.replace(default="") if each.name == "data" else each for each in signature.parameters.values()]
    return inspect.Signature(parameters)


_table_if_any.__signature__ = _optional(inspect.signature(table_options, eval_str=True))  # type: ignore[attr-defined]


@takes(read_table=_table_if_any)
def explore(
    read_table: ReadTable | None = None,
    network: Annotated[str | None, option("--network", "NAME", "Begin with a sample of a bundled network.")] = None,
    rows: Annotated[int, option("--rows", "N", "Rows of the sample.")] = 5000,
    seed: Seed = 1,
    session: Annotated[
        str | None, option("--session", "FILE", "Keep the state of the page here (.json), and go on with it.")
    ] = None,
    host: Annotated[str, option("--host", "ADDRESS", "Where to listen.")] = "127.0.0.1",
    port: Annotated[int, option("--port", "PORT", "At which port; any that is free unless given.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    max_body: Annotated[int, option("--max-body", "MB", "Largest file that may be dropped on the page.")] = 200,
    max_rows: Annotated[int, option("--max-rows", "N", "Most rows of a table.")] = 2_000_000,
) -> None:
    """Serve a page on which the graph follows the prior: alpha, c, constraints and search as controls.

    Without DATA, a table can be dropped on the page, or a sample be drawn there. Ctrl-C stops it.
    """
    from mapdag.explorer.doors import Explorer
    from mapdag.explorer.library import Source
    from mapdag.explorer.limits import Limits
    from mapdag.explorer.server import Server, check_installed
    from mapdag.plots import check_installed as check_plots
    from mapdag.search.warmup import warm_up

    check_installed()
    check_plots()
    if max_body < 1 or max_rows < 1:
        raise MapdagError("--max-body and --max-rows must be at least 1")
    if read_table is not None and network is not None:
        raise MapdagError("DATA and --network both say what to begin with: give one of them")
    warm_up()
    explorer = Explorer(Limits(body=max_body * _MEGABYTE, rows=max_rows), session=session)
    if network is not None:
        explorer.library.sample(network, rows, seed)
    elif read_table is not None:
        given = {name: value for name, value in read_table.options.items() if value not in (None, [], "error")}
        path = read_table.source if isinstance(read_table.source, str) else None
        source = Source(read_table.name or "table", path=path, options=given, like=read_table.like)
        explorer.hold(read_table(), source)
    else:
        explorer.go_on()
    with left_to_others():
        Server(explorer, host=host, port=port).run(typer.echo, open_browser=not no_browser)


COMMANDS = (plot, report, explore)
