"""This version against an earlier one, in turns: speed and scores of searches, start-up, memory, and the source itself.

The earlier one is a git revision, in BENCH_AGAINST; HEAD, that is what is not committed yet, unless given. Only its
source is taken: both versions run with the same Python and the same packages.
"""

from __future__ import annotations

import ast
import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import startup
from harness import process
from harness.samples import ALARM, SEED, Sample
from harness.script import Script, Settings, progress
from harness.tables import Table, geometric_mean
from harness.targets import Target

ROOT = Path(__file__).parent.parent
ALLOWED = 1.03  # times as long as before

CLIMBED = (ALARM, Sample("hailfinder", 13_280), Sample("win95pts", 5_740), Sample("andes", 5_785))
OBJECTIVES = ("U+BDeu(1)", "MU(c=1)+BDs(1)")
FEW = 14  # columns of exact search
#: What is timed: a search, on which data, under what, how often at a time.
CASES = (
    *(("hc", sample.network, sample.n, each, 10) for sample in CLIMBED for each in OBJECTIVES),
    *(("orders", "alarm", 5_000, each, 1) for each in OBJECTIVES),
    *(("exact", "alarm", 1_000, each, 3) for each in (*OBJECTIVES, "BIC", "U+qNML")),
)
QUICK = (("hc", "asia", 500, "BIC", 3), ("exact", "asia", 500, "BIC", 1))

_TRIVIAL = """
import time, json, numpy as np
start = time.perf_counter()
from numba import njit
imported = time.perf_counter() - start
@njit(cache=True)
def first(x):
    return x[0]
first(np.zeros(1))
line = next(line for line in open("/proc/self/status") if line.startswith("VmRSS"))
print(json.dumps([imported, time.perf_counter() - start - imported, int(line.split()[1]) / 1024]))
"""


def learn(case: str) -> None:
    """Print the best of some times of one search, and its score."""
    import mapdag as md

    search, network, n, objective, repeats = json.loads(case)
    data = md.network(network).sample(n, seed=SEED)
    if search == "exact":
        data = data.select(list(data.names[:FEW]))
    options = {"search": search, "threads": 1, **({"order": "columns"} if search == "hc" else {})}
    found = md.learn(data, objective, **options)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        md.learn(data, objective, **options)
        seconds.append(time.perf_counter() - start)
    print(json.dumps([min(seconds), found.score]))


def first_search(_: str) -> None:
    """Print the seconds of the first search of a process whose kernels are on the disk, and its memory afterwards."""
    import mapdag as md

    data = md.network("alarm").sample(500, seed=SEED)
    start = time.perf_counter()
    md.learn(data, search="hc")
    print(json.dumps([time.perf_counter() - start, process.memory()]))


def with_source(site: Path, name: str, argument: str = "") -> Any:
    """Run a part of this script with the package in a folder."""
    os.environ["PYTHONPATH"], before = str(site), os.environ.get("PYTHONPATH", "")
    try:
        return process.part(__file__, name, argument)
    finally:
        os.environ["PYTHONPATH"] = before


def versions(folder: Path) -> dict[str, Path]:
    """The source of both, side by side."""
    revision = os.environ.get("BENCH_AGAINST", "HEAD")
    packed = subprocess.run(["git", "-C", str(ROOT), "archive", revision, "src"], check=True, capture_output=True)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder / "before", filter="data")
    return {"before": folder / "before" / "src", "now": startup.fresh_copy(folder)}


def describe(site: Path) -> dict[str, float]:
    """Figures of the source: lines, files, and what makes code hard to read."""
    files = sorted((site / "mapdag").rglob("*.py"))
    lengths = [len(path.read_text(encoding="utf-8").splitlines()) for path in files]
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    functions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    annotations = [node.annotation for node in nodes if isinstance(node, (ast.AnnAssign, ast.arg)) and node.annotation]
    annotations += [function.returns for function in functions if function.returns is not None]
    return {
        "lines": sum(lengths),
        "files": len(files),
        "median length of a file": statistics.median(lengths),
        "longest file": max(lengths),
        "`Any` in annotations": sum(
            isinstance(part, ast.Name) and part.id == "Any" for each in annotations for part in ast.walk(each)
        ),
        "functions over 60 lines": sum((f.end_lineno or 0) - f.lineno >= 60 for f in functions),
        "functions of more than eight arguments": sum(_arguments(f) > 8 for f in functions),
    }


