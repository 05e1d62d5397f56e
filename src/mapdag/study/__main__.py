"""``python -m mapdag.study``: run a study where only numpy, scipy and numba are installed.

The same as ``mapdag study``, with the standard library's argument parser and plain lines instead of a live one. Results
from several machines are put together with ``merge``.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Any

from mapdag.errors import MapdagError
from mapdag.study import read_design, run, status
from mapdag.study.store import merge
from mapdag.wording import duration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mapdag.study import Progress

_EVERY = 10.0  # seconds between two lines of progress


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    options = vars(_parser().parse_args(arguments))
    try:
        code: int = options.pop("command")(**options)
    except MapdagError as error:
        sys.stderr.write(f"mapdag: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("mapdag: interrupted; run again to go on\n")
        return 130
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m mapdag.study", description="Run a simulation study.")
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run", help="run a design, or go on with it")
    running.set_defaults(command=_run)
    running.add_argument("design", help="paper, quick, or a TOML file")
    running.add_argument("--out", required=True, metavar="DIR", help="where the results go")
    running.add_argument("--workers", type=int, metavar="N", help="processes; all cores unless given")
    running.add_argument("--scheduler", dest="cluster", metavar="ADDRESS", help="of Dask: its workers instead")
    running.add_argument("--device", choices=("cpu", "cuda", "auto"), default="cpu", help="where rows are counted")
    running.add_argument("--time-limit", type=float, metavar="SECONDS", help="begin no new cell after that")
    running.add_argument("--grace", type=float, default=10.0, metavar="SECONDS", help="for cells in flight at the end")
    running.add_argument("--order", choices=("cheapest", "longest"), default="cheapest", help="what comes first")
    running.add_argument("--quick", action="store_true", help="a small part of the design, for a first look")
    running.add_argument("--seed", type=int, metavar="S", help="another seed than the design's")
    running.add_argument("--replicates", type=int, metavar="K", help="the first K samples only")
    running.add_argument("--fresh", action="store_true", help="throw away results of another seed or version")
    for name in ("networks", "sizes", "columns", "searches"):
        running.add_argument(f"--{name}", metavar="A,B", type=lambda text: text.split(","), help="only these")
    showing = commands.add_parser("status", help="say what is done")
    showing.set_defaults(command=_status)
    showing.add_argument("directory", metavar="DIR")
    merging = commands.add_parser("merge", help="put results of several machines together")
    merging.set_defaults(command=_merge)
    merging.add_argument("sources", nargs="+", metavar="DIR")
    merging.add_argument("--out", required=True, metavar="DIR", help="where they go; may have results already")
    merging.add_argument("--fresh", action="store_true", help="leave out what a newer version among them has changed")
    return parser


def _run(*, design: str, out: str, seed: int | None, quick: bool, **options: Any) -> int:
    whole = read_design(design, seed=seed)
    parts = {name: options.pop(name) for name in ("networks", "sizes", "columns", "searches", "replicates")}
    chosen = (whole.shortened() if quick else whole).restricted(**parts)
    outcome = run(chosen, out, progress=_lines(), **options)
    for failure in outcome.failures:
        sys.stderr.write(f"mapdag: failed: {failure}\n")
    sys.stdout.write(f"{outcome}\n")
    return 1 if outcome.failures else 0


def _lines() -> Callable[[Progress], None]:
    last = 0.0

    def tell(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last > _EVERY:
            last = time.monotonic()
            sys.stderr.write(f"{duration(progress.seconds)}: {progress}\n")
            sys.stderr.flush()

    return tell


def _status(*, directory: str) -> int:
    found = status(directory)
    sys.stdout.write(f"{found.design}: {found.progress.done:,} of {found.progress.total:,} cells are done\n")
    for share in found.progress.networks:
        sys.stdout.write(f"{share.network:12} {share.done:7,} of {share.total:,}\n")
    return 0


def _merge(*, sources: Sequence[str], out: str, fresh: bool) -> int:
    for source, cells in merge(sources, out, fresh=fresh).items():
        sys.stdout.write(f"{source}: {cells:,} new cells\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
