"""Commands of the simulation study: ``study run``, ``status``, ``report``, ``export`` and ``merge``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from mapdag.cli.options import Json, Scheduler, one_cluster, option
from mapdag.cli.outputs import check_page, command_line, print_json
from mapdag.errors import MissingExtraError, StudyError
from mapdag.progress import bar
from mapdag.wording import columns as align
from mapdag.wording import duration, plural

if TYPE_CHECKING:
    from mapdag.paper.report import Report
    from mapdag.study.progress import Progress

app = typer.Typer(help="Run the paper's simulation study, or one's own.", no_args_is_help=True)

Directory: TypeAlias = Annotated[str, typer.Argument(metavar="DIR", help="Where the results are.")]
_EVERY = 30.0  # seconds between two lines where there is no terminal


def _several(text: str | None) -> list[str] | None:
    return None if text is None else [each.strip() for each in text.split(",")]


def _only(name: str, what: str) -> Any:
    return typer.Option(name, metavar="A,B", help=f"Only these {what}.")


@app.command("run")
def run(  # noqa: PLR0917 - typer calls it by keyword
    design: Annotated[str, typer.Argument(metavar="DESIGN", help="paper, quick, or a TOML file.")],
    out: Annotated[str, option("--out", "DIR", "Where the results go.")],
    workers: Annotated[int | None, option("--workers", "N", "Processes; all cores unless given.")] = None,
    scheduler: Scheduler = None,
    device: Annotated[str, option("--device", "NAME", "Where rows are counted: cpu, cuda or auto.")] = "cpu",
    time_limit: Annotated[float | None, option("--time-limit", "SECONDS", "Begin no new cell after that.")] = None,
    grace: Annotated[float, option("--grace", "SECONDS", "For cells in flight at the time limit.")] = 10.0,
    order: Annotated[str, option("--order", "HOW", "What comes first: cheapest or longest.")] = "cheapest",
    quick: Annotated[bool, typer.Option("--quick", help="A small part of the design, for a first look.")] = False,
    seed: Annotated[int | None, option("--seed", "S", "Another seed than the design's.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Throw away results of another seed or version.")] = False,
    networks: Annotated[str | None, _only("--networks", "networks")] = None,
    sizes: Annotated[str | None, _only("--sizes", "sizes of samples, n/p")] = None,
    columns: Annotated[str | None, _only("--columns", "orders of the columns: file, shuffled")] = None,
    searches: Annotated[str | None, _only("--searches", "searches")] = None,
    replicates: Annotated[int | None, option("--replicates", "K", "The first K samples only.")] = None,
) -> None:
    """Run a study, or go on with it.

    What is done already is not done again.
    """
    from mapdag.study import read_design
    from mapdag.study import run as run_study

    one_cluster(scheduler, workers)
    whole = read_design(design, seed=seed)
    chosen = (whole.shortened() if quick else whole).restricted(
        networks=_several(networks),
        sizes=_several(sizes),
        columns=_several(columns),
        searches=_several(searches),
        replicates=replicates,
    )
    with _progress() as show:
        outcome = run_study(
            chosen,
            out,
            workers=workers,
            cluster=scheduler,
            device=device,
            time_limit=time_limit,
            order=order,  # type: ignore[arg-type]  # checked there
            fresh=fresh,
            grace=grace,
            progress=show,
        )
    for failure in outcome.failures:
        typer.echo(f"mapdag: failed: {failure}", err=True)
    typer.echo(f"{outcome}; results in {out}")
    if outcome.failures:
        raise typer.Exit(1)


@contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """Show how far a run is: in place on a terminal, otherwise a line now and then."""
    with bar(lines=False) as shown:
        last = time.monotonic()

        def tell(progress: Progress) -> None:
            nonlocal last
            shown.show(str(progress))
            if not sys.stderr.isatty() and time.monotonic() - last > _EVERY:
                last = time.monotonic()
                typer.echo(f"{duration(progress.seconds)}: {progress}", err=True)

        yield tell


@app.command("status")
def show_status(directory: Directory, json: Json = False) -> None:
    """Say what is done of the design that a directory was last run with."""
    from mapdag.study import status

    found = status(directory)
    if json:
        by_network = {share.network: [share.done, share.total] for share in found.progress.networks}
        done = {"design": found.design, "done": found.progress.done, "total": found.progress.total}
        print_json({**done, "networks": by_network, "elsewhere": found.elsewhere, "runs": list(found.runs)})
        return
    typer.echo(f"{found.design}: {found.progress.done:,} of {found.progress.total:,} cells are done")
    rows = [["network", "done", "of"]]
    rows += [[share.network, f"{share.done:,}", f"{share.total:,}"] for share in found.progress.networks]
    typer.echo(align(rows, right=(1, 2)))
    if found.elsewhere:
        typer.echo(f"{found.elsewhere:,} more cells belong to other designs")
    for each in found.runs:
        seconds = duration(float(each["seconds"]))  # type: ignore[arg-type]
        typer.echo(
            f"run {each['id']}: {each['started']}, {plural(int(each['cells']), 'cell')} in {seconds}, "  # type: ignore[call-overload]
            f"{plural(int(each['workers']), 'worker')}"  # type: ignore[call-overload]
        )


@app.command("report")
def report(
    directory: Directory,
    form: Annotated[str, option("--format", "HOW", "text, markdown, latex or csv.")] = "text",
    columns: Annotated[str | None, option("--columns", "HOW", "Only file, or shuffled.")] = None,
    search: Annotated[str | None, option("--search", "NAME", "Only this search.")] = None,
    claims: Annotated[bool, typer.Option("--claims", help="Only the claims.")] = False,
    compare: Annotated[list[str], option("--compare", "EXPR", "Instead: compare objectives; give two or more.")] = [],  # noqa: B006 - typer copies it
    metric: Annotated[str, option("--metric", "NAME", "To compare by: shd, arcs, loglik, precision, recall.")] = "shd",
    out: Annotated[str | None, option("--out", "DIR", "Write all formats, comparisons and figures there.")] = None,
    html: Annotated[str | None, option("--html", "FILE", "Write a page to look at in a browser: .html.")] = None,
) -> None:
    """Print the paper's tables and claims beside what was measured.

    Its nine tables, and every claim of its section 4.
    """
    from dataclasses import replace

    from mapdag.paper.claims import RESAMPLES
    from mapdag.paper.report import make_report, render_report

    check_page(html)
    found = make_report(directory, resamples=0 if compare else RESAMPLES)
    if not found.arms:
        raise StudyError(f"{directory}: there are no results here yet")
    arms = tuple(
        arm for arm in found.arms if columns in (None, arm.panel.columns) and search in (None, arm.panel.search)
    )
    if not arms:
        asked = " and ".join(
            f"{name} {wanted}" for name, wanted in (("columns", columns), ("search", search)) if wanted
        )
        raise typer.BadParameter(f"there are no results with {asked}")
    found = replace(found, arms=arms)
    if compare:
        typer.echo(_comparisons(found, compare, metric, form))
    elif out is not None or html is not None:
        _write(found, out, html)
    else:
        typer.echo(render_report(found, form, tables=not claims))


def _comparisons(found: Report, objectives: list[str], metric: str, form: str) -> str:
    from mapdag.study.formats import check_format
    from mapdag.study.goals import canonical
    from mapdag.study.pairings import compare_all, render_pairings

    if len(objectives) < 2:
        raise typer.BadParameter("--compare must be given at least twice")
    parts = []
    wanted = [canonical(each) for each in objectives]
    for arm in [arm for arm in found.arms if arm.panel.has(wanted)] or found.arms[:1]:  # or say what is missing
        pairings = compare_all(arm.panel, metric, objectives=objectives)
        parts.append(f"{arm.panel.arm}\n\n{render_pairings(pairings, check_format(form))}")
    return "\n".join(parts)


def _write(found: Report, out: str | None, html: str | None) -> None:
    if html is not None:
        from mapdag.report.study import write_study

        write_study(found, html, command=command_line())
        typer.echo(f"written to {html}")
    if out is not None:
        _write_files(found, out)


def _write_files(found: Report, out: str) -> None:
    from mapdag.paper.report import write_report
    from mapdag.plots.study import write_figures

    files = write_report(found, out)
    try:
        files += write_figures(found, Path(out) / "figures")
    except MissingExtraError as error:
        typer.echo(f"mapdag: warning: no figures: {error}", err=True)
    typer.echo(f"{plural(len(files), 'file')} written to {out}")


@app.command("export")
def export(
    directory: Directory,
    out: Annotated[str, option("--out", "FILE", "Ends in .csv, .csv.gz or .parquet.")],
) -> None:
    """Write all rows to one file."""
    from mapdag.study.export import export as write_rows

    typer.echo(f"{plural(write_rows(directory, out), 'row')} written to {out}")


@app.command("merge")
def merge(
    directories: Annotated[list[str], typer.Argument(metavar="DIR...", help="Results of the same study.")],
    out: Annotated[str, option("--out", "DIR", "Where they go; may have results already.")],
    fresh: Annotated[bool, typer.Option("--fresh", help="Leave out what a newer version among them changed.")] = False,
) -> None:
    """Put the results of several machines together."""
    from mapdag.study.store import merge as merge_results

    for source, cells in merge_results(directories, out, fresh=fresh).items():
        typer.echo(f"{source}: {plural(cells, 'new cell')}")
