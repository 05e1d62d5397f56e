"""The front door: any table of categories -> `Dataset`."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mapdag.data.codings import interval_levels
from mapdag.data.columns import Column
from mapdag.data.content import located
from mapdag.data.dataset import Dataset
from mapdag.data.discretization import Discretization, Discretizer, cut
from mapdag.data.labels import MAX_LEVELS, code_dtype, declared_levels
from mapdag.data.levels import Coded, Continuous, add_missing, cut_setting, encode, interpret
from mapdag.data.meanings import ReadOptions, meanings_of, texts_for_missing
from mapdag.data.problems import Problems, listed, unknown_names
from mapdag.data.rows import Weights, emptied, find_remaining, leave_out, read_weights
from mapdag.data.source import chosen_columns, names_in, open_source
from mapdag.data.survey import count_column, may_have_counts
from mapdag.errors import DataError, MapdagWarning, ParameterError, Setting
from mapdag.notices import warn
from mapdag.public import public

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Unpack

    from mapdag.data.cuts import Cuts
    from mapdag.data.options import ReadingOptions


@public()
def read(
    source: Any,
    *,
    levels: Mapping[str, Sequence[Any] | int] | str | os.PathLike[str] | None = None,
    like: Any = None,
    weights: str | ArrayLike | None = None,
    drop: str | Iterable[str] = (),
    missing: Literal["error", "drop", "level"] = "error",
    missing_values: str | Iterable[Any] = (),
    discretize: Discretization | None = None,
    codes: bool | None = None,
    max_levels: int | None = None,
    separator: str | None = None,
    encoding: str | None = None,
) -> Dataset:
    r"""Read a table of categories.

    Levels are what is declared: by `levels` or `like`, by pandas' Categorical, polars' Enum or an Arrow dictionary,
    whether they are observed or not. Elsewhere they are the distinct values of the rows that are read: in numeric order
    if all are numbers, else in the order of their code points. A polars Categorical declares levels only if it has
    `polars.Categories` of its own: the strings of those that are global or shared may be another column's.

    Parameters
    ----------
    source : path, bytes, open file, DataFrame, Arrow table, array, dict, list of dicts or Dataset
        A file of CSV or similar text (possibly compressed: .gz, .bz2, .xz, .zst), Parquet or Arrow (Feather, IPC),
        told apart by their content; a pandas or polars DataFrame; anything with `__arrow_c_stream__`; a numpy array
        (rows, columns), or a structured one (byte strings are UTF-8 or else Latin-1); a dict of sequences by name; a
        list of dicts, in which what a row lacks is missing; a dataset. The first line of a text file holds the names.
        If every other line has one field more, the first field is taken for R's row names and left out, as long as it
        is distinct on every row.
    levels : mapping, or path of a JSON file, optional
        Level labels of some or all columns, in order. They are matched by text, 1 and True being "1" and "True".
    like : object with a mapping `levels`, optional
        A dataset or a network whose columns and levels the table must have, in any order of columns. Numbers in columns
        that it has cut into intervals are cut at the same places.
    weights : str or array, optional
        How many observations each row stands for: a column (which then is no variable) or an array; less than 2**53 in
        all. Rows of weight 0 are left out before anything else, as if they were not in the table.
    drop : str or iterable of str
        Columns to leave out; "" for those without a name.
    missing : {"error", "drop", "level"}
        What to do about missing values: refuse them, leave out the rows that have any (the others read as if these were
        not in the table), or make them the last level of their column, labelled "NA" (or "<missing>" where "NA" is a
        label already).
    missing_values : str or iterable
        Labels that mean "missing", on top of nulls, blanks, and the texts NA, N/A, #N/A, <NA>, NaN, nan, null, NULL,
        "?" and "."; any of these is an ordinary label where it is declared.
    discretize : str, mapping or Cuts, optional
        How to cut columns of numbers: a method for all that look continuous, "quantile" (three bins), "interval(5)" or
        "hartemink"; or a mapping from columns to a method, a number of quantiles, a list of cut points, or "none" for
        numbers that are categories, "*" being all others that look continuous: ``{"*": "quantile", "age": [18, 65]}``;
        or what `mapdag.data.discretize` returned.
    codes : bool, optional
        Whether columns with levels declared by `levels` or `like` hold positions in them, from 0, instead of labels. By
        default they hold labels, unless some hold values that are no labels of theirs and all hold only whole numbers
        that can be positions: then all are read as codes, with a warning.
    max_levels : int, optional
        Up to so many levels of a column are meant, however many rows there are: whole numbers and texts are then
        categories. More (at most 65,536) are a mistake in a column not in `levels` or `like`. By default 256, and what
        looks like an amount, an identifier or free text is no category: see `check`.
    separator : str, optional
        What separates the fields of a text file; by default a comma, semicolon, tab or bar, whichever fits, or any
        number of blanks if none of them does and all lines then have as many fields as the header.
    encoding : str, optional
        The encoding of a text file; by default UTF-8, UTF-16 if it says so, or else Windows-1252.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If the table cannot be used as it is. One error tells all that is wrong with the columns, and the options
        to pass. Rows are counted from 1. `check` says the same before, and what each column seems to be.

    Warns
    -----
    MapdagWarning
        If the table was read in a way that may not be meant: codes for labels, row names left out, a first line that
        looks like data, numbers that may be amounts.

    Examples
    --------
    >>> from mapdag.data import read
    >>> data = read(b"sex,cough\nf,yes\nm,no\nm,yes\n", levels={"cough": ["no", "yes", "unsure"]})
    >>> data
    Dataset(3 rows, 2 columns, 2-3 levels)
    >>> data.levels["sex"], data.levels["cough"]
    (('f', 'm'), ('no', 'yes', 'unsure'))
    """
    return prepare(
        source,
        levels=levels,
        like=like,
        weights=weights,
        drop=drop,
        missing=missing,
        missing_values=missing_values,
        discretize=discretize,
        codes=codes,
        max_levels=max_levels,
        separator=separator,
        encoding=encoding,
    ).dataset()


@dataclass(frozen=True)
class Prepared:
    """A table that has been read but for where its continuous columns are cut.

    Attributes
    ----------
    columns : sequence of Coded or Continuous
        Of the rows that remain.
    discretizer : Discretizer
        How the continuous ones are to be cut.
    options : ReadOptions
    weights : array, optional
        Of the rows that remain.
    """

    columns: Sequence[Coded | Continuous]
    discretizer: Discretizer
    options: ReadOptions
    weights: Weights | None

    def dataset(self, counting: NDArray[Any] | None = None) -> Dataset:
        """Cut the continuous columns.

        Parameters
        ----------
        counting : array of shape (rows,), optional
            How much each row counts where cuts are chosen; its weight unless given. All rows are cut there.
        """
        chosen_by = self.weights if counting is None else counting
        coded = _cut_continuous(self.columns, self.discretizer, self.options, chosen_by)
        return _assemble(coded, [column.name for column in self.columns], self.weights)

    def with_cuts(self, cuts: Cuts) -> Prepared:
        """Return the same with some columns to be cut where it says here."""
        chosen = replace(self.discretizer, columns={**self.discretizer.columns, **cuts})
        return replace(self, discretizer=chosen)


def prepare(
    source: Any,
    *,
    levels: Any = None,
    like: Any = None,
    weights: str | ArrayLike | None = None,
    drop: str | Iterable[str] = (),
    missing: Literal["error", "drop", "level"] = "error",
    missing_values: str | Iterable[Any] = (),
    discretize: Discretization | None = None,
    codes: bool | None = None,
    max_levels: int | None = None,
    separator: str | None = None,
    encoding: str | None = None,
) -> Prepared:
    """Read a table, but do not cut its continuous columns yet; options as in `read`."""
    if missing not in {"error", "drop", "level"}:
        raise ParameterError(f'missing must be "error", "drop" or "level", got {missing!r}')
    if max_levels is not None and not (isinstance(max_levels, int | np.integer) and 2 <= max_levels <= MAX_LEVELS):
        raise ParameterError(f"max_levels must be between 2 and {MAX_LEVELS:,}, got {max_levels!r}")
    if levels is not None and like is not None:
        raise ParameterError("levels and like cannot be given together")
    table = open_source(source, separator, encoding)
    dropped = names_in(drop)
    problems = Problems(dropped)
    positions = chosen_columns(table, dropped, weights, problems)
    declared = declared_in(levels, like, list(positions))
    known = {name: edges for name, edges in getattr(like, "cuts", {}).items() if name in positions}
    discretizer = Discretizer.of(discretize, positions)
    options = ReadOptions(
        declared=declared,
        closed=like is not None,
        gaps=getattr(like, "gaps", False),
        codes=codes,
        missing=missing,
        missing_values=texts_for_missing(missing_values),
        most=None if max_levels is None else int(max_levels),
        cut=frozenset(discretizer.columns),
        cut_numbers=frozenset() if codes else frozenset(known),
        cut_continuous=discretizer.default is not None,
        uncut=discretizer.uncut,
        asked=discretize,
        first=table.names[0],
    )
    row_weights = read_weights(table, weights, options)
    if row_weights is not None:
        options = replace(options, weight=max(float(row_weights.mean()), 1.0))
    note = None
    columns: Iterable[Column] = (table.pop(position, options) for position in positions.values())
    unsure = codes is None and bool(declared)
    counted = row_weights is None and may_have_counts(list(positions), table.n_rows)
    if unsure or counted or missing == "drop" or not (row_weights is None or row_weights.all()):
        # What a column means depends on the others; in the meantime, each takes no more than its codes will.
        held = [column.narrowed() for column in columns]
        options, note = _find_codes(held, row_weights, options) if unsure else (options, None)
        if counted:
            held = _without_counts(held, options, problems)
        held, row_weights = leave_out(held, row_weights, options, problems)
        columns = emptied(held)
    found = [interpret(column, options, problems) for column in columns]
    if not options.closed:  # else there is no level to add
        problems.settle_missing(column.codes for column in found if isinstance(column, Coded))
    problems.raise_any(positions)
    for message in (note, problems.warning()):
        if message is not None:
            warn(*message.parts)
    if table.header:
        _warn_if_header_is_data(found, table.called)
    kept = [column for column in found if column is not None]
    return Prepared(kept, discretizer.knowing(known), options, row_weights)


def _without_counts(columns: list[Column], options: ReadOptions, problems: Problems) -> list[Column]:
    """Note a column that counts how often the others' combination occurred, and leave it out."""
    name = count_column(columns, options)
    if name is None:
        return columns
    what = "counts the rows of an aggregated table: every row is another combination of the other columns"
    problems.add(name, what, Setting("weights", name), cut_setting(options, name, way="quantile"))
    return [column for column in columns if column.name != name]


