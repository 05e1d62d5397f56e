"""What was found out about the columns of a table, and what is to be said about them."""

from __future__ import annotations

import heapq
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.judgement import RARE, bins_for, count_column, describe_missing, judge
from mapdag.data.labels import MISSING, text_of
from mapdag.data.meanings import EVERY_COLUMN, meanings_of, missing_positions
from mapdag.data.missing_codes import not_asked, suspects
from mapdag.data.preparation import prepare
from mapdag.data.problems import listed, way_with_missing
from mapdag.data.redundancy import parallels, sums, twins
from mapdag.errors import DataError, Setting
from mapdag.notices import unsaid

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from mapdag.data.columns import Column
    from mapdag.data.judgement import ColumnKind
    from mapdag.data.meanings import ReadOptions
    from mapdag.data.redundancy import Twin
    from mapdag.data.source import Source


COMMON_SHOWN = 5  # values of a column
_LONG_SCALE = 8  # levels from which on whole numbers are many
_FEW_GAPS = 0.2  # share of the rows that may lack a part of a sum
_SHOWN = 5  # pairs of columns, and levels, that are named


@dataclass(frozen=True, eq=False)
class Fact:
    """What was found out about a column."""

    name: str
    kind: ColumnKind
    why: str  # what speaks for that
    levels: int
    missing: int  # rows without a value
    gone: NDArray[np.bool_]  # which they are, among those that are looked at
    unobserved: tuple[str, ...] = ()  # declared levels that no row has
    common: tuple[tuple[str, int], ...] = ()  # the most frequent values, and the rows that have them
    extremes: tuple[str, str] | None = None  # of numbers
    repeats: str = ""  # which columns it says nothing besides, if it is to be left out for that
    many: bool = False  # whether it has more levels than are sensible, and rows enough for most of them
    suspects: tuple[str, ...] = ()  # values that may mean "missing", and are taken for it
    not_asked: tuple[str, ...] = ()  # those that may be a level of their own
    is_key: bool = False  # whether its values identify something, rather than being too many
    groups: bool = False  # whether they tell which rows belong together

    @property
    def must_go(self) -> bool:
        """Whether it cannot be used whatever it holds, for want of a name."""
        return not self.name

    @property
    def is_scale(self) -> bool:
        """Whether it is a category of many whole numbers without gaps, from 0 or 1 on: a scale, or a count."""
        if self.kind != "category" or self.extremes is None or not _LONG_SCALE <= self.levels <= COMMON_SHOWN * 4:
            return False
        low, high = self.extremes
        return low in {"0", "1"} and high.isdecimal() and int(high) - int(low) + 1 == self.levels + len(self.suspects)

    @property
    def is_kept(self) -> bool:
        """Whether it is a variable to learn from."""
        return not (self.must_go or self.repeats or self.groups) and self.kind in {"category", "numeric"}


def find_facts(columns: Sequence[Column], rows: Sequence[Column], options: ReadOptions, weights: Any) -> list[Fact]:
    """Find out what there is to know about each column.

    Parameters
    ----------
    columns : sequence of Column
    rows : sequence of Column
        The same, or some of their rows where they hold distinct values instead.
    options : ReadOptions
    weights : str or array, optional
        Which of them weighs the rows, if one does.
    """
    found = {column.name: suspects(column, options) for column in columns}
    known = replace(options, missing_values={**options.missing_values, **_as_missing(found)})
    counts = count_column(rows, known) if weights is None and rows is columns else weights
    named = counts if isinstance(counts, str) else None
    facts = [_fact(*both, known, counted=both[0].name == named) for both in zip(columns, rows, strict=True)]
    return [
        replace(fact, **_shown_values(column, options), suspects=found[fact.name] if fact.is_kept else ())
        for fact, column in zip(facts, columns, strict=True)
    ]


def _as_missing(found: Mapping[str, tuple[str, ...]]) -> dict[str | None, frozenset[str]]:
    return {name: frozenset(values) for name, values in found.items() if values}


def _shown_values(column: Column, options: ReadOptions) -> dict[str, Any]:
    """Return the values of a column that show best what it holds."""
    missing = options.missing_texts(column.name)
    counts, numbers = column.tally(), None if column.declared is not None else column.numbers(missing)
    extremes = None
    if numbers is not None:
        used = np.flatnonzero((counts > 0) & np.isfinite(numbers))
        if len(used):
            ends = used[np.argmin(numbers[used])], used[np.argmax(numbers[used])]
            extremes = (_text_at(column, int(ends[0])), _text_at(column, int(ends[1])))
    common = [] if column.kind == "nested" else _most_frequent(column, counts, numbers, missing)
    is_text = column.declared is None and column.kind == "text" and numbers is None
    return {
        "common": tuple(common),
        "extremes": extremes,
        "not_asked": tuple(not_asked(column.labels)) if is_text else (),
    }


