"""The commands ``diagnose``, what sparse data do to a graph, and ``theory``, figures of what they do in general."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import mapdag as md
from mapdag.cli.options import (
    Json,
    Network,
    ReadTable,
    Seed,
    option,
    read_with_graph,
    table_options,
    takes,
)
from mapdag.cli.outputs import print_json
from mapdag.errors import DEFAULT_SCORE, FileError
from mapdag.progress import bar
from mapdag.wording import columns

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
    posterior: Annotated[
        str | None,
        option("--posterior", "FILE", "Tell the probability of each arc: what mapdag posterior --save wrote."),
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

    known = None if posterior is None else md.read_posterior(posterior)
    found = md.diagnose(*read_with_graph(network, read_table), score, alpha=alpha, posterior=known)
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


# figures of the theory -----------------------------------------------------------------------------------------------


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


COMMANDS = (diagnose, theory)
