"""Check that no page of the built site loads anything from outside: ``python docs/check_site.py site``."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

#: Attributes by which elements make a browser load something. Links to click on (`a`) do not.
LOADING = {"href", "src", "srcset", "data", "poster", "action", "formaction", "xlink:href"}
OUTSIDE = re.compile(r"\s*(?:[a-z]+:)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"(?:url\(|@import)\s*['\"]?\s*((?:https?:)?//[^'\")\s]+)", re.IGNORECASE)


class Loads(HTMLParser):
    """What a page loads from outside."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at the attributes of one element."""
        for name, value in attrs:
            if tag != "a" and name in LOADING and OUTSIDE.match(value or ""):
                self.found.append(f"<{tag} {name}={value}>")
            if name == "style":
                self.found += IN_STYLE.findall(value or "")


def outside_loads(site: Path) -> list[str]:
    """List what the pages and styles of a site load from elsewhere, with the file that does."""
    found = []
    for path in sorted(site.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        page = Loads()
        page.feed(text)
        inline = IN_STYLE.findall("".join(re.findall(r"<style.*?</style>", text, re.DOTALL)))
        found += [f"{path.relative_to(site)}: {each}" for each in [*page.found, *inline]]
    for path in sorted(site.rglob("*.css")):
        found += [f"{path.relative_to(site)}: {each}" for each in IN_STYLE.findall(path.read_text(encoding="utf-8"))]
    return found


if __name__ == "__main__":
    pages = Path(sys.argv[1])
    if not (pages / "index.html").exists():
        sys.exit(f"{pages} has no index.html: build the site first")
    loads = outside_loads(pages)
    if loads:
        sys.exit("these are loaded from outside:\n" + "\n".join(loads))
