"""Check the built site: ``python docs/check_site.py site``.

No page loads anything from outside, and every link, anchor and image within the site leads somewhere.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes by which elements make a browser load something. Links to click on (`a`) do not.
LOADING = {"href", "src", "srcset", "data", "poster", "action", "formaction", "xlink:href"}
OUTSIDE = re.compile(r"\s*(?:[a-z]+:)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"(?:url\(|@import)\s*['\"]?\s*((?:https?:)?//[^'\")\s]+)", re.IGNORECASE)
#: Links that lead out of the site or nowhere in particular.
ELSEWHERE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)


class Page(HTMLParser):
    """What a page loads from outside, where it links to within the site, and the anchors it has."""

    def __init__(self) -> None:
        super().__init__()
        self.outside: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at the attributes of one element."""
        for name, value in attrs:
            text = value or ""
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(text)
            if name == "style":
                self.outside += IN_STYLE.findall(text)
            if name not in LOADING:
                continue
            if tag != "a" and OUTSIDE.match(text):
                self.outside.append(f"<{tag} {name}={value}>")
            parts = [part.split()[0] for part in text.split(",") if part.strip()] if name == "srcset" else [text]
            self.links += [part for part in parts if not ELSEWHERE.match(part)]


@cache
def read(path: Path) -> Page:
    """Read a page, once."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def outside_loads(site: Path) -> list[str]:
    """List what the pages and styles of a site load from elsewhere, with the file that does."""
    found = []
    for path in sorted(site.rglob("*.html")):
        styles = "".join(re.findall(r"<style.*?</style>", path.read_text(encoding="utf-8"), re.DOTALL))
        found += [f"{path.relative_to(site)}: {each}" for each in [*read(path).outside, *IN_STYLE.findall(styles)]]
    for path in sorted(site.rglob("*.css")):
        found += [f"{path.relative_to(site)}: {each}" for each in IN_STYLE.findall(path.read_text(encoding="utf-8"))]
    return found


def broken_links(site: Path) -> list[str]:
    """List the links, anchors and images within a site that lead nowhere, with the page that has them."""
    found = []
    for path in sorted(site.rglob("*.html")):
        for link in dict.fromkeys(read(path).links):
            trouble = _trouble(site, path, link)
            if trouble:
                found.append(f"{path.relative_to(site)}: {link!r} {trouble}")
    return found


def _trouble(site: Path, page: Path, link: str) -> str:
    """Say what is wrong with a link of a page; nothing if it leads somewhere."""
    parts = urlsplit(link.strip())
    target, anchor = unquote(parts.path), unquote(parts.fragment)
    file = page
    if target:
        file = (site / target.lstrip("/") if target.startswith("/") else page.parent / target).resolve()
    if file.is_dir():
        file /= "index.html"
    if not file.is_relative_to(site.resolve()) and target:
        return "leads out of the site"
    if not file.is_file():
        return "is not there"
    # "#" alone is the top of a page; anchors of what is no page are for whoever shows it.
    if anchor and file.suffix == ".html" and anchor not in read(file).anchors:
        return "has no such anchor"
    return ""


if __name__ == "__main__":
    pages = Path(sys.argv[1])
    if not (pages / "index.html").exists():
        sys.exit(f"{pages} has no index.html: build the site first")
    for what, troubles in (
        ("these are loaded from outside", outside_loads(pages)),
        ("these links lead nowhere", broken_links(pages)),
    ):
        if troubles:
            sys.exit(f"{what}:\n" + "\n".join(troubles))
