"""Kill first runs at any moment, damage what they leave behind, and see whether the next one recovers by itself.

A copy of the package is made, so that its kernels are compiled anew: ``python tests/fuzz/kills.py --kills 200``. What
is killed learns from a table in memory and from one that is packed, resamples, runs a study, fills gaps, or serves the
explorer. Only what was still running counts as a kill; Ctrl-C comes once or twice.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "mapdag"
_DESIGN = """
name = "tiny"
networks = ["asia", "cancer"]
sizes = ["n=100", "n=200"]
objectives = ["BIC", "BDeu(1)", "MU(c=1)+BDs(1)"]
replicates = 2
test_rows = 100
"""
_SIGNALS = {
    "SIGKILL": [signal.SIGKILL],
    "SIGTERM": [signal.SIGTERM],
    "SIGINT": [signal.SIGINT],
    "SIGINT twice": [signal.SIGINT, signal.SIGINT],
}
#: What is run; `OUT` is what it writes, whole or not at all.
COMMANDS = {
    "learn": ["learn", "table.csv", "--out", "found.bif", "--report", "page.html", "--seed", "1"],
    "bootstrap": ["bootstrap", "table.csv", "-R", "20", "--out", "averaged.json", "--seed", "1"],
    "scan": ["learn", "table.csv", "--scan", "--out", "scanned.bif", "--seed", "1"],
    "study": ["study", "run", "tiny.toml", "--out", "study", "--workers", "2"],
    "impute": ["impute", "cancer", "gaps.csv", "--out", "filled.csv"],
    "explore": ["explore", "--network", "asia", "--rows", "200", "--no-browser", "--session", "session.json"],
}
OUT = {"learn": "found.bif", "scan": "scanned.bif", "impute": "filled.csv", "bootstrap": "averaged.json"}


def start(folder: Path, what: str = "learn") -> subprocess.Popen[str]:
    """Start a first run of the copy: it reads, compiles, learns and writes."""
    command = [sys.executable, "-m", "mapdag", *COMMANDS[what]]
    environment = {**os.environ, "PYTHONPATH": str(folder), "MAPDAG_CACHE": str(folder / "cache")}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, cwd=folder, text=True, **pipes)


def prepare(folder: Path, rng: random.Random) -> None:
    """Copy the package, and write what the commands read."""
    shutil.copytree(PACKAGE, folder / "mapdag", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "table.csv").write_text("a,b,c\n" + "x,u,0\ny,v,1\nx,v,0\ny,u,2\n" * 20)
    (folder / "tiny.toml").write_text(_DESIGN)
    rows = [rng.choice(["low,True,", "high,,False", ",False,False", "low,True,True"]) for _ in range(50)]
    (folder / "gaps.csv").write_text("\n".join(["Pollution,Smoker,Cancer", *rows]) + "\n")


def damage(folder: Path, rng: random.Random) -> None:
    """Cut off, empty or garble some of the files that kernels and scanned tables are cached in."""
    cached = [path for path in folder.rglob("*.nb[ic]") if path.is_file()]
    packed = [path for path in (folder / "cache").rglob("*") if path.is_file()]
    for path in [*rng.sample(cached, min(len(cached), 6)), *rng.sample(packed, min(len(packed), 2))]:
        data = path.read_bytes()
        cut = rng.randrange(len(data) + 1)
        path.write_bytes(rng.choice([data[:cut], b"", data[:cut] + os.urandom(10), os.urandom(len(data) // 2)]))
    stamp = next(folder.rglob("kernels.stamp"), None)
    if stamp is not None and rng.random() < 0.3:
        stamp.write_text(stamp.read_text()[: rng.randrange(200)])


def finished(folder: Path, expected: dict[str, str]) -> None:
    """Let runs go on to their end, two of the first side by side; what they write is always the same."""
    for whats in (["learn", "learn"], ["scan", "impute"], ["study", "bootstrap"]):
        for what, process in [(what, start(folder, what)) for what in whats]:
            _, told = process.communicate(timeout=900)
            assert process.returncode == 0, f"{what}: {told}"
            assert "Traceback" not in told, f"{what}: {told}"
        for what in whats:
            if what in OUT:
                found = (folder / OUT[what]).read_text()
                assert expected.setdefault(what, found) == found
    with sqlite3.connect(folder / "study" / "results.sqlite") as db:
        (cells,) = db.execute("SELECT count(*) FROM results").fetchone()
    db.close()
    assert cells == 24


def check(folder: Path, expected: dict[str, str]) -> None:
    """See that whatever a killed run has written is there in full, or not at all."""
    for what, name in OUT.items():
        path = folder / name
        if path.exists() and what in expected:
            assert path.read_text() == expected[what], name
    page = folder / "page.html"
    assert not page.exists() or page.read_text().endswith("</html>\n"), page.read_text()[-100:]
    session = folder / "session.json"
    if session.exists() and session.read_text():
        json.loads(session.read_text())


class Tally:
    """What became of the kills so far."""

    def __init__(self) -> None:
        self.kills = self.tracebacks = 0
        self.slowest = dict.fromkeys(_SIGNALS, 0.0)  # seconds until the end

    def __str__(self) -> str:
        slowest = ", ".join(f"{each:.1f} s after {how}" for how, each in self.slowest.items())
        return f"{self.kills} kills, {self.tracebacks} tracebacks; the longest time to the end {slowest}"


def kill(folder: Path, what: str, after: float, how: str, tally: Tally) -> None:
    """Start something, and end it after some seconds, if it has not ended by itself."""
    process = start(folder, what)
    time.sleep(after)
    began = time.monotonic()
    killed = process.poll() is None
    if killed:
        tally.kills += 1
        for each in _SIGNALS[how]:
            process.send_signal(each)
            time.sleep(0.05)
    try:
        _, told = process.communicate(timeout=300)  # what was found until Ctrl-C is written, by kernels to be compiled
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"{what} goes on after {how}") from None
    tally.slowest[how] = max(tally.slowest[how], time.monotonic() - began if killed else 0.0)
    # Before our first line, nobody can help: then none of our files is named.
    if "internal error" in told or ("Traceback" in told and str(folder / "mapdag") in told):
        tally.tracebacks += 1
        print(f"{what}, {how} after {after:.2f} s:\n{told}", flush=True)  # noqa: T201


def main() -> None:
    """Kill and recover."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=20, help="kills between two runs that must go well")
    parser.add_argument("--report", default=None, help="add what became of them to this file")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background, shells have it ignored
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="mapdag-kills-") as name:
        folder = Path(name)
        prepare(folder, rng)
        expected: dict[str, str] = {}
        tally, recovered = Tally(), 0
        while tally.kills < options.kills:
            what = rng.choice(["learn", "learn", *COMMANDS])
            longest = rng.choice([1.5, 8.0])  # with and without kernels to compile
            kill(folder, what, rng.uniform(0.05, longest), rng.choice(["SIGKILL", *_SIGNALS]), tally)
            check(folder, expected)
            if expected and rng.random() < 0.5:  # so that the next one has something to write
                (folder / OUT[rng.choice(list(OUT))]).unlink(missing_ok=True)
            if rng.random() < 0.1:
                shutil.rmtree(folder / "study", ignore_errors=True)
            if tally.kills // options.every > recovered:
                finished(folder, expected)
                damage(folder, rng)
                recovered += 1
                print(f"{tally}; recovered", flush=True)  # noqa: T201
        left = [path.name for path in folder.glob(".*.tmp")]
        told = f"{tally}; {recovered} recoveries, {len(left)} files left behind"
        print(told)  # noqa: T201
        if options.report:
            with Path(options.report).open("a", encoding="utf-8") as file:
                file.write(f"\n`tests/fuzz/kills.py --kills {options.kills}`: {told}.\n")
        sys.exit(1 if tally.tracebacks else 0)


if __name__ == "__main__":
    main()
