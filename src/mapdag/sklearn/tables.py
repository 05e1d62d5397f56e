"""Tables as scikit-learn's users hand them over: checked its way, their columns looked at, their rows as evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from mapdag.data.judgement import FEW
from mapdag.data.labels import are_integral
from mapdag.data.meanings import (
    MISSING_CODE,
    MISSING_LEVELS,
    NO_LEVEL,
    ReadOptions,
    codes_by_position,
    meanings_of,
    missing_positions,
)
from mapdag.data.source import open_source
from mapdag.notices import unsaid

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from mapdag.data.columns import Column
    from mapdag.networks import BayesianNetwork


class TakesTables(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator that takes tables of categories, with gaps unless `missing` is "error"."""

    missing: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


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


def named(estimator: Any, table: Any) -> Any:
    """Give the columns of a checked table without names those that the estimator was fitted with, by position."""
    if hasattr(table, "columns") or not hasattr(estimator, "feature_names_in_"):
        return table
    return {name: table[:, i] for i, name in enumerate(estimator.feature_names_in_)}


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
        elif len(numbers) > 1 and (len(numbers) > FEW or not are_integral(numbers)):
            self.numeric.append(column.name)


def as_evidence(table: Any, network: BayesianNetwork, target: str | None = None) -> pl.DataFrame:
    """Return the levels of all nodes; null, that is not observed, where a value is missing or no level.

    And for the target throughout, if there is one.
    """
    import polars as pl

    source = open_source(table)
    series = [] if target is None else [pl.repeat(None, source.n_rows, dtype=pl.String, eager=True).alias(target)]
    for node in network.nodes:
        if node != target:
            codes = pl.Series(_codes(source.pop(source.names.index(node), ReadOptions()), network), dtype=pl.Int64)
            levels = network.levels[node]
            series.append(pl.Series(node, levels, dtype=pl.Enum(levels)).gather(codes.replace(NO_LEVEL, None)))
    return pl.DataFrame(series)


def missing_cells(table: Any, network: BayesianNetwork) -> dict[str, NDArray[np.bool_]]:
    """Tell where each column of a table has no value; one that is no level of its node is a value all the same."""
    source, found = open_source(table), {}
    for position, name in enumerate(source.names):
        column = source.pop(position, ReadOptions())
        if name in network.levels:
            found[name] = (_codes_by_position(column, network) == MISSING_CODE)[column.index]
        else:
            found[name] = missing_positions(column, ReadOptions())[column.index]
    return found


def _codes(column: Column, network: BayesianNetwork) -> NDArray[np.intp]:
    """Return the codes of the rows of a column; `NO_LEVEL` for values that are none."""
    levels, codes = network.levels[column.name], _codes_by_position(column, network)
    gap = next((levels.index(label) for label in MISSING_LEVELS if label in levels), NO_LEVEL)
    return np.where(codes == MISSING_CODE, gap, codes)[column.index]


def _codes_by_position(column: Column, network: BayesianNetwork) -> NDArray[np.intp]:
    """Return the codes of the distinct values of a column; `MISSING_CODE` where one means that there is none."""
    levels = network.levels[column.name]
    numbers = column.numbers(ReadOptions().missing_texts(column.name)) if column.name in network.cuts else None
    if numbers is None:
        return codes_by_position(column, levels)
    with unsaid():  # new rows may well lie beyond the ends
        return np.where(np.isnan(numbers), MISSING_CODE, network.cuts.codes(column.name, numbers))
