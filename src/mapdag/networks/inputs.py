"""Tables as a network sees them: the columns it needs, found by name and coded by its levels."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from mapdag.checks import is_one_of
from mapdag.data import Dataset, as_dataset, read
from mapdag.data.content import as_bytes, failures, is_pipe
from mapdag.data.interventions import interventions_column, refuse_interventions
from mapdag.data.labels import Matcher
from mapdag.data.meanings import MISSING_LEVELS, UNSEEN
from mapdag.data.problems import listed, rows_text
from mapdag.data.source import open_source
from mapdag.errors import DataError, ParameterError, Setting
from mapdag.notices import warn
from mapdag.wording import brief

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from mapdag.data import ReadingOptions
    from mapdag.data.codings import Coding
    from mapdag.data.labels import Codes
    from mapdag.networks.network import BayesianNetwork

_SHOWN = 5

#: What to do about values in new rows that are no level of the network.
Unseen: TypeAlias = Literal["gap", "error"]


@dataclass(frozen=True)
class _Like:
    """Levels and cuts as `read` takes them from a network, and whether it may add a level for missing values."""

    levels: Mapping[str, Sequence[str]]
    cuts: Mapping[str, tuple[float, ...]]
    gaps: bool
    codings: Mapping[str, Coding] = field(default_factory=dict)
    lenient: bool = False  # whether what is no level is none, too

    @classmethod
    def of(cls, network: BayesianNetwork, nodes: Sequence[str], *, gaps: bool, lenient: bool) -> _Like:
        """Take them from some nodes of a network."""
        cuts = {node: edges for node, edges in network.cuts.items() if node in nodes}
        return cls({node: _at_least_two(network.levels[node]) for node in nodes}, cuts, gaps, network.codings, lenient)


@dataclass(frozen=True)
class Evidence:
    """What the rows of a table tell about some nodes."""

    n_rows: int
    codes: Mapping[str, Codes]  # of the nodes that the table has columns of; whatever where nothing is known
    known: Mapping[str, NDArray[np.bool_]]  # of those that are not known in every row, whether they are


def rows_as_evidence(
    data: Any, nodes: Sequence[str], network: BayesianNetwork, *, unseen: Unseen = "error"
) -> Evidence:
    """Return what a table tells about some nodes; columns may be absent, and cells empty.

    In a dataset, gaps are those that it was read with, and the level that `read` makes of missing values, where the
    network has no such level; one that was learned with it knows what it means that a value is missing. Values that are
    no level are gaps, too, with a warning, unless `unseen` is "error".
    """
    if not is_one_of(unseen, ("gap", "error")):
        raise ParameterError(f'unseen must be "gap" or "error", got {brief(unseen)}')
    table = needed_columns(data, nodes, network, gaps=True, lenient=unseen == "gap")
    names = [node for node in nodes if node in table.levels]
    levels = {}
    for name in names:
        own = network.levels[name]
        gaps = [label for label in (*MISSING_LEVELS, UNSEEN) if label in table.levels[name] and label not in own]
        levels[name] = (*own, *gaps)
        if unseen == "gap" and isinstance(data, Dataset):
            levels[name] = (*levels[name], *_strange(table, name, levels[name]))
    codes = matched_codes(levels, table, names)
    unsure = [name for name in names if table.has_gaps or levels[name] != network.levels[name]]
    known = {name: codes[name] < len(network.levels[name]) for name in unsure}
    partly = {name: mine for name, mine in known.items() if not mine.all()}
    return Evidence(table.n_rows, codes, partly)


def needed_columns(
    data: Any,
    nodes: Sequence[str],
    network: BayesianNetwork | None = None,
    *,
    gaps: bool = False,
    lenient: bool = False,
    **reading: Unpack[ReadingOptions],
) -> Dataset:
    """Return a dataset as it is, and of any other table the columns of these nodes.

    Columns without a node are not even looked at, whatever they hold.

    Parameters
    ----------
    data : Dataset or table
        Anything that `mapdag.read` takes.
    nodes : sequence of str
        Without repeats.
    network : BayesianNetwork, optional
        Has the only levels that these columns may have, observed or not, and where numbers are cut into them; by
        default, levels are what `read` finds.
    gaps : bool
        Whether columns may be absent and values missing; the latter then are a level, as with `missing="level"`.
    lenient : bool
        Whether values that are no level of the network become one of their own, with a warning.
    **reading
        How to read the table; not for a dataset.

    Raises
    ------
    DataError
        If a node has no column, or a column cannot be used.
    """
    if isinstance(data, Dataset):
        if gaps:
            refuse_interventions(data, "a prediction")
        else:
            _refuse_missing(nodes, data.names)
        return as_dataset(data, **reading)
    table = open_source(data, reading.get("separator"), reading.get("encoding"))
    if gaps:
        nodes = [node for node in nodes if node in set(table.names)]
    else:
        _refuse_missing(nodes, table.names)
    if not nodes:
        return Dataset._trusted((), {}, np.empty((0, table.n_rows), dtype=np.uint8), None)  # noqa: SLF001
    said = reading.get("weights"), reading.get("groups"), interventions_column(reading.get("interventions"))
    used = {*nodes, *(name for name in said if isinstance(name, str))}
    others = [name for name in dict.fromkeys(table.names) if name not in used]
    like = None if network is None else _Like.of(network, nodes, gaps=gaps, lenient=lenient)
    # A network that was learned with a level for missing values has one for them now.
    missing: Literal["level", "error"] = "error" if network is None else "level"
    given: ReadingOptions = {"like": like, "missing": missing, **reading, "drop": others}
    try:
        return read(table, **given)
    except DataError as error:
        if network is None or not error.remedy:  # `fit` takes options of `read`; or there is none that would help
            raise
        told = "\n(in Python these are options of mapdag.read: pass the result of read(table, like=network, ...))"
        raise DataError(*error.parts, told) from error


def _strange(table: Dataset, name: str, levels: Sequence[str]) -> list[str]:
    """Return the levels of a column that others do not have, and warn of those that some row has."""
    match = Matcher(levels)
    found = [label for label in table.levels[name] if match(label) is None]
    codes = table.column(name)
    rows = np.isin(codes, [table.levels[name].index(label) for label in found])
    if rows.any():
        there = [label for label in found if (codes == table.levels[name].index(label)).any()]
        warn(
            f"column {name!r} has {listed(there, _SHOWN)} in {rows_text(rows)}, not among its levels "
            f"{listed(levels, _SHOWN)}: taken for not known; pass ",
            *(Setting("unseen", "error"), " to refuse such rows"),
        )
    return found


def matched_codes(levels: Mapping[str, tuple[str, ...]], data: Dataset, nodes: Sequence[str]) -> dict[str, Codes]:
    """Return the codes of these nodes, which have columns, in the order of the network's levels.

    Columns are matched by name and levels by label, so that the order of either does not matter.

    Raises
    ------
    DataError
        If a row has a level that the network does not know.
    """
    positions = {name: position for position, name in enumerate(data.names)}
    codes: dict[str, Codes] = {node: data.codes[positions[node]] for node in nodes if data.levels[node] == levels[node]}
    different = [node for node in nodes if node not in codes]
    if different:
        recoded = data.select(different).with_levels({node: levels[node] for node in different})
        codes.update(zip(recoded.names, recoded.codes, strict=True))
    return codes


def cell_numbers(columns: Sequence[NDArray[np.integer[Any]]], cards: Sequence[int]) -> NDArray[np.intp]:
    """Return the cell that every row falls into, the cells of a table with so many levels per axis being counted.

    Examples
    --------
    >>> cell_numbers([np.array([0, 1, 1]), np.array([2, 0, 1])], [2, 3])
    array([2, 3, 4])
    """
    cells = columns[0].astype(np.intp)
    for codes, card in zip(columns[1:], cards[1:], strict=True):
        cells *= card
        cells += codes
    return cells


def _refuse_missing(nodes: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse a table that lacks the columns of some nodes."""
    there = set(columns)
    missing = [node for node in nodes if node not in there]
    if missing:
        raise DataError(
            f"the data have no column {listed(missing, _SHOWN)}, which the network needs; "
            f"the columns are {listed(columns)}"
        )


def readable_again(data: Any) -> Any:
    """Return the table in a form that can be read as often as needed: what is open, or a pipe, is taken in now."""
    if isinstance(data, str | os.PathLike):
        return Path(data).read_bytes() if is_pipe(data) else data
    if callable(getattr(data, "read", None)):
        return as_bytes(data.read(), str(getattr(data, "name", "the data")))
    if hasattr(data, "__arrow_c_stream__") and not hasattr(data, "columns") and type(data).__name__ != "Series":
        import polars as pl

        try:
            return pl.DataFrame(data)
        except failures() as error:
            raise DataError(f"the Arrow table cannot be read: {error}") from error
    return data


def _at_least_two(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return levels that `read` takes, which refuses columns with a single one; networks may have such nodes."""
    return labels if len(labels) > 1 else (*labels, f"not {labels[0]}")
