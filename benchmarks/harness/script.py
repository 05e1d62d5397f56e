"""The command line that all scripts share."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import machine, results
from harness.results import Report
from harness.targets import Target, summary

if TYPE_CHECKING:
    from harness.tables import Table

QUIET = 0.1  # share of the cores that others may use before timings are in doubt
UNTIMED = frozenset(
    {"MiB", "GiB", "nats", "arcs", "graphs", "of hc's", "of 100", "tables"}
)  # what others do does not change these


@dataclass(frozen=True)
class Settings:
    """What the scripts are told: where data are, where results go, and whether to hurry."""

    data: Path | None = None
    out: Path = results.FOLDER
    quick: bool = False


@dataclass(frozen=True)
class Script:
    """One benchmark: a name, what it is about, and how it is measured.

    `measure` takes the settings and returns tables, targets and whatever else is worth keeping; `part` is what it runs
    in processes of its own (see `harness.process.part`).
    """

    name: str
    title: str
    about: str
    measure: Callable[[Settings], tuple[Sequence[Table], Sequence[Target], Any]]
    part: Callable[..., None] | None = None

    def main(self) -> None:
        """Measure, print, and write the results."""
        if sys.argv[1:2] == ["--part"] and self.part is not None:
            self.part(*sys.argv[2:])
            return
        warnings.simplefilter("ignore")  # unusual objectives are timed on purpose
        settings = parse(self.about)
        started, before = machine.describe(), machine.busy()
        tables, targets, raw = self.measure(settings)
        started["busy"] = max(before, machine.busy())
        if started["busy"] > QUIET:
            targets = [_doubted(each) for each in targets]
        shown = {**asdict(settings), "data": "given files" if settings.data else "sampled", "out": None}
        report = Report(self.name, self.title, self.about, tuple(tables), tuple(targets), started, {**shown}, raw=raw)
        results.write(report, settings.out)
        print(report.markdown())
        if targets:
            print(summary(list(targets)).markdown())


def _doubted(target: Target) -> Target:
    """A target that was measured while others used the machine: times cannot be trusted, the rest can."""
    if target.unit in UNTIMED:
        return target
    return replace(target, doubt=target.doubt or "the machine was busy")


def parser(about: str) -> argparse.ArgumentParser:
    """The options of every script."""
    found = argparse.ArgumentParser(description=about)
    data = os.environ.get("BENCH_DATA")
    found.add_argument(
        "--data",
        type=Path,
        default=Path(data) if data else None,
        help="folder of <name>_<n>.csv.gz and <name>_levels.json.gz ($BENCH_DATA); sampled networks unless given",
    )
    found.add_argument("--out", type=Path, default=results.FOLDER, help="where the results go")
    found.add_argument("--quick", action="store_true", help="smaller and fewer: to see whether it works")
    return found


def parse(about: str) -> Settings:
    """Read the options of a script."""
    return settings_of(parser(about).parse_args())


def settings_of(found: argparse.Namespace) -> Settings:
    """Settings from parsed options."""
    if found.data is not None and not found.data.is_dir():
        raise SystemExit(f"--data must be a folder, got {found.data}")
    return Settings(found.data, found.out, found.quick)


def progress(text: str) -> None:
    """Tell whoever is waiting."""
    print(text, file=sys.stderr, flush=True)
