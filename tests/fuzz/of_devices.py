"""Where rows are counted: a GPU that is asked for, or might be worth it, changes no graph and no score."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import inputs
from of_searches import search

import mapdag as md
from mapdag.counts.device import devices
from mapdag.errors import MissingExtraError
from standin import TINY, StandIn


def some_device(rng: random.Random) -> dict[str, Any]:
    """Choose a search, a device by its name, and which machine there is."""
    found = search(rng)
    found["options"].pop("tiers", None)
    odd = rng.random() < 0.2
    found["device"] = (
        inputs.value(rng) if odd else rng.choice(["auto", "auto", "cuda", "cuda", "cpu", "CUDA", "cuda:0"])
    )
    found["machine"] = rng.choice(["none", "broken", "one", "one", "small"])
    found["worth"] = rng.choice([0.0, 4e6, math.inf])
    found["gaps"] = rng.random() < 0.1
    found["search"] = rng.choice(["hc", "tabu", "orders"])
    return found


def learn_on_device(given: dict[str, Any]) -> None:
    """Learn: the graph and the score of the cores, to the last bit, or an error that says why not."""
    levels = dict.fromkeys(given["columns"], 3)
    columns = dict(given["columns"])
    if given["gaps"]:
        first = next(iter(columns))
        columns[first] = [None, *columns[first][1:]]
    options: dict[str, Any] = {"levels": levels, "codes": True, "weights": given["weights"]}
    data = md.read(columns, missing="keep" if given["gaps"] else "error", **options)
    objective = "PNAL" if given["gaps"] else given["objective"]
    how = {"search": given["search"], "threads": 1, **given["options"]}
    with _machine(given["machine"], given["worth"]):
        found = md.learn(data, objective, device=given["device"], **how)
    assert given["device"] in devices.DEVICES
    assert given["device"] != "cuda" or given["machine"] in {"one", "small"}
    expected = md.learn(data, objective, **how)
    assert found.dag == expected.dag
    assert found.score == expected.score or math.isnan(expected.score)
    assert found.trace == expected.trace


@contextmanager
def _machine(kind: str, worth: float) -> Iterator[None]:
    """Let this machine have no GPU, one that cannot be used, one that is a stand-in, or one with little memory."""

    def open_one() -> Any:
        if kind == "none":
            raise MissingExtraError("no GPU here")
        if kind == "broken":
            raise md.errors.MapdagError("the driver is too old")
        return StandIn(700 if kind == "small" else 1 << 30)

    before = devices.open_cuda, devices._WORTH
    engine = sys.modules.get("mapdag.counts.device.engine") or __import__(
        "mapdag.counts.device.engine", fromlist=["DeviceEngine"]
    )
    whole = engine.DeviceEngine
    devices.open_cuda, devices._WORTH = open_one, worth  # type: ignore[assignment]
    engine.DeviceEngine = partial(whole, limits=TINY)
    try:
        yield
    finally:
        devices.open_cuda, devices._WORTH = before  # type: ignore[assignment]
        engine.DeviceEngine = whole
