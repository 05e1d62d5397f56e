"""The command ``explore``: a local page on which the graph follows the prior."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer

from mapdag.cli.interrupts import left_to_others
from mapdag.cli.options import ReadTable, Seed, option, table_options, takes
from mapdag.errors import MapdagError

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


COMMANDS = (explore,)
