"""HTML as a value: what is not marked as such is text, and is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from html import escape
from typing import TypeAlias

MINUS = "\N{MINUS SIGN}"

_VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Content: TypeAlias = "str | int | float | Iterable[Content] | None"
"""What an element may hold: HTML, text to be escaped, nothing, or several of these."""


def tag(name: str, /, *content: Content, **attributes: object) -> Html:
    """Make an element.

    Underscores in the names of attributes become hyphens, one at the end is dropped; attributes that are None or False
    are left out.

    Examples
    --------
    >>> tag("p", "1 < 2, ", tag("b", "really"), class_="note", hidden=True)
    '<p class="note" hidden>1 &lt; 2, <b>really</b></p>'
    """
    opening = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    return Html(opening if name in _VOID else f"{opening}{join(content)}</{name}>")


def join(content: Content) -> Html:
    """Put pieces one after the other.

    Examples
    --------
    >>> join(["<script>", Html("<br>"), None, 3])
    '&lt;script&gt;<br>3'
    """
    if content is None:
        return Html()
    if isinstance(content, Html):
        return content
    if isinstance(content, (str, int, float)):
        return Html(escape(str(content)))
    return Html("".join(join(piece) for piece in content))


def script_json(value: object) -> Html:
    r"""Write a value as JSON that may stand inside a script element: nothing in it can close the element.

    Dataclasses become objects; infinities and NaN are null, since JSON has none.

    Examples
    --------
    >>> script_json(["</script>", float("inf")])
    '["\\u003c/script\\u003e",null]'
    """
    text = json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Html(text)


def _attribute(key: str, value: object) -> str:
    name = key.removesuffix("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not -float("inf") < value < float("inf"):
        return None
    return value
