"""mapdag with its default number of threads: timed from the codes to the result, so building the bitsets counts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import mapdag as md
from harness.samples import reload

_loaded: dict[str, Any] = {}


def load(folder: Path) -> None:
    names, levels, codes = reload(folder)
    _loaded["data"] = md.Dataset(names, levels, codes)


def run(objective: str) -> tuple[float, list[tuple[str, str]], dict[str, Any]]:
    start = time.perf_counter()
    result = md.learn(_loaded["data"], objective, search="hc", order="columns")
    seconds = time.perf_counter() - start
    return seconds, list(result.dag.arcs), {"families": result.families, "score": result.score}