def _most_frequent(
    column: Column, counts: NDArray[np.int64], numbers: NDArray[np.float64] | None, missing: Collection[str]
) -> list[tuple[str, int]]:
    """Return the most frequent values, the lowest of equally frequent ones first."""
    if numbers is not None:
        there = ~np.isnan(numbers)
        numbers, counts = numbers[there], counts[there]
        distinct, place = np.unique(numbers, return_inverse=True)
        sums = np.bincount(place.reshape(-1), weights=counts, minlength=len(distinct)).astype(np.int64)
        best = np.lexsort((distinct, -sums))[:COMMON_SHOWN]
        return [(text_of(float(distinct[i])), int(sums[i])) for i in best.tolist() if sums[i]]
    by_label: dict[str, int] = {}
    for label, count in zip(column.labels, counts.tolist(), strict=True):
        if count and label is not None and label.strip() not in missing:
            by_label[label.strip()] = by_label.get(label.strip(), 0) + count
    return heapq.nsmallest(COMMON_SHOWN, by_label.items(), key=lambda item: (-item[1], item[0]))


def _text_at(column: Column, position: int) -> str:
    """Return the text of a value; of numbers in great variety, only those are made that are asked for."""
    if column.texts is not None or column.values is None:
        return (column.labels[position] or "").strip()
    return text_of(column.values[position])


def _fact(column: Column, rows: Column, options: ReadOptions, *, counted: bool) -> Fact:
    declared = options.declared.get(column.name) or column.declared
    gone = missing_positions(rows, options)[rows.index]
    missing = int(column.tally()[missing_positions(column, options)].sum())
    labels, unobserved = _labels(column, options)
    if declared is not None:
        return Fact(column.name, "category", "", len(declared), missing, gone, unobserved)
    found, size = judge(column, options), len(labels)
    kind: ColumnKind = "count" if counted else "constant" if size < 2 and column.kind != "nested" else found.kind
    why = found.why
    if counted:
        why = "counts the rows of an aggregated table"
    elif kind == "constant":
        why = f"every value is {listed(map(text_of, labels))}" if labels else "holds no values"
    is_key = found.kind == "identifier" and not found.many
    many = kind == "category" and found.many > 0
    return Fact(column.name, kind, why, size, missing, gone, many=many, is_key=is_key)


def _labels(column: Column, options: ReadOptions) -> tuple[Collection[Any], tuple[str, ...]]:
    """Return the distinct values that rows have, and the declared levels that none has."""
    used = column.tally() > 0
    declared = options.expected(column.name)
    numbers = (
        column.numbers(options.missing_texts(column.name)) if declared is None and column.declared is None else None
    )
    if numbers is not None and column.values is not None:
        return np.unique(numbers[used & ~np.isnan(numbers)]).tolist(), ()
    meanings = meanings_of(column, options, declared)
    found = {label for label, flag in zip(meanings, used.tolist(), strict=True) if flag and label is not None}
    return found, tuple(label for label in (declared or column.declared or ()) if label not in found)


# What to say -------------------------------------------------------------------------------------------------------


def advice_for(fact: Fact, options: Mapping[str, Any]) -> str:
    """Say what the options do about a column, and why."""
    if fact.must_go:
        return "leave out: has no name" + (f", {fact.why}" if fact.why else "")
    if fact.repeats:
        return f"leave out: {fact.repeats}"
    if fact.name in options.get("drop", ()):
        return f"leave out: {fact.why or 'what is left of it cannot be used'}"
    if fact.kind == "count":
        return f"use as weights: {fact.why}"
    if fact.kind == "weight":
        return f"use as survey weights: {fact.why}"
    if fact.groups:
        return f"use as groups: {fact.why}"
    parts = [fact.why] if fact.why else []
    if fact.kind == "numeric":
        parts = [f"cut, {_way(fact.name, options)}: {fact.why}"]
    if fact.is_scale and fact.name not in options.get("discretize", ()):
        parts.append(f"{fact.levels} steps in order, which may be cut")
    if fact.many:
        parts = [f"lump levels that fewer than {RARE:.0%} of the rows have: {fact.why}"]
    if fact.suspects:
        parts.append(f"take {listed(fact.suspects, _SHOWN)} for missing")
    if fact.not_asked:
        parts.append(f"{listed(fact.not_asked, _SHOWN)} stays a level: not asked is not the same as not known")
    if fact.missing and "missing" in options:
        parts.append("missing is one more level" if options["missing"] == "level" else "leave out rows without a value")
    if fact.unobserved:
        parts.append(f"declares levels that no row has: {listed(fact.unobserved, _SHOWN)}")
    return "; ".join(parts)


def _way(name: str, options: Mapping[str, Any]) -> str:
    """Return how a column is cut."""
    ways = options.get("discretize", "quantile")
    return str(ways.get(name, ways.get("*")) if isinstance(ways, dict) else ways)


