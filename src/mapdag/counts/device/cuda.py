"""NVIDIA GPUs, by way of CuPy, which is imported when one is asked for."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.counts.device.plan import SHARED, Plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

_THREADS = 256
_ROWS = 1 << 14  # that a block of threads counts at least


class Cuda:
    """One GPU."""

    def __init__(self, threads: int = _THREADS, waves: int = 8) -> None:
        import cupy

        self._cupy = cupy
        self._threads = threads
        self._waves = waves
        source = files("mapdag.counts.device").joinpath("kernels.cu").read_text(encoding="utf-8")
        self._source = source
        self._modules: dict[str, Any] = {}
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())
        self.name = properties["name"].decode()
        self._processors = properties["multiProcessorCount"]
        self._most_shared = properties["sharedMemPerBlockOptin"]

    def _kernel(self, name: str, code: str = "unsigned char") -> Any:
        if code not in self._modules:
            options = ("--std=c++17", "--fmad=false", f"-DCODE={code}")
            self._modules[code] = self._cupy.RawModule(code=self._source, options=options)
        return self._modules[code].get_function(name)

    def load(self, codes: NDArray[Any]) -> Any:
        n = codes.shape[1]
        width = -(-n // 64) * 64
        rows = self._cupy.zeros((len(codes), width), dtype=codes.dtype)
        rows[:, :n] = self._cupy.asarray(codes)
        return rows, n

    def count(self, loaded: Any, plan: Plan, counts: Any) -> None:
        rows, n = loaded
        cupy = self._cupy
        code = "unsigned char" if rows.dtype == np.uint8 else "unsigned short"
        members, tables = cupy.asarray(plan.members.view("u1")), cupy.asarray(plan.tables.view("u1"))
        for way, least, most in [(SHARED, 0, 4 << 10), (SHARED, 4 << 10, 12 << 10), (SHARED, 12 << 10, 24 << 10), (SHARED, 24 << 10, 1 << 30), (1, -1, 1 << 60)]:
            mine = plan.groups[(plan.ways == way) & (plan.sizes > least) & (plan.sizes <= most)]
            if not len(mine):
                continue
            sizes = plan.sizes[(plan.ways == way) & (plan.sizes > least) & (plan.sizes <= most)]
            shares = max(min(-(-self._waves * self._processors // len(mine)), -(-n // _ROWS)), 1)
            share = -(-n // shares // 64) * 64
            shares = -(-n // share)
            kernel = self._kernel("count_shared" if way == SHARED else "count_global", code)
            shared = int(sizes.max()) * 4 if way == SHARED else 0
            if shared > 48 << 10:
                kernel.max_dynamic_shared_size_bytes = shared
            arguments = (rows, np.int64(rows.shape[1]), np.int64(n), np.int64(share), cupy.asarray(mine.view("u1")), members, tables, counts)
            kernel((len(mine), shares), (self._threads,), arguments, shared_mem=shared)

    def shapes(self, counts: Any, families: NDArray[Any]) -> Any:
        cupy = self._cupy
        found = cupy.empty((len(families), 2), dtype=np.int32)
        self._kernel("shapes")((len(families),), (128,), (counts, cupy.asarray(families.view("u1")), found))
        return found.get()

    def sums(self, counts: Any, families: Any, functions_of: Any, functions: Any, values: Any, constants: Any) -> Any:
        cupy = self._cupy
        on = [cupy.asarray(x) for x in (values, constants.logs, constants.bases, constants.powers)]
        found = cupy.empty((*functions_of.shape[:2], 4), dtype=np.int64)
        held = [cupy.asarray(x) for x in (families.view("u1"), functions_of, functions.view("u1"))]
        self._kernel("sums")((len(families), len(functions_of)), (128,), (counts, *held, np.float64(constants.scale), *on, np.int32(len(constants.bases)), np.int32(constants.start), found))
        return found.get()
