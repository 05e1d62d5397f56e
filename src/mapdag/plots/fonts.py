"""How wide a text is, roughly: enough to draw a box around it without asking a font."""

from __future__ import annotations

import unicodedata

FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
FONT_SIZE = 12.0
LONGEST = 24  # characters of a label

# Parts of the font size; after Helvetica, on the wide side.
_WIDTHS = {
    **dict.fromkeys("ijl.,:;'|! ", 0.28),
    **dict.fromkeys('frtI()[]{}/\\-"`', 0.36),
    **dict.fromkeys("mMWw%@", 0.88),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ&", 0.70),
    **dict.fromkeys("+<>=~…", 0.60),
}
_USUAL = 0.57
_WIDE = 1.05


def text_width(text: str) -> float:
    """Width of a text in pixels, at the size of labels.

    >>> text_width("mmm") > text_width("iii")
    True
    """
    return FONT_SIZE * sum(_WIDE if _is_wide(letter) else _WIDTHS.get(letter, _USUAL) for letter in text)


def shortened(text: str, longest: int = LONGEST) -> str:
    """Cut out the middle of a text that is too long for a label; line breaks and the like become spaces.

    >>> shortened("the quick brown fox jumps over")
    'the quick bro…jumps over'
    """
    line = "".join(letter if letter.isprintable() else " " for letter in text)
    if len(line) <= longest:
        return line
    kept = longest - 1
    return line[: kept - kept // 2 + 1] + "…" + line[len(line) - kept // 2 + 1 :]


def _is_wide(letter: str) -> bool:
    return ord(letter) > 0x2E7F and unicodedata.east_asian_width(letter) in "WF"
