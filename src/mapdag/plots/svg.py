"""Drawings as SVG text.

Colours are presentation attributes, so that a file stands alone, a notebook's own styles are left in peace, and the
style sheet of a page can override them.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from mapdag.graphs.drawable import ON_PAPER
from mapdag.plots.fonts import FONT, FONT_SIZE

if TYPE_CHECKING:
    from mapdag.plots.arrangement import Point
    from mapdag.plots.drawing import Arrow, Box, Drawing

_UNSPEAKABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

INK = "#1f2933"
PAPER = "#ffffff"
ARC = {"compelled": ON_PAPER, "reversible": "#b45309", "edge": "#b45309"}
DASHES = {"reversible": (5.0, 3.0)}
BOX_FILL, BOX_EDGE = "#eef3fb", "#5b7aa8"


def to_svg(drawing: Drawing, *, background: str | None = None, interactive: bool = False, title: str = "") -> str:
    """Write a drawing as one `svg` element.

    Parameters
    ----------
    drawing : Drawing
    background : str, optional
        A colour; transparent unless given.
    interactive : bool
        Let every node be reached with the keyboard, and let a script move the picture inside its frame.
    title : str
        What the picture shows, for those who cannot see it.
    """
    size = f'viewBox="0 0 {_n(drawing.width)} {_n(drawing.height)}"'
    if not interactive:
        size += f' width="{_n(drawing.width)}" height="{_n(drawing.height)}"'
    # An application keeps its keys, a picture is one thing.
    role = "application" if interactive else "img"
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="{role}" aria-label="{escape(title)}" '
        f'class="mapdag-graph" font-family="{FONT}" font-size="{_n(FONT_SIZE)}">'
    )
    parts = [opening]
    if background is not None:
        parts.append(f'<rect width="100%" height="100%" fill="{background}"/>')
    parts.append('<g class="view"><g class="arcs" fill="none">')
    parts += [_line(line, i) for i, line in enumerate(drawing.lines)]
    parts.append(
        f'</g><g class="nodes" fill="{BOX_FILL}" stroke="{BOX_EDGE}" text-anchor="middle" dominant-baseline="central">'
    )
    parts += [_box(box, i, interactive=interactive) for i, box in enumerate(drawing.boxes)]
    parts.append("</g></g></svg>")
    return "".join(parts)


def curve(line: Arrow) -> str:
    """Return the path of a line."""
    steps = [("L" if len(segment) == 1 else "C") + " ".join(map(_point, segment)) for segment in line.segments]
    return f"M{_point(line.begin)}" + "".join(steps)


def _line(line: Arrow, number: int) -> str:
    kind = line.link.kind
    classes = " ".join(("arc", kind, *line.link.classes))
    colour = ARC[kind]
    parts = [
        f'<g class="{escape(classes)}" data-arc="{number}" stroke="{colour}" stroke-width="{_n(line.link.width)}">',
        f'<path class="line" d="{curve(line)}"{_dashes(kind)}/>',
    ]
    if line.head is not None and line.stub is not None:
        corners = "L".join(map(_point, line.head))
        filled = PAPER if kind == "reversible" else colour
        parts.append(f'<path class="stub" display="none" d="M{"L".join(map(_point, line.stub))}"/>')
        parts.append(f'<path class="head" stroke-width="1" fill="{filled}" d="M{corners}Z"/>')
    return "".join(parts) + "</g>"


def _box(box: Box, number: int, *, interactive: bool) -> str:
    reach = f' tabindex="0" role="button" aria-label="{_text(box.name)}"' if interactive else ""
    title = "" if interactive else f"<title>{_text(box.name)}</title>"
    x, y = box.x - box.width / 2, box.y - box.height / 2
    return (
        f'<g class="node" data-node="{number}"{reach}>{title}'
        f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(box.width)}" height="{_n(box.height)}" rx="7"/>'
        f'<text x="{_n(box.x)}" y="{_n(box.y)}" fill="{INK}" stroke="none">{_text(box.label)}</text></g>'
    )


def _dashes(kind: str) -> str:
    return f' stroke-dasharray="{" ".join(map(_n, DASHES[kind]))}"' if kind in DASHES else ""


def _point(point: Point) -> str:
    return f"{_n(point[0])} {_n(point[1])}"


def _text(name: str) -> str:
    """Escape a name, and replace what XML cannot hold.

    >>> _text("a < b")
    'a &lt; b'
    """
    return escape(_UNSPEAKABLE.sub("\ufffd", name))


def _n(value: float) -> str:
    """Write a coordinate to a tenth of a pixel.

    >>> _n(12.04), _n(3.0), _n(0.25)
    ('12', '3', '0.2')
    """
    return f"{value:.1f}".removesuffix(".0")
