"""A GPU against this machine's cores: whole searches, and how near to its bounds each kernel is.

Graph and score must be the same to the last bit with both, or this fails; where the cores would take too long, they
score the GPU's graph. BENCH_CASES lists the cases, by what their names begin with.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from harness.objectives import MU_BDS, study
from harness.samples import SEED
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target
from harness.timing import timed

_PROBE = r"""
extern "C" __global__ void near(unsigned* out, int turns) {
    extern __shared__ unsigned local[];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) local[i] = 0;
    __syncthreads();
    unsigned x = threadIdx.x * 2654435761u + blockIdx.x;
    for (int i = 0; i < turns; i++) { x = x * 1664525u + 1013904223u; atomicAdd(local + (x >> 20), 1u); }
    __syncthreads();
    if (local[threadIdx.x] == 0x7fffffff) out[0] = 1;
}
extern "C" __global__ void spin(long long cycles) {
    for (const long long begin = clock64(); clock64() < begin + cycles;) {}
}
extern "C" __global__ void far(unsigned* out, int turns) {
    unsigned x = (threadIdx.x + blockIdx.x * blockDim.x) * 2654435761u;
    for (int i = 0; i < turns; i++) { x = x * 1664525u + 1013904223u; atomicAdd(out + (x >> 12), 1u); }
}
"""


class Case(NamedTuple):
    """A search that is timed."""

    name: str
    data: Callable[[], Any]
    run: Callable[..., Any]  # of the data, with a device
    target: float | None = None  # seconds


def sampled(network: str, rows: int) -> Any:
    import mapdag as md

    return md.network(network).sample(rows, seed=SEED)


def climb(data: Any, device: str, order: str = "data") -> Any:
    import mapdag as md

    return md.learn(data, MU_BDS, search="hc", order=order, device=device)


def learned(data: Any, device: str, **options: Any) -> Any:
    import mapdag as md

    return md.learn(data, device=device, **options)


CASES = (
    Case("hc, DIABETES, 200,000 rows", partial(sampled, "diabetes", 200_000), climb),
    Case("hc, DIABETES, 2,100,000 rows", partial(sampled, "diabetes", 2_100_000), climb, 10),
    Case("hc, ALARM, 10,000,000 rows", partial(sampled, "alarm", 10**7), climb, 0.5),
    Case(
        "hc, ALARM, 10,000,000 rows, order of the columns given",
        partial(sampled, "alarm", 10**7),
        partial(climb, order="columns"),
    ),
    Case("default search, ALARM, 10,000,000 rows", partial(sampled, "alarm", 10**7), learned, 10),
)
SMALL = (Case("hc, DIABETES, 20,000 rows", partial(sampled, "diabetes", 20_000), climb),)


def scored(found: Any, data: Any) -> float:
    """Score of the graph, by the cores."""
    import mapdag as md

    return float(md.score(found.dag, data, found.objective))


def compare(case: Case) -> tuple[tuple[Any, ...], list[Target]]:
    """Seconds of a case with a GPU, the second time, and with the cores."""
    data = case.data()
    first, found = timed(partial(case.run, data, "cuda"))
    progress(f"gpu: {case.name}: {first:.3f} s the first time")
    seconds, again = timed(partial(case.run, data, "cuda"))
    progress(
        f"gpu: {case.name}: {seconds:.3f} s on {again.device}, {again.families} families, {len(again.trace)} moves"
    )
    if (again.dag, again.score) != (found.dag, found.score):
        raise RuntimeError(f"{case.name}: the result must be the same every time")
    alone, here = timed(partial(case.run, data, "cpu"))
    progress(f"gpu: {case.name}: {alone:.3f} s on the cores")
    if (here.dag, here.score) != (found.dag, found.score):
        raise RuntimeError(f"{case.name}: GPU and cores must give the same graph and score")
    row = case.name, found.dag.n_arcs, first, seconds, alone, alone / seconds
    return row, [Target(f"{case.name}, GPU", "<=", case.target, seconds, "s")] if case.target else []


def together(network: str, rows: int, *, cores: bool) -> tuple[tuple[Any, ...], list[Target]]:
    """Seconds of all objectives of the study, hill climbing, against one; and with the cores."""
    import mapdag as md

    data = sampled(network, rows)
    run = partial(md.learn, data, search="hc", device="cuda")
    run("BIC")
    one, _ = timed(partial(run, [MU_BDS]))
    every, found = timed(partial(run, study()))
    alone = None
    if cores:
        alone, here = timed(partial(md.learn, data, study(), search="hc"))
        if [(each.dag, each.score) for each in here] != [(each.dag, each.score) for each in found]:
            raise RuntimeError("GPU and cores must give the same graphs and scores")
    elif any(scored(each, data) != each.score for each in found[::5]):
        raise RuntimeError("GPU and cores must give the same scores")
    name = f"{len(found)} objectives, hc, {network.upper()}, {rows:,} rows"
    progress(f"gpu: {name}: {every:.2f} s against {one:.2f} s of one, cores {alone}")
    return (name, one, every, every / one, alone), [Target(f"{name}, against one", "<=", 3, every / one)]


def milliseconds(function: Callable[[], Any]) -> float:
    """Median of what a GPU takes for something; meanwhile this machine prepares the next, while the GPU waits."""
    import cupy

    spin = cupy.RawModule(code=_PROBE).get_function("spin")
    function()
    found = []
    for _ in range(7):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        spin((1,), (1,), (np.int64(4_000_000),))
        begin.record()
        function()
        end.record()
        end.synchronize()
        found.append(cupy.cuda.get_elapsed_time(begin, end))
    return float(np.median(found))


def bounds() -> dict[str, float]:
    """What the GPU does at most, in units of 10^9 per second: additions near and far, bytes."""
    import cupy

    module, out = cupy.RawModule(code=_PROBE), cupy.zeros(1 << 20, dtype=np.uint32)
    blocks, threads, turns = 132 * 8, 256, 1024
    rates = {}
    for name, memory in (("near", 16384), ("far", 0)):
        kernel = module.get_function(name)
        run = partial(kernel, (blocks,), (threads,), (out, np.int32(turns)), shared_mem=memory)
        rates[name] = blocks * threads * turns / milliseconds(run) / 1e6
    one = cupy.zeros(1 << 30, dtype=np.uint8)
    two = cupy.empty_like(one)
    rates["bytes"] = 2 * one.nbytes / milliseconds(partial(cupy.copyto, two, one)) / 1e6
    return rates


def kernels(network: str, rows: int) -> Table:
    """What each kernel does against what bounds it: additions to counts, or bytes of counts that are read."""
    import mapdag as md
    from mapdag.counts import Request
    from mapdag.counts.device.choice import SHARED
    from mapdag.counts.device.devices import open_cuda
    from mapdag.counts.device.engine import DeviceEngine
    from mapdag.families import FamilyScores

    data, most, gpu = sampled(network, rows), bounds(), open_cuda()
    engine = DeviceEngine(data, gpu)
    scores = FamilyScores(data, [md.BDs(1)], engine=lambda _: engine)
    every, dag = range(data.n_columns), md.network(network).dag
    child = max(every, key=lambda i: (len(dag.parent_indices(i)), i))
    order = [*dag.parent_indices(child), *(i for i in every if i != child and i not in dag.parent_indices(child))]
    cases = {"all pairs": [Request(i, (), tuple(j for j in every if j != i)) for i in every]}
    for size in (1, 2, 3, 4):
        parents = tuple(sorted(order[:size]))
        others = tuple(j for j in every if j != child and j not in parents)
        cases[f"{size} parent{'s' * (size > 1)}, every candidate"] = [Request(child, parents, others)]
    found = []
    for name, requests in cases.items():
        asked = engine.divide(requests)[0][0].requests
        plan, counts = counted = engine.count(asked)
        there = scores._there  # noqa: SLF001
        which, _ = there._choose(there._families(asked, counted), scores.terms)  # noqa: SLF001
        added, cells = len(plan.tables) * data.n_rows, 4 * plan.cells
        launches = gpu.launches(engine._rows[0], plan, counts)  # noqa: SLF001
        once = (plan.ways == SHARED).all() and len(plan.groups) <= len(plan.tables)  # otherwise parts of tables are far
        way = "near" if once else "far"
        for kernel, amount, bound, run in (
            ("count", added, way, lambda: [launch() for launch in launches]),  # noqa: B023
            ("shapes", cells, "bytes", partial(gpu.begin_shapes, plan.families, counts)),
            ("sums", cells, "bytes", partial(gpu.begin_sums, plan.families, counts, there._functions, which)),  # noqa: SLF001
        ):
            took = milliseconds(run)
            rate = amount / took / 1e6
            found.append((name, len(plan.tables), plan.cells, kernel, took, rate, bound, rate / most[bound]))
    columns = ("family", "tables", "cells", "kernel", "ms", "10^9/s", "of", "of the bound")
    said = {"near": "additions to shared memory", "far": "to global memory", "bytes": "bytes of memory"}
    note = ", ".join(f"{what} ({name}): {most[name]:,.0f}" for name, what in said.items())
    return Table(
        f"Kernels, {network.upper()}, {rows:,} rows", columns, tuple(found), f"Measured bounds, 10^9/s: {note}."
    )


def warm_up() -> None:
    """Compile everything, for cores and GPU."""
    for rows, options in ((100_000, {"search": "hc"}), (400_000, {"effort": 0.01})):
        data = sampled("alarm", rows)
        for device in ("cpu", "cuda"):
            seconds, _ = timed(partial(learned, data, device, **options))
            progress(f"gpu: {rows:,} rows, {device}, compiled in {seconds:.1f} s")


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    wanted = tuple(each for each in os.environ.get("BENCH_CASES", "").split(";") if each)
    rows, shared, targets, tables = [], [], [], []
    if not settings.quick:
        warm_up()
    for case in SMALL if settings.quick else CASES:
        if case.name.startswith(wanted or ("hc", "default")):
            row, found = compare(case)
            rows.append(row)
            targets += found
    together_on = [("diabetes", 2_000)] if settings.quick else [("diabetes", 2_100_000), ("alarm", 10**7)]
    for network, size in together_on:
        if f"31 {network}".startswith(wanted or ("31",)):
            row, found = together(network, size, cores=size < 100_000 or network == "alarm")
            shared.append(row)
            targets += found
    columns = ("search", "arcs", "first s", "GPU s", "cores s", "times as fast")
    tables.append(Table("Whole searches", columns, tuple(rows), "Seconds include finding the order of the columns."))
    tables.append(
        Table("Objectives that share counts", ("what", "one s", "all s", "ratio", "cores, all s"), tuple(shared))
    )
    if "kernels".startswith(wanted or ("kernels",)):
        tables += [kernels(*each) for each in together_on]
    return tables, targets, None


if __name__ == "__main__":
    Script("gpu", "A GPU", __doc__ or "", measure).main()
