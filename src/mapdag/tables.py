"""Tables that results are shown as: text, HTML for notebooks, frames of pandas and polars.

A result says what its table is (`Tabular.to_table`); how it looks is decided here, once. Nothing here knows what the
numbers mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.wording import columns, free_name, shortened

if TYPE_CHECKING:
    import polars as pl

SHOWN = 20
"""Rows that are shown of a long table."""

AS_IS = "tex2jax_ignore mathjax_ignore"
"""Classes of HTML in which notebooks look for no formulas: names may hold dollar signs."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    name : str
    values : sequence
        Numbers as an array, so that frames know their type even where there are none; None is shown as nothing. With
        `levels`, positions in these, or their number for nothing.
    form : str or callable
        How a value is written as text: a format specification such as ".3f", or a function.
    right : bool
        Align it to the right.
    levels : sequence of str, optional
        Makes it a column of categories, in their order.
    head : str, optional
        What people read above it, where that is not its name in frames.
    longest : int, optional
        Letters beyond which the text of a cell is cut; none where there is no limit.
    """

    name: str
    values: Sequence[Any] | np.ndarray[Any, Any]
    form: str | Callable[[Any], str] = ""
    right: bool = False
    levels: Sequence[str] | None = None
    head: str | None = None
    longest: int | None = 60

    @property
    def heading(self) -> str:
        """What people read above it."""
        return self.name if self.head is None else self.head

    def texts(self) -> list[str]:
        """Write the values."""
        if self.levels is not None:
            labels = (*self.levels, "")
            return [labels[int(code)] for code in self.values]
        return ["" if value is None else self._text(value) for value in self.values]

    def _text(self, value: Any) -> str:
        return self.form(value) if callable(self.form) else format(value, self.form)

    def series(self) -> pl.Series:
        """Return it as polars has it."""
        import polars as pl

        if self.levels is not None:
            labels = pl.Series(self.name, [*self.levels, None], dtype=pl.Enum(self.levels))
            return labels.gather(pl.Series(np.asarray(self.values, dtype=np.uint32)))
        if isinstance(self.values, np.ndarray):
            return pl.Series(self.name, self.values)
        return pl.Series(self.name, [_plain(each) for each in self.values], dtype=None if self.values else pl.String)

    def array(self) -> Any:
        """Return it as pandas has it."""
        import pandas as pd

        if self.levels is not None:
            codes = np.asarray(self.values, dtype=np.int32)
            codes = np.where(codes == len(self.levels), -1, codes)
            return pd.Categorical.from_codes(codes, categories=pd.Index(list(self.levels)))
        if isinstance(self.values, np.ndarray):
            return np.array(self.values)  # a frame may be changed
        found = np.empty(len(self.values), dtype=object)
        found[:] = list(self.values)
        return pd.Series(found).infer_objects()


@dataclass(frozen=True)
class Table:
    """What a result shows.

    Parameters
    ----------
    columns : sequence of Column
        All of the same length.
    title : str
        What stands above it.
    notes : sequence of str
        What stands below it, a line each.
    left : int
        Rows that there are beyond these.
    rest : str
        What to call them.
    index : int
        The first columns, as many, say what a row is about: they become the index in pandas.

    Examples
    --------
    >>> table = Table([Column("arc", ["A -> B", "B -> C"]), Column("strength", [1.0, 0.25], ".2f", right=True)], left=3)
    >>> print(table)
    arc     strength
    A -> B      1.00
    B -> C      0.25
    ... and 3 more
    """

    columns: Sequence[Column]
    title: str = ""
    notes: Sequence[str] = ()
    left: int = 0
    rest: str = "more"
    index: int = 0

    def __str__(self) -> str:
        written = [
            [shortened(text, column.longest or len(text)) for text in (column.heading, *column.texts())]
            for column in self.columns
        ]
        right = tuple(i for i, column in enumerate(self.columns) if column.right)
        return "\n".join([*self._above(), columns(list(zip(*written, strict=True)), right=right), *self._below()])

    def _above(self) -> list[str]:
        return [self.title] if self.title else []

    def _below(self) -> list[str]:
        return [*([f"... and {self.left:,} {self.rest}"] if self.left else []), *self.notes]

    def _repr_html_(self) -> str:
        """Return what a notebook shows: escaped, and left alone by what notebooks make of dollar signs."""
        from html import escape  # takes a while to import, for all of HTML's entities

        head = "".join(f"<th{_align(c)}>{escape(c.heading)}</th>" for c in self.columns)
        written = [[f"<td{_align(c)}>{escape(text)}</td>" for text in c.texts()] for c in self.columns]
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*written, strict=True))
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        around = [[f"<p>{escape(line)}</p>" for line in lines] for lines in (self._above(), self._below())]
        return f'<div class="{AS_IS}" style="overflow-x:auto">{"".join([*around[0], table, *around[1]])}</div>'

    def to_polars(self) -> pl.DataFrame:
        """Return a polars DataFrame; categories are Enum columns."""
        import polars as pl

        return pl.DataFrame([column.series() for column in self._named_apart()])

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame; categories are Categorical columns."""
        import pandas as pd

        columns = self._named_apart()
        frame = pd.DataFrame({column.name: column.array() for column in columns})
        return frame.set_index([column.name for column in columns[: self.index]]) if self.index else frame

    def _named_apart(self) -> list[Column]:
        """Return the columns; one whose name an earlier one has, such as a node "probability", gets underscores."""
        found: dict[str, Column] = {}
        for column in self.columns:
            name = free_name(column.name, found)
            found[name] = replace(column, name=name)
        return list(found.values())


def _align(column: Column) -> str:
    return f' style="padding:2px 8px;white-space:nowrap;text-align:{"right" if column.right else "left"}"'


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def paragraphs(lines: Sequence[str], *, element: str = "p") -> str:
    """Return lines as HTML, escaped, and left alone by what notebooks make of dollar signs.

    >>> paragraphs(["a < b"])
    '<div class="tex2jax_ignore mathjax_ignore"><p>a &lt; b</p></div>'
    """
    from html import escape

    inside = "".join(f"<{element}>{escape(line)}</{element}>" for line in lines)
    return f'<div class="{AS_IS}">{inside}</div>' if lines else ""


class Tabular:
    """A result that can be shown as a table."""

    __slots__ = ()

    def to_table(self, most: int | None = None) -> Table:
        """Return the table: all rows, or as many as `most` of them, the most important ones."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return the whole table as a pandas DataFrame."""
        return self.to_table().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Return the whole table as a polars DataFrame."""
        return self.to_table().to_polars()

    def _shown(self) -> Table:
        """Return what of it is shown unasked."""
        return self.to_table(SHOWN)

    def __str__(self) -> str:
        return str(self._shown())

    def _repr_html_(self) -> str:
        return self._shown()._repr_html_()
