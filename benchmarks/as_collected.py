"""Tables as people collect them: from `md.check` to a graph and a report, by pasting; and clusters of a known truth.

Real tables (`harness/tables_as_collected.py`) are checked, the line that `check` prints is pasted, and what came out is
kept: arcs, most parents of a node, seconds, bytes of the network and the report, and all that was said. Simulated ones
are samples of reference networks: each row repeated 2 to 20 times, with a key, with a key that is given as groups, or
without; columns of noise repeated likewise; and survey weights that have nothing to do with the columns. The truth is
known there. `BENCH_TABLES` names some of the tables, `BENCH_SEEDS` how often to draw (3), `BENCH_LIMIT` the CPU seconds
for one table (300), `BENCH_PROCESSES` how many tables at a time (1). `BENCH_SEARCH=hc` takes real tables
through hill climbing in one process, in a minute or two; otherwise they go through the default search, as pasted.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from harness.process import part
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.tables_as_collected import TABLES, Collected
from harness.targets import Target

NETWORKS = ("asia", "child", "insurance", "alarm")
ROWS = (100, 500)
MOST_REPEATS = 20
NOISE_COLUMNS, NOISE_LEVELS = 20, 3
SEEDS = int(os.environ.get("BENCH_SEEDS", "3"))
PROCESSES = int(os.environ.get("BENCH_PROCESSES", "1"))
SEARCH = os.environ.get("BENCH_SEARCH", "")
LIMIT = int(os.environ.get("BENCH_LIMIT", "300"))
SAID = 160  # characters of a warning that are kept


# Real tables ---------------------------------------------------------------------------------------------------------


def take(package: str, name: str) -> None:
    """Print what comes out of a table as JSON: a process of its own."""
    print(json.dumps(look(Collected(package, name, ()))))


def look(table: Collected) -> dict[str, Any]:
    """Check a table, paste, and see what comes out."""
    import mapdag as md

    df = table.load()
    begun = time.perf_counter()
    checked = md.check(df)
    seconds = time.perf_counter() - begun
    found: dict[str, Any] = {"rows": len(df), "columns": df.shape[1], "check_s": seconds, "code": checked.code}
    found |= {"groups": checked.options.get("groups", ""), "weights": checked.options.get("weights", "")}
    found["notes"] = list(checked.notes)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        begun = time.perf_counter()
        try:
            line = checked.code if not SEARCH else f"{checked.code[:-1]}, search={SEARCH!r})"
            result = eval(line, {"md": md, "df": df})  # as a user would
            found |= {"learn_s": time.perf_counter() - begun, **about(result)}
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
            found["failed"] = f"{type(error).__name__}: {error}"[:SAID]
    found["said"] = [str(each.message)[:SAID] for each in said if "Mapdag" in each.category.__name__]
    return found


def about(result: Any) -> dict[str, Any]:
    """What a graph looks like, and how large what is written of it."""
    parents = [len(result.dag.parents(node)) for node in result.dag.nodes]
    found = {"nodes": len(parents), "arcs": result.dag.n_arcs, "most_parents": max(parents)}
    found["observations"] = float(result.data.total)
    with tempfile.TemporaryDirectory() as folder:
        for name, write in (
            ("network", lambda path: result.fit().write(path)),
            ("report", result.report),
        ):
            path = Path(folder) / ("net.json" if name == "network" else "page.html")
            try:
                write(path)
                found[f"{name}_bytes"] = path.stat().st_size
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
                found[f"{name}_failed"] = f"{type(error).__name__}: {error}"[:SAID]
    return found


def taken(each: Collected) -> tuple[str, dict[str, Any]]:
    """What a process of its own finds in a table, by the name of the table."""
    name = f"{each.package}/{each.name}"
    try:
        found = look(each) if SEARCH else part(__file__, each.package, each.name, cpu_limit=LIMIT)
        found = found or {"failed": f"over {LIMIT} s"}
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
        found = {"failed": f"{type(error).__name__}: {error}"[-SAID:]}
    progress(f"as_collected: {name}: {found.get('failed', 'all the way')}")
    return name, found


def real(settings: Settings) -> tuple[list[Table], list[Target], dict[str, Any]]:
    """All tables, each in a process of its own."""
    wanted = os.environ.get("BENCH_TABLES", "").split(",") if os.environ.get("BENCH_TABLES") else None
    chosen = [each for each in TABLES if wanted is None or f"{each.package}/{each.name}" in wanted]
    with ThreadPoolExecutor(PROCESSES) as pool:
        raw = dict(pool.map(taken, chosen[:2] if settings.quick else chosen))
    figures = "nodes arcs most_parents check_s learn_s network_bytes report_bytes"
    keys = ("rows", "columns", "groups", "weights", "observations", *figures.split())
    rows = [
        (name, "+".join(each.has), *(raw[name].get(key, "") for key in keys), raw[name].get("failed", "all the way"))
        for each in chosen
        if (name := f"{each.package}/{each.name}") in raw
    ]
    said = [
        (name, f"`{found.get('code', '')}`", " / ".join(found.get("said", [])), found.get("network_failed", ""))
        for name, found in raw.items()
    ]
    proposed = [each for each in chosen if each.groups and f"{each.package}/{each.name}" in raw]
    right = sum(raw[f"{each.package}/{each.name}"].get("groups") == each.groups for each in proposed)
    done = sum("failed" not in found for found in raw.values())
    searched = f"Learned by {SEARCH or 'the default search'}."
    tables = [
        Table("From check to a graph", ("table", "has", *keys, "how far"), tuple(rows), searched),
        Table("What was pasted, and what was said", ("table", "line", "warnings", "network"), tuple(said)),
    ]
    targets = [
        Target("tables all the way", ">=", len(raw), done, "tables"),
        Target("tables with groups of which check proposes them", ">=", 0.9 * len(proposed), right, "tables"),
    ]
    return tables, targets, raw


# Simulated ones ------------------------------------------------------------------------------------------------------


def cases(name: str, n_rows: int, seed: int) -> dict[str, Any]:
    """One sample in all its forms: ways to learn from it, by name."""
    import numpy as np

    import mapdag as md

    rng = np.random.default_rng(seed)
    if name == "noise":
        rows = md.data.Dataset.from_codes(rng.integers(0, NOISE_LEVELS, (n_rows, NOISE_COLUMNS)))
    else:
        rows = md.network(name).sample(n_rows, seed=seed)
    who = np.repeat(np.arange(n_rows), rng.integers(2, MOST_REPEATS + 1, n_rows))
    repeated = rows.take(who)
    keyed = repeated.to_pandas().assign(key=rng.permutation(10**6)[who])
    weights = rng.uniform(500, 6000, n_rows)
    pasted = md.check(keyed).options
    forms = {
        "one row of each": (rows, {}),
        "repeated, distinct": (md.read(repeated, weighting="distinct"), {}),
        "repeated, each row counted": (md.read(repeated, weighting="counts"), {}),
        "repeated, groups": (md.read(repeated, groups=who), {}),
        "repeated with a key, as check says": (keyed, pasted),
        "survey weights": (md.read(rows, weights=weights, weighting="survey"), {}),
        "survey weights as counts": (md.read(rows, weights=weights, weighting="counts"), {}),
    }
    return {how: partial(md.learn, data, search="hc", **options) for how, (data, options) in forms.items()}


def judged(name: str, result: Any) -> float:
    """Distance of the classes from the truth; arcs where there is none."""
    import mapdag as md

    if name == "noise":
        return float(result.dag.n_arcs)
    truth = md.network(name).dag
    known = [node for node in result.dag.nodes if node in set(truth.nodes)]
    found = result.dag.subgraph(known) if len(known) < len(result.dag.nodes) else result.dag
    return float(md.shd(found.reordered(truth.nodes).to_cpdag(), truth.to_cpdag()))


def simulated(settings: Settings) -> tuple[list[Table], list[Target], dict[str, Any]]:
    """All networks and sizes; means over seeds."""
    raw: dict[str, Any] = {}
    for name in ("asia",) if settings.quick else (*NETWORKS, "noise"):
        for n_rows in ROWS[:1] if settings.quick else ROWS:
            sums: dict[str, float] = {}
            for seed in range(SEEDS):
                for how, learn in cases(name, n_rows, seed).items():
                    sums[how] = sums.get(how, 0.0) + judged(name, learn()) / SEEDS
            raw[f"{name} {n_rows}"] = sums
            progress(f"as_collected: {name} {n_rows}: {sums}")
    hows = tuple(next(iter(raw.values())))
    rows = [(case, *(found[how] for how in hows)) for case, found in raw.items()]
    worse = max(found["repeated, groups"] - found["one row of each"] for found in raw.values())
    keyed = max(found["repeated with a key, as check says"] - found["one row of each"] for found in raw.values())
    hidden = max(
        found["repeated, distinct"] - found["one row of each"] for case, found in raw.items()
        if not case.startswith("asia")
    ) if len(raw) > 1 else 0.0  # fmt: skip
    noise = [found["repeated, distinct"] for case, found in raw.items() if case.startswith("noise")]
    note = "SHD of equivalence classes (arcs in noise), means; hill climbing."
    targets = [
        Target("SHD that clusters add where groups are given", "<=", 0.5, worse, "arcs"),
        Target("SHD that clusters add where check finds the key", "<=", 0.5, keyed, "arcs"),
        Target("SHD that clusters without a key add, but for asia", "<=", 3.0, hidden, "arcs"),
        *([Target("arcs in repeated noise", "<=", 0.0, max(noise), "arcs")] if noise else []),
    ]
    return [Table("Clusters and weights, the truth known", ("rows of", *hows), tuple(rows), note)], targets, raw


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    known, found = simulated(settings), real(settings)
    return [*known[0], *found[0]], [*known[1], *found[1]], {"simulated": known[2], "real": found[2]}


if __name__ == "__main__":
    Script("as_collected", "Tables as people collect them", __doc__ or "", measure, part=take).main()
