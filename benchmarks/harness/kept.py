"""Results of single cases, kept in a file as they come, so that a long benchmark can be run in pieces."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from harness.script import progress

Case = tuple[Any, ...]


def known(path: Path) -> dict[Case, dict[str, Any]]:
    """Return what was measured before, by case."""
    if not path.exists():
        return {}
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {tuple(line["case"]): line["found"] for line in lines}


def measure_all(
    cases: Iterable[Case],
    measured: Callable[[Case, dict[Case, dict[str, Any]]], dict[str, Any] | None],
    path: Path | None,
) -> dict[Case, dict[str, Any]]:
    """Measure the cases that are not known, until the time is up (BENCH_SECONDS); each is kept at once.

    `measured` takes a case and what was found before; it returns None for a case that is left out.
    """
    found = {} if path is None else known(path)
    until = time.monotonic() + float(os.environ.get("BENCH_SECONDS", "inf"))
    for case in cases:
        if case in found:
            continue
        if time.monotonic() > until:
            progress("the time is up")
            break
        figures = measured(case, found)
        if figures is None:
            continue
        found[case] = figures
        if path is not None:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"case": case, "found": figures}) + "\n")
    return found
