"""Drawings as files that are no text: PNG and PDF, by matplotlib."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any

from mapdag.errors import MissingExtraError
from mapdag.notices import warn
from mapdag.plots.fonts import FONT_SIZE
from mapdag.plots.svg import ARC, BOX_EDGE, BOX_FILL, DASHES, INK, PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mapdag.plots.drawing import Arrow, Box, Drawing


_POINTS = 72.0  # in an inch
_LARGEST = {"png": 32_000.0, "pdf": 14_400.0}  # pixels that viewers still open; points that PDF allows
_MOST_PIXELS = 1e8  # a picture of this size takes 400 MB while it is drawn
_SHARP = 2.0  # pixels per point, where that is not too large


def render(drawing: Drawing, format: str) -> bytes:  # noqa: A002 - as matplotlib calls it
    """Return the contents of a file; large drawings get fewer pixels, and only very large ones are made smaller."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("figures as PNG and PDF need matplotlib: pip install 'mapdag[plots]'") from None
    room = _LARGEST[format] / max(drawing.width, drawing.height)
    sharp = 1.0
    if format == "png":
        room = min(room, math.sqrt(_MOST_PIXELS / (drawing.width * drawing.height)))
        sharp = min(max(room, 1.0), _SHARP)
    scale = min(1.0, room)
    fonts = families_for(box.label for box in drawing.boxes)
    figure = Figure(figsize=(drawing.width * scale / _POINTS, drawing.height * scale / _POINTS), facecolor=PAPER)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, drawing.width)
    axes.set_ylim(drawing.height, 0)
    for line in drawing.lines:
        _draw_line(axes, line, scale)
    for box in drawing.boxes:
        _draw_box(axes, box, scale, fonts)
    target = BytesIO()
    # No date: the same graph makes the same file.
    metadata = {"CreationDate": None} if format == "pdf" else {"Software": "mapdag"}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # `families_for` has said so
        figure.savefig(target, format=format, dpi=_POINTS * sharp, metadata=metadata)
    return target.getvalue()


def _draw_line(axes: Axes, line: Arrow, scale: float) -> None:
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    points, codes = [line.begin], [Path.MOVETO]
    for segment in line.segments:
        points += segment
        codes += [Path.LINETO] if len(segment) == 1 else [Path.CURVE4] * 3
    kind = line.link.kind
    width = line.link.width * scale
    # matplotlib counts dashes in line widths.
    dashes = (0, tuple(length / line.link.width for length in DASHES[kind])) if kind in DASHES else "solid"
    axes.add_patch(PathPatch(Path(points, codes), fill=False, edgecolor=ARC[kind], linewidth=width, linestyle=dashes))
    if line.head is not None:
        filled = PAPER if kind == "reversible" else ARC[kind]
        axes.add_patch(Polygon(line.head, facecolor=filled, edgecolor=ARC[kind], linewidth=scale))


def _draw_box(axes: Axes, box: Box, scale: float, fonts: list[str]) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = (box.x - box.width / 2, box.y - box.height / 2)
    style = "round,pad=0,rounding_size=7"
    axes.add_patch(
        FancyBboxPatch(corner, box.width, box.height, style, facecolor=BOX_FILL, edgecolor=BOX_EDGE, linewidth=scale)
    )
    # Names are text, never mathematics: parse_math=False leaves their dollar signs alone.
    size = FONT_SIZE * scale * 0.92
    looks: Any = {"fontsize": size, "fontfamily": fonts, "color": INK, "parse_math": False}
    axes.text(box.x, box.y, box.label, ha="center", va="center_baseline", **looks)


# Glyphs --------------------------------------------------------------------------------------------------------------

_NO_FONTS = ("last resort", ".lastresort", "adobe blank")  # which draw boxes for letters
_NAMED = 10  # letters that the warning names


def families_for(texts: Iterable[str]) -> list[str]:
    """Return the families to draw texts with: matplotlib's own, and those that have what it lacks.

    What no installed font has is drawn as boxes, with a warning.

    Examples
    --------
    >>> families_for(["age", "naïve"])
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
    """Return the upright fonts of usual weight, by name; also those installed since matplotlib last looked."""
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
    warn(
        f"no installed font has these letters, which are drawn as boxes: {named}. Install one that has (Noto Sans, "
        "for most scripts), or write .svg, for which whoever shows it finds a font"
    )
