"""From whatever the user passed to a table of named columns, and the choice of columns and weights."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mapdag.data.checks import check_weights
from mapdag.data.labels import parse_numbers
from mapdag.data.problems import listed, rows_text, unknown_names
from mapdag.data.tables import Table, from_memory
from mapdag.errors import DataError, ParameterError

if TYPE_CHECKING:
    from mapdag.data.settle import Rules

__all__ = ["chosen_columns", "open_table", "read_weights"]

Weights = NDArray[np.int64] | NDArray[np.float64]


def open_table(source: Any, separator: str | None = None, encoding: str | None = None) -> Table:
    """Open a table of any kind."""
    # callable(): a pandas DataFrame may have a column of that name.
    file = callable(getattr(source, "read", None))
    if not isinstance(source, str | os.PathLike | bytes | bytearray | memoryview) and not file:
        table = from_memory(source)
    else:
        from mapdag.data.files import from_columnar, open_content

        content = open_content(source)
        if content.format != "text":
            table = from_columnar(content)
        else:
            from mapdag.data.delimited import from_text

            table = from_text(content, separator, encoding)
    if not table.names:
        raise DataError(f"{table.source} has no columns")
    if not table.n_rows:
        raise DataError(f"{table.source} has no rows")
    return table


def chosen_columns(table: Table, drop: str | Iterable[str], weights: Any = None) -> dict[str, int]:
    """Return the positions of the variables by name: all columns but the dropped ones and the one with the weights."""
    dropped = [drop] if isinstance(drop, str) else [str(name) for name in drop]
    unknown = [name for name in dropped if name not in table.names]
    if unknown:
        raise unknown_names(unknown, table.names, "drop")
    if isinstance(weights, str):
        if weights not in table.names or weights in dropped:
            raise unknown_names([weights], [name for name in table.names if name not in dropped], "weights")
        dropped.append(weights)
    kept = [position for position, name in enumerate(table.names) if name not in set(dropped)]
    for position in kept:
        if not table.names[position]:
            raise DataError(
                f"column {position + 1:,} of {table.source} has no name (row names, perhaps): "
                'pass drop="" to leave it out'
            )
    twice = [name for name, count in Counter(table.names[position] for position in kept).items() if count > 1]
    if twice:
        raise DataError(
            f"{table.source} has more than one column named {listed(twice)}: rename them, or leave them "
            "all out by drop=; if the first line holds data and not names, put a line of names before it"
        )
    if not kept:
        raise DataError(f"no columns are left of {table.source}")
    return {table.names[position]: position for position in kept}


def read_weights(table: Table, weights: Any, rules: Rules) -> Weights | None:
    """Return the weight of every row, or None."""
    if weights is None:
        return None if table.weights is None else check_weights(table.weights, table.n_rows)
    if table.weights is not None:
        raise ParameterError("weights cannot be given for a dataset that has weights already")
    if not isinstance(weights, str):
        return check_weights(weights, table.n_rows)
    what = f"weights: column {weights!r}"
    column = table.pop(table.names.index(weights), rules)
    numbers = column.numbers(rules.missing_texts)
    if numbers is None:
        wrong = next((label for label in column.labels if label and parse_numbers([label.strip()]) is None), "nothing")
        raise DataError(f"{what} must be numbers, got {wrong!r}")
    values = numbers[column.index]
    if np.isnan(values).any():
        raise DataError(f"{what} has missing values in {rows_text(np.isnan(values))}")
    return check_weights(values, table.n_rows, what)
