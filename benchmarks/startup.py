"""The first run after an installation, when the kernels are compiled, and later ones."""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from harness.samples import SEED
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target
from harness.timing import Rounds, best_of, timed


def fresh_copy(folder: Path) -> Path:
    """The package as an installer leaves it: compiled to bytecode, without a cache of kernels."""
    import mapdag

    site = folder / "site"
    source = Path(mapdag.__file__).parent
    shutil.copytree(source, site / "mapdag", ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(site, quiet=1)
    return site


def learn(site: Path, table: Path, *options: str) -> None:
    """Run `mapdag learn` on a table as from a shell."""
    settings = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    command = [sys.executable, "-m", "mapdag", "learn", str(table), *options]
    subprocess.run(command, env={**settings, "PYTHONPATH": str(site)}, check=True, capture_output=True)


def first_run(table: Path) -> tuple[float, float]:
    """Seconds of the first run of a fresh copy, and those of its CPU time."""
    with tempfile.TemporaryDirectory() as name:
        site = fresh_copy(Path(name))
        return timed(partial(with_cpu, partial(learn, site, table)))


def with_cpu(function: Callable[[], Any]) -> float:
    """Call a function; return the CPU seconds of the processes that it started and waited for."""
    before = os.times()
    function()
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def alone() -> None:
    """Start Python and import what is needed in any case."""
    subprocess.run([sys.executable, "-c", "import numba, polars"], check=True)


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    import mapdag as md

    with tempfile.TemporaryDirectory() as name:
        table = Path(name) / "asia.csv"
        md.network("asia").sample(2_000, seed=SEED).to_polars().write_csv(table)
        progress("startup: first runs")
        firsts = [first_run(table) for _ in range(1 if settings.quick else 2)]
        progress("startup: later runs")
        site = fresh_copy(Path(name))
        learn(site, table)
        rounds = Rounds(least=3, most=8, budget=8.0)
        later = best_of(partial(with_cpu, partial(learn, site, table)), rounds)
        bare = best_of(partial(with_cpu, alone), rounds)
    rows = (
        ("first run after installation", *min(firsts)),
        ("later runs", later.best, later.value),
        ("of which Python, numba and polars alone", bare.best, bare.value),
    )
    note = "Whole processes, from start to exit. CPU seconds are of the best first run, and of the last of the others."
    found = Table("`mapdag learn` on asia, 2,000 rows", ("what", "s", "CPU s"), rows, note)
    targets = [
        Target("first run after installation, `mapdag learn` on asia", "<=", 25, min(firsts)[0], "s"),
        Target("later runs, `mapdag learn` on asia", "<=", 1.5, later.best, "s"),
    ]
    return [found], targets, {"first": firsts, "later": later.seconds}


if __name__ == "__main__":
    Script("startup", "Start-up", __doc__ or "", measure).main()
