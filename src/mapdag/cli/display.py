"""What people see: the live line, tables, summaries."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from mapdag.search import Progress

_EVERY = 0.1  # seconds between two states of the live line
_AT_FIRST = "starting (the first run compiles for this CPU, which takes about a minute)"


@contextmanager
def live_line(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Give a function that shows a line of text in place, on a terminal only."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _: None
        return
    last = 0.0
    with console.status(_AT_FIRST) as status:

        def show(text: str) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last > _EVERY:
                last = now
                status.update(text)

        yield show


def search_line(show: Callable[[str], None]) -> Callable[[Progress], None]:
    """Tell the state of a search: iteration, score, arcs, moves per second."""

    def tell(progress: Progress) -> None:
        if progress.phase not in ("scoring", "moving", "searching") or math.isnan(progress.score):
            share = progress.done / max(progress.total, 1)
            show(f"{progress.phase}: {share:.0%}, {progress.families:,} families, {progress.seconds:,.0f} s")
        elif progress.phase == "scoring":
            show(f"scoring nodes {progress.done}/{progress.total}, {progress.families:,} families")
        elif progress.phase == "searching":
            show(
                f"start {progress.done}/{progress.total}, score {progress.score:.3f}, {progress.n_arcs} arcs, "
                f"{progress.families:,} families"
            )
        else:
            rate = progress.done / progress.seconds if progress.seconds > 0 else 0.0
            show(
                f"move {progress.done:,}, score {progress.score:.3f}, {progress.n_arcs} arcs, "
                f"{rate:,.0f} moves/s, {progress.families:,} families"
            )

    return tell


def count_line(show: Callable[[str], None], what: str) -> Callable[[int, int], None]:
    """Tell how many of something are done."""
    return lambda done, total: show(f"{what} {done}/{total}")


def columns(rows: list[list[str]], *, right: tuple[int, ...] = ()) -> str:
    """Align cells in columns; those in `right` to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.rjust(w) if i in right else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)
