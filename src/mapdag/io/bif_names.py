r"""Names and labels in BIF: which of them other programs read, and telling them apart, quoted or bare.

The format knows neither escapes nor names with quotation marks in them. Here `\"` and `\\` in a quoted name stand for
a quotation mark and a backslash; any other backslash stands for itself.
"""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING

from mapdag.io.portable import Alphabet

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

# Patterns here and in `bif_scanner` have no two neighbouring parts that match the same characters, and no two ways to
# match the same text: so the time to find that one does not match follows the length of the text, not its square.

QUOTED = r'"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"'
"""The pattern of a quoted name."""

_WHOLE = re.compile(QUOTED)
_BY_COMMAS = re.compile(rf"\s*({QUOTED}\s*|[^,]*)(,|$)")
_BY_COMMAS_OR_BARS = re.compile(rf"\s*({QUOTED}\s*|[^,|]*)([,|]|$)")
_BORDERS = re.compile(r"[, \t\r\n]|$")
_BY_BLANKS = re.compile(rf"{QUOTED}|[^\s,]+")
_BRACKETS = re.compile(r"[(\[]|[)\]]|,")
_ESCAPE = re.compile(r'\\(["\\])')


_RESERVED = frozenset({"network", "variable", "probability", "property", "type", "discrete", "default", "table"})
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_NUMBER = re.compile(r"[+-]?[0-9]+")
_KEYWORD = re.compile(
    r"(?:table|default)[0-9eE.+-]"
)  # which pgmpy (1.1) takes for a row of numbers, even inside a name


def _is_word(text: str) -> bool:
    """Tell whether a text is a word that is none of the format's own."""
    return _WORD.fullmatch(text) is not None and text not in _RESERVED


#: What both pgmpy and pyAgrum read: words of ASCII characters, and whole numbers as labels; nothing in quotation marks.
BIF = Alphabet(
    "BIF",
    name=lambda text: _is_word(text) and not _KEYWORD.search(text),
    label=lambda text: _is_word(text) or _NUMBER.fullmatch(text),
)


def unquote(token: str) -> str:
    r"""Return the name that a token stands for.

    Examples
    --------
    >>> print(unquote(' a b '), unquote('"5\\""'))
    a b 5"
    """
    token = token.strip()
    return _ESCAPE.sub(r"\1", token[1:-1]) if _WHOLE.fullmatch(token) else token


def split_labels(text: str, count: int | None) -> list[str]:
    """Split the levels of a variable, by commas or blanks, whichever gives the declared number of them.

    Commas in bare labels are understood inside brackets only, where programs that cut numbers into intervals put them.

    Examples
    --------
    >>> split_labels('"true" "false"', 2), split_labels("low, very high", 2), split_labels("[0,1], (1,2.5]", 2)
    (['true', 'false'], ['low', 'very high'], ['[0,1]', '(1,2.5]'])
    """
    by_commas = [unquote(token) for token in _tokens(_BY_COMMAS, text)]
    if count is None:
        return by_commas
    ways = (by_commas, _by_blanks(text), _by_outer_commas(text))
    return next((labels for labels in ways if len(labels) == count), by_commas)


def split_family(text: str, known: Collection[str]) -> list[str]:
    """Split a node and its parents, separated by commas, bars or blanks; `known` tells which names have blanks.

    Examples
    --------
    >>> split_family("wet grass | rain, sun", ["wet grass", "rain", "sun"])
    ['wet grass', 'rain', 'sun']
    >>> split_family('"light-on" "family-out"', ["light-on", "family-out"])
    ['light-on', 'family-out']
    """
    names = []
    for token in _tokens(_BY_COMMAS_OR_BARS, text):
        name, parts = unquote(token), _by_blanks(token)
        names += parts if name not in known and all(part in known for part in parts) else [name]
    return names


def split_configuration(text: str, levels: Sequence[Collection[str]]) -> list[str]:
    """Split the levels of the parents; `levels` holds those that each may have.

    Examples
    --------
    >>> split_configuration("(0,1], very high", [["(0,1]", "(1,2]"], ["low", "very high"]])
    ['(0,1]', 'very high']
    """
    by_commas = [unquote(token) for token in _tokens(_BY_COMMAS, text)]
    for candidate in (by_commas, _by_blanks(text), _by_known(text, levels)):
        if len(candidate) == len(levels) and all(map(operator.contains, levels, candidate)):
            return candidate
    return by_commas


def _tokens(pattern: re.Pattern[str], text: str) -> list[str]:
    """Split by separators, which do not count inside quotation marks; one at the end is allowed."""
    items = []
    for match in pattern.finditer(text.strip()):
        items.append(match[1].rstrip())
        if not match[2]:
            break
    while items and not items[-1]:
        items.pop()
    return items


def _by_blanks(text: str) -> list[str]:
    return [unquote(token) for token in _BY_BLANKS.findall(text)]


def _by_outer_commas(text: str) -> list[str]:
    """Split by the commas that are not inside brackets of any kind."""
    items, depth, start = [], 0, 0
    for match in _BRACKETS.finditer(text):
        if match.group() != ",":
            depth += 1 if match.group() in "([" else -1
        elif depth <= 0:
            items.append(text[start : match.start()])
            start = match.end()
    return [unquote(item) for item in (*items, text[start:])]


def _by_known(text: str, levels: Sequence[Collection[str]]) -> list[str]:
    """Find labels one after the other, the longest first; nothing where they do not fit."""
    longest = [max(map(len, labels), default=0) for labels in levels]
    dead: set[tuple[int, int]] = set()  # where so many labels were found, and the others were not

    def rest_from(place: int, found: int) -> list[str] | None:
        while place < len(text) and text[place] in ", \t\r\n":
            place += 1
        if found == len(levels):
            return [] if place == len(text) else None
        if (place, found) in dead:
            return None
        ends = [match.start() for match in _BORDERS.finditer(text, place, place + longest[found] + 1)]
        for end in reversed([end for end in ends if end == len(text) or end < place + longest[found] + 1]):
            if text[place:end] in levels[found]:
                rest = rest_from(end, found + 1)
                if rest is not None:
                    return [text[place:end], *rest]
        dead.add((place, found))
        return None

    return rest_from(0, 0) or []
