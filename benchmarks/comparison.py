"""The tables of `docs/comparison.md` and its picture, made anew from the results of `benchpress.py` and `density.py`.

Each table stands between `<!-- table: NAME -->` and `<!-- /table -->`; the rest of the page is left alone.

    python benchmarks/comparison.py docs
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import benchpress
import density
from harness import kept

if TYPE_CHECKING:
    from harness.tables import Table

Found = dict[kept.Case, dict[str, Any]]


def tables(networks: Found, held_out: Found) -> dict[str, str]:
    """Return the tables by name, without titles."""
    found = {search: density.table_of(held_out, search) for search in ("orders", "hc")}
    for arena in benchpress.ARENAS:
        found |= dict(zip((arena, f"{arena}, peers"), benchpress.tables(networks, arena), strict=False))
    return {name: bare(table) for name, table in found.items() if table.rows}


def bare(table: Table) -> str:
    """Return a table in Markdown without its title."""
    return table.markdown().split("\n", 2)[2]


def fill(page: str, made: dict[str, str]) -> str:
    """Put the tables into the page."""

    def write(found: re.Match[str]) -> str:
        return f"{found[1]}\n{made.get(found[2], 'Not measured yet.')}{found[3]}"

    return re.sub(r"(<!-- table: ([^>]*?) -->)\n.*?(<!-- /table -->)", write, page, flags=re.DOTALL)


def draw(networks: Found, path: Path) -> None:
    """Draw TP/P against FP/P in the random networks: medians on the networks of peers, and published ones."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    shared = {key[1] for key in networks if key[0] == "random" and key[2] in benchpress.PEERS}
    for names, colour, marker in ((benchpress.OURS, "#3949ab", "o"), (benchpress.PEERS, "#00897b", "s")):
        for name in names:
            row = benchpress.figures_of(networks, "random", name, shared)
            if row and row[1]:
                mark(axes, name, [row[3], row[2]], colour, marker, below=name == "learned")
    for name, tp, fp, _ in json.loads(benchpress.PUBLISHED.read_text(encoding="utf-8"))["figures"]:
        mark(axes, f"{name} (published)", [fp, tp], "#9e9e9e", "x")
    axes.set(xlabel="FP/P", ylabel="TP/P", title="Random binary networks: medians, best is top left")
    axes.margins(x=0.2)
    axes.grid(alpha=0.3)
    figure.savefig(path, metadata={"Date": None})


def mark(axes: Any, name: str, point: list[float], colour: str, marker: str, *, below: bool = False) -> None:
    """Draw a named point; its name stands above or below."""
    axes.plot(*point, marker, color=colour)
    beside = (4, -9 if below else 4)
    axes.annotate(name, point, xytext=beside, textcoords="offset points", fontsize=7, color=colour)


def main() -> None:
    docs = Path(sys.argv[1])
    networks, held_out = kept.known(benchpress.KEPT), kept.known(density.KEPT)
    page = docs / "comparison.md"
    page.write_text(fill(page.read_text(encoding="utf-8"), tables(networks, held_out)), encoding="utf-8")
    draw(networks, docs / "img" / "arenas.svg")


if __name__ == "__main__":
    main()
