"""The options that follow from what was found out about a table: tried, and written as a line to paste."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.judgement import bins_for
from mapdag.data.meanings import EVERY_COLUMN
from mapdag.data.preparation import prepare
from mapdag.data.problems import way_with_missing
from mapdag.errors import DataError, Setting
from mapdag.notices import unsaid

if TYPE_CHECKING:
    from mapdag.data.advice import Fact
    from mapdag.data.columns import Column
    from mapdag.data.source import Source

_ROUNDS = 5  # of repairing the advice where the table, read as advised, has yet another problem
_LEFT_OUT = ("identifier", "index", "text", "date", "constant")


def options_for(
    facts: Sequence[Fact], columns: Sequence[Column], given: Mapping[str, Any], observations: float
) -> dict[str, Any]:
    """Return the options that follow from what was found, on top of those that were given.

    Parameters
    ----------
    facts : sequence of Fact
    columns : sequence of Column
        With the rows that were looked at.
    given : mapping
        Options.
    observations : float
        How many there are in the table.
    """
    wanted = dict(given)
    left_out = [fact.name for fact in facts if fact.must_go or fact.kind in _LEFT_OUT]
    kept = [fact for fact in facts if fact.is_kept]
    gone = np.any([fact.gone for fact in kept], axis=0) if kept else np.zeros(1, dtype=bool)
    if gone.any():
        others = [
            column.index for column, fact in zip(columns, facts, strict=True) if fact.is_kept and not fact.missing
        ]
        wanted["missing"] = way_with_missing(gone, others)
        observations *= 1 - float(gone.mean()) if wanted["missing"] == "drop" else 1
    if any(fact.kind == "numeric" for fact in kept):
        wanted["discretize"] = f"quantile({bins_for(observations)})"
    counts = [fact.name for fact in facts if fact.kind == "count"]
    if counts:
        wanted["weights"] = counts[0]
    if left_out:
        wanted["drop"] = list(dict.fromkeys([*wanted.get("drop", []), *left_out]))
    return wanted


def repaired(held: Source, options: dict[str, Any], numeric: Sequence[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Read the table as advised, and add to the advice what is wrong even so; or return what cannot be helped."""
    there = set(held.names)
    for _ in range(_ROUNDS):
        trial = {name: value for name, value in options.items() if name not in {"separator", "encoding"}}
        if "drop" in trial:
            trial["drop"] = [name for name in trial["drop"] if name in there]
        if isinstance(trial.get("missing_values"), dict):
            trial["missing_values"] = {n: v for n, v in trial["missing_values"].items() if n in {*there, EVERY_COLUMN}}
        try:
            with unsaid():
                prepare(replace(held, parts=list(held.parts)), **trial).coded()
        except DataError as error:
            more = _with_remedy(options, error.remedy, numeric)
            if more == options:
                return options, (str(error),)
            options = more
        else:
            return options, ()
    return options, ("no way was found to read this table",)


def _with_remedy(options: Mapping[str, Any], remedy: Sequence[Setting], numeric: Sequence[str]) -> dict[str, Any]:
    """Add options; numbers are cut rather than left out, even if they identify the rows that remain."""
    more = dict(options)
    for setting in remedy:
        if setting.option == "drop":
            ways = more.get("discretize")
            apart: dict[str, Any] = ways if isinstance(ways, dict) else {} if ways is None else {"*": ways}
            cut = [name for name in setting.value if name in numeric and "*" in apart and name not in apart]
            gone = [name for name in setting.value if name not in cut]
            apart = {name: way for name, way in apart.items() if name not in gone}
            apart |= dict.fromkeys(cut, apart.get("*"))
            if apart:
                more["discretize"] = apart["*"] if list(apart) == ["*"] else apart
            if gone:
                more["drop"] = list(dict.fromkeys([*more.get("drop", []), *gone]))
        elif setting.option in {"missing", "weights", "discretize"}:
            more.setdefault(setting.option, setting.value)
    return more


def code_for(path: str | list[str] | None, options: Mapping[str, Any], *, scan: bool = False) -> str:
    """Write the call that learns from the table as advised."""
    table = "df" if path is None else json.dumps(path, ensure_ascii=False)
    given = [Setting(*item).code() for item in options.items()]
    if not all(isinstance(value, str | list | dict) for value in options.values()):
        given = ["**check.options"]
    call = ", ".join([table, *given])
    return f"md.learn(md.scan({call}))" if scan else f"md.learn({call})"


def command_for(path: str, options: Mapping[str, Any], *, scan: bool = False) -> str:
    """Write the command that learns from the file as advised; there is none for what a shell cannot say."""
    if not all(isinstance(value, str | list | dict) for value in options.values()) or isinstance(
        options.get("levels"), dict
    ):
        return ""
    file = f"./{path}" if path.startswith("-") else path
    flags = [*(Setting(*item).flags() for item in options.items()), *(["--scan"] if scan else [])]
    return " ".join(["mapdag learn", shlex.quote(file), *flags])
