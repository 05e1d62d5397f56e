"""The command ``posterior``: how probable arcs and graphs are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

import mapdag as md
from mapdag.cli.options import (
    Json,
    Limits,
    OutGraph,
    ReadTable,
    Report,
    Seed,
    limit_options,
    option,
    table_options,
    takes,
)
from mapdag.cli.outputs import check_out, check_page, command_line, print_json, write_drawable
from mapdag.errors import DEFAULT_SCORE
from mapdag.progress import bar
from mapdag.wording import plural

if TYPE_CHECKING:
    from mapdag import Posterior

_BEST = 5  # graphs and classes that are told


@takes(read_table=table_options, limits=limit_options)
def posterior(  # noqa: PLR0917 - typer calls it by keyword
    read_table: ReadTable,
    limits: Limits,
    score: Annotated[str, option("--score", "EXPR", "Objective.")] = DEFAULT_SCORE,
    method: Annotated[
        str, option("--method", "NAME", "exact (at most 18 columns), chains (Markov chains), or auto.")
    ] = "auto",
    chains: Annotated[int, option("--chains", "K", "Markov chains.")] = 4,
    n_draws: Annotated[int, option("--draws", "K", "Graphs to draw where the method is exact.")] = 1000,
    error: Annotated[
        float, option("--error", "X", "Run chains until no arc has a larger Monte Carlo standard error.")
    ] = 0.005,
    sweeps: Annotated[int, option("--sweeps", "K", "Most sweeps over all nodes, of each chain.")] = 100_000,
    threshold: Annotated[float, option("--threshold", "P", "Of the consensus graph, for --out.")] = 0.5,
    time_limit: Annotated[
        float | None, option("--time-limit", "S", "Seconds, compilation left out; then what chains have by then.")
    ] = None,
    threads: Annotated[int | None, option("--threads", "T", "Threads; all cores unless given.")] = None,
    seed: Seed = 0,
    save: Annotated[str | None, option("--save", "FILE", "Write it to a file for mapdag.read_posterior.")] = None,
    out: OutGraph = None,
    report: Report = None,
    json: Json = False,
) -> None:
    """Say how probable each arc is, over all graphs: the posterior, not only its maximum.

    --out takes the consensus graph: the arcs above a probability. --report learns the best graph, too, and shows both.
    """
    check_out(out, "graph", "picture")
    check_page(report, drawn=True)
    if save is not None:
        from mapdag.io import check_writable

        check_writable(save)
    from mapdag.search.warmup import warm_up

    warm_up()
    table = read_table()
    shared: dict[str, Any] = {**limits, "time_limit": time_limit, "threads": threads, "seed": seed}
    how: dict[str, Any] = {"method": method, "chains": chains, "draws": n_draws, "error": error, "sweeps": sweeps}
    with bar(quiet=json, lines=False) as shown:
        found = md.posterior(table, score, progress=shown.search, **how, **shared)
        best = None if report is None else md.learn(table, found.objective, progress=shown.search, **shared)
    consensus = found.consensus(threshold)
    if json:
        print_json(_as_json(found, threshold))
    else:
        typer.echo(f"{found}\nconsensus graph: {plural(consensus.n_arcs, 'arc')} above {threshold:g}")
    if save is not None:
        found.save(save)
    if out is not None:
        write_drawable(consensus, out)
    if best is not None and report is not None:
        best.report(report, posterior=found, name=read_table.name, command=command_line())
    for file in (save, out, report):
        if file is not None and not json:
            typer.echo(f"written to {file}")


def _as_json(found: Posterior, threshold: float) -> dict[str, Any]:
    known = found.convergence
    diagnosis = None
    if known is not None:
        diagnosis = {
            "chains": known.chains,
            "sweeps": known.sweeps,
            "finished": known.finished,
            "largest_error": float(known.error.max(initial=0.0)),
            "score_r_hat": _finite(known.score_r_hat),
            "score_ess": _finite(known.score_ess),
        }
    return {
        "objective": str(found.objective),
        "method": found.method,
        "stopped": found.stopped,
        "seconds": found.seconds,
        "log_evidence": _finite(found.log_evidence),
        "left_out": found.left_out,
        "advice": found.advice,
        "diagnosis": diagnosis,
        "arcs": [{**arc._asdict(), "edge": found.edge(arc.start, arc.end)} for arc in found.arcs()],
        "consensus": {"threshold": threshold, "arcs": found.consensus(threshold).arcs},
        "best": [
            {"score": each.score, "probability": each.probability, "arcs": each.dag.arcs} for each in found.best(_BEST)
        ],
        "classes": [
            {"probability": each.probability, "arcs": each.cpdag.arcs, "edges": each.cpdag.edges}
            for each in found.best_classes(_BEST)
        ],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


COMMANDS = (posterior,)
