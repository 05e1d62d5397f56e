"""The command ``theory``: the paper's theory as figures and tables in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mapdag.cli.options import Json, Seed, option
from mapdag.cli.outputs import print_json
from mapdag.errors import FileError
from mapdag.progress import bar
from mapdag.wording import columns


def theory(
    out: Annotated[str, option("--out", "DIR", "Folder for figures (SVG, PNG) and tables (CSV).")],
    quick: Annotated[bool, typer.Option("--quick", help="Small grids, for a first look: seconds.")] = False,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Draw the theory of BDs, MU and the uniform prior.

    Limits, exact counts of DAGs, arcs learned from noise: the figures of docs/theory.md, and the tables behind them.
    Needs the extra `plots`.
    """
    from mapdag.cli.figures import make_figures
    from mapdag.plots.figures import matplotlib

    matplotlib()
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{out}: {error.strerror}") from error
    with bar(quiet=json, lines=False) as shown:
        made = make_figures(folder, quick=quick, seed=seed, show=shown.show)
    if json:
        print_json({"out": str(folder), "parts": [each._asdict() for each in made]})
        return
    rows = [[each.name, each.what, f"{each.seconds:.1f}"] for each in made]
    typer.echo(columns([["file", "what", "seconds"], *rows], right=(2,)))
    typer.echo(f"written to {folder}")


COMMANDS = (theory,)
