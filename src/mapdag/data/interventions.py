"""Experiments: which variables were set by experiment, in which rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.columns import is_a
from mapdag.data.labels import is_iterable
from mapdag.data.problems import listed, unknown_names
from mapdag.errors import DataError, ParameterError, Setting
from mapdag.tables import Column, Table, Tabular
from mapdag.wording import brief

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.meanings import ReadOptions
    from mapdag.data.source import Source

#: Signs that may separate several names in one value, in the order in which they are tried.
SEPARATORS = (";", ",", "|", "+", "&", " ")
_RANDOMISED = (
    "; if {0!r} itself was assigned in every row, as in a randomised trial, forbid arcs into it instead: "
    "pass tiers with {0!r} alone in the first one and the others in the second"
)


@dataclass(frozen=True, eq=False, repr=False)
class Interventions(Tabular):
    """Which variables were set in which rows of a table: by a knock-out, an inhibitor, an assignment at random.

    Attributes
    ----------
    targets : tuple of tuples of str
        The sets of variables that were set in some row, those of fewer variables first; ``()`` where rows were only
        observed.
    codes : array of shape (rows,)
        Which of them each row has.

    Examples
    --------
    >>> import mapdag as md
    >>> table = {"a": [0, 1, 0, 1], "b": [0, 1, 1, 1], "set": ["", "", "a", "a;b"]}
    >>> md.read(table, interventions="set").interventions
    rows by what was set in them
    set   rows
    -        2
    a        1
    a, b     1
    """

    targets: tuple[tuple[str, ...], ...]
    codes: NDArray[np.uint16]

    @classmethod
    def of(cls, targets: Sequence[Sequence[str]], codes: NDArray[Any], names: Sequence[str]) -> Interventions | None:
        """Bring targets into their form: each once, only those that a row has; None if nothing was set in any row."""
        place = {name: i for i, name in enumerate(names)}
        found = [tuple(sorted({place[name] for name in each})) for each in targets]
        used = np.bincount(codes, minlength=len(found)) > 0
        kept = sorted({each for each, is_used in zip(found, used, strict=True) if is_used}, key=lambda s: (len(s), s))
        if not any(kept):
            return None
        if len(kept) > np.iinfo(np.uint16).max:
            raise DataError(
                f"interventions: at most 65,535 different sets of variables are possible, got {len(kept):,}"
            )
        recode = np.array([kept.index(each) if each in kept else 0 for each in found], dtype=np.uint16)
        by_row = recode[codes]
        by_row.flags.writeable = False
        return cls(tuple(tuple(names[i] for i in each) for each in kept), by_row)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that were set in some row."""
        return tuple(dict.fromkeys(name for each in self.targets for name in each))

    def rows_of(self, name: str) -> NDArray[np.bool_]:
        """Whether a variable was set, for each row."""
        marked: NDArray[np.bool_] = np.array([name in each for each in self.targets])[self.codes]
        return marked

    def counts(self, weights: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the rows of each target, or the sum of their weights."""
        found = np.bincount(self.codes, weights=weights, minlength=len(self.targets))
        return found if weights is not None and weights.dtype.kind == "f" else found.astype(np.int64)

    def labels(self, columns: Iterable[str] = ()) -> tuple[str, ...]:
        """Return a text for each target that `read` understands: names, separated by a sign that none of them has.

        Nor do other columns of the table, if there is such a sign: "a;b" may be one.
        """
        free = [each for each in SEPARATORS if not any(each in name for name in self.names)]
        if not free and any(len(each) > 1 for each in self.targets):
            raise DataError(
                f"no sign separates the names {listed(self.names)}: each of {' '.join(SEPARATORS)} is in one"
            )
        others = list(columns)
        sign = next((each for each in free if not any(each in name for name in others)), free[0] if free else "")
        return tuple(sign.join(each) for each in self.targets)

    def take(self, rows: Any, names: Sequence[str]) -> Interventions | None:
        """Return those of some rows, in a table with these columns."""
        return Interventions.of(self.targets, self.codes[rows], names)

    def select(self, names: Sequence[str]) -> Interventions | None:
        """Return those of some columns; what else was set does not matter any more."""
        left = set(names)
        return Interventions.of([[name for name in each if name in left] for each in self.targets], self.codes, names)

    def to_table(self, most: int | None = None) -> Table:
        """Return the rows of each target."""
        shown = slice(most)
        columns = [
            Column("set", [", ".join(each) or "-" for each in self.targets[shown]]),
            Column("rows", self.counts()[shown], ",", right=True),
        ]
        left = len(self.targets[most:]) if most is not None else 0
        return Table(columns, title="rows by what was set in them", left=left, rest="more")

    def __repr__(self) -> str:
        return str(self.to_table())

    def __eq__(self, other: object) -> bool:
        """Whether the same variables were set in the same rows."""
        if not isinstance(other, Interventions):
            return NotImplemented
        mine, theirs = ([frozenset(each) for each in one.targets] for one in (self, other))
        if len(self.codes) != len(other.codes):
            return False
        recode = np.array([mine.index(each) if each in mine else len(mine) for each in theirs])
        return bool((recode[other.codes] == self.codes).all())

    def __hash__(self) -> int:
        return hash((frozenset(map(frozenset, self.targets)), len(self.codes)))


def read_interventions(source: Source, given: Any, names: Sequence[str], options: ReadOptions) -> Interventions | None:
    """Return what was set in every row of a table whose variables are `names`; others do not matter."""
    if given is None:
        kept = source.interventions
        return None if kept is None else kept.select(names)
    if source.interventions is not None:
        raise ParameterError("interventions cannot be given for a dataset that has interventions already")
    column, every = interventions_column(given), [name for name in source.names if name]
    if column is None:
        found = parse_interventions(given, names if isinstance(given, np.ndarray) else every, source.n_rows)
    else:
        meant = None if isinstance(given, str) else given[column]
        targets, codes = _from_column(source, column, meant, every, options)
        _check_names([name for each in targets for name in each], every)
        found = Interventions.of(targets, codes, every)
    return found and found.select(names)


def parse_interventions(given: Any, names: Sequence[str], n_rows: int) -> Interventions | None:
    """Return what was set in every row, given in any way but by a column."""
    if isinstance(given, Interventions):
        targets, codes = [list(each) for each in given.targets], given.codes.astype(np.intp)
    elif isinstance(given, Mapping) or is_a(given, "pandas", "DataFrame") or is_a(given, "polars", "DataFrame"):
        targets, codes = _from_truth_values(given, n_rows, names)
    else:
        targets, codes = _from_rows(given, n_rows, names)
    if len(codes) != n_rows:
        raise DataError(f"interventions must be given for every row ({n_rows:,}), got {len(codes):,}")
    _check_names([name for each in targets for name in each], names)
    return Interventions.of(targets, codes, names)


def interventions_column(given: Any) -> str | None:
    """Return the column that an option `interventions` names, if it does."""
    if isinstance(given, str):
        return given
    if isinstance(given, Mapping) and len(given) == 1:
        column, meant = next(iter(given.items()))
        return column if isinstance(meant, Mapping) else None
    return None


def _from_column(
    source: Source, name: str, meant: Mapping[Any, Any] | None, names: Sequence[str], options: ReadOptions
) -> tuple[list[list[str]], NDArray[np.intp]]:
    """Read a column: each value names what was set, or is looked up."""
    column = source.pop(source.names.index(name), options)
    nothing = options.missing_texts(name)
    known = None if meant is None else {str(value): _names_in(what, names) for value, what in meant.items()}
    is_named = any(label is not None and label.strip() in names for label in column.labels)
    hint = "" if is_named else _RANDOMISED.format(name)
    targets: list[list[str]] = []
    used = np.bincount(column.index, minlength=column.n_positions) > 0
    for position, label in enumerate(column.labels):
        text = "" if label is None else label.strip()
        if not used[position]:
            targets.append([])
        elif known is not None and (label in known or text in known):
            targets.append(known[text] if text in known else known[str(label)])
        elif not text or text in nothing:
            targets.append([])
        elif known is not None:
            raise DataError(
                f"interventions: column {name!r} holds {label!r}, of which the mapping does not say what was set"
            )
        else:
            targets.append(_split(text, names, name, hint))
    return targets, column.index


def _split(text: str, names: Sequence[str], column: str | None, hint: str = "") -> list[str]:
    """Return the variables that a value names; `hint` ends the message where a column holds another value."""
    known = set(names)
    if text in known:
        return [text]
    for sign in SEPARATORS:
        parts = [part.strip() for part in text.split(sign) if part.strip()]
        if len(parts) > 1 and all(part in known for part in parts):
            return parts
    first = next((each for each in SEPARATORS if each in text), None)
    parts = [part.strip() for part in text.split(first)] if first else [text]
    wrong = next(part for part in (*parts, text) if part not in known)
    where = f"interventions: {'' if column is None else f'column {column!r} holds '}{text!r}"
    told = f"{where}, and {wrong!r} is not a column of the table ({listed(names, 8)})"
    if column is None:
        raise DataError(told)
    way = Setting("missing_values", {column: [text]})
    raise DataError(f"{told}; if that means that nothing was set: pass ", way, hint)


def _names_in(what: Any, names: Sequence[str]) -> list[str]:
    """Return the names that one entry holds: none, one, or several."""
    if what is None or (isinstance(what, float) and np.isnan(what)):
        return []
    if isinstance(what, str):
        text = what.strip()
        return [what] if what in set(names) else _split(text, names, None) if text else []
    if is_iterable(what):
        return [str(name) for name in what]
    raise ParameterError(f"interventions must name the variables that were set, got {brief(what)}")


def _from_truth_values(given: Any, n_rows: int, names: Sequence[str]) -> tuple[list[list[str]], NDArray[np.intp]]:
    """Read truth values by variable."""
    columns = list(given) if isinstance(given, Mapping) else list(given.columns)
    _check_names([str(name) for name in columns], names)
    marked = np.zeros((len(columns), n_rows), dtype=np.bool_)
    for row, name in zip(marked, columns, strict=True):
        values = np.asarray(given[name])
        if values.ndim != 1 or len(values) != n_rows:
            told = f"got shape {values.shape}"
            raise DataError(f"interventions: {str(name)!r} must have one truth value per row ({n_rows:,}), {told}")
        row[:] = _truth_values(values, str(name))
    return _by_pattern(marked, [str(name) for name in columns])


def _truth_values(values: NDArray[Any], name: str) -> NDArray[np.bool_]:
    allowed = values.dtype.kind == "b" or all(value in (0, 1) for value in np.unique(values).tolist())  # True is 1
    if not allowed:
        wrong = next(value for value in values.tolist() if value not in (0, 1))
        raise DataError(f"interventions: {name!r} must hold truth values, got {brief(wrong)}")
    return values.astype(np.bool_)


def _by_pattern(marked: NDArray[np.bool_], columns: Sequence[str]) -> tuple[list[list[str]], NDArray[np.intp]]:
    if not len(columns):
        return [[]], np.zeros(marked.shape[1], dtype=np.intp)
    patterns, codes = np.unique(marked, axis=1, return_inverse=True)
    targets = [[name for name, is_set in zip(columns, pattern, strict=True) if is_set] for pattern in patterns.T]
    return targets, codes.reshape(-1)


def _from_rows(given: Any, n_rows: int, names: Sequence[str]) -> tuple[list[list[str]], NDArray[np.intp]]:
    """Read one entry per row: what was set in it; or an array of truth values, a column for each variable."""
    if isinstance(given, np.ndarray) and given.ndim == 2:
        if given.shape != (n_rows, len(names)):
            shape = f"({n_rows:,}, {len(names):,})"
            raise DataError(f"interventions: an array of truth values must have the shape {shape}, got {given.shape}")
        marked = np.array([_truth_values(column, name) for column, name in zip(given.T, names, strict=True)])
        return _by_pattern(marked, names)
    if not is_iterable(given) or isinstance(given, bytes):
        raise ParameterError(
            "interventions must be a column, a mapping from variables to truth values, a table of truth values, or "
            f"what was set for each row, got {brief(given)}"
        )
    met: dict[tuple[str, ...], int] = {}
    codes = [met.setdefault(tuple(_names_in(what, names)), len(met)) for what in _entries(given)]
    return [list(each) for each in met], np.array(codes, dtype=np.intp)


def _entries(given: Iterable[Any]) -> list[Any]:
    entries = given.tolist() if isinstance(given, np.ndarray) else list(given)
    return [None if type(each).__name__ == "NAType" else each for each in entries]


def _check_names(given: Sequence[str], names: Sequence[str]) -> None:
    known = set(names)
    unknown = [name for name in dict.fromkeys(given) if name not in known]
    if unknown:
        raise unknown_names(unknown, names, "interventions")


def always_set(interventions: Interventions | None) -> tuple[str, ...]:
    """Return the variables that were set in every row: nothing can be learned about their parents."""
    if interventions is None:
        return ()
    return tuple(name for name in interventions.names if all(name in each for each in interventions.targets))


def refuse_interventions(data: Any, what: str, *way: str | Setting) -> None:
    """Refuse rows in which values were set by experiment, for what does not take them into account."""
    if getattr(data, "interventions", None) is not None:
        raise DataError(f"{what} does not take into account that values were set in some rows", *way)
