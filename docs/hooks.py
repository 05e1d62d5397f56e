"""What the site takes from outside its folder: the README as its first page, and every file that a page links to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, InclusionLevel
from options import with_options  # beside this file

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

#: Pages that live at the root of the repository.
PAGES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
DOCS = "docs"
LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(?=\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the root, and what pages link to elsewhere in the repository."""
    root = Path(config.config_file_path).parent
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(root / source).read_text(encoding="utf-8")))
    pages = [*PAGES, *(f"{DOCS}/{file.src_uri}" for file in files.documentation_pages() if file.src_dir)]
    for found in linked_files(root, pages):
        file = File(found, str(root), config.site_dir, config.use_directory_urls)
        file.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(file)
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links start from where a page is in the site, and end where their targets are; list options of commands."""
    del files
    root = Path(config.config_file_path).parent
    return with_options(relinked(markdown, root, source_of(page.file.src_uri, root)))


def source_of(uri: str, root: Path) -> str:
    """Return the file in the repository that a page of the site is made from."""
    for source, page in PAGES.items():
        if uri == page:
            return source
    return f"{DOCS}/{uri}" if (root / DOCS / uri).exists() else uri


def place_of(source: str) -> str:
    """Return where in the site a file of the repository is.

    >>> place_of("docs/howto/levels.md"), place_of("README.md"), place_of("benchmarks/results/search.md")
    ('howto/levels.md', 'index.md', 'benchmarks/results/search.md')
    """
    return PAGES.get(source, source.removeprefix(f"{DOCS}/"))


def linked_files(root: Path, pages: list[str]) -> list[str]:
    """Find the files outside the documentation that pages link to, and those that these link to."""
    found: dict[str, None] = {}
    while pages:
        page = pages.pop()
        for target in _targets(root, page):
            if target not in found and target not in PAGES and not target.startswith(f"{DOCS}/"):
                found[target] = None
                pages += [target] if target.endswith(".md") else []
    return sorted(found)


def _targets(root: Path, page: str) -> Iterator[str]:
    for link in LINK.finditer((root / page).read_text(encoding="utf-8")):
        target = _target(page, link[2])
        if (root / target).is_file():
            yield target


def _target(page: str, link: str) -> str:
    return os.path.normpath(Path(page).parent / link).replace(os.sep, "/")


def relinked(text: str, root: Path, source: str) -> str:
    """Rewrite the links of a page to files of the repository."""
    here = Path(place_of(source)).parent

    def moved(link: re.Match[str]) -> str:
        target = _target(source, link[2])
        if not (root / target).is_file():
            return link[0]
        return f"{link[1]}{os.path.relpath(place_of(target), here).replace(os.sep, '/')}{link[3] or ''}"

    return LINK.sub(moved, text)
