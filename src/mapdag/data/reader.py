"""The front door: any table of categories -> `Dataset`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mapdag.data.columns import is_a
from mapdag.data.dataset import Dataset
from mapdag.data.meanings import missing_option
from mapdag.data.packed.scan import is_many, scan
from mapdag.data.preparation import prepare
from mapdag.data.source import names_in
from mapdag.errors import ParameterError
from mapdag.public import public

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Unpack

    from mapdag.data.discretization import Discretization
    from mapdag.data.options import Lump, Missing, MissingValues, ReadingOptions
    from mapdag.data.rows import Weighting


@public()
def read(
    source: Any,
    *,
    levels: Mapping[str, Sequence[Any] | int] | str | os.PathLike[str] | None = None,
    like: Any = None,
    weights: str | ArrayLike | None = None,
    weighting: Weighting | None = None,
    groups: str | ArrayLike | None = None,
    interventions: Any = None,
    drop: str | Iterable[str] = (),
    missing: Missing = "error",
    missing_values: MissingValues = (),
    discretize: Discretization | None = None,
    codes: bool | None = None,
    max_levels: int | None = None,
    lump: Lump = None,
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
        is distinct on every row. A Dask DataFrame stays on its cluster, packed (`docs/howto/big-data.md`).
    levels : mapping, or path of a JSON file, optional
        Level labels of some or all columns, in order. They are matched by text, 1 and True being "1" and "True".
    like : object with a mapping `levels`, optional
        A dataset or a network whose columns and levels the table must have, in any order of columns. Numbers in columns
        that it has cut into intervals are cut at the same places.
    weights : str or array, optional
        How many observations each row stands for: a column (which then is no variable) or an array; less than 2**53 in
        all. Rows of weight 0 are left out before anything else, as if they were not in the table.
    weighting : {"counts", "survey", "distinct"}, optional
        What the weights are: numbers of observations, as in an aggregated table, or the weights of a survey (sampling,
        probability weights), which are scaled so that their sum is Kish's effective sample size. Must be said where
        they average far above one and the table does not look aggregated (`docs/howto/clusters.md`). Without weights,
        "counts" says that each row is one observation, however often rows repeat; "distinct" that rows that repeat each
        other are one: rows that are alike, or alike in the columns that repeated rows share.
    groups : str or array, optional
        Which rows belong together, since they repeat or share a person, a household, a site: a column (which then is no
        variable) or an array. Each group counts as one observation, its rows sharing that. (`docs/howto/clusters.md`)
    interventions : str, mapping, table or sequence, optional
        Which variables an experiment set in which rows, such as the targets of inhibitors: these rows say nothing of
        what the parents of such a variable do to it (`docs/howto/interventions.md`). A column (which then is no
        variable) whose values name what was set, several names separated by one of ``; , | + &`` or a blank, an empty
        or missing one where nothing was; a mapping from that column to what its values mean,
        ``{"drug": {"none": [], "AKT inhibitor": ["Akt"]}}``; a mapping from variables to truth values by row, or a
        table of truth values; or what was set in each row.
    drop : str or iterable of str
        Columns to leave out; "" for those without a name.
    missing : {"error", "drop", "level", "keep"} or mapping
        What to do about missing values: refuse them, leave out the rows that have any (the others read as if these were
        not in the table), make them the last level of their column, labelled "NA" (or "<missing>" where "NA" is a
        label already), or keep them as gaps, about which nothing is known (`docs/howto/gaps.md`). A mapping from
        columns is about these columns, "*" in it about all others: ``{"*": "keep", "income": "level"}``.
    missing_values : str, iterable or mapping
        Labels that mean "missing", on top of nulls, blanks, and the texts NA, N/A, #N/A, <NA>, NaN, nan, null, NULL,
        "?" and "."; any of these is an ordinary label where it is declared. A mapping from columns is about these
        columns only, "*" in it about every one: ``{"*": ["refused"], "smoke": [9], "age": [99]}``.
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
    lump : float or mapping, optional
        Below which share of the rows the levels of a column are rare: these become the level "other". A number is about
        every column of text, a mapping about single columns: ``{"breed": 0.01}``. Which levels they were is kept
        (`codings`), so that new rows are coded alike.
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
    options: dict[str, Any] = {
        "levels": levels,
        "like": like,
        "weights": weights,
        "weighting": weighting,
        "groups": groups,
        "interventions": interventions,
        "drop": names_in(drop),
        "missing": missing,
        "missing_values": missing_option(missing_values),
        "discretize": discretize,
        "codes": codes,
        "max_levels": max_levels,
        "lump": lump,
    }
    if is_a(source, "dask", "DataFrame"):
        found: Dataset = import_module("mapdag.distributed").read_dask(source, options)
        return found
    distinct = isinstance(weighting, str) and weighting == "distinct"
    if distinct:
        if weights is not None or groups is not None:
            raise ParameterError(
                'weighting="distinct" is for rows without weights= and groups=, which say what rows count as'
            )
        options["weighting"] = None
    table = prepare(source, separator=separator, encoding=encoding, **options).dataset()
    once: Dataset = import_module("mapdag.search.repeats").count_once(table) if distinct else table
    return once


def as_dataset(data: Any, **options: Unpack[ReadingOptions]) -> Dataset:
    """Return a dataset as it is, and read anything else.

    Parameters
    ----------
    data : Dataset, or whatever `read` takes, or several files
        The table; several files are scanned.
    **options
        Passed to `read` or `scan`; not allowed for a dataset, of which nothing is to be read.

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
    if is_many(data):
        return scan(data, **options)
    if not isinstance(data, Dataset):
        return read(data, **options)
    if options:
        named = ", ".join(f"{name}=" for name in options)
        raise ParameterError(
            f"{named} cannot be given for a Dataset, which has been read: give the table itself instead, or {named} to "
            "mapdag.read"
        )
    return data
