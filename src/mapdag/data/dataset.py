"""`Dataset`: a table of categories as codes, one contiguous row per variable; nothing here reads files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mapdag.data.codings import Coding, Sealed, cuts_of, kept_codings
from mapdag.data.interventions import Interventions, parse_interventions
from mapdag.data.labels import (
    MAX_LEVELS,
    Codes,
    LevelsLike,
    Matcher,
    check_names,
    code_dtype,
    declared_levels,
    is_iterable,
)
from mapdag.data.problems import listed, rows_text, unknown_names
from mapdag.data.rows import Groups, Weighting, Weights, check_groups, check_weights, distinct_rows
from mapdag.errors import DataError, ParameterError
from mapdag.tables import Column, Table, Tabular
from mapdag.wording import brief, free_name, plural

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import ArrayLike, NDArray

    from mapdag.data.codings import Cuts
    from mapdag.data.gaps import Gaps

_SHOWN_ROWS, _SHOWN_COLUMNS = 5, 12


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Dataset(Tabular):
    """A table of categorical variables: codes, their labels, and optionally a weight per row.

    Usually made by `read` or `Dataset.from_codes`. Datasets are values: nothing in them can be changed, and two
    are equal when their names, levels, codes and weights are.

    Parameters
    ----------
    names : sequence of str
        The variables, in column order; unique and not empty.
    levels : mapping or sequence
        The declared labels of every variable in the order of their codes, whether observed or not.
    codes : array of shape (columns, rows)
        One row per variable. Stored as uint8 when no variable has more than 256 levels, else as uint16.
    weights : array of shape (rows,), optional
        How many observations each row stands for: int64 when all are whole, else float64; less than 2**53 in all.
        Rows of weight 0 are dropped.
    codings : mapping, optional
        What the levels of a column stand for, where that is anything but text (see `Coding`). Not part of what makes
        two datasets equal.
    has_gaps : bool
        Whether values may be missing: the code of a gap is the number of levels of its column. False again where none
        is.
    groups : array of shape (rows,), optional
        Which rows belong together, as numbers of groups; their weights already are what `mapdag.read` makes of that.
    weighting : {"counts", "survey"}, optional
        What the weights are, where that was said.
    interventions : Interventions, optional
        Which variables an experiment set in which rows; or anything that `mapdag.read` takes for it but a column.

    Examples
    --------
    >>> from mapdag.data import Dataset
    >>> data = Dataset.from_codes([[0, 1], [1, 1], [0, 0]], names=["smoker", "cough"])
    >>> data
    Dataset(3 rows, 2 columns, 2 levels each)
    >>> data.codes
    array([[0, 1, 0],
           [1, 1, 0]], dtype=uint8)
    >>> data.row(1)
    {'smoker': '1', 'cough': '1'}
    """

    names: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    codes: Codes
    weights: Weights | None = None
    codings: Mapping[str, Coding] = field(default_factory=dict)
    has_gaps: bool = False
    groups: Groups | None = None
    weighting: Weighting | None = None
    interventions: Interventions | None = None

    #: Who counts it, unless the user says otherwise.
    engine: ClassVar[str] = "cores"

    #: Whether there are single rows, wherever they are, not only counts.
    has_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        names = check_names(self.names)
        levels = declared_levels(self.levels, names)
        undeclared = [name for name in names if name not in levels]
        if undeclared:
            raise DataError(f"no levels are declared for {listed(undeclared)}")
        codes = np.asarray(self.codes)
        if codes.ndim != 2 or len(codes) != len(names):
            raise DataError(f"codes must have one row per column ({len(names):,}), got shape {codes.shape}")
        cards = [len(levels[name]) for name in names]
        _check_codes(codes, names, cards, gaps=self.has_gaps)
        weights = None if self.weights is None else check_weights(self.weights, codes.shape[1])
        groups = None if self.groups is None else check_groups(self.groups, codes.shape[1])
        given = self.interventions
        interventions = None if given is None else parse_interventions(given, names, codes.shape[1])
        if weights is not None and not weights.all():
            heavy = weights > 0
            groups = None if groups is None else groups[heavy]
            interventions = interventions and interventions.take(heavy, names)
            codes, weights = codes[:, heavy], weights[heavy]
        codes = codes.astype(code_dtype(cards, gaps=self.has_gaps), order="C")
        about_rows = groups, self.weighting, interventions
        _fill(self, names, levels, codes, weights, self.codings, self.has_gaps, *about_rows)

    @classmethod
    def from_codes(
        cls,
        codes: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        levels: LevelsLike | None = None,
        weights: ArrayLike | None = None,
        gap: int | None = None,
        interventions: Any = None,
    ) -> Dataset:
        """Make a dataset from an array of codes with one row per observation.

        Parameters
        ----------
        codes : integer array of shape (rows, columns)
            Codes from 0.
        names : sequence of str, optional
            The variables; "X1", "X2", ... by default.
        levels : mapping or sequence, optional
            Labels of each column, or how many there are (labelled "0", "1", ...). A column without a declaration
            has as many levels as its largest code asks for.
        weights : array of shape (rows,), optional
            How many observations each row stands for.
        gap : int, optional
            The code that stands where a value is missing, such as -1; by default, none may be.
        interventions : optional
            Which variables an experiment set in which rows: what was set in each row, a mapping from variables to truth
            values by row, or a table of truth values; see `read`.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> Dataset.from_codes([[0], [2]], names=["x"], levels={"x": ["low", "mid", "high"]}).row(1)
        {'x': 'high'}
        >>> Dataset.from_codes([[0, 1], [-1, 0]], gap=-1)
        Dataset(2 rows, 2 columns, 1-2 levels, 1 gap)
        """
        array = np.asarray(codes)
        if array.ndim != 2:
            raise DataError(f"codes must be an array of shape (rows, columns), got shape {array.shape}")
        if array.dtype.kind not in "biu":
            raise DataError(f"codes must be integers, got {array.dtype}; use mapdag.read for other tables")
        checked = check_names([f"X{i + 1}" for i in range(array.shape[1])] if names is None else names)
        if len(checked) != array.shape[1]:
            raise DataError(f"{len(checked):,} names for {array.shape[1]:,} columns of codes")
        missing = np.zeros(array.shape, dtype=bool) if gap is None else array == gap
        array = np.where(missing, 0, array) if missing.any() else array
        declared: dict[str, Any] = dict(declared_levels(levels, checked))
        for position, name in enumerate(checked):
            if name not in declared:
                top = int(array[:, position].max(initial=0))
                if top >= MAX_LEVELS:
                    raise DataError(f"column {name!r} has the code {top:,}; at most {MAX_LEVELS:,} levels are possible")
                declared[name] = top + 1
        if missing.any():
            cards = [len(labels) for labels in declared_levels(declared, checked).values()]
            for name, column, gone, card in zip(checked, array.T, missing.T, cards, strict=True):
                _check_codes(column[None], [name], [card])
                if card == MAX_LEVELS and gone.any():
                    raise DataError(f"column {name!r} has {card:,} levels, which leaves no code for missing values")
            array = np.where(missing, cards, array)
        has_gaps = bool(missing.any())
        return cls(checked, declared, array.T, weights, has_gaps=has_gaps, interventions=interventions)  # type: ignore[arg-type]

    @classmethod
    def _trusted(
        cls,
        names: tuple[str, ...],
        levels: Mapping[str, tuple[str, ...]],
        codes: Codes,
        weights: Weights | None,
        codings: Mapping[str, Coding] | None = None,
        has_gaps: bool = False,
        groups: Groups | None = None,
        weighting: Weighting | None = None,
        interventions: Interventions | None = None,
    ) -> Dataset:
        """Make a dataset from parts that are known to be right and that nobody else can change."""
        self = object.__new__(cls)
        _fill(self, names, levels, codes, weights, codings or {}, has_gaps, groups, weighting, interventions)
        return self

    def _changed(self, codes: Codes, **changed: Any) -> Dataset:
        """Return a dataset with other codes, and with other parts where these are given."""
        parts = {each.name: getattr(self, each.name) for each in fields(Dataset) if each.name != "codes"}
        return Dataset._trusted(codes=codes, **{**parts, **changed})

    # What it holds ---------------------------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        """Number of stored rows."""
        return int(self.codes.shape[1])

    @property
    def n_columns(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def refines(self) -> bool:
        """Whether a larger set of parents has at least as many observed configurations: rows with gaps drop out."""
        return not self.has_gaps

    @property
    def exact_weights(self) -> Weights | None:
        """Weights that add up without error, hence to the same sum in any order, if the rows have any.

        Fractions become multiples of a power of two that is about 2^-52 of their sum, or less: what is lost is what the
        sum of all would lose at the least.
        """
        if self.weights is None or self.weights.dtype.kind != "f" or not len(self.weights):
            return self.weights
        bits = min(52 - math.frexp(self.total)[1], 1000)
        rounded: NDArray[np.float64] = np.ldexp(np.maximum(np.rint(np.ldexp(self.weights, bits)), 1.0), -bits)
        return rounded

    @property
    def total(self) -> int | float:
        """Number of observations: the sum of the weights, or the number of rows."""
        if self.weights is None:
            return self.n_rows
        return int(self.weights.sum()) if self.weights.dtype.kind == "i" else math.fsum(self.weights)

    @property
    def is_scaled(self) -> bool:
        """Whether the weights add up to an effective number of observations: of groups, or of a survey."""
        return self.groups is not None or self.weighting == "survey"

    @property
    def n_groups(self) -> int:
        """Number of groups of rows; of rows where there are none."""
        return self.n_rows if self.groups is None else len(np.unique(self.groups))

    @property
    def cards(self) -> NDArray[np.int64]:
        """Number of declared levels of each variable."""
        return np.array([len(self.levels[name]) for name in self.names], dtype=np.int64)

    @property
    def widths(self) -> NDArray[np.int64]:
        """Number of different codes that each variable may have: its levels, and one more where it has gaps."""
        cards = self.cards
        return cards + (self.codes == cards[:, None]).any(axis=1) if self.has_gaps else cards

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether each value is known, an array (columns, rows).

        >>> Dataset.from_codes([[0, 1], [-1, 0]], gap=-1).known
        array([[ True, False],
               [ True,  True]])
        """
        known: NDArray[np.bool_] = self.codes < self.cards[:, None]
        return known

    @property
    def n_gaps(self) -> int:
        """Number of values that are missing.

        >>> Dataset.from_codes([[0, 1], [-1, 0]], gap=-1).n_gaps
        1
        """
        return int((~self.known).sum()) if self.has_gaps else 0

    @property
    def drops_rows(self) -> bool:
        """Whether families leave out rows: those that lack a member, or those in which the child was set."""
        return self.has_gaps or self.interventions is not None

    @property
    def totals(self) -> NDArray[np.float64]:
        """Number of observations in which each variable was not set: those that tell what its parents do to it.

        >>> Dataset.from_codes([[0, 1], [1, 0], [1, 1]], interventions=["X1", None, "X1"]).totals
        array([1., 3.])
        """
        found = np.full(self.n_columns, float(self.total))
        for name in () if self.interventions is None else self.interventions.names:
            left = ~self.interventions.rows_of(name)  # type: ignore[union-attr]
            weights = self.exact_weights
            found[self.index(name)] = left.sum() if weights is None else weights[left].sum()
        return found

    @property
    def gaps(self) -> Gaps:
        """Where values are missing: by column, by pair of columns, and how many rows have none."""
        from mapdag.data.gaps import describe_gaps

        return describe_gaps(self)

    @property
    def cuts(self) -> Cuts:
        """Where columns were cut into intervals, those that were."""
        return cuts_of(self.codings)

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        cards = self.cards
        levels = f"{cards.min()}-{cards.max()} levels"
        if cards.min() == cards.max():
            levels = plural(int(cards.min()), "level") + (" each" if self.n_columns > 1 else "")
        weighted = "" if self.weights is None else f", total weight {self.total:,}"
        if self.is_scaled:
            grouped = "" if self.groups is None else f", {plural(self.n_groups, 'group')}"
            weighted = f"{grouped}, effective size {self.total:,.6g}"
        gaps = f", {plural(self.n_gaps, 'gap')}" if self.has_gaps else ""
        was_set = "" if self.interventions is None else f", {plural(len(self.interventions.names), 'variable')} set"
        size = f"{plural(self.n_rows, 'row')}, {plural(self.n_columns, 'column')}, {levels}"
        return f"Dataset({size}{gaps}{was_set}{weighted})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dataset):
            return NotImplemented
        if self.names != other.names or dict(self.levels) != dict(other.levels):
            return False
        if (self.weights is None) != (other.weights is None):
            return False
        pairs = ((self.weights, other.weights), (self.groups, other.groups))
        if self.interventions != other.interventions:
            return False
        same = all(a is b or (a is not None and b is not None and np.array_equal(a, b)) for a, b in pairs)
        return same and np.array_equal(self.codes, other.codes)

    def __hash__(self) -> int:
        return hash((self.names, self.codes.shape))

    def __reduce__(self) -> tuple[Any, ...]:
        # Arrays come back writable.
        return (Dataset._trusted, tuple(getattr(self, each.name) for each in fields(Dataset)))

    def index(self, name: str) -> int:
        """Return the position of a column."""
        try:
            return self.names.index(name)
        except ValueError:
            raise unknown_names([str(name)], self.names, "this dataset") from None

    def column(self, name: str) -> Codes:
        """Return the codes of one column."""
        codes: Codes = self.codes[self.index(name)]
        return codes

    def row(self, i: int) -> dict[str, str | None]:
        """Return the labels of one row, counted from 0; None where a value is missing."""
        if not -self.n_rows <= i < self.n_rows:
            raise ParameterError(f"row must be between 0 and {self.n_rows - 1:,}, got {i}")
        codes = dict(zip(self.names, self.codes[:, i], strict=True))
        return {name: (*self.levels[name], None)[code] for name, code in codes.items()}

    def observed(self, name: str) -> Weights:
        """Count the observations of every declared level of a column.

        >>> Dataset.from_codes([[0], [2]], levels=[3]).observed("X1")
        array([1, 0, 1])
        """
        codes, size = self.column(name), len(self.levels[name])
        counts = np.bincount(codes, weights=self.weights, minlength=size)[:size]
        return counts if self.weights is None or self.weights.dtype.kind == "f" else counts.astype(np.int64)

    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return ``function(codes, *arguments)``, or the sum of it over blocks of rows where these are not in memory.

        >>> Dataset.from_codes([[0], [2]]).sum(lambda codes: int(codes.sum()))
        2
        """
        return function(self.codes, *arguments)

    def unobserved(self) -> dict[str, tuple[str, ...]]:
        """Return the declared levels that no row has, for the columns that have such.

        >>> Dataset.from_codes([[0, 0], [2, 1]], levels=[3, 2]).unobserved()
        {'X1': ('1',)}
        """
        never = {
            name: tuple(label for label, count in zip(self.levels[name], self.observed(name), strict=True) if not count)
            for name in self.names
        }
        return {name: labels for name, labels in never.items() if labels}

    def _places(self, rows: ArrayLike) -> NDArray[np.intp]:
        """Return the positions of some rows: given as such (repeats allowed, or from the end), or as a mask."""
        chosen, n_rows = np.asarray(rows), self.n_rows
        if chosen.ndim != 1 or (chosen.dtype.kind not in "biu" and chosen.size):
            raise ParameterError(f"rows must be a 1-d array of positions or a mask, got {chosen.dtype} {chosen.shape}")
        if chosen.dtype.kind == "b" and len(chosen) != n_rows:
            raise ParameterError(f"rows: a mask needs one entry per row ({n_rows:,}), got {len(chosen):,}")
        places = np.flatnonzero(chosen) if chosen.dtype.kind == "b" else chosen.astype(np.intp)
        if places.size and not (-n_rows <= places.min() and places.max() < n_rows):
            raise ParameterError(f"rows must be between 0 and {n_rows - 1:,}, got {places.max():,}")
        return np.where(places < 0, places + n_rows, places)

    def _chosen(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names of some columns, which must be there."""
        chosen = check_names([names] if isinstance(names, str) else list(names))
        unknown = [name for name in chosen if name not in self.levels]
        if unknown:
            raise unknown_names(unknown, self.names, "this dataset")
        return chosen

    def experiments(self) -> list[NDArray[np.intp]]:
        """Return the rows of each experiment: those in which the same variables were set; all rows if none were.

        >>> Dataset.from_codes([[0], [1], [1]], interventions=["X1", None, "X1"]).experiments()
        [array([1]), array([0, 2])]
        """
        if self.interventions is None:
            return [np.arange(self.n_rows)]
        order = np.argsort(self.interventions.codes, kind="stable")
        return np.split(order, np.cumsum(self.interventions.counts())[:-1])

    # Other datasets made from it -------------------------------------------------------------------------------

    def select(self, names: Iterable[str]) -> Dataset:
        """Return some of the columns, in the order given.

        >>> Dataset.from_codes([[0, 1, 2]]).select(["X3", "X1"]).names
        ('X3', 'X1')
        """
        if isinstance(names, bytes | Mapping) or not is_iterable(names):
            raise ParameterError(f"names must be a column or a list of columns, got {brief(names)}")
        chosen = self._chosen(names)
        positions = {name: position for position, name in enumerate(self.names)}
        dtype = code_dtype([len(self.levels[name]) for name in chosen], gaps=self.has_gaps)
        codes: Codes = self.codes[[positions[name] for name in chosen]].astype(dtype, copy=False)
        levels = {name: self.levels[name] for name in chosen}
        interventions = self.interventions and self.interventions.select(chosen)
        return self._changed(codes, names=chosen, levels=levels, interventions=interventions)

    def take(self, rows: ArrayLike) -> Dataset:
        """Return some of the rows: positions (repeats allowed) or a mask.

        >>> Dataset.from_codes([[0], [1], [1]]).take([2, 2, 0]).codes
        array([[1, 1, 0]], dtype=uint8)
        """
        positions = self._places(rows)
        # Rows taken many times can add up to more than a total may be.
        weights = None if self.weights is None else check_weights(self.weights[positions], len(positions))
        groups = None if self.groups is None else self.groups[positions]
        changed = {"weights": weights, "groups": groups, "interventions": self._set_in(positions)}
        return self._changed(np.take(self.codes, positions, axis=1), **changed)

    def with_levels(self, levels: LevelsLike) -> Dataset:
        """Return the same rows with levels declared anew: added, reordered, or dropped where never observed.

        >>> data = Dataset.from_codes([[0], [1]], levels=[["low", "high"]])
        >>> data.with_levels({"X1": ["high", "mid", "low"]}).codes
        array([[2, 0]], dtype=uint8)
        """
        declared = declared_levels(levels, self.names)
        merged = {name: declared.get(name, self.levels[name]) for name in self.names}
        cards = [len(labels) for labels in merged.values()]
        codes = np.empty(self.codes.shape, dtype=code_dtype(cards, gaps=self.has_gaps))
        for position, name in enumerate(self.names):
            if merged[name] == self.levels[name]:
                codes[position] = self.codes[position]
                continue
            match = Matcher(merged[name])
            recode = [*map(match, self.levels[name]), *([len(merged[name])] if self.has_gaps else [])]
            lost = np.array([code is None for code in recode])[self.codes[position]]
            if lost.any():
                first = self.levels[name][self.codes[position][lost][0]]
                raise DataError(f"column {name!r}: the level {first!r} is not declared, but in {rows_text(lost)}")
            codes[position] = np.array([code or 0 for code in recode], dtype=codes.dtype)[self.codes[position]]
        return self._changed(codes, levels=merged)

    def complete_rows(self) -> Dataset:
        """Return the rows in which no value is missing.

        >>> Dataset.from_codes([[0, 1], [-1, 0]], gap=-1).complete_rows().codes
        array([[0],
               [1]], dtype=uint8)
        """
        return self.take(self.known.all(axis=0)) if self.has_gaps else self

    def with_indicators(self) -> Dataset:
        """Return the table with columns that say where values are missing, where what they are may be why.

        For each column that has gaps, one more, such as "dose is missing", that is "no" or "yes" in every row; columns
        that are missing in the same rows share one. Gaps stay as they are. Put after the others by tiers, indicators
        let structural EM learn why values are missing, and correct for it as far as other columns tell them.

        >>> data = Dataset.from_codes([[0, 1], [-1, 0]], names=["dose", "age"], gap=-1).with_indicators()
        >>> data.names, data.row(1)
        (('dose', 'age', 'dose is missing'), {'dose': None, 'age': '0', 'dose is missing': 'yes'})
        """
        names, levels, rows, said = list(self.names), dict(self.levels), list(self.codes), set[bytes]()
        for name, gone in zip(self.names, ~self.known, strict=True):
            if gone.any() and gone.tobytes() not in said:
                said.add(gone.tobytes())
                names.append(free_name(f"{name} is missing", names))
                levels[names[-1]] = ("no", "yes")
                rows.append(gone.astype(self.codes.dtype))
        return self._changed(np.array(rows), names=tuple(names), levels=Sealed(levels))

    def aggregated(self) -> Dataset:
        """Return the distinct rows in lexicographic order of their codes, with their counts as weights.

        Rows in which different variables were set are distinct.

        >>> data = Dataset.from_codes([[1, 0], [0, 1], [1, 0]]).aggregated()
        >>> data.codes.T.tolist(), data.weights.tolist()
        ([[0, 1], [1, 0]], [1, 2])
        """
        keys, widths = self.codes, self.widths
        if self.interventions is not None:
            keys = np.concatenate([self.codes, self.interventions.codes[None]])
            widths = np.append(widths, len(self.interventions.targets))
        rows, counts = distinct_rows(keys, widths, self.weights)
        changed = {"weights": counts, "groups": None, "interventions": self._set_in(rows)}
        return self._changed(np.take(self.codes, rows, axis=1), **changed)

    def repeated(self) -> Dataset:
        """Return each row as often as it counts, without weights, which must be whole numbers.

        >>> Dataset.from_codes([[0], [1]], weights=[1, 3]).repeated().codes
        array([[0, 1, 1, 1]], dtype=uint8)
        """
        if self.weights is None:
            return self
        if self.weights.dtype.kind == "f":
            raise DataError("rows whose weights are fractions cannot be repeated")
        times = self.weights.astype(np.int64)
        groups = None if self.groups is None else np.repeat(self.groups, times)
        interventions = self._set_in(np.repeat(np.arange(self.n_rows), times))
        codes = np.repeat(self.codes, times, axis=1)
        return self._changed(codes, weights=None, groups=groups, interventions=interventions)

    def _set_in(self, rows: NDArray[np.intp]) -> Interventions | None:
        """Return what was set in some rows."""
        return None if self.interventions is None else self.interventions.take(rows, self.names)

    # Leaving mapdag --------------------------------------------------------------------------------------------

    def to_table(self, most: int | None = None, *, weights: str = "weight") -> Table:
        """Return the rows, or the first of them; weights, if any, become a last column of that name.

        So does what was set in them, if anything: a column "interventions".
        """
        shown = slice(most)
        columns = [
            Column(name, codes[shown], levels=self.levels[name])
            for name, codes in zip(self.names, self.codes, strict=True)
        ]
        if self.interventions is not None:
            labels, name = self.interventions.labels(self.names), free_name("interventions", [*self.levels, weights])
            columns.append(Column(name, self.interventions.codes[shown], levels=labels))
        if self.weights is not None:
            columns.append(Column(self._weights_name(weights), self.weights[shown], "g", right=True))
        return Table(columns, title=repr(self), left=self.n_rows - len(self.codes[0, shown]), rest="more rows")

    def to_polars(self, *, weights: str = "weight") -> pl.DataFrame:
        """Return a polars DataFrame of Enum columns; weights, if any, become a last column of that name."""
        return self.to_table(weights=weights).to_polars()

    def to_pandas(self, *, weights: str = "weight") -> Any:
        """Return a pandas DataFrame of Categorical columns; weights, if any, become a last column of that name."""
        return self.to_table(weights=weights).to_pandas()

    def _shown(self) -> Table:
        """Return the first rows of the first columns."""
        head = self.select(self.names[:_SHOWN_COLUMNS]).to_table(_SHOWN_ROWS, weights=free_name("weight", self.levels))
        more = self.n_columns - _SHOWN_COLUMNS
        return replace(head, title=repr(self), notes=[f"... and {plural(more, 'more column')}"] if more > 0 else ())

    def _weights_name(self, name: str) -> str:
        if name in self.levels:
            raise ParameterError(f"weights must be a name that no column has, got {name!r}")
        return name


