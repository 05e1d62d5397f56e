"""Tables as scikit-learn's users hand them over: which columns say anything, and rows as evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.levels import ReadOptions, meanings_of
from mapdag.data.source import open_source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from mapdag.data.columns import Column
    from mapdag.networks import BayesianNetwork

_MISSING = ("<missing>", "NA")  # levels that `read(missing="level")` gives to missing values


def constant_columns(table: Any, rows: NDArray[np.bool_]) -> list[str]:
    """Return the columns that have one and the same value in all of these rows, or none at all: they say nothing."""
    source, options = open_source(table), ReadOptions()
    columns = (source.pop(position, options) for position in range(len(source.names)))
    return [column.name for column in columns if _distinct(column, rows) < 2]


def _distinct(column: Column, rows: NDArray[np.bool_]) -> int:
    used = np.unique(column.index[rows])
    if column.kind == "nested" or column.values is not None:
        return max(len(used), 2) if column.kind == "nested" else len(used)  # `read` says what is wrong with lists
    meanings = meanings_of(column, ReadOptions(), None)
    return len({meanings[position] for position in used.tolist()})


def as_evidence(table: Any, network: BayesianNetwork, nodes: list[str]) -> pl.DataFrame:
    """Return the levels of these nodes in every row; null, not observed, where a value is missing or no level."""
    import polars as pl

    source, series = open_source(table), []
    for node in nodes:
        column = source.pop(source.names.index(node), ReadOptions())
        levels = list(network.levels[node])
        codes = pl.Series(_codes(column, tuple(levels), network.cuts.get(node)), dtype=pl.Int64)
        known = pl.Series(levels, dtype=pl.Enum(levels))
        series.append(known.gather(codes.replace(-1, None)).alias(node))
    return pl.DataFrame(series, height=source.n_rows)


def _codes(column: Column, levels: tuple[str, ...], edges: tuple[float, ...] | None) -> NDArray[np.intp]:
    """Return the codes of the rows of a column; -1 for values that are no levels."""
    options = ReadOptions(declared={column.name: levels})
    gap = next((levels.index(label) for label in _MISSING if label in levels), -1)
    numbers = None if edges is None else column.numbers(options.missing_texts)
    if numbers is not None and edges is not None:
        found = np.searchsorted(np.array(edges[1:-1]), numbers, side="left")
        codes = np.where(np.isnan(numbers), gap, found)
    else:
        code_of: dict[str | None, int] = {None: gap, **{label: code for code, label in enumerate(levels)}}
        codes = np.array([code_of.get(label, -1) for label in meanings_of(column, options, levels)], dtype=np.intp)
    return codes[column.index]
