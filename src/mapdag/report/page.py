"""The shell of a page: one file with its styles, scripts and data, which asks the network for nothing.

Every report is made with it: give `page` a title and sections from `parts`.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from mapdag.io.files import check_writable, write_text
from mapdag.report.html import Content, Html, join, script_json, tag

PAGE_SUFFIXES = (".html", ".htm")


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading; `short` is its name in the bar at the top."""

    key: str
    title: str
    content: Content
    short: str = ""


def page(
    title: str,
    sections: Sequence[Section],
    *,
    subtitle: Content = None,
    lead: Content = None,
    data: object = None,
    scripts: Sequence[str] = ("tables",),
) -> str:
    """Build a page.

    Parameters
    ----------
    title, subtitle, lead
        At the top; `lead` comes before the first section.
    sections : sequence of Section
    data : JSON value or dataclasses, optional
        What the scripts find as `data`.
    scripts : sequence of str
        Names of modules in ``assets``; what they import comes before them.

    Examples
    --------
    >>> text = page("A < B", [Section("one", "First", tag("p", "text"))])
    >>> "<title>A &lt; B</title>" in text
    True
    """
    program = Html('"use strict";(() => {\n' + bundle(("base", *scripts)) + "})();\n")
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(program)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content="mapdag"),
        tag("link", rel="icon", href="data:,"),  # or browsers ask the server for one
        tag("title", title),
        tag("style", Html(asset("page.css"))),
    ]
    links = [tag("a", each.short or each.title, href=f"#{each.key}") for each in sections]
    body = [
        tag("a", "Skip to the content", href=f"#{sections[0].key}" if sections else "#", class_="skip"),
        tag("header", tag("div", tag("h1", title), tag("p", subtitle, class_="subtitle"), class_="inner")),
        tag("nav", tag("div", links, class_="inner"), aria_label="Sections"),
        tag("main", lead, [_section(each) for each in sections], class_="inner"),
        tag("script", script_json(data), type="application/json", id="page-data"),
        tag("script", program),
    ]
    return "<!doctype html>\n" + tag("html", tag("head", head), "\n", tag("body", body), lang="en") + "\n"


def write_page(path: str | os.PathLike[str], text: str) -> None:
    """Write a page to a file whose name ends in .html."""
    check_writable(path, PAGE_SUFFIXES)
    write_text(path, text)


@cache
def asset(name: str) -> str:
    """Return the text of a file that comes with the package."""
    return files("mapdag.report").joinpath("assets").joinpath(name).read_text(encoding="utf-8")


def bundle(names: Sequence[str]) -> str:
    """Join modules and what they import into one script: each once, after those that it needs.

    All share one scope, so the names that modules declare at their top must differ. An import is one line of the form
    ``import { a, b } from "./module.js";``, and exports stand before what they export.

    >>> text = bundle(["network", "arrows"])
    >>> "import " in text or "export " in text
    False
    """
    found: dict[str, str] = {}

    def add(name: str) -> None:
        if name not in found:
            text = asset(f"{name}.js")
            for needed in _IMPORT.findall(text):
                add(needed)
            found[name] = _EXPORT.sub("", _IMPORT.sub("", text))

    for name in names:
        add(name)
    return "\n".join(found.values())


_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w-]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const |function |async )", re.MULTILINE)


def _section(section: Section) -> Html:
    return tag("section", tag("h2", section.title), join(section.content), id=section.key)


def _policy(program: str) -> str:
    """Forbid everything but what is in the page; only this very script may run."""
    digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
