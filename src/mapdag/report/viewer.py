"""The viewer of a graph: toolbar, picture, key. What it does is in ``assets/viewer.js``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mapdag.plots.svg import to_svg
from mapdag.report.html import MINUS, Content, Html, join, tag

if TYPE_CHECKING:
    from mapdag.plots.drawing import Drawing


WINDOW = (1230.0, 720.0)
"""Width and height of the picture in the window of a usual screen, for the layout."""

_RADII = {0: "whole graph", 1: "1 step", 2: "2 steps", 3: "3 steps", 4: "4 steps"}


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
    toolbar = [
        tag("fieldset", tag("legend", "View"), choice, class_="switch"),
        _finder(),
        tag(
            "label",
            "Show ",
            tag("select", [tag("option", text, value=steps) for steps, text in _RADII.items()], id="radius"),
            title="The neighbourhood of the chosen node: all that is as many arcs away, whatever their directions",
        ),
        tag("span", class_="gap"),
        _button("out", MINUS, f"Zoom out (key {MINUS})"),
        _button("in", "+", "Zoom in (key +)"),
        _button("fit", "Fit", "Show all (key 0)"),
        _button("full", "Full screen", "Use the whole screen"),
    ]
    return tag(
        "div",
        tag("div", toolbar, class_="toolbar", role="toolbar", aria_label="Graph"),
        tag("div", class_="evidence"),
        tag(
            "div",
            Html(to_svg(drawing, interactive=True, title=title)),
            tag("div", tag("canvas"), tag("span"), id="minimap", hidden=True, aria_hidden="true"),
            tag("p", id="said", role="status"),
            tag("aside", id="details", hidden=True, aria_label="The chosen node", tabindex="-1"),
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


def _finder() -> Html:
    field = tag(
        "input",
        type="search",
        id="find",
        placeholder="Find a node",
        aria_label="Find a node",
        role="combobox",
        aria_expanded="false",
        aria_controls="matches",
        aria_autocomplete="list",
        autocomplete="off",
        spellcheck="false",
    )
    return tag("div", field, tag("ul", id="matches", role="listbox", hidden=True), class_="finder")


_HELP = (
    "Drag to move, scroll or pinch to zoom. Point at a node or an arc for what is known of it; click a node for its "
    "probabilities and its Markov blanket, and choose how many steps around it to show. With the keyboard: Tab from "
    f"node to node, Enter to choose, arrows to move, + and {MINUS} to zoom, 0 to see all, Esc to let go."
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
