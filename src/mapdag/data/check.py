"""`check`: look at a table before learning from it, and say what each column seems to be and what to do about it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.advice import (
    Fact,
    advice_for,
    code_for,
    command_for,
    find_facts,
    find_sums,
    general_notes,
    options_for,
    repaired,
)
from mapdag.data.columns import remembering
from mapdag.data.design_columns import with_design
from mapdag.data.groups import doubts, effective, may_be_doubtful, read_groups
from mapdag.data.meanings import ReadOptions, missing_option, texts_for_missing
from mapdag.data.packed.scan import is_many, open_packed
from mapdag.data.preparation import declared_in
from mapdag.data.problems import unknown_names
from mapdag.data.rows import read_weights
from mapdag.data.source import Source, check_width, names_in, open_source
from mapdag.errors import DataError
from mapdag.notices import unsaid
from mapdag.tables import Column, Table, Tabular, paragraphs
from mapdag.wording import plural, shortened

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mapdag.data.judgement import ColumnKind
    from mapdag.data.options import MissingValues
    from mapdag.data.rows import Weighting, Weights

_ALL_SHOWN = 100  # columns
_WIDTH, _LABEL = 30, 20  # letters of values that are shown, and of one of them


@dataclass(frozen=True)
class ColumnCheck:
    """What a column seems to be.

    Attributes
    ----------
    name : str
    kind : {"category", "numeric", "identifier", "count", "date", "text", "constant", "index", "weight"}
        What it seems to be; only categories are used as they are.
    levels : int
        Distinct values; of declared levels, how many there are.
    missing : int
        Rows without a value, or with one that `suspects` lists.
    advice : str
        What to do about it; nothing for most categories.
    common : tuple of (str, int)
        The most frequent values, up to five, and the rows that have them.
    extremes : tuple of str, optional
        The lowest and the highest number, as they are written.
    suspects : tuple of str
        Values that may mean "missing", such as 99 beyond a gap, or "refused". The line to paste takes them for it.
    """

    name: str
    kind: ColumnKind
    levels: int
    missing: int
    advice: str = ""
    common: tuple[tuple[str, int], ...] = ()
    extremes: tuple[str, str] | None = None
    suspects: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """What it holds, in a few words: the extremes of numbers, else the most frequent values."""
        if self.extremes is not None and (self.kind == "numeric" or self.levels > len(self.common)):
            return " to ".join(f"{float(end.replace(',', '.')):.6g}" for end in self.extremes)
        found = ""
        for i, (label, count) in enumerate(self.common):
            more = shortened(label, _LABEL) if label.isprintable() else repr(label)
            more += f" ({count:,})" if count > 1 else ""
            if i and len(found) + len(more) > _WIDTH:
                return f"{found}, ..."
            found += f", {more}" if i else more
        return f"{found}, ..." if self.levels + len(self.suspects) > len(self.common) else found


@dataclass(frozen=True)
class Check(Tabular):
    """What a table seems to hold, and how to learn from it: printed, it is a table with advice.

    Attributes
    ----------
    rows : int
    columns : tuple of ColumnCheck
        In the order of the table.
    options : dict
        Options of `mapdag.read` and `mapdag.learn` that follow the advice: ``md.learn(df, **check.options)``.
    code : str
        The same as a line of Python, in which a table in memory is called `df`.
    command : str
        The same for a shell, where the table is a file.
    notes : tuple of str
        What is to be said about the table as a whole: copies, what follows from what, what is missing together.
    problems : tuple of str
        What keeps the table from being learned from, whatever the options; then there is no line to paste.

    Examples
    --------
    >>> import mapdag as md
    >>> table = {"id": range(40), "age": [20 + i * 7 % 53 for i in range(40)], "sex": ["f", "m"] * 20}
    >>> found = md.check(table)
    >>> [(column.name, column.kind) for column in found.columns]
    [('id', 'identifier'), ('age', 'numeric'), ('sex', 'category')]
    >>> found.code
    'md.learn(df, discretize="quantile(2)", drop=["id"])'
    >>> md.read(table, **found.options).levels["sex"]
    ('f', 'm')
    """

    rows: int
    columns: tuple[ColumnCheck, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""
    command: str = ""
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as ``mapdag check --json`` prints it."""
        return {
            "rows": self.rows,
            "columns": [
                {
                    "name": c.name,
                    "kind": c.kind,
                    "levels": c.levels,
                    "missing": c.missing,
                    "advice": c.advice,
                    "common": [{"level": label, "rows": count} for label, count in c.common],
                    "lowest": None if c.extremes is None else c.extremes[0],
                    "highest": None if c.extremes is None else c.extremes[1],
                    "suspects": list(c.suspects),
                }
                for c in self.columns
            ],
            "options": {
                name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in self.options.items()
            },
            "command": self.command,
            "code": self.code,
            "notes": list(self.notes),
            "problems": list(self.problems),
        }

    def __str__(self) -> str:
        return self.written(self.code)

    __repr__ = __str__  # it is there to be read: at a prompt, too

    def written(self, paste: str) -> str:
        """Return the table, what is to be said about it, and a line to paste."""
        size = f"{plural(self.rows, 'row')}, {plural(len(self.columns), 'column')}"
        told = [size, "", str(self._shown())]
        if self.notes:
            told += ["", *self.notes]
        if self.problems:
            told += ["", *self.problems]
        return "\n".join([*told, "", paste] if paste else told)

    def to_table(self, most: int | None = None) -> Table:
        """Return a row for each column."""
        return self._table(self.columns[:most])

    def _shown(self) -> Table:
        """Return a row for each column; of hundreds, for those that there is something to say about."""
        if len(self.columns) <= _ALL_SHOWN:
            return self._table(self.columns)
        telling = [c for c in self.columns if c.advice or c.kind != "category"]
        return self._table(telling, "categories to be used as they are")

    def _table(self, shown: Sequence[ColumnCheck], rest: str = "more") -> Table:
        return Table(
            [
                Column("column", [c.name if c.name.isprintable() else repr(c.name) for c in shown]),
                Column("kind", [c.kind for c in shown]),
                Column("levels", np.array([c.levels for c in shown], dtype=np.int64), ",", right=True),
                Column("missing", np.array([c.missing for c in shown], dtype=np.int64), ",", right=True),
                Column("values", [c.shown for c in shown]),
                Column("advice", [c.advice for c in shown], longest=None),
            ],
            left=len(self.columns) - len(shown),
            rest=rest,
        )

    def _repr_html_(self) -> str:
        """Show the table in notebooks, all of it, and the line to paste."""
        paste = [self.code] if self.code else []
        told = paragraphs([*self.notes, *self.problems]), paragraphs(paste, element="pre")
        return self._shown()._repr_html_() + "".join(told)


