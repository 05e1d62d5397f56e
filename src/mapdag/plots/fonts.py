"""How wide a text is, roughly: enough to draw a box around it without asking a font."""

from __future__ import annotations

from mapdag.wording import cells

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
_FOREIGN, _FOREIGN_CAPITAL = 0.66, 0.80  # letters of other alphabets, such as Cyrillic, which has many wide ones
_WIDE = 1.05


def text_width(text: str) -> float:
    """Width of a text in pixels, at the size of labels.

    >>> text_width("mmm") > text_width("iii")
    True
    """
    return FONT_SIZE * sum(map(_width_of, text))


def _width_of(letter: str) -> float:
    if letter.isascii() or letter in _WIDTHS:
        return _WIDTHS.get(letter, _USUAL)
    taken = cells(letter)
    return _WIDE if taken == 2 else taken * (_FOREIGN_CAPITAL if letter.isupper() else _FOREIGN)
