"""Reading a CSV file into a data set against `polars.read_csv` of the same file: time and peak memory.

Each reading runs in a process of its own.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import Any

from harness import process
from harness.samples import SEED
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.timing import Rounds, Timing, take_turns, timed

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


def read_once(contender: str, name: str) -> None:
    """Read the file once, and print what it took."""
    import polars as pl

    from mapdag.data import read

    path = Path(name)
    options: dict[str, Any] = {"missing": "drop" if path.stem == "dropped" else "level"}
    if path.stem == "coded":
        with path.open() as file:
            options["levels"] = dict.fromkeys(file.readline().strip().split(","), LABELS[:4])
        warnings.simplefilter("ignore")
    source = path.with_suffix(".txt") if path.stem == "blanks" else path
    seconds, _ = timed(partial(pl.read_csv, path) if contender == "polars" else partial(read, source, **options))
    print(json.dumps({"seconds": seconds, "peak": process.memory("VmHWM")}))


def contest(path: Path, rounds: Rounds) -> dict[str, Timing]:
    """Let the two read in turns."""

    def turn(contender: str) -> tuple[float, Any]:
        found = process.part(__file__, contender, path)
        return found["seconds"], found["peak"]

    return take_turns({each: partial(turn, each) for each in ("polars", "mapdag")}, rounds)


def measure(settings: Settings) -> tuple[list[Table], list[Any], Any]:
    n, columns = (100_000 if settings.quick else 1_000_000), 37
    rounds = Rounds(least=1, most=1) if settings.quick else Rounds(least=3, most=3)
    codes = n * columns / 2**20
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, what in KINDS.items():
            progress(f"reading: {kind}")
            path = Path(folder) / f"{kind}.csv"
            make(kind, path, n, columns, SEED)
            found = contest(path, rounds)
            theirs, ours = found["polars"], found["mapdag"]
            beyond = (ours.value - theirs.value) / codes
            rows.append((what, theirs.best, ours.best, ours.best / theirs.best, theirs.value, ours.value, beyond))
            path.unlink()
    head = ("table", "polars s", "mapdag s", "ratio", "polars peak, MiB", "mapdag peak, MiB", "beyond polars, in codes")
    note = f"The codes of {n:,} rows and {columns} columns take {codes:.0f} MiB."
    return [Table("Reading", head, tuple(rows), note)], [], None


if __name__ == "__main__":
    Script("reading", "Reading", __doc__ or "", measure, read_once).main()
