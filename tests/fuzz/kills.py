"""Kill first runs at any moment, damage what they leave behind, and see whether the next one recovers by itself.

A copy of the package is made, so that its kernels are compiled anew: ``python tests/fuzz/kills.py --kills 200``.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "mapdag"
_EVERY = 20  # kills between two runs that must go well


def start(folder: Path) -> subprocess.Popen[str]:
    """Start a first run of the copy: it reads, compiles, learns and writes."""
    command = [sys.executable, "-m", "mapdag", "learn", "table.csv", "--out", "found.bif", "--seed", "1"]
    environment = {**os.environ, "PYTHONPATH": str(folder), "MAPDAG_CACHE": str(folder / "cache")}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, cwd=folder, text=True, **pipes)


def damage(folder: Path, rng: random.Random) -> None:
    """Cut off, empty or garble some of the files that kernels are cached in."""
    cached = [path for path in folder.rglob("*.nb[ic]") if path.is_file()]
    for path in rng.sample(cached, min(len(cached), 6)):
        data = path.read_bytes()
        cut = rng.randrange(len(data) + 1)
        path.write_bytes(rng.choice([data[:cut], b"", data[:cut] + os.urandom(10), os.urandom(len(data) // 2)]))
    stamp = next(folder.rglob("kernels.stamp"), None)
    if stamp is not None and rng.random() < 0.3:
        stamp.write_text(stamp.read_text()[: rng.randrange(200)])


def finished(folder: Path, expected: str | None) -> str:
    """Let two runs go on to their end, side by side; return the network that they write, always the same."""
    both = [start(folder), start(folder)]
    for process in both:
        _, told = process.communicate(timeout=900)
        assert process.returncode == 0, told
        assert "Traceback" not in told, told
    found = (folder / "found.bif").read_text()
    assert expected in {None, found}
    return found


def main() -> None:
    """Kill and recover."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="mapdag-kills-") as name:
        folder = Path(name)
        shutil.copytree(PACKAGE, folder / "mapdag", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "table.csv").write_text("a,b,c\n" + "x,u,0\ny,v,1\nx,v,0\ny,u,2\n" * 20)
        expected, tracebacks = None, 0
        for kill in range(options.kills):
            process = start(folder)
            time.sleep(rng.uniform(0.05, 8.0))
            process.send_signal(rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
            _, told = process.communicate(timeout=900)
            tracebacks += "Traceback" in told and "runpy" not in told  # before our first line, nobody can help
            if kill % _EVERY == _EVERY - 1:
                expected = finished(folder, expected)
                damage(folder, rng)
                print(f"{kill + 1} kills, {tracebacks} tracebacks; recovered", flush=True)  # noqa: T201
        left = [path.name for path in folder.glob(".*.tmp")]
        print(f"{options.kills} kills, {tracebacks} tracebacks, {len(left)} files left behind")  # noqa: T201


if __name__ == "__main__":
    main()
