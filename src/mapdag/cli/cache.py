"""The command ``cache``: what is kept of tables that were scanned."""

from __future__ import annotations

from typing import Annotated

import typer

from mapdag.cli.options import Json  # noqa: TC001 - typer looks at it
from mapdag.cli.outputs import print_json
from mapdag.wording import columns


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove it all.")] = False,
    json: Json = False,
) -> None:
    """Show, or clear, what is kept of tables that were scanned.

    It is in the folder that the environment variable MAPDAG_CACHE names, or else where the system keeps caches.
    """
    from mapdag.data.packed.scan import clear_cache, entries_of
    from mapdag.data.packed.sealed import cache_folder

    folder = cache_folder()
    if clear:
        clear_cache(folder)
    found = entries_of(folder)
    total = sum(entry.bytes for entry in found)
    if json:
        entries = [{"what": each.what, "of": each.of, "bytes": each.bytes} for each in found]
        print_json({"folder": str(folder), "bytes": total, "entries": entries})
        return
    typer.echo(f"{folder}: {total / 1e6:,.1f} MB")
    if found:
        rows = [[each.what, f"{each.bytes / 1e6:,.1f}", each.of] for each in found]
        typer.echo(columns([["what", "MB", "of"], *rows], right=(1,)))


COMMANDS = (cache,)
