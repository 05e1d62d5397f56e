"""Fonts that have the letters of a picture, among those that are installed: names may be in any script.

Only for what matplotlib draws. Browsers and editors look for fonts by themselves when they show an SVG.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from mapdag.errors import MapdagWarning

_NO_FONTS = ("last resort", ".lastresort", "adobe blank")  # which draw boxes for letters
_NAMED = 10  # letters that the warning names


def families_for(texts: Iterable[str]) -> list[str]:
    """Return the families to draw texts with: matplotlib's own, and those that have what it lacks.

    What no installed font has is drawn as boxes, with a warning.

    Examples
    --------
    >>> families_for(["age", "α"])
    ['sans-serif']
    """
    from matplotlib import font_manager, rcParams

    families = list(rcParams["font.family"])
    lacking = _lacking(font_manager.findfont(font_manager.FontProperties()), set().union(*texts))
    fonts = _installed() if lacking else {}
    while lacking:
        # The one that has most of them, so that a name is not pieced together from many.
        kept = {name: lacking - _lacking(path, lacking) for name, path in fonts.items()}
        name = max(kept, key=lambda each: (len(kept[each]), "Sans" in each, each), default=None)
        if name is None or not kept[name]:
            _warn(lacking)
            break
        families.append(name)
        lacking -= kept[name]
    return families


def _lacking(path: str, letters: set[str]) -> set[str]:
    """Return the letters for which a font has no glyph."""
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(path)
    except (OSError, RuntimeError):  # damaged, or of a format that is not read
        return letters
    return {letter for letter in letters if not letter.isspace() and not font.get_char_index(ord(letter))}


def _installed() -> dict[str, str]:
    """Return the upright fonts of usual weight, by name; also those that were installed since matplotlib last looked."""
    from matplotlib import font_manager

    manager: Any = font_manager.fontManager
    known = {entry.fname for entry in manager.ttflist}
    for path in font_manager.findSystemFonts():
        if path not in known:
            with suppress(OSError, RuntimeError, ValueError):
                manager.addfont(path)
    return {
        entry.name: entry.fname
        for entry in manager.ttflist
        if entry.style == "normal" and entry.weight in (400, "normal") and not entry.name.lower().startswith(_NO_FONTS)
    }


def _warn(letters: set[str]) -> None:
    named = " ".join(sorted(letters)[:_NAMED]) + (" ..." if len(letters) > _NAMED else "")
    warnings.warn(
        MapdagWarning(
            f"no installed font has these letters, which are drawn as boxes: {named}. Install one that has (Noto Sans, "
            "for most scripts), or write .svg, for which whoever shows it finds a font"
        ),
        stacklevel=2,
    )
