"""The options of `read`, for all functions that take a table, and for those who are given them as texts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mapdag.data.discretization import Discretization


from mapdag.errors import MapdagError


class ReadingOptions(TypedDict, total=False):
    """How to read a table; `mapdag.read` says what they mean. They are for anything but a `Dataset`."""

    levels: Mapping[str, Sequence[Any] | int] | str | os.PathLike[str] | None
    like: Any
    weights: str | ArrayLike | None
    drop: str | Iterable[str]
    missing: Literal["error", "drop", "level", "keep"]
    missing_values: str | Iterable[Any]
    discretize: Discretization | None
    codes: bool | None
    max_levels: int | None
    separator: str | None
    encoding: str | None


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tell the options of `read` from others: both, in this order.

    >>> split_options({"missing": "drop", "max_parents": 3})
    ({'missing': 'drop'}, {'max_parents': 3})
    """
    reading = {name: value for name, value in options.items() if name in ReadingOptions.__annotations__}
    return reading, {name: value for name, value in options.items() if name not in reading}


def ways_from(given: Sequence[str]) -> Any:
    """Read how to cut columns from texts: one method for all continuous columns, ways for single ones, or both.

    >>> ways_from(["quantile", "age=18,65"])
    {'*': 'quantile', 'age': [18.0, 65.0]}
    """
    by_column = {name: _way(way) for name, _, way in (item.rpartition("=") for item in given if "=" in item)}
    general = [item for item in given if "=" not in item]
    if len(general) > 1:
        raise MapdagError("--discretize takes one method for all columns, and COLUMN=METHOD for single ones")
    if not by_column:
        return general[0] if general else None
    return {"*": general[0], **by_column} if general else by_column


def _way(text: str) -> str | list[float]:
    """Cut points if that is what is written, else the name of a method."""
    try:
        return [float(point) for point in text.split(",")]
    except ValueError:
        return text
