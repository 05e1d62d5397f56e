"""From a table to coded columns and columns that are still to be cut; then to a `Dataset`.

`read` does both at once; a cross-validation prepares a table once, and cuts it anew for every fold.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.codings import interval_levels
from mapdag.data.columns import Column
from mapdag.data.content import DAMAGED, located
from mapdag.data.dataset import Dataset
from mapdag.data.discretization import Discretizer, cut
from mapdag.data.groups import effective, known_weighting, may_be_doubtful, read_groups, refuse_doubtful
from mapdag.data.interventions import Interventions, interventions_column, read_interventions
from mapdag.data.judgement import count_column, may_have_counts
from mapdag.data.labels import MAX_LEVELS, code_dtype, declared_levels
from mapdag.data.levels import Coded, Continuous, add_missing, cut_setting, encode, interpret
from mapdag.data.lumping import Lumping
from mapdag.data.meanings import ReadOptions, meanings_of, missing_policy, texts_for_missing
from mapdag.data.problems import Problems, listed, unknown_names
from mapdag.data.rows import Groups, Weighting, Weights, emptied, find_remaining, leave_out, read_weights, recounted
from mapdag.data.source import chosen_columns, names_in, open_source
from mapdag.disk import unpacked
from mapdag.errors import DataError, MapdagWarning, ParameterError, Setting
from mapdag.notices import warn
from mapdag.wording import brief

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from mapdag.data.codings import Cuts
    from mapdag.data.options import ReadingOptions


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
    weights, groups : array, optional
        Of the rows that remain.
    weighting : {"counts", "survey"}, optional
        What the weights are.
    interventions : Interventions, optional
        Of the rows that remain.
    """

    columns: Sequence[Coded | Continuous]
    discretizer: Discretizer
    options: ReadOptions
    weights: Weights | None
    groups: Groups | None = None
    weighting: Weighting | None = None
    interventions: Interventions | None = None

    def dataset(self, counting: NDArray[Any] | None = None) -> Dataset:
        """Cut the continuous columns.

        Parameters
        ----------
        counting : array of shape (rows,), optional
            How much each row counts where cuts are chosen; its weight unless given. All rows are cut there.
        """
        return _assemble(self.coded(counting), self)

    def coded(self, counting: NDArray[Any] | None = None) -> list[Coded]:
        """Return the columns, those that were continuous cut; `counting` as in `dataset`."""
        chosen_by = self.weights if counting is None else counting
        return _cut_continuous(self.columns, self.discretizer, self.options, chosen_by)

    def with_cuts(self, cuts: Cuts) -> Prepared:
        """Return the same with some columns to be cut where it says here."""
        chosen = replace(self.discretizer, columns={**self.discretizer.columns, **cuts})
        return replace(self, discretizer=chosen)


def prepare(source: Any, **asked: Unpack[ReadingOptions]) -> Prepared:
    """Read a table, but do not cut its continuous columns yet; options as in `read`."""
    like = asked.get("like")
    about_rows = {name: asked.get(name) for name in ("weights", "groups")}
    about_rows["interventions"] = interventions_column(asked.get("interventions"))
    _check(asked)
    table = open_source(source, asked.get("separator"), asked.get("encoding"))
    dropped = names_in(asked.get("drop", ()))
    problems = Problems(dropped)
    positions = chosen_columns(table, dropped, about_rows, problems)
    cuts = getattr(like, "cuts", None)
    known = {name: cuts[name] for name in positions if name in cuts} if isinstance(cuts, Mapping) else {}
    discretizer = Discretizer.of(asked.get("discretize"), positions)
    options = replace(
        _understood(asked, list(positions), discretizer, table.names),
        cut_numbers=frozenset() if asked.get("codes") else frozenset(known),
        first=table.names[0],
    )
    row_weights, groups = read_weights(table, asked.get("weights"), options), read_groups(table, asked, options)
    interventions = read_interventions(table, asked.get("interventions"), list(positions), options)
    weighting = known_weighting(asked.get("weighting"), row_weights) or table.weighting
    if row_weights is not None and weighting != "survey":
        options = replace(options, weight=max(float(row_weights.mean()), 1.0))
    note = None
    doubted = weighting is None and asked.get("weights") is not None and may_be_doubtful(row_weights)
    others = [table.pop(table.names.index(name), options) for name in dropped] if doubted else []
    lumping = Lumping.of(asked.get("lump"), table.names, like)
    options = replace(options, uncut=options.uncut | lumping.shares.keys())
    columns: Iterable[Column] = (
        lumping.as_known(table.pop(position, options), options) for position in positions.values()
    )
    unsure = options.codes is None and bool(options.declared)
    counted = row_weights is None and table.recount is None and may_have_counts(list(positions), table.n_rows)
    if unsure or counted or doubted or options.drops_rows or not (row_weights is None or row_weights.all()):
        # What a column means depends on the others; in the meantime, each takes no more than its codes will.
        held = [column.narrowed() for column in columns]
        if doubted and row_weights is not None:
            refuse_doubtful(row_weights, asked.get("weights"), [*held, *others])
        if unsure:
            evidence = held if table.recount is None else recounted(list(held), options, Problems(), table.recount)
            options, note = find_codes(evidence, row_weights, options)
        if counted:
            held = _without_counts(held, options, problems)
        if table.recount is not None:
            held = recounted(held, options, problems, table.recount)
        else:
            held, row_weights, groups, rows = leave_out(held, row_weights, options, problems, groups)
            if interventions is not None and rows is not None:
                interventions = interventions.take(rows, list(positions))
        columns = emptied(held)
    if lumping:
        columns = (lumping.applied(column, options, row_weights) for column in columns)
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
    if table.groups is None:  # else they have been scaled
        row_weights = effective(row_weights, groups, weighting)
    about = row_weights, groups, weighting, interventions
    return Prepared(kept, discretizer.knowing(known), options, *about)


