"""Figures of peers that cannot be measured everywhere, and how they are carried over to another machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from harness.tables import geometric_mean

PATH = Path(__file__).parent.parent / "published" / "hill_climbing.json"


def figures() -> dict[str, dict[str, float]]:
    """Seconds by data set, then by contender."""
    found: dict[str, dict[str, float]] = json.loads(PATH.read_text(encoding="utf-8"))["seconds"]
    return found


def calibration(measured: Mapping[str, float], calibrator: str = "pyAgrum BDeu") -> dict[str, float]:
    """By how much the published seconds of each data set must be multiplied on this machine.

    `measured` has the calibrator's seconds here; data sets that it was not measured on get the geometric mean.
    """
    then = figures()
    known = {key: now / then[key][calibrator] for key, now in measured.items() if calibrator in then.get(key, {})}
    overall = geometric_mean(known.values())
    return {key: known.get(key, overall) for key in then}
