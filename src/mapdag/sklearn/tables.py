"""Tables as scikit-learn's users hand them over: checked its way, their columns looked at, their rows as evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from mapdag.data.labels import are_integral
from mapdag.data.meanings import ReadOptions, meanings_of
from mapdag.data.source import open_source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from mapdag.data.columns import Column
    from mapdag.networks import BayesianNetwork

_FEW = 10  # distinct whole numbers up to which they are taken as categories
_MISSING = ("<missing>", "NA")  # levels that `read(missing="level")` gives to missing values


def checked_table(estimator: Any, table: Any, *, reset: bool, gaps: bool) -> Any:
    """Check a table the way scikit-learn does, and keep what arrays would lose: names, declared levels."""
    if hasattr(table, "columns"):
        validate_data(estimator, table, reset=reset, skip_check_array=True)
        return table
    least = 2 if reset else 1  # one row has nothing to learn from
    finite = "allow-nan" if gaps else True
    return validate_data(
        estimator, X=table, reset=reset, dtype=None, ensure_all_finite=finite, ensure_min_samples=least
    )


@dataclass(frozen=True)
class Survey:
    """What the columns of a table hold, in some of its rows."""

    constant: list[str]  # one and the same value, or none at all: they say nothing
    numeric: list[str]  # numbers that are not all whole, or more than a few whole ones

    @classmethod
    def of(cls, table: Any, rows: NDArray[np.bool_]) -> Survey:
        """Look at the columns."""
        source, options = open_source(table), ReadOptions()
        found = cls([], [])
        for position in range(len(source.names)):
            column = source.pop(position, options)
            if column.kind != "nested":  # `read` says what is wrong with that
                found._add(column, np.unique(column.index[rows]))
        return found

    def _add(self, column: Column, used: NDArray[np.intp]) -> None:
        if column.values is None:
            meanings = meanings_of(column, ReadOptions(), None)
            if len({meanings[position] for position in used.tolist()}) < 2:
                self.constant.append(column.name)
            return
        numbers = column.values[used].astype(np.float64)
        numbers = numbers[~np.isnan(numbers)]
        if len(used) < 2:
            self.constant.append(column.name)
        elif len(numbers) > 1 and (len(numbers) > _FEW or not are_integral(numbers)):
            self.numeric.append(column.name)


def as_evidence(table: Any, network: BayesianNetwork, target: str) -> pl.DataFrame:
    """Return the levels of all nodes but one; null, that is not observed, where a value is missing or no level."""
    import polars as pl

    source = open_source(table)
    series = [pl.repeat(None, source.n_rows, dtype=pl.String, eager=True).alias(target)]
    for node in network.nodes:
        if node != target:
            column, levels = source.pop(source.names.index(node), ReadOptions()), network.levels[node]
            codes = pl.Series(_codes(column, levels, network.cuts.get(node)), dtype=pl.Int64)
            known = pl.Series(node, levels, dtype=pl.Enum(levels))
            series.append(known.gather(codes.replace(-1, None)))
    return pl.DataFrame(series)


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
