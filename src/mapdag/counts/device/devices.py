"""Devices by their names, as users give them: who counts a data set when one of them is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from mapdag.checks import is_one_of
from mapdag.errors import MapdagError, ParameterError
from mapdag.notices import warn
from mapdag.wording import brief

if TYPE_CHECKING:
    from mapdag.counts.device.interface import Device
    from mapdag.counts.engine import Engine

DEVICES = ("cpu", "cuda", "auto")

_WORTH = 4e6  # nanoseconds that a core takes to count one node with every other: less is not worth a GPU
_MOST_ROWS = (1 << 32) - 1  # a GPU's counts have 32 bits


def check_device(device: str) -> None:
    """Refuse what is no name of a device."""
    if not is_one_of(device, DEVICES):
        raise ParameterError(f"device must be one of {', '.join(DEVICES)}, got {brief(device)}")


def open_cuda() -> Device:
    """Return the NVIDIA GPU of this machine; an error says why there is none."""
    from mapdag.counts.device.cuda import Cuda

    return Cuda()


def engine_on(device: str, data: Any) -> Callable[[Any], Engine] | None:
    """Find who counts a data set on a device; None where it is counted without.

    Parameters
    ----------
    device : {"cpu", "cuda", "auto"}
        "cuda" is an NVIDIA GPU, or an error; "auto" is one where there is one and it is worth it.
    data : data set
    """
    from mapdag.counts.device.engine import DeviceEngine

    check_device(device)
    if device == "cpu" or (device == "auto" and _cost_of_cores(data) < _WORTH):
        return None
    try:
        found = open_cuda()
    except MapdagError:
        if device == "auto":
            return None
        raise
    reason = _why_not(data)
    if reason:
        if device == "cuda":
            warn(f"{reason}: {found.name} is not used")
        return None
    return partial(DeviceEngine, device=found)


def _why_not(data: Any) -> str:
    """Why a GPU cannot count a data set, if so."""
    if data.weights is not None:
        return "rows with weights are counted on this machine's cores"
    if data.has_gaps:
        return "rows with gaps are counted on this machine's cores"
    if data.interventions is not None:
        return "rows in which values were set are counted on this machine's cores"
    if data.engine not in ("cores", "blocks"):
        return "the rows are on the workers of a cluster, and are counted there"
    if data.n_rows > _MOST_ROWS:
        return f"{data.n_rows:,} rows are more than a GPU's counts have digits for"
    return ""


def _cost_of_cores(data: Any) -> float:
    """Nanoseconds that one core takes to count a node with every other."""
    import numpy as np

    from mapdag.counts.choice import estimate

    middle = np.argsort(data.cards)[data.n_columns // 2 :][:1]
    return float(estimate(data.n_rows, middle, np.arange(data.n_columns), data.cards))
