"""Memory of a search over what is resident after importing, against the data's codes and bitsets."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from harness import process, samples, synthetic
from harness.objectives import MU_BDS
from harness.samples import EVERY, SEED, Sample
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target

ALLOWED = 200.0  # MiB on top of codes and bitsets


def one_search(folder: str) -> None:
    """Load codes, learn, and print what it took; nothing else happens in this process."""
    import mapdag as md

    imported = process.memory()
    names, levels, codes = samples.reload(Path(folder))
    data = md.Dataset(names, levels, codes)
    del codes
    process.forget_peak()
    md.learn(data, MU_BDS, search="hc", order="columns", threads=1)
    print(json.dumps({"imported": imported, "resident": process.memory(), "peak": process.memory("VmHWM")}))


def sets(settings: Settings) -> list[tuple[str, Any]]:
    """Data sets of at most 500 nodes, small and large."""
    import mapdag as md

    every = [(str(sample), samples.load(sample, settings.data)) for sample in EVERY]
    if settings.quick:
        return every[:3]
    million = Sample("alarm", 10**6)
    return [
        *every,
        (str(million), md.network("alarm").sample(10**6, seed=SEED)),
        ("synthetic, 500 nodes", synthetic.sparse(500, 5_000, seed=SEED)),
    ]


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    rows, beyond = [], []
    for name, data in sets(settings):
        progress(f"memory: {name}")
        with tempfile.TemporaryDirectory() as folder:
            samples.save(data, Path(folder), text=False)
            process.part(__file__, folder)  # compiles, where it must
            found = process.part(__file__, folder)
        codes = data.codes.nbytes / 2**20
        bitsets = sum(len(data.levels[each]) for each in data.names) * (data.n_rows / 8) / 2**20
        over = found["peak"] - found["imported"]
        beyond.append(over - codes - bitsets)
        rows.append(
            (name, len(data.names), data.n_rows, codes, bitsets, found["imported"], found["peak"], over, beyond[-1])
        )
    columns = (
        "data",
        "N",
        "rows",
        "codes",
        "bitsets",
        "after import",
        "peak",
        "peak over import",
        "beyond codes and bitsets",
    )
    note = "MiB. The peak is that of the search; numba, which loads when first needed, is part of what is beyond."
    table = Table("Memory", columns, tuple(rows), note)
    what = "peak memory beyond import, codes and bitsets, N <= 500, the most"
    return [table], [Target(what, "<=", ALLOWED, max(beyond), "MiB")], None


if __name__ == "__main__":
    Script("memory", "Memory", __doc__ or "", measure, one_search).main()
