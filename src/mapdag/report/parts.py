"""Pieces that pages are made of: tables, figures in a row, notices, pictures, and how a page came about."""

from __future__ import annotations

import datetime as dt
import platform
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import repeat
from typing import Literal, TypeAlias

import mapdag
from mapdag.report.html import MINUS, Content, Html, join, tag
from mapdag.report.page import Section

_PACKAGES = ("numpy", "scipy", "numba", "polars", "igraph")


@dataclass(frozen=True)
class Heading:
    """A column of a table: its heading, what it holds, and a longer explanation."""

    title: str
    kind: Literal["text", "number"] = "text"
    hint: str | None = None


@dataclass(frozen=True)
class Sortable:
    """A cell whose order is not that of its text."""

    content: Content
    sort: float | str


Row: TypeAlias = "Sequence[Content | Sortable]"


def table(
    columns: Sequence[Heading],
    rows: Iterable[Row],
    *,
    key: str,
    caption: str,
    filter_: bool = False,
    row_data: Sequence[int] | None = None,
    sorted_by: str | None = None,
) -> Html:
    """Make a table that can be sorted by its headings, and searched if `filter_`.

    Parameters
    ----------
    columns : sequence of Heading
    rows : iterable of Row
    key : str
        Identifier, unique in the page.
    caption : str
        What the table shows, for those who cannot see it.
    row_data : sequence of int, optional
        A number for each row, which scripts find as ``data-row``.
    sorted_by : str, optional
        Title of the column of numbers by which the rows are in descending order.
    """
    head = [
        tag(
            "th",
            tag("button", c.title, type="button", title=c.hint),
            scope="col",
            class_=c.kind,
            aria_sort="descending" if c.title == sorted_by else None,
        )
        for c in columns
    ]
    body = [
        tag(
            "tr",
            [_cell(cell, column) for cell, column in zip(row, columns, strict=True)],
            data_row=number,
        )
        for row, number in zip(rows, row_data if row_data is not None else repeat(None), strict=False)
    ]
    search = tag(
        "input",
        type="search",
        placeholder="Filter rows",
        aria_label=f"Filter: {caption}",
        data_filters=key,
        class_="filter",
    )
    whole = tag(
        "table", tag("caption", caption), tag("thead", tag("tr", head)), tag("tbody", body), id=key, class_="sortable"
    )
    return join(
        [
            search if filter_ else None,
            tag("div", whole, class_="scroll", tabindex="0", role="region", aria_label=caption),
        ]
    )


def _cell(cell: Content | Sortable, column: Heading) -> Html:
    if isinstance(cell, Sortable):
        return tag("td", cell.content, class_=column.kind, data_sort=cell.sort)
    return tag("td", cell, class_=column.kind)


def figures(items: Iterable[tuple[str, Content, Content]]) -> Html:
    """Show the main figures in a row: name, value, remark."""
    return tag(
        "dl",
        [tag("div", tag("dt", name), tag("dd", value, tag("small", remark))) for name, value, remark in items],
        class_="figures",
    )


def warning(*content: Content) -> Html:
    """Make a paragraph that catches the eye."""
    return tag("p", *content, class_="notice warning")


def picture(svg: str, caption: Content = None) -> Html:
    """Put an SVG that was made by mapdag, hence is trusted, into a figure."""
    return tag("figure", Html(svg), tag("figcaption", caption) if caption is not None else None)


def bar(value: float, text: str, kind: str = "") -> Sortable:
    """Make a cell with a bar from 0 to 1 behind its number."""
    share = min(max(value, 0.0), 1.0)
    inner = [tag("i", style=f"width:{share * 100:.1f}%"), tag("span", text)]
    return Sortable(tag("div", inner, class_=f"bar {kind}".strip()), value)


def number(value: float, digits: int = 2) -> Sortable:
    """Make a cell with a number, thousands apart, minus signs proper.

    Examples
    --------
    >>> number(-1234.5).content == f"{MINUS}1,234.50"
    True
    """
    return Sortable(figure_text(value, digits), value)


def figure_text(value: float, digits: int = 2) -> str:
    """Write a number for people.

    Examples
    --------
    >>> figure_text(-0.001), figure_text(12), figure_text(float("inf"))
    ('0.00', '12', '∞')
    """
    if isinstance(value, int):
        return f"{value:,}".replace("-", MINUS)
    if value in (float("inf"), -float("inf")):
        return "∞" if value > 0 else f"{MINUS}∞"
    text = f"{value:,.{digits}f}"
    return (text[1:] if text.strip("-0.,") == "" and text.startswith("-") else text).replace("-", MINUS)


def how_it_was_made(command: str | None, details: Iterable[tuple[str, Content]] = ()) -> Section:
    """Tell the exact command, the versions of everything, and when."""
    now = dt.datetime.now(dt.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    versions = {"mapdag": mapdag.__version__, "python": sys.version.split()[0]}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    rows = [
        *details,
        ("versions", ", ".join(f"{name} {number}" for name, number in versions.items())),
        ("machine", f"{platform.system()} {platform.machine()}"),
        ("made", now),
    ]
    shown = None
    if command is not None:
        copy = tag("button", "Copy", type="button", class_="copy", data_copies="command")
        shown = tag("div", tag("pre", tag("code", command, id="command")), copy, class_="command")
    body = tag(
        "table", [tag("tr", tag("th", key, scope="row"), tag("td", value)) for key, value in rows], class_="plain"
    )
    return Section("made", "How this page was made", [shown, body], "How it was made")