def _check(asked: ReadingOptions) -> None:
    """Refuse options that can be seen to be wrong without looking at the table."""
    most, codes = asked.get("max_levels"), asked.get("codes")
    if most is not None and not (isinstance(most, int | np.integer) and 2 <= most <= MAX_LEVELS):
        raise ParameterError(f"max_levels must be between 2 and {MAX_LEVELS:,}, got {brief(most)}")
    if codes is not None and not isinstance(codes, bool | np.bool_):
        raise ParameterError(f"codes must be True, False or None, got {brief(codes)}")
    if asked.get("levels") is not None and asked.get("like") is not None:
        raise ParameterError("levels and like cannot be given together")


def _understood(asked: ReadingOptions, names: list[str], discretizer: Discretizer, every: Sequence[str]) -> ReadOptions:
    """Return what the options say about the columns; `every` column, those of weights and those left out included."""
    like, most = asked.get("like"), asked.get("max_levels")
    missing, missing_by = missing_policy(asked.get("missing", "error"), every)
    return ReadOptions(
        declared=declared_in(asked.get("levels"), like, names),
        closed=like is not None,
        gaps=getattr(like, "gaps", False),
        lenient=getattr(like, "lenient", False),
        codes=asked.get("codes"),
        missing=missing,
        missing_by=missing_by,
        missing_values=texts_for_missing(asked.get("missing_values", ()), every),
        most=None if most is None else int(most),
        cut=frozenset(discretizer.columns),
        cut_continuous=discretizer.default is not None,
        uncut=discretizer.uncut,
        asked=asked.get("discretize"),
    )


def _without_counts(columns: list[Column], options: ReadOptions, problems: Problems) -> list[Column]:
    """Note a column that counts how often the others' combination occurred, and leave it out."""
    name = count_column(columns, options)
    if name is None:
        return columns
    what = "counts the rows of an aggregated table: every row is another combination of the other columns"
    problems.add(name, what, Setting("weights", name), cut_setting(options, name, way="quantile"))
    return [column for column in columns if column.name != name]


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
        told = (
            f"like: the network (or data set) does not have all columns of the table; it lacks {listed(extra)}: pass "
        )
        raise DataError(told, Setting("drop", extra))
    return declared_levels(known, names)


def _from_json(path: str | os.PathLike[str]) -> Any:
    try:
        content = located(path).read_bytes()
    except (OSError, ValueError) as error:  # a path with a null character is a ValueError
        raise DataError(f"levels: {os.fspath(path)}: {getattr(error, 'strerror', None) or error}") from error
    try:
        content = unpacked(content, f"levels: {os.fspath(path)}")
    except DAMAGED as error:
        raise DataError(f"levels: {os.fspath(path)}: cannot be decompressed: {error}") from error
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
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
            again = Column(column.name, "text", binned.codes, labels, rows=column.rows, times=column.times)
            found = encode(again, labels, declared, replace(options, codes=False), problems)
            if found is not None:
                found.coding = binned.coding
        if found is not None:
            gaps = options.missing_of(column.name) != "keep" and int(found.codes.max(initial=0)) == len(found.levels)
            if gaps and not add_missing(found, options):
                what = f"column {column.name!r} has missing values, but `like` has no level for them: pass "
                raise DataError(what, Setting("missing", "drop"))
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


def _assemble(columns: Sequence[Coded], table: Prepared) -> Dataset:
    order, gaps = [column.name for column in table.columns], table.options.keeps_gaps
    by_name = {column.name: column for column in columns}
    levels = {name: by_name[name].levels for name in order}
    codings = {column.name: column.coding for column in columns}
    shape = (len(order), len(columns[0].codes))
    codes = np.empty(shape, dtype=code_dtype([len(labels) for labels in levels.values()], gaps=gaps))
    for row, name in zip(codes, order, strict=True):
        row[:] = by_name.pop(name).codes
    was_set = table.interventions and table.interventions.select(order)
    about_rows = table.weights, codings, gaps, table.groups, table.weighting, was_set
    return Dataset._trusted(tuple(order), levels, codes, *about_rows)  # noqa: SLF001


# Labels or codes: what columns with declared levels hold -------------------------------------------------------------


def find_codes(
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
        if strays and keep is None and column.times is None:  # else those that are left out are gone already
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
