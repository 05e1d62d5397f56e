"""A drawing of a graph as a value: boxes, curves and arrowheads with their coordinates.

Made by `compose` from names and links; written by `svg` and `canvas`. One unit is one pixel, or one point on paper; y
grows downwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, TypeAlias

from mapdag.plots.arrangement import BOX_HEIGHT, Arrangement, Point, arrange
from mapdag.plots.fonts import LONGEST, text_width
from mapdag.wording import shortened

Kind = Literal["compelled", "reversible", "edge"]
"""An arc with one direction; an arc that an equivalent graph has the other way round; no direction."""

Segment: TypeAlias = tuple[Point, ...]
"""What follows the last point: one point for a straight line, three for a cubic curve (two controls, the end)."""

HEAD = 8.0  # length of an arrowhead
_PADDING = 10.0
_NARROWEST = 34.0
_PORTS = 11.0  # most pixels between the ends of two arcs at one box
THIN, THICK = 0.7, 3.0  # widths of the weakest and the strongest arc
PLAIN = 1.4
_READABLE = 0.42  # scale down to which labels can be made out
_WORTH = 1.4  # how much larger a drawing without layers must be to give them up
_MOST_BY_FORCES = 2000  # nodes; time and memory grow with the square of them


@dataclass(frozen=True)
class Link:
    """What joins two nodes, before it has coordinates."""

    start: str
    end: str
    kind: Kind = "compelled"
    width: float = PLAIN
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Box:
    """A node: centre, size, and the label where the name is too long for it."""

    name: str
    label: str
    x: float
    y: float
    width: float
    height: float = BOX_HEIGHT


@dataclass(frozen=True)
class Arrow:
    """An arc or edge: a curve from `begin`, and the arrowhead at its end, if it has one.

    `stub` closes the gap that the curve leaves for the head, for whoever draws the curve without it.
    """

    link: Link
    begin: Point
    segments: tuple[Segment, ...]
    head: tuple[Point, Point, Point] | None = None
    stub: tuple[Point, Point] | None = None


@dataclass(frozen=True)
class Drawing:
    """All there is to draw; in layers, or by forces."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[Arrow, ...] = field(repr=False)
    layered: bool = True


def thickness(strength: float) -> float:
    """Return the width of an arc of this bootstrap strength, between 0 and 1.

    >>> thickness(1.0)
    3.0
    """
    return THIN + (THICK - THIN) * strength


def compose(
    nodes: Sequence[str], links: Sequence[Link], order: Sequence[str], *, window: tuple[float, float] | None = None
) -> Drawing:
    """Lay out nodes and links: in layers, or by forces where that suits a window much better.

    Parameters
    ----------
    nodes : sequence of str
    links : sequence of Link
        At most one between two nodes.
    order : sequence of str
        The nodes, those that should be higher up first. Arcs against it are drawn upwards.
    window : (float, float), optional
        Width and height of the window that the drawing is for. Hundreds of nodes in layers are a ribbon that leaves
        most of it empty; without a window, they are in layers all the same.

    Examples
    --------
    >>> drawing = compose(["A", "B"], [Link("A", "B")], ["A", "B"])
    >>> drawing.boxes[0].y < drawing.boxes[1].y
    True
    """
    rank = {name: i for i, name in enumerate(order)}
    index = {name: i for i, name in enumerate(nodes)}
    labels = [shortened(name, LONGEST) for name in nodes]
    widths = [max(_NARROWEST, text_width(label) + 2 * _PADDING) for label in labels]
    downwards = [(index[a], index[b]) for a, b in (_downwards(link, rank) for link in links)]
    arranged, layered = arrange(widths, downwards), True
    if window is not None and len(nodes) <= _MOST_BY_FORCES and (scale := _scale(arranged, window)) < _READABLE:
        other = arrange(widths, downwards, layered=False)
        if _scale(other, window) > _WORTH * scale:
            arranged, layered = other, False
    boxes = tuple(
        Box(name, label, *place, width)
        for name, label, place, width in zip(nodes, labels, arranged.places, widths, strict=True)
    )
    if not layered:
        straight = tuple(_straight(link, boxes[index[link.start]], boxes[index[link.end]]) for link in links)
        return Drawing(arranged.width, arranged.height, boxes, straight, layered=False)
    ends = _ports(boxes, downwards, arranged.routes)
    lines = tuple(
        _line(link, [top, *route, bottom], upwards=index[link.start] != ab[0])
        for link, ab, route, (top, bottom) in zip(links, downwards, arranged.routes, ends, strict=True)
    )
    return Drawing(arranged.width, arranged.height, boxes, lines)


