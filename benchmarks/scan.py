"""Tables larger than memory: packing them, and learning from packed files in 2 GiB, against the same table in memory.

Rows of ALARM in ten Parquet files, and a tenth of them as CSV. Scanning and learning happen in a process whose address
space the system limits to 2 GiB (RLIMIT_AS). That is more than its memory, since libraries reserve space that they do
not use: MALLOC_ARENA_MAX=1 keeps the C library from doing so for every thread, ARROW_DEFAULT_MEMORY_POOL=system pyarrow
from reserving a GiB. BENCH_SCAN_ROWS says how many rows there are, 10^7 unless given; BENCH_SCAN_FOLDER where the files
go; BENCH_SCAN_SEARCHES which searches to run.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import process
from harness.samples import SEED
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target

LIMIT = 2**31
FILES = 10
CHUNK = 10**6  # rows that are drawn at a time
SEARCHES = tuple(os.environ.get("BENCH_SCAN_SEARCHES", "hc,orders").split(","))


def timed(task: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = task()
    return time.perf_counter() - start, found


def size(path: Path) -> int:
    return (
        sum(each.stat().st_size for each in path.rglob("*") if each.is_file()) if path.is_dir() else path.stat().st_size
    )


def one_table(how: str, source: str, cache: str, searches: str) -> None:
    """Scan a table with limited memory ("files"), or have it in memory; learn, and print what it took."""
    if how == "files":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    import mapdag as md

    first, data = timed(lambda: md.scan(source, cache=cache))
    again, data = timed(lambda: md.scan(source, cache=cache))
    packing = {"first": first, "again": again, "rows": data.n_rows, "peak": process.memory("VmHWM")}
    table = data.to_dataset() if how == "memory" else data
    process.forget_peak()
    learned = {}
    for search in searches.split(",") if searches else ():
        seconds, result = timed(lambda: md.learn(table, search=search))  # noqa: B023 - called at once
        answer = [result.score.hex(), sorted(map(list, result.dag.arcs))]
        learned[search] = {"seconds": seconds, "answer": answer, "peak": process.memory("VmHWM")}
    print(json.dumps({**packing, "space": process.memory("VmPeak"), "learned": learned}))


def make_files(folder: Path, rows: int) -> tuple[str, Path]:
    """Write rows of ALARM: Parquet files, and one of CSV."""
    import polars as pl

    import mapdag as md

    network, parquet = md.network("alarm"), folder / "parquet"
    parquet.mkdir(parents=True, exist_ok=True)
    csv = folder / "alarm.csv"
    each = max(rows // FILES, 1)
    for i in range(FILES):
        path = parquet / f"{i:02d}.parquet"
        if path.exists():
            continue
        progress(f"scan: file {i + 1} of {FILES}")
        draws = range(0, each, CHUNK)
        sampled = [network.sample(min(CHUNK, each - low), seed=SEED + 1000 * i + low // CHUNK) for low in draws]
        frame = pl.concat([sample.to_polars() for sample in sampled])
        if not i:
            frame.write_csv(csv)
        waiting = path.with_suffix(".part")
        frame.write_parquet(waiting)
        waiting.replace(path)
    return str(parquet / "*.parquet"), csv


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    rows = int(float(os.environ.get("BENCH_SCAN_ROWS", "1e5" if settings.quick else "1e7")))
    given = os.environ.get("BENCH_SCAN_FOLDER")
    folder = Path(given or tempfile.mkdtemp(prefix="mapdag-scan-"))
    os.environ |= {"MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    try:
        return measured(folder, rows)
    finally:
        if given is None:
            shutil.rmtree(folder)


def measured(folder: Path, rows: int) -> tuple[list[Table], list[Target], Any]:
    parquet, csv = make_files(folder, rows)
    cache = folder / "cache"
    small = make_files(folder / "small", 1000)[0]
    for how in ("memory", "unlimited"):  # compiles, where it must
        process.part(__file__, how, small, folder / "small" / "cache", ",".join(SEARCHES))
    passes, raw = [], {}
    for name, source, where in (("Parquet", parquet, folder / "parquet"), ("CSV", str(csv), csv)):
        progress(f"scan: {name}")
        searches = ",".join(SEARCHES) if name == "Parquet" else ""
        found = raw[name] = process.part(__file__, "files", source, cache / name, searches)
        n, read = found["rows"], size(where)
        packed = [size(cache / name / each) / n for each in ("sources", "tables")]
        speeds = read / 1e6 / found["first"], n / 1e6 / found["first"]
        passes.append((name, n, read / 1e6, found["first"], *speeds, found["again"], *packed, found["peak"]))
    progress("scan: in memory")
    memory = raw["memory"] = process.part(__file__, "memory", parquet, cache / "Parquet", ",".join(SEARCHES))
    files, learned, wrong = raw["Parquet"]["learned"], [], 0
    for search in SEARCHES:
        ours, theirs = files[search], memory["learned"][search]
        same = ours["answer"] == theirs["answer"]
        wrong += not same
        slower = ours["seconds"] / theirs["seconds"]
        learned.append((search, rows, ours["seconds"], theirs["seconds"], slower, ours["peak"], theirs["peak"], same))
    columns = ("source", "rows", "MB", "s", "MB/s", "10^6 rows/s", "s again", "bytes/row as read", "as codes", "MiB")
    note = "Both passes; `again`: the same call, which finds the packed files. `MiB`: most that was resident."
    one = Table("Packing", columns, tuple(passes), note)
    columns = ("search", "rows", "s, files in 2 GiB", "s, memory", "times as long", "MiB", "MiB, memory", "same result")
    two = Table("Learning", columns, tuple(learned), "`same result`: graph, and score to the last bit.")
    wide = raw["Parquet"]["space"]
    targets = [
        Target("results that differ between files and memory", "<=", 0, wrong, "graphs"),
        Target(f"address space of scanning and learning, {rows:,} rows", "<=", 2048, wide, "MiB"),
    ]
    return [one, two], targets, raw


if __name__ == "__main__":
    Script("scan", "Tables larger than memory", __doc__ or "", measure, one_table).main()
