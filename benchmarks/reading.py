"""Reading a CSV file into a Dataset against `polars.read_csv` of the same file: time and peak memory.

Each reading runs in a process of its own; the contenders take turns, and the best of several rounds counts.

    python benchmarks/reading.py --rows 1000000 --columns 37 --rounds 5
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

LABELS = ["LOW", "NORMAL", "HIGH", "ZERO", "TRUE", "FALSE", "ESOPHAGEAL", "ONESIDED"]
KINDS = {
    "strings": "labels like ALARM's, two to four a column",
    "integers": "codes from 0 to 3",
    "signed": "codes from -1 to 2",
    "quoted": "the same labels in quotes, a tenth of the last column missing",
    "mixed": "strings and integers in turn",
    "coded": "codes from 0 to 3 with declared levels, found out to be codes",
    "dropped": "as quoted, rows with missing values left out",
    "blanks": "codes from 0 to 3, separated by two blanks (polars: by commas)",
}


def make(kind: str, path: Path, rows: int, columns: int, seed: int) -> None:
    """Write a table of random categories."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(seed)
    table = {}
    for j in range(columns):
        card = [2, 3, 4, 2, 3][j % 5]
        codes = rng.choice(card, size=rows, p=rng.dirichlet(np.full(card, 2.0)))
        if kind in {"integers", "signed", "coded", "blanks"} or (kind == "mixed" and j % 2):
            table[f"V{j + 1}"] = pl.Series(codes.astype(np.int8) - (kind == "signed"))
        else:
            labels = [LABELS[(j + k) % len(LABELS)] for k in range(card)]
            table[f"V{j + 1}"] = pl.Series(np.array(labels)[codes])
    frame = pl.DataFrame(table)
    if kind in {"quoted", "dropped"}:
        holes = pl.Series(rng.random(rows) < 0.1)
        last = frame.columns[-1]
        frame = frame.with_columns(pl.when(holes).then(None).otherwise(pl.col(last)).alias(last))
        frame.write_csv(path, quote_style="non_numeric")
    else:
        frame.write_csv(path)
    if kind == "blanks":
        path.with_suffix(".txt").write_bytes(path.read_bytes().replace(b",", b"  "))


def peak() -> float:
    """Return the peak memory of this process in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss would count the parent's memory, inherited by the fork
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def measure(contender: str, path: Path) -> None:
    """Read the file once, and print what it took."""
    import polars as pl

    from mapdag.data import read

    options: dict[str, Any] = {"missing": "drop" if path.stem == "dropped" else "level"}
    if path.stem == "coded":
        with path.open() as file:
            options["levels"] = dict.fromkeys(file.readline().strip().split(","), LABELS[:4])
        warnings.simplefilter("ignore")
    source = path.with_suffix(".txt") if path.stem == "blanks" else path
    before = peak()
    start = time.perf_counter()
    data = pl.read_csv(path) if contender == "polars" else read(source, **options)
    print(
        json.dumps({"seconds": time.perf_counter() - start, "before": before, "peak": peak(), "what": str(type(data))})
    )


def contest(path: Path, rounds: int) -> dict[str, tuple[float, float]]:
    """Return the best time and the smallest peak of each contender."""
    best: dict[str, tuple[float, float]] = {}
    for _ in range(rounds):
        for contender in ("polars", "mapdag"):
            command = [sys.executable, __file__, "--measure", contender, str(path)]
            found = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
            seconds, memory = best.get(contender, (float("inf"), float("inf")))
            best[contender] = (min(seconds, found["seconds"]), min(memory, found["peak"]))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=37)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--measure", nargs=2, metavar=("CONTENDER", "PATH"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure[0], Path(arguments.measure[1]))
        return
    codes = arguments.rows * arguments.columns / 1024**2
    print(
        f"{arguments.rows:,} rows x {arguments.columns} columns; the codes take {codes:.0f} MB; "
        f"best of {arguments.rounds} rounds"
    )
    print(
        f"{'':10s}{'polars':>10s}{'mapdag':>10s}{'ratio':>8s}{'peak MB':>12s}{'peak MB':>10s}{'beyond, in codes':>18s}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for kind in arguments.kinds:
            path = Path(folder) / f"{kind}.csv"
            make(kind, path, arguments.rows, arguments.columns, arguments.seed)
            best = contest(path, arguments.rounds)
            (t0, m0), (t1, m1) = best["polars"], best["mapdag"]
            print(f"{kind:10s}{t0:9.2f}s{t1:9.2f}s{t1 / t0:8.2f}{m0:12.0f}{m1:10.0f}{(m1 - m0) / codes:18.1f}")
            path.unlink()
    for kind in arguments.kinds:
        print(f"  {kind}: {KINDS[kind]}")


if __name__ == "__main__":
    main()
