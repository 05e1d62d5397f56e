"""What may stand in a file of results: whatever is read from one is checked here, since others may have touched it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from mapdag.errors import MapdagError
from mapdag.study.cells import COSTS, FIELDS, Row
from mapdag.study.design import size_key

#: Names of what is noted of a run, and the types that each may have.
RUN: Mapping[str, tuple[type, ...]] = {
    "id": (int,),
    "started": (str,),
    "machine": (str,),
    "versions": (str,),
    "workers": (int,),
    "seconds": (float, int),
    "cells": (int,),
}
#: The same of a task; the seconds of its parts are in `PARTS`.
WORK: Mapping[str, tuple[type, ...]] = {
    "run": (int,),
    "network": (str,),
    "size": (str,),
    "replicate": (int,),
    "columns": (str,),
    "sampling": (float, int),
    "learning": (float, int),
    "judging": (float, int),
    "cpu": (float, int),
    "families": (int,),
    "cells": (int,),
}
PARTS = ("sampling", "learning", "judging", "cpu")  # of the seconds of a task

_KINDS = {"str": (str,), "int": (int,), "float": (float, int), "float | None": (float, int, type(None))}
_ROW = {name: _KINDS[str(Row.__annotations__[name])] for name in FIELDS}
_WHOLE = ("results_version", "seed", "test_rows")
_CLOSE = 1e-9  # relative: log-likelihoods from two machines that are the same but for rounding
_SHOWN = 60  # letters of a value in a message


class Damaged(ValueError):  # noqa: N818 - what it is
    """A value that no study has written."""


def check_values(values: Sequence[Any], kinds: Mapping[str, tuple[type, ...]]) -> None:
    """Refuse values that have another type than those of a table have."""
    if not _are_of(tuple(map(type, values)), tuple(kinds.values())):
        for (name, allowed), value in zip(kinds.items(), values, strict=True):
            if type(value) not in allowed:
                raise Damaged(f"{name} is {_short(value)}")


@lru_cache(maxsize=100)
def _are_of(found: tuple[type, ...], kinds: tuple[tuple[type, ...], ...]) -> bool:
    return all(each in allowed for each, allowed in zip(found, kinds, strict=True))


def as_row(values: Sequence[Any]) -> Row:
    """Make a row of what a data base has, in the order of `FIELDS`."""
    check_values(values, _ROW)
    row = Row(**dict(zip(FIELDS, values, strict=True)))
    _check_size(row.size)
    if row.replicate < 1 or row.true_arcs < 0:
        raise Damaged(f"replicate is {row.replicate}, true_arcs is {row.true_arcs}")
    return row


def row_from_text(fields: Mapping[str, str]) -> Row:
    """Read a row that was written as text."""
    convert: dict[str, Any] = {"str": str, "int": int, "float": float, "float | None": float}
    values = {
        name: convert[str(Row.__annotations__[name])](fields[name])
        for name in FIELDS
        if fields[name] or name != "alpha"
    }
    return as_row([{"alpha": None, **values}[name] for name in FIELDS])


@lru_cache(maxsize=1000)
def _check_size(size: str) -> None:
    try:
        known = size_key(size)
    except MapdagError:
        known = ""
    if known != size:
        raise Damaged(f"size is {_short(size)}")


def meta_from(pairs: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    """Read what is known of a study as a whole: names, and values in JSON."""
    found = {key: _json_from(f"{key!r:.60}", text) for key, text in pairs}
    for name in _WHOLE:
        if name in found and type(found[name]) is not int:
            raise Damaged(f"{name} is {_short(found[name])}")
    if not isinstance(found.get("design"), Mapping | None):
        raise Damaged(f"design is {_short(found['design'])}")
    return found


def mapping_from(name: str, text: Any) -> dict[str, Any]:
    """Read an object in JSON."""
    found = _json_from(name, text)
    if not isinstance(found, dict):
        raise Damaged(f"{name} is {_short(text)}")
    return found


def _json_from(name: str, text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise Damaged(f"{name} is {_short(text)}") from None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def same_results(a: Row, b: Row) -> bool:
    """Whether two rows say the same, costs and the last digits of log-likelihoods aside."""
    for name in FIELDS:
        x, y = getattr(a, name), getattr(b, name)
        if name in COSTS or x == y:
            continue
        if not (isinstance(x, float) and isinstance(y, float) and math.isclose(x, y, rel_tol=_CLOSE)):
            return False
    return True
