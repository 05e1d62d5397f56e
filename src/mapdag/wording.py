"""Numbers, times, names and tables as people read them: texts only."""

from __future__ import annotations

import unicodedata
from collections.abc import Container, Iterable, Sequence
from itertools import islice

_LONG = 100  # letters of a name that nobody mistypes
_MANY = 2000  # names that are compared


def plural(number: int, noun: str) -> str:
    """Write how many there are of something.

    >>> plural(1, "arc"), plural(0, "arc"), plural(1234, "family")
    ('1 arc', '0 arcs', '1,234 families')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} " + (f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s")


def duration(seconds: float) -> str:
    """Seconds as people say them.

    Examples
    --------
    >>> duration(42), duration(754), duration(7500)
    ('42 s', '12 min 34 s', '2 h 05 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{int(seconds) // 60} min {int(seconds) % 60:02} s"
    return f"{int(seconds) // 3600} h {int(seconds) % 3600 // 60:02} min"


def columns(rows: Sequence[Sequence[str]], *, right: Container[int] = ()) -> str:
    """Align cells in columns; those in `right` to the right.

    >>> print(columns([["node", "rows"], ["A", "5"]], right=(1,)))
    node  rows
    A        5
    """
    return "\n".join("  ".join(row).rstrip() for row in aligned(rows, right=right))


def aligned(rows: Sequence[Sequence[str]], *, right: Container[int] = ()) -> list[tuple[str, ...]]:
    """Fill the cells of each column up to the same width; those in `right` on the left.

    >>> aligned([["node", "rows"], ["A", "5"]], right=(1,))
    [('node', 'rows'), ('A   ', '   5')]
    """
    padded = []
    for i, texts in enumerate(zip(*rows, strict=True)):
        width = max(map(cells, texts))
        gaps = [" " * (width - cells(text)) for text in texts]
        padded.append([gap + text if i in right else text + gap for gap, text in zip(gaps, texts, strict=True)])
    return list(zip(*padded, strict=True))


def near(name: object, known: Iterable[str], most: int = 1, likeness: float = 0.6) -> list[str]:
    """Return the names that are most like another one; none for names that nobody mistypes, or among very many.

    >>> near("asai", ["asia", "alarm"]), near("x" * 10_000, ["x" * 9_999])
    (['asia'], [])
    """
    from difflib import get_close_matches  # loaded only where something is wrong

    if not isinstance(name, str) or len(name) > _LONG:
        return []
    return get_close_matches(name, [each for each in islice(known, _MANY) if len(each) <= _LONG], most, likeness)


def did_you_mean(guesses: Sequence[str], before: str = "; ") -> str:
    """Ask for the names that may have been meant, as the end of a message; nothing if there are none.

    >>> did_you_mean(["asia", "alarm"]), did_you_mean([])
    ("; did you mean 'asia' or 'alarm'?", '')
    """
    return f"{before}did you mean {' or '.join(map(repr, guesses))}?" if guesses else ""


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


def named(names: Sequence[str], most: int) -> str:
    """Name the first of several, and say how many more there are.

    >>> named(["age", "sex", "ill"], 2)
    'age, sex and 1 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def free_name(name: str, taken: Container[str]) -> str:
    """Return a name that nothing else has: with as many underscores as it takes.

    >>> free_name("weight", ["weight", "age"])
    'weight_'
    """
    while name in taken:
        name += "_"
    return name


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


def brief(value: object, most: int = 80) -> str:
    """Write a value for a message: not too long, whatever it is.

    >>> brief("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    """
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of more than 30 digits"
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - whole numbers of thousands of digits in it, or a class that cannot be shown
        text = f"a {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."
