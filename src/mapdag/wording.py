"""Numbers and names as people read them: texts only."""

from __future__ import annotations

import unicodedata


def counted(number: int, noun: str) -> str:
    """Write a number and what is counted, in the plural where it is not one.

    >>> counted(1, "arc"), counted(0, "arc"), counted(1234, "family")
    ('1 arc', '0 arcs', '1,234 families')
    """
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun.removesuffix('y')}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {plural}"


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
