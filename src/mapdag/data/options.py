"""The options of `read`, for all functions that take a table, and for those who are given them as texts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mapdag.data.discretization import Discretization
    from mapdag.data.meanings import Policy
    from mapdag.data.rows import Weighting


from mapdag.errors import MapdagError

#: What `missing_values` may be: values of every column, or values by column.
MissingValues: TypeAlias = "str | Iterable[Any] | Mapping[str, Any]"

#: What `lump` may be: the share of the rows below which levels are rare, of every column of text, or by column.
Lump: TypeAlias = "float | Mapping[str, float] | None"

#: What `missing` may be: what to do about the missing values of every column, or by column.
Missing: TypeAlias = "Policy | Mapping[str, Policy]"


class ReadingOptions(TypedDict, total=False):
    """How to read a table; `mapdag.read` says what they mean. They are for anything but a `Dataset`."""

    levels: Mapping[str, Sequence[Any] | int] | str | os.PathLike[str] | None
    like: Any
    weights: str | ArrayLike | None
    weighting: Weighting | None
    interventions: Any
    groups: str | ArrayLike | None
    drop: str | Iterable[str]
    missing: Missing
    missing_values: MissingValues
    discretize: Discretization | None
    codes: bool | None
    max_levels: int | None
    lump: Lump
    separator: str | None
    encoding: str | None


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tell the options of `read` from others: both, in this order.

    >>> split_options({"missing": "drop", "max_parents": 3})
    ({'missing': 'drop'}, {'max_parents': 3})
    """
    reading = {name: value for name, value in options.items() if name in ReadingOptions.__annotations__}
    return reading, {name: value for name, value in options.items() if name not in reading}


def with_gaps(data: Any, reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `read` for whoever learns from gaps: these are kept unless something else is asked for.

    >>> with_gaps({"a": ["x", None]}, {})
    {'missing': 'keep'}
    """
    from mapdag.data.dataset import Dataset

    return dict(reading) if isinstance(data, Dataset) else {**reading, "missing": kept(reading.get("missing", "keep"))}


def kept(missing: Any) -> Any:
    """Return what to do about missing values, those that nothing is said about being kept.

    >>> kept({"income": "level"}), kept("drop")
    ({'*': 'keep', 'income': 'level'}, 'drop')
    """
    return {"*": "keep", **missing} if isinstance(missing, Mapping) else missing


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


def missing_from(given: Iterable[str]) -> list[str] | dict[str, list[str]]:
    """Read which values mean "missing" from texts: values of every column, and values of one as COLUMN=VALUE.

    A value with "=" in it, of every column, is written with "*" for the column.

    >>> missing_from(["refused", "-9"]), missing_from(["refused", "smoke=9", "smoke=8", "*=a=b"])
    (['refused', '-9'], {'*': ['refused', 'a=b'], 'smoke': ['9', '8']})
    """
    found: dict[str, list[str]] = {}
    for text in given:
        name, _, value = text.partition("=") if "=" in text else ("*", "", text)
        found.setdefault(name, []).append(value)
    return found.get("*", []) if not found.keys() - {"*"} else found


def policy_from(given: Sequence[str]) -> Any:
    """Read what to do about missing values from texts: of every column, of single ones as COLUMN=HOW, or both.

    >>> policy_from(["keep", "income=level"]), policy_from(["drop"]), policy_from([])
    ({'*': 'keep', 'income': 'level'}, 'drop', 'error')
    """
    by_column = dict(item.rpartition("=")[::2] for item in given if "=" in item)
    general = [item for item in given if "=" not in item]
    if len(general) > 1:
        raise MapdagError("--missing takes one way for all columns, and COLUMN=HOW for single ones")
    if not by_column:
        return general[0] if general else "error"
    return {"*": general[0], **by_column} if general else by_column


def shares_from(given: Sequence[str]) -> Any:
    """Read below which shares of the rows levels are rare from texts: of every column, of single ones, or both.

    >>> shares_from(["breed=0.01", "0.005"]), shares_from([])
    ({'breed': 0.01, '*': 0.005}, None)
    """
    found: dict[str, float] = {}
    for text in given:
        name, _, share = text.rpartition("=") if "=" in text else ("*", "", text)
        try:
            found[name] = float(share)
        except ValueError:
            raise MapdagError(f"--lump takes a share of the rows, or COLUMN=SHARE, got {text!r:.80}") from None
    return found or None


def _way(text: str) -> str | list[float]:
    """Cut points if that is what is written, else the name of a method."""
    try:
        return [float(point) for point in text.split(",")]
    except ValueError:
        return text
