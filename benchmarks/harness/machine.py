"""What a measurement was taken on: without it, a number of seconds means nothing."""

from __future__ import annotations

import os
import platform
import time
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = ("mapdag", "numpy", "numba", "llvmlite", "polars", "pyAgrum", "pgmpy", "pandas")


def describe() -> dict[str, Any]:
    """CPU, cores, memory, load, and the versions of everything that takes part."""
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": _memory(),
        "vector_popcount": "avx512_vpopcntdq" in _field("flags").split(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "versions": {name: version for name in PACKAGES if (version := _version(name))},
    }


def busy(seconds: float = 0.5) -> float:
    """Share of all cores that *other* processes use: call it while doing nothing.

    Threads that wait for each other by spinning, as those of OpenMP do, become many times slower when the cores are
    taken, so that a busy machine does not only add noise: it favours contenders with fewer threads.
    """
    before = _ticks()
    time.sleep(seconds)
    after = _ticks()
    total = sum(after) - sum(before)
    idle = sum(after[3:5]) - sum(before[3:5])  # idle, and waiting for input
    return 1 - idle / total if total else 0.0


def _ticks() -> list[int]:
    path = Path("/proc/stat")
    return (
        [int(each) for each in path.read_text(encoding="utf-8").split("\n", 1)[0].split()[1:9]]
        if path.exists()
        else [0]
    )


def sentence(machine: dict[str, Any]) -> str:
    """The description in one line of Markdown."""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    popcount = "with" if machine["vector_popcount"] else "without"
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB, {popcount} AVX-512 popcount; "
        f"{machine['system']}, Python {machine['python']}, {versions}; load {machine['load']}, "
        f"others used {machine['busy']:.0%} of the cores."
    )


def _field(name: str) -> str:
    """A field of the first processor in /proc/cpuinfo; empty where there is none."""
    path = Path("/proc/cpuinfo")
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def _cpu() -> str:
    family, model = _field("cpu family"), _field("model")
    known = _field("model name") or platform.processor() or platform.machine()
    return f"{known} (family {family}, model {model})" if family else known


def _memory() -> int | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    except (AttributeError, ValueError, OSError):
        return None


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