def _fill(
    self: Dataset,
    names: tuple[str, ...],
    levels: Mapping[str, tuple[str, ...]],
    codes: Codes,
    weights: Weights | None,
    codings: Mapping[str, Coding],
    has_gaps: bool,
    groups: Groups | None = None,
    weighting: Weighting | None = None,
    interventions: Interventions | None = None,
) -> None:
    """Set the fields, sealed."""
    if not codes.flags.c_contiguous:
        codes = np.ascontiguousarray(codes)
    for array in (codes, weights, groups):
        if array is not None:
            array.flags.writeable = False
    sealed = levels if isinstance(levels, Sealed) else Sealed(levels)
    found = has_gaps and any((column == len(levels[name])).any() for name, column in zip(names, codes, strict=True))
    parts: dict[str, Any] = {"names": names, "levels": sealed, "codes": codes, "weights": weights, "has_gaps": found}
    parts |= {"groups": groups, "weighting": weighting, "interventions": interventions}
    parts["codings"] = kept_codings(codings, names)
    for name, value in parts.items():
        object.__setattr__(self, name, value)


def _check_codes(codes: NDArray[Any], names: Sequence[str], cards: Sequence[int], *, gaps: bool = False) -> None:
    """Every code must be one of the declared levels or, where there may be gaps, their number."""
    if codes.dtype.kind not in "biu":
        raise DataError(f"codes must be integers, got {codes.dtype}")
    if not codes.shape[1]:
        return
    for name, column, card in zip(names, codes, cards, strict=True):
        if int(column.min()) < 0 or int(column.max()) >= card + gaps:
            bad = (column < 0) | (column >= card + gaps)
            raise DataError(
                f"column {name!r}: the code {int(column[bad][0])} in {rows_text(bad)} is not between 0 and {card - 1}"
            )