def general_notes(columns: Sequence[Column], facts: Sequence[Fact], options: Mapping[str, Any]) -> list[str]:
    """Say what concerns several columns."""
    left_out = options.get("drop", ())
    kept = [
        (column, fact)
        for column, fact in zip(columns, facts, strict=True)
        if fact.is_kept and fact.name not in left_out
    ]
    notes = describe_missing({fact.name: fact.gone for _, fact in kept if fact.missing})
    pairs = [_told_twin(twin) for twin in twins({fact.name: column.index for column, fact in kept})]
    pairs += [f"{a!r} and {b!r} rise and fall together (correlation {r:+.4f})" for a, b, r in parallels(_by_row(kept))]
    notes += pairs[:_SHOWN]
    if len(pairs) > _SHOWN:
        notes.append(f"... and {len(pairs) - _SHOWN:,} more such pairs")
    return notes


def find_sums(columns: Sequence[Column], facts: Sequence[Fact]) -> list[Fact]:
    """Find columns that are sums of others, of which each would be a parent."""
    numbers = {}
    for column, fact in zip(columns, facts, strict=True):
        if not fact.is_kept or column.declared is not None or fact.gone.mean() > _FEW_GAPS:
            continue
        found = column.numbers(MISSING | set(fact.suspects))
        if found is not None:
            numbers[fact.name] = np.where(fact.gone, np.nan, found[column.index])
    repeats = {found.name: found.told() for found in sums(numbers)}
    return [replace(fact, repeats=repeats.get(fact.name, "")) for fact in facts]


def _told_twin(twin: Twin) -> str:
    if not twin.mutual:
        return f"{twin.follows!r} follows from {twin.known!r}: each value of {twin.known!r} has one of {twin.follows!r}"
    if not twin.differing:
        return f"{twin.follows!r} says the same as {twin.known!r}: one of the two is enough"
    return (
        f"{twin.follows!r} says nearly the same as {twin.known!r} ({twin.differing:,} rows differ): one may be enough"
    )


def _by_row(kept: Sequence[tuple[Column, Fact]]) -> dict[str, NDArray[np.float64]]:
    """Return the numeric columns without gaps, by row."""
    found = {}
    for column, fact in kept:
        numbers = column.numbers(()) if fact.kind == "numeric" and not fact.missing else None
        if numbers is not None and np.isfinite(numbers[column.index]).all():
            found[fact.name] = numbers[column.index]
    return found


# The options that follow: tried, and written as a line to paste ------------------------------------------------------

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
    suspected = {fact.name: list(fact.suspects) for fact in facts if fact.suspects}
    if suspected:
        before = wanted.get("missing_values", {})
        wanted["missing_values"] = {**(before if isinstance(before, dict) else {EVERY_COLUMN: before}), **suspected}
    gone_kinds = (fact for fact in facts if fact.must_go or fact.repeats or fact.kind in _LEFT_OUT)
    left_out = [fact.name for fact in gone_kinds if fact.must_go or not fact.groups]
    kept = [fact for fact in facts if fact.is_kept]
    gone = np.any([fact.gone for fact in kept], axis=0) if kept else np.zeros(1, dtype=bool)
    if gone.any():
        others = [
            column.index for column, fact in zip(columns, facts, strict=True) if fact.is_kept and not fact.missing
        ]
        wanted["missing"] = way_with_missing(gone, others)
        observations *= 1 - float(gone.mean()) if wanted["missing"] == "drop" else 1
    lumped = {fact.name: RARE for fact in kept if fact.many}
    if lumped:
        wanted["lump"] = lumped
    if any(fact.kind == "numeric" for fact in kept):
        wanted["discretize"] = f"quantile({bins_for(observations)})"
    counts = [fact.name for fact in facts if fact.kind == "count"]
    if counts:
        wanted["weights"] = counts[0]
    for fact in facts:
        if fact.kind == "weight":
            wanted |= {"weights": fact.name, "weighting": "survey"}
        elif fact.groups:
            wanted["groups"] = fact.name
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
        if isinstance(trial.get("lump"), dict):
            trial["lump"] = {name: share for name, share in trial["lump"].items() if name in there}
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
        elif setting.option == "lump":
            more["lump"] = {**more.get("lump", {}), **setting.value}
        elif setting.option in {"missing", "weights", "discretize"}:
            more.setdefault(setting.option, setting.value)
    return more


def code_for(path: str | list[str] | None, options: Mapping[str, Any], *, scan: bool = False) -> str:
    """Write the call that learns from the table as advised."""
    table = "df" if path is None else json.dumps(path, ensure_ascii=False)
    given = [Setting(*item).code() for item in options.items()]
    if not all(isinstance(value, str | list | dict | int) for value in options.values()):
        given = ["**check.options"]
    call = ", ".join([table, *given])
    return f"md.learn(md.scan({call}))" if scan else f"md.learn({call})"


def command_for(path: str, options: Mapping[str, Any], *, scan: bool = False) -> str:
    """Write the command that learns from the file as advised; there is none for what a shell cannot say."""
    if not all(isinstance(value, str | list | dict | int) for value in options.values()) or isinstance(
        options.get("levels"), dict
    ):
        return ""
    file = f"./{path}" if path.startswith("-") else path
    flags = [*(Setting(*item).flags() for item in options.items()), *(["--scan"] if scan else [])]
    return " ".join(["mapdag learn", shlex.quote(file), *flags])