def check(
    table: Any,
    *,
    levels: Mapping[str, Sequence[Any] | int] | str | os.PathLike[str] | None = None,
    weights: str | ArrayLike | None = None,
    weighting: Weighting | None = None,
    groups: str | ArrayLike | None = None,
    drop: str | Iterable[str] = (),
    missing_values: MissingValues = (),
    max_levels: int | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    scan: bool = False,
) -> Check:
    """Look at a table: what each column seems to be, what to do about it, and the line to paste.

    `mapdag.read` and `mapdag.learn` judge columns in the same way; what is an error there is advice here.

    Parameters
    ----------
    table : path, bytes, open file, DataFrame, Arrow table, array, dict, list of dicts or Dataset
        Whatever `mapdag.read` takes; or several files, as `mapdag.scan` takes them: a pattern, a folder, a list of
        paths. These are packed; of more than a million rows, columns are judged by the counts of their values, and
        what several columns tell together by some of the rows.
    levels, weights, weighting, groups, drop, missing_values, max_levels, separator, encoding
        As in `mapdag.read`; they become part of the line to paste. Declared levels are taken as they are.
    scan : bool
        Whether to pack a single file, too, as `mapdag.scan` does, instead of reading it into memory.

    Returns
    -------
    Check

    Raises
    ------
    DataError
        If there is no table, or one whose columns have no names that tell them apart.

    Examples
    --------
    >>> import mapdag as md
    >>> table = {"sex": ["f", "m"] * 4, "ill": ["no", "no", "yes", "yes"] * 2, "dose": [1] * 4 + [2] * 4,
    ...          "Freq": [12, 9, 3, 5, 7, 8, 6, 10]}
    >>> print(md.check(table))
    8 rows, 4 columns
    <BLANKLINE>
    column  kind      levels  missing  values           advice
    sex     category       2        0  f (4), m (4)
    ill     category       2        0  no (4), yes (4)
    dose    category       2        0  1 (4), 2 (4)
    Freq    count          8        0  3 to 12          use as weights: counts the rows of an aggregated table
    <BLANKLINE>
    md.learn(df, weights="Freq")
    """
    dropped = names_in(drop)
    declared = os.fspath(levels) if isinstance(levels, os.PathLike) else levels
    given: dict[str, Any] = {"levels": declared, "weights": weights, "weighting": weighting, "groups": groups}
    given["drop"] = dropped
    given |= {"max_levels": max_levels, "separator": separator, "encoding": encoding}
    packed = open_packed([table] if scan else table, separator, encoding)
    source = open_source(table, separator, encoding) if packed is None else packed
    left_out = set(dropped)
    unknown = sorted(left_out.difference(source.names))
    if unknown:
        raise unknown_names(unknown, source.names, "drop")
    given["missing_values"] = missing_values = missing_option(missing_values, source.names)
    kept = [position for position, name in enumerate(source.names) if name not in left_out]
    if not kept:
        raise DataError(f"no columns are left of {source.called}")
    check_width(source, len(kept))
    names = [source.names[position] for position in kept]
    options = ReadOptions(
        declared=declared_in(levels, None, names),
        missing_values=texts_for_missing(missing_values, source.names),
        most=max_levels,
        first=source.names[0],
    )
    by_row = _weights(source, weights, options)
    weighting = weighting or _weighting(by_row, source, kept, options, weights)
    given["weighting"] = weighting
    options = replace(options, weight=1.0 if weighting == "survey" else _mean(by_row))
    columns, rows = (
        [remembering(each.make(each.names[position], each.parts[position], options)) for position in kept]
        for each in (source, source.sample or source)
    )
    rows = rows if source.sample else columns
    facts = find_facts(columns, rows, options, weights if weights is not None else source.weights)
    facts = find_sums(rows, facts)
    if packed is None:
        facts = with_design(list(zip(columns, facts, strict=True)), given)
    held = replace(source, names=names, parts=columns, make=lambda _, column, __: column, header=False)
    given = {name: value for name, value in given.items() if _is_given(value)}
    wanted = options_for(facts, rows, given, _observations(source, facts, given, options))
    wanted, problems = repaired(held, wanted, [fact.name for fact in facts if fact.kind == "numeric"])
    path = _path_of(table)
    return Check(
        rows=source.n_rows,
        columns=tuple(
            ColumnCheck(
                fact.name,
                fact.kind,
                fact.levels,
                fact.missing,
                advice_for(fact, wanted),
                fact.common,
                fact.extremes,
                fact.suspects,
            )
            for fact in facts
        ),
        options=wanted,
        code="" if problems else code_for(path, wanted, scan=scan),
        command=command_for(path, wanted, scan=scan) if isinstance(path, str) and not problems else "",
        notes=tuple(general_notes(rows, facts, wanted)),
        problems=problems,
    )


