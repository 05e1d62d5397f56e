"""Small charts as SVG, coloured by the page's style sheet."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from mapdag.report.html import MINUS, Html, tag

_WIDTH, _HEIGHT = 960.0, 260.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 86.0, 14.0, 12.0, 40.0


def line_chart(
    values: Sequence[float],
    *,
    x_title: str,
    y_title: str,
    label: str,
    x: Sequence[float] | None = None,
    mark: float | None = None,
) -> Html:
    """Draw values, numbered from 0, as a line with axes; or over positive numbers `x`, on a logarithmic axis.

    The last value is marked, or that at `mark`.

    Examples
    --------
    >>> line_chart([1.0, 3.0, 4.0], x_title="move", y_title="score", label="Score").count("<circle")
    1
    """
    low, high = min(values), max(values)
    if high == low:
        low, high = low - 1, high + 1
    last = max(len(values) - 1, 1)
    places = list(range(len(values))) if x is None else [math.log10(each) for each in x]
    first, width = places[0], (last if x is None else (places[-1] - places[0]) or 1.0)
    marked = len(values) - 1 if x is None or mark is None else min(range(len(x)), key=lambda i: abs(x[i] - mark))

    def across(place: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (place - first) / width

    def y(value: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - value) / (high - low)

    points = " ".join(f"{across(at):.1f},{y(value):.1f}" for at, value in zip(places, values, strict=True))
    parts = []
    for at in ticks(low, high, 5):
        parts += [
            tag("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=f"{y(at):.1f}", y2=f"{y(at):.1f}", class_="grid"),
            tag("text", _label(at), x=_LEFT - 8, y=f"{y(at):.1f}", class_="tick y"),
        ]
    for text, at in _numbered(last) if x is None else _powers(x):
        parts.append(tag("text", text, x=f"{across(at):.1f}", y=_HEIGHT - _BOTTOM + 18, class_="tick x"))
    parts += [
        tag("text", x_title, x=(_LEFT + _WIDTH - _RIGHT) / 2, y=_HEIGHT - 4, class_="title x"),
        tag(
            "text",
            y_title,
            x=14,
            y=(_HEIGHT - _BOTTOM) / 2,
            class_="title y",
            transform=f"rotate(-90 14 {(_HEIGHT - _BOTTOM) / 2})",
        ),
        tag("polyline", points=points, class_="curve"),
        tag("circle", r=4, cx=f"{across(places[marked]):.1f}", cy=f"{y(values[marked]):.1f}", class_="mark"),
    ]
    area = {"left": _LEFT, "top": _TOP, "right": _WIDTH - _RIGHT, "bottom": _HEIGHT - _BOTTOM}
    return tag(
        "svg",
        parts,
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        class_="chart",
        role="img",
        aria_label=label,
        data_area=None if x is not None else json.dumps({**area, "low": low, "high": high, "last": last}),
    )


def ticks(low: float, high: float, most: int) -> list[float]:
    """Choose round numbers between two values.

    Examples
    --------
    >>> ticks(0, 47, 6)
    [0.0, 10.0, 20.0, 30.0, 40.0]
    """
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _numbered(last: int) -> list[tuple[str, float]]:
    """Labels of whole numbers up to the last, and where they are."""
    return [(f"{int(at):,}", at) for at in ticks(0, last, 8) if at == int(at)]


def _powers(x: Sequence[float]) -> list[tuple[str, float]]:
    """Labels of an axis in logarithms: 1, 2 and 5 times powers of ten, and where they are."""
    powers = range(math.floor(math.log10(min(x))), math.ceil(math.log10(max(x))) + 1)
    found = [times * 10.0**power for power in powers for times in (1, 2, 5)]
    return [(f"{each:,g}", math.log10(each)) for each in found if min(x) <= each <= max(x)]


def spark(shares: Sequence[float], title: str) -> Html:
    """Draw the shares of a few levels as tiny columns; levels that were never observed are marked."""
    top = max(shares, default=0.0) or 1.0
    step = 7.0 if len(shares) <= 24 else 168.0 / len(shares)
    paths: dict[bool, list[str]] = {False: [], True: []}
    for i, share in enumerate(shares):
        height = max(20 * share / top, 1.0) if share > 0 else 3.0
        paths[share == 0].append(f"M{i * step:.1f} 22v-{height:.1f}h{step * 0.78:.1f}v{height:.1f}z")
    drawn = [tag("path", d="".join(path), class_="never" if never else None) for never, path in paths.items() if path]
    size = {"viewBox": f"0 0 {len(shares) * step:.1f} 22", "width": f"{len(shares) * step:.0f}", "height": "22"}
    return tag("svg", tag("title", title), drawn, class_="spark", role="img", **size)


def _label(value: float) -> str:
    text = f"{value:,.0f}" if abs(value) >= 10 or value == int(value) else f"{value:.3g}"
    return text.replace("-", MINUS)