def _arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    every = [each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    return len(every) - (every[:1] in (["self"], ["cls"]))


def start_up(sites: dict[str, Path], folder: Path, rounds: int) -> list[tuple[Any, ...]]:
    """Seconds until there is a result, and memory, the first time and later."""
    table = folder / "alarm.csv"
    import mapdag as md

    md.network("alarm").sample(2_000, seed=SEED).to_polars().write_csv(table)
    measured: dict[str, dict[str, list[float]]] = {}

    def note(what: str, version: str, value: float) -> None:
        measured.setdefault(what, {}).setdefault(version, []).append(value)

    for _ in range(rounds):
        for version, site in sites.items():
            for search in ("hc", "orders"):
                for cached in (*site.rglob("*.nbi"), *site.rglob("*.nbc")):
                    cached.unlink(missing_ok=True)
                begun = partial(startup.learn, site, table, "--search", search)
                note(f"first `mapdag learn --search {search}`, s", version, startup.timed(begun)[0])
                time.sleep(10)  # a second process may still be compiling
            note("later `mapdag learn --search hc`, s", version, startup.timed(partial(startup.learn, site, table))[0])
            seconds, memory = with_source(site, "first_search")
            note("first `md.learn` of a process, kernels on the disk, s", version, seconds)
            note("memory after it, MiB", version, memory)
    return [(what, min(found["before"]), min(found["now"])) for what, found in measured.items()]


def floor(folder: Path) -> tuple[float, float, float]:
    """What numba takes by itself: seconds to import it, seconds and MiB for one trivial kernel that is on the disk."""
    script = folder / "trivial.py"
    script.write_text(_TRIVIAL, encoding="utf-8")
    found = [json.loads(subprocess.check_output([sys.executable, str(script)])) for _ in range(4)]
    imported, called, memory = (min(each) for each in zip(*found[1:], strict=True))
    return imported, called, memory


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    cases, rounds = (QUICK, 1) if settings.quick else (CASES, 3)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sites = versions(folder)
        times: dict[Any, dict[str, list[Any]]] = {case: {"before": [], "now": []} for case in cases}
        for turn in range(rounds):
            progress(f"versions: searches, round {turn + 1} of {rounds}")
            for case, found in times.items():
                for version, site in sites.items():
                    found[version].append(with_source(site, "learn", json.dumps(case)))
        progress("versions: start-up")
        started = [] if settings.quick else start_up(sites, folder, 2)
        bare = floor(folder)
        described = {version: describe(site) for version, site in sites.items()}
    rows, by_search = [], dict[str, list[float]]()
    for (search, network, n, objective, _), found in times.items():
        before, now = (min(seconds for seconds, _ in found[version]) for version in ("before", "now"))
        same = len({score for each in found.values() for _, score in each}) == 1
        rows.append((search, f"{network} {n}", objective, 1e3 * before, 1e3 * now, now / before, same))
        by_search.setdefault(search, []).append(now / before)
    columns = ("search", "data", "objective", "before, ms", "now, ms", "now / before", "same score")
    note = (
        f"numba by itself: {bare[0]:.2f} s to import, then {bare[1]:.2f} s and {bare[2]:.0f} MiB for a trivial kernel."
    )
    tables = [
        Table("Searches, one thread, best of all rounds", columns, tuple(rows)),
        Table("Start-up", ("what", "before", "now"), tuple(started), note),
        Table(
            "The source",
            ("what", "before", "now"),
            tuple((what, described["before"][what], described["now"][what]) for what in described["now"]),
        ),
    ]
    targets = [
        Target(f"search={search}, time now / before", "<=", ALLOWED, geometric_mean(found), "x")
        for search, found in by_search.items()
    ]
    return tables, targets, {"ratios": by_search, "start-up": started, "numba": bare, "source": described}


def part(name: str, argument: str) -> None:
    """What runs in a process of its own."""
    {"learn": learn, "first_search": first_search}[name](argument)


if __name__ == "__main__":
    Script("versions", "Versions", __doc__ or "", measure, part).main()