def as_dataset(data: Any, **options: Unpack[ReadingOptions]) -> Dataset:
    """Return a dataset as it is, and read anything else.

    Parameters
    ----------
    data : Dataset, or whatever `read` takes
        The table.
    **options
        Passed to `read`; not allowed for a dataset, of which nothing is to be read.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from mapdag.data import as_dataset
    >>> data = as_dataset({"sex": ["f", "m"], "cough": ["yes", "no"]})
    >>> as_dataset(data) is data
    True
    """
    if not isinstance(data, Dataset):
        return read(data, **options)
    if options:
        named = ", ".join(f"{name}=" for name in options)
        raise ParameterError(
            f"{named} cannot be given for a Dataset, which has been read: give the table itself instead, or {named} to "
            "mapdag.read"
        )
    return data


def declared_in(levels: Any, like: Any, names: list[str]) -> dict[str, tuple[str, ...]]:
    """Return the declared levels by column."""
    if like is None:
        return declared_levels(_from_json(levels) if isinstance(levels, str | os.PathLike) else levels, names)
    known = getattr(like, "levels", None)
    if not isinstance(known, Mapping):
        raise ParameterError(
            f"like must have a mapping `levels`, as datasets and networks do, got {type(like).__name__}"
        )
    lacking = [str(name) for name in known if name not in set(names)]
    if lacking:
        raise unknown_names(lacking, names, "like")
    extra = [name for name in names if name not in known]
    if extra:
        raise DataError(f"like: the table has columns that it lacks, {listed(extra)}: pass ", Setting("drop", extra))
    return declared_levels(known, names)