def _scale(arranged: Arrangement, window: tuple[float, float]) -> float:
    """How large the drawing is when all of it is in the window."""
    return min(window[0] / arranged.width, window[1] / arranged.height)


def _downwards(link: Link, rank: Mapping[str, int]) -> tuple[str, str]:
    return (link.start, link.end) if rank[link.start] < rank[link.end] else (link.end, link.start)


def _ports(
    boxes: Sequence[Box], edges: Sequence[tuple[int, int]], routes: Sequence[Sequence[Point]]
) -> list[tuple[Point, Point]]:
    """Spread the ends of the arcs along the bottom and the top of their boxes, in the order in which they leave."""
    leaving: list[list[tuple[float, int]]] = [[] for _ in boxes]
    arriving: list[list[tuple[float, int]]] = [[] for _ in boxes]
    for number, ((a, b), route) in enumerate(zip(edges, routes, strict=True)):
        leaving[a].append((route[0][0] if route else boxes[b].x, number))
        arriving[b].append((route[-1][0] if route else boxes[a].x, number))
    below, above = _spread(boxes, leaving), _spread(boxes, arriving)
    return [
        ((below[number], boxes[a].y + boxes[a].height / 2), (above[number], boxes[b].y - boxes[b].height / 2))
        for number, (a, b) in enumerate(edges)
    ]


def _spread(boxes: Sequence[Box], ends: Sequence[list[tuple[float, int]]]) -> dict[int, float]:
    places = {}
    for box, arcs in zip(boxes, ends, strict=True):
        step = min(_PORTS, (box.width - 14) / max(len(arcs) - 1, 1))
        for i, (_, number) in enumerate(sorted(arcs)):
            places[number] = box.x + (i - (len(arcs) - 1) / 2) * step
    return places


def _line(link: Link, points: list[Point], *, upwards: bool) -> Arrow:
    """Draw a curve through the points, vertical at each of them; the head points down, or up."""
    if upwards:
        points.reverse()
    head = stub = None
    if link.kind != "edge":
        x, y = points[-1]
        away = HEAD if upwards else -HEAD
        half = HEAD / 2 + max(0.0, link.width - PLAIN) * 0.6
        head = ((x, y), (x - half, y + away), (x + half, y + away))
        points[-1] = (x, y + away * 0.8)
        stub = (points[-1], (x, y))
    segments: list[Segment] = []
    for (x0, y0), (x1, y1) in pairwise(points):
        middle = (y0 + y1) / 2
        straight = abs(x0 - x1) < 0.05
        segments.append(((x1, y1),) if straight else ((x0, middle), (x1, middle), (x1, y1)))
    return Arrow(link, points[0], tuple(_joined(segments)), head, stub)


def _straight(link: Link, start: Box, end: Box) -> Arrow:
    """Draw a straight line from the border of one box to that of another."""
    begin, tip = _border(start, end), _border(end, start)
    length = math.hypot(tip[0] - begin[0], tip[1] - begin[1]) or 1.0
    ux, uy = (tip[0] - begin[0]) / length, (tip[1] - begin[1]) / length
    if link.kind == "edge":
        return Arrow(link, begin, ((tip,),))
    size = min(HEAD, length)
    half = (HEAD / 2 + max(0.0, link.width - PLAIN) * 0.6) * size / HEAD
    x, y = tip[0] - size * ux, tip[1] - size * uy
    head = (tip, (x - half * uy, y + half * ux), (x + half * uy, y - half * ux))
    last = (tip[0] - 0.8 * size * ux, tip[1] - 0.8 * size * uy)
    return Arrow(link, begin, ((last,),), head, (last, tip))


def _border(box: Box, other: Box) -> Point:
    """Where the line between two centres leaves the first box."""
    dx, dy = other.x - box.x, other.y - box.y
    share = min(box.width / 2 / abs(dx) if dx else math.inf, box.height / 2 / abs(dy) if dy else math.inf)
    return (box.x + share * dx, box.y + share * dy)


def _joined(segments: Sequence[Segment]) -> list[Segment]:
    """Make one straight line of several that follow each other: all of them are vertical."""
    joined: list[Segment] = []
    for segment in segments:
        if joined and len(segment) == len(joined[-1]) == 1:
            joined.pop()
        joined.append(segment)
    return joined
