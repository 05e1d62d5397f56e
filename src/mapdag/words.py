"""Words for people: how many of something, and names that fit on a line."""

from __future__ import annotations

import unicodedata


def plural(n: float, what: str) -> str:
    """Write how many there are of something.

    Examples
    --------
    >>> plural(1, "arc"), plural(1200, "arc"), plural(0, "family")
    ('1 arc', '1,200 arcs', '0 families')
    """
    if n != 1:
        what = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{n:,} {what}"


def shortened(text: str, longest: int) -> str:
    """Cut out the middle of a text that is too long; line breaks and the like become spaces.

    Examples
    --------
    >>> shortened("the quick brown fox jumps over", 24)
    'the quick bro…jumps over'
    """
    line = "".join(letter if letter.isprintable() else " " for letter in text)
    if len(line) <= longest:
        return line
    kept = longest - 1
    return line[: kept - kept // 2 + 1] + "…" + line[len(line) - kept // 2 + 1 :]


def cells(text: str) -> int:
    """Return how many letters of a terminal a text takes: Chinese ones take two, accents of their own none.

    Examples
    --------
    >>> cells("age"), cells("年齢"), cells("e\N{COMBINING ACUTE ACCENT}")
    (3, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def _cells_of(letter: str) -> int:
    if unicodedata.category(letter) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
