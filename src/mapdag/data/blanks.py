"""Text tables whose fields are separated by blanks, one or more, as R and many simulators write them.

Such text is brought to single blanks, which polars can parse. It may be there already: then it stays where it is.
"""

from __future__ import annotations

import re
import warnings

from mapdag.data.files import HEAD, Content
from mapdag.data.layout import Layout, find_layout
from mapdag.errors import MapdagWarning

__all__ = ["split_by_blanks"]

#: A quoted field, whose own quotes are doubled or escaped; or blanks, with the end of the line if they touch it.
_TOKEN = re.compile(rb'(?<![^\s])"[^"\\]*(?:(?:\\.|"")[^"\\]*)*"|[ \t]+(\r?\n|\r?\Z)?', re.DOTALL)

#: What a table with single blanks between its fields does not hold.
_UNEVEN = (b"  ", b"\t", b" \n", b" \r", b"\n ", b'\\"')


def split_by_blanks(content: Content, layout: Layout) -> tuple[Content, Layout]:
    """Split a table that nothing else splits by blanks, if all of the first lines then have equally many fields.

    A header of one word is the name of one column, whatever blanks there are below it. A tab in the header splits
    nothing else if no other line has as many: then it is one more blank.

    Parameters
    ----------
    content : Content
        UTF-8 text.
    layout : Layout
        How it is laid out, blanks apart.

    Returns
    -------
    Content, Layout
        Those given, unless the table could be split.
    """
    tabs = layout.separator == "\t" and not any(len(record) == len(layout.names) for record in layout.sample)
    if len(layout.names) > 1 and not tabs:
        return content, layout
    head = content.first(max(HEAD, 4 * layout.start))
    cut = len(head) < content.size
    if cut:
        head = head[: head.rfind(b"\n") + 1]
    if len(head) <= layout.start:
        return content, layout
    trial = find_layout(Content.of(content.name, _single(head)), " ")
    # A quoted field may go on beyond the cut.
    width, records = len(trial.names), trial.sample[:-1] if cut else trial.sample
    if width < 2 or not records:
        return content, layout
    alike = sum(len(record) == width for record in records)
    if alike == len(records):
        data = content.load()
        single = _single(data)
        content = content if single == data else Content.of(content.name, single)
        return content, find_layout(content, " ")
    if len(layout.names) == 1 and 2 * alike >= len(records):
        odd = next(len(record) for record in records if len(record) != width)
        warnings.warn(
            f"{content.name} was read as a table of one column, {layout.names[0]!r}: split at the blanks, its header "
            f"has {width:,} fields, but some line has {odd:,}; mend it, or pass separator= if this is one column",
            MapdagWarning,
            stacklevel=2,
        )
    return content, layout


def _single(data: bytes) -> bytes:
    r"""Reduce the blanks between fields to one, take off those around lines, and double escaped quotes.

    >>> _single(b'a   b\n  "x  y"\t1 \n')
    b'a b\n"x  y" 1\n'
    """
    if not data.startswith((b" ", b"\t")) and not data.endswith(b" ") and not any(mark in data for mark in _UNEVEN):
        return data
    if b'"' in data:
        return _TOKEN.sub(_token, data)
    # Much faster than an expression: every round halves the longest run.
    data = data.replace(b"\t", b" ")
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return data.replace(b" \r", b"\r").replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")


def _token(match: re.Match[bytes]) -> bytes:
    text, end = match[0], match[1]
    if text.startswith(b'"'):
        return text.replace(b'\\"', b'""')
    if end is not None:
        return end
    return b"" if match.string[max(match.start() - 1, 0) : match.start()] in {b"", b"\n"} else b" "