def _path_of(table: Any) -> str | list[str] | None:
    """Return where a table is, if it is in files."""
    if is_many(table) and isinstance(table, list | tuple):
        return [os.fspath(path) for path in table]
    return os.fspath(table) if isinstance(table, str | os.PathLike) else None


def _is_given(value: Any) -> bool:
    return value is not None and (not isinstance(value, list | dict) or bool(value))


def _weights(source: Source, weights: Any, options: ReadOptions) -> Weights | None:
    """Return the weights of the rows; the column of weights stays in the table."""
    if isinstance(weights, str) and weights not in source.names:
        raise unknown_names([weights], source.names, "weights")
    return read_weights(replace(source, parts=list(source.parts)), weights, options)


def _mean(weights: Weights | None) -> float:
    """Return how many observations a row stands for."""
    return 1.0 if weights is None else max(float(weights.mean()), 1.0)


def _weighting(
    by_row: Weights | None, source: Source, kept: Sequence[int], options: ReadOptions, weights: Any
) -> Weighting | None:
    """Say what weights that were given seem to be: those of a survey, where they are hardly counts."""
    if weights is None or by_row is None or not may_be_doubtful(by_row):
        return None
    others = [position for position in kept if source.names[position] != weights]
    columns = [source.make(source.names[position], source.parts[position], options) for position in others]
    return "survey" if doubts(by_row, weights, columns) else None


def _observations(source: Source, facts: Sequence[Fact], given: Mapping[str, Any], options: ReadOptions) -> float:
    """Return how many observations the rows count as, given what weighs and groups them."""
    kinds = {fact.kind: fact.name for fact in facts}
    weighed = kinds.get("weight", kinds.get("count", given.get("weights")))
    by_row = _weights(source, weighed, options)
    asked: Any = {"groups": next((fact.name for fact in facts if fact.groups), given.get("groups"))}
    with unsaid():
        groups = read_groups(replace(source, parts=list(source.parts)), asked, options)
    weighting: Weighting | None = "survey" if "weight" in kinds else given.get("weighting")
    total = effective(by_row, groups, weighting)
    return float(source.n_rows if total is None else total.sum())