def _from_json(path: str | os.PathLike[str]) -> Any:
    try:
        content = located(path).read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        found = json.loads(content.decode("utf-8-sig"))
    except OSError as error:
        raise DataError(f"levels: {os.fspath(path)}: {error.strerror or error}") from error
    except ValueError as error:
        raise DataError(f"levels: {os.fspath(path)} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise DataError(f"levels: {os.fspath(path)} must hold an object, column name -> list of labels")
    return found


def _cut_continuous(
    columns: Sequence[Coded | Continuous], discretizer: Discretizer, options: ReadOptions, weights: Weights | None
) -> list[Coded]:
    """Cut the columns that are to be cut."""
    others = [column for column in columns if isinstance(column, Coded)]
    if len(others) == len(columns):
        return others
    cuts = discretizer.choose([column for column in columns if isinstance(column, Continuous)], others, weights)
    problems, coded = Problems(), []
    for column in columns:
        if isinstance(column, Coded):
            coded.append(column)
            continue
        found: Coded | None
        binned = found = cut(column, cuts)
        if column.name in options.declared:
            declared = options.declared[column.name]
            known = column.name not in options.cut  # the cuts then are those of these very levels
            labels = [*(interval_levels(cuts[column.name], declared) if known else binned.levels), None]
            again = Column(column.name, "text", binned.codes, labels, rows=column.rows)
            found = encode(again, labels, declared, replace(options, codes=False), problems)
            if found is not None:
                found.coding = binned.coding
        if found is not None:
            if int(found.codes.max()) == len(found.levels) and not add_missing(found, options):
                raise DataError(f"column {column.name!r} has missing values, but `like` has no level for them")
            coded.append(found)
    problems.raise_any()
    return coded


def _warn_if_header_is_data(found: Sequence[Coded | Continuous | None], source: str) -> None:
    """A file without a header loses its first row to the names; they then are levels like any others."""
    columns = [column for column in found if isinstance(column, Coded) and column.name in column.levels]
    if len(columns) == len(found):
        warn(
            f"the names of the columns ({listed([column.name for column in columns], 5)}) are values of these very "
            f"columns: if the first line of {source} holds data, put a line of names before it",
        )


def _assemble(columns: Sequence[Coded], order: Sequence[str], weights: Weights | None) -> Dataset:
    by_name = {column.name: column for column in columns}
    levels = {name: by_name[name].levels for name in order}
    codings = {column.name: column.coding for column in columns}
    shape = (len(order), len(columns[0].codes))
    codes = np.empty(shape, dtype=code_dtype([len(labels) for labels in levels.values()]))
    for row, name in zip(codes, order, strict=True):
        row[:] = by_name.pop(name).codes
    return Dataset._trusted(tuple(order), levels, codes, weights, codings)  # noqa: SLF001


# Labels or codes ----------------------------------------------------------------------------------------------------


def _find_codes(
    columns: Sequence[Column], weights: Weights | None, options: ReadOptions
) -> tuple[ReadOptions, MapdagWarning | None]:
    """Find out whether the columns with declared levels hold positions in them.

    Labels come first. Only if some column holds values that are no labels, and all such columns could hold positions,
    does the table hold codes; never one column alone. Rows that are left out are no evidence. Returns the options, with
    `codes` if they do, and what the user then is to be warned of.
    """
    declared = [column for column in columns if column.name in options.declared and not options.cuts(column)]
    if any(column.kind == "nested" for column in declared):
        return options, None
    coded = replace(options, codes=True)
    odd = _stray(declared, columns, weights, options)
    if odd is None:
        return options, None
    if _stray(declared, columns, weights, coded) is not None:
        return replace(options, truths=options.gaps), None  # rows of evidence mean what single pieces of it do
    name, label = odd
    return coded, MapdagWarning(
        f"column {name!r} holds {label!r}, which is not one of its levels {listed(options.declared[name], 5)}; but all "
        "columns with declared levels hold whole numbers that can be positions in them, so the whole table was read "
        f"as codes, counted from 0{_other_meaning(declared, options, coded)}: pass ",
        *(Setting("codes", True), " if that is right, or ", Setting("codes", False), " to refuse such a table"),
    )


def _stray(
    declared: Sequence[Column], columns: Sequence[Column], weights: Weights | None, options: ReadOptions
) -> tuple[str, str] | None:
    """Return a column and a value that its declaration does not know, or None."""
    keep: NDArray[np.bool_] | None = None
    for column in declared:
        texts = options.expected(column.name)
        known = set(texts or ())
        labels = meanings_of(column, options, texts)
        strays = [position for position, label in enumerate(labels) if label is not None and label not in known]
        if strays and keep is None:
            keep = find_remaining(columns, weights, options).keep
        used = _in_use(column, strays, keep)
        if used is not None:
            return column.name, str(labels[used])
    return None


def _other_meaning(declared: Sequence[Column], options: ReadOptions, coded: ReadOptions) -> str:
    """Warn of values that would have another meaning as labels."""
    for column in declared:
        levels = options.declared[column.name]
        texts = coded.expected(column.name) or ()
        level_of, known = dict(zip(texts, levels, strict=True)), set(levels)
        as_labels, as_codes = meanings_of(column, options, levels), meanings_of(column, coded, texts)
        other = [level_of.get(text) if text is not None else None for text in as_codes]
        moved = [
            position
            for position, (label, level) in enumerate(zip(as_labels, other, strict=True))
            if level is not None and label in known and label != level
        ]
        used = _in_use(column, moved, None)
        if used is not None:
            return f" ({column.labels[used]!r} in {column.name!r} means {other[used]!r}, for example)"
    return ""


def _in_use(column: Column, positions: Sequence[int], keep: NDArray[np.bool_] | None) -> int | None:
    """Return the first of some positions that a row has, or None: a categorical may list values that no row has."""
    if not positions:
        return None
    found = np.bincount(column.index if keep is None else column.index[keep], minlength=column.n_positions)
    return next((position for position in positions if found[position]), None)
