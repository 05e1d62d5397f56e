"""The viewer of a graph: toolbar, picture, key. What it does is in ``assets/graph.js``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mapdag.plots.svg import to_svg
from mapdag.report.html import MINUS, Content, Html, join, tag

if TYPE_CHECKING:
    from mapdag.plots.drawing import Drawing


class View(NamedTuple):
    """A way to look at a graph; the frame has the key of the current one as ``data-view``."""

    key: str
    name: str
    explanation: str


def viewer(drawing: Drawing, *, views: Sequence[View], keys: Iterable[tuple[str, str]], title: str) -> Html:
    """Show a drawing that can be moved, zoomed, and asked.

    Parameters
    ----------
    drawing : Drawing
    views : sequence of View
        The first is shown.
    keys : iterable of (classes of an arc, explanation)
        What the lines mean.
    title : str
        What the picture shows, for those who cannot see it.
    """
    choice = [
        tag(
            "label",
            tag("input", type="radio", name="view", value=view.key, checked=view is views[0]),
            tag("span", view.name),
            title=view.explanation,
        )
        for view in views
    ]
    names = [tag("option", value=box.name) for box in drawing.boxes]
    toolbar = [
        tag("fieldset", tag("legend", "View"), choice, class_="switch"),
        tag("input", type="search", id="find", list="names", placeholder="Find a node", aria_label="Find a node"),
        tag("datalist", names, id="names"),
        tag("span", class_="gap"),
        _button("out", MINUS, f"Zoom out (key {MINUS})"),
        _button("in", "+", "Zoom in (key +)"),
        _button("fit", "Fit", "Show all (key 0)"),
        _button("full", "Full screen", "Use the whole screen"),
    ]
    return tag(
        "div",
        tag("div", toolbar, class_="toolbar", role="toolbar", aria_label="Graph"),
        tag(
            "div",
            Html(to_svg(drawing, interactive=True, title=title)),
            tag("aside", id="details", hidden=True, aria_live="polite"),
            class_="frame",
            id="frame",
            data_view=views[0].key,
            data_width=f"{drawing.width:g}",
            data_height=f"{drawing.height:g}",
        ),
        tag("ul", [tag("li", _sample(classes), text) for classes, text in keys], class_="keys"),
        tag("p", _HELP, class_="help"),
        tag("div", id="card", role="tooltip", hidden=True),
        class_="graph",
    )


_HELP = (
    "Drag to move, scroll to zoom. Point at a node or an arc for what is known of it; click a node for its Markov "
    f"blanket. With the keyboard: Tab from node to node, Enter to choose, arrows to move, + and {MINUS} to zoom, Esc "
    "to let go."
)


def _button(key: str, text: str, title: str) -> Html:
    return tag("button", text, type="button", data_zoom=key, title=title)


def _sample(classes: str) -> Content:
    """Draw a short arc in the colours of its kind."""
    if "weak" in classes:  # from thin to thick
        wedge = tag("path", class_="head", d="M2 6.6L46 5V9L2 7.4Z")
        return tag("svg", tag("g", wedge, class_="arc"), viewBox="0 0 48 14", class_="sample", aria_hidden="true")
    line = tag("path", class_="line", d="M2 7H38", fill="none")
    stub = tag("path", class_="stub", d="M38 7H46", fill="none")
    head = tag("path", class_="head", d="M46 7L38 3L38 11Z")
    return tag(
        "svg",
        tag("g", join([line, stub, head]), class_=f"arc {classes}"),
        viewBox="0 0 48 14",
        class_="sample",
        aria_hidden="true",
    )
