"""How far a search is: what it tells, and a bar that shows it where ``progress=True`` asks for one.

The bar is on standard error: drawn in place on a terminal and in a notebook, elsewhere a line now and then. Nothing is
shown unless it is asked for.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from mapdag.errors import ParameterError
from mapdag.wording import brief, duration, plural

T = TypeVar("T", bound=Callable[..., None])

_COUNTED = {"scoring": ", node", "searching": ", start", "ranking": ", graph"}  # what a phase counts
_EVERY = 0.1  # seconds between two states in place
_LINES_EVERY = 10.0  # and between two lines


@dataclass(frozen=True)
class Progress:
    """What a search tells while it runs.

    Attributes
    ----------
    phase : str
        "scoring" while the first families are counted, "moving" while single arcs change, "searching" while the default
        search goes through orders of the nodes.
    done, total : int
        Nodes scored and to be scored; moves made, and 0; orders started from and, at most, to start from.
    score : float
        Of the current graph.
    n_arcs, families : int
        Arcs of the current graph, families counted so far.
    seconds : float
        Since the start.
    bound : float
        What no graph can have more than, while a search proves it; otherwise not a number.
    """

    phase: str
    done: int
    total: int
    score: float
    n_arcs: int
    families: int
    seconds: float
    bound: float = math.nan

    def __str__(self) -> str:
        families = f"{self.families:,} families"
        if math.isnan(self.score):  # there is no graph yet
            return f"{self.phase}, {families}"
        rate = f", {self.done / self.seconds:,.0f} moves/s" if self.phase == "moving" and self.seconds > 0 else ""
        return f"{self.phase}: score {self.score:.3f}, {plural(self.n_arcs, 'arc')}{rate}, {families}"


OnProgress: TypeAlias = Callable[[Progress], None]
OnCount: TypeAlias = Callable[[int, int], None]


class _Screen(Protocol):
    """Somewhere to show a state in place of the one before."""

    every: float

    def show(self, text: str, done: int, total: int) -> None:
        """Show a state; `total` is 0 where it is not known."""

    def close(self) -> None:
        """Take it away."""


class Bar:
    """Shows how far something is.

    Parameters
    ----------
    screen : object with `show`, `close` and `every`, optional
        Where; nowhere if there is none.
    """

    def __init__(self, screen: _Screen | None) -> None:
        self._screen = screen
        self._last = -1e9
        self._phase = ""
        self._began = 0.0
        self._first = 0

    def search(self, progress: Progress) -> None:
        """Show the state of a search."""
        counted = _COUNTED.get(progress.phase, ", part") if progress.total else ""
        self.show(f"{progress}{counted}", progress.done, progress.total, phase=progress.phase)

    def counter(self, what: str) -> OnCount:
        """Make a function that shows how many of something are done."""
        return lambda done, total: self.show(what, done, total, phase=what)

    def show(self, text: str, done: int = 0, total: int = 0, *, phase: str = "") -> None:
        """Show a text, with the share that is done and the time left where the whole is known."""
        now = time.monotonic()
        if phase != self._phase:
            self._phase, self._began, self._first = phase, now, done
        if self._screen is None or now - self._last < self._screen.every:
            return
        self._last = now
        steps = done - self._first
        left = ""
        if total and steps > 0:
            left = f", {duration((now - self._began) * (total - done) / steps)} left"
        part = f" {done:,}/{total:,}" if total else ""
        self._screen.show(f"{text}{part}{left}", done, total)


@contextmanager
def bar(*, quiet: bool = False, lines: bool = True) -> Iterator[Bar]:
    """Give a bar; with `quiet` it shows nothing, without `lines` nothing where it cannot be drawn in place."""
    screen = None if quiet else _screen(lines=lines)
    try:
        yield Bar(screen)
    finally:
        if screen is not None:
            screen.close()


@contextmanager
def shown(progress: T | bool | None, tell: Callable[[Bar], T]) -> Iterator[T | None]:
    """Give the function to be told of progress: the one that was given, or for True that of a bar.

    Parameters
    ----------
    progress : callable, bool or None
        The option.
    tell : callable
        Which function of a bar it is.
    """
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise ParameterError(f"progress must be True, False or a function to be called, got {brief(progress)}")
    if progress is True:
        with bar() as found:
            yield tell(found)
    else:
        yield progress or None


# Where it is shown ---------------------------------------------------------------------------------------------------


def _screen(*, lines: bool) -> _Screen | None:
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_jupyter:
        return _Notebook()
    if console.is_terminal:
        return _Terminal(console)
    return _Lines() if lines else None


class _Terminal:
    """A bar drawn by rich, which disappears in the end."""

    every = _EVERY

    def __init__(self, console: Any) -> None:
        from rich.progress import BarColumn, SpinnerColumn, TextColumn
        from rich.progress import Progress as Drawn

        parts = SpinnerColumn(), BarColumn(bar_width=24), TextColumn("{task.description}", markup=False)
        self._drawn = Drawn(*parts, console=console, transient=True)
        self._task = self._drawn.add_task("starting", total=None)
        self._drawn.start()

    def show(self, text: str, done: int, total: int) -> None:
        self._drawn.update(self._task, description=text, completed=done, total=total or None)

    def close(self) -> None:
        self._drawn.stop()


class _Notebook:
    """An element of the cell's output, written anew; needs nothing but what every notebook has."""

    every = 2 * _EVERY

    def __init__(self) -> None:
        from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

        self._handle = display({"text/plain": ""}, raw=True, display_id=True)

    def show(self, text: str, done: int, total: int) -> None:
        from html import escape

        value = f' value="{done}" max="{total}"' if total else ""
        page = f"<progress{value}></progress> {escape(text)}"
        self._handle.update({"text/plain": text, "text/html": page}, raw=True)

    def close(self) -> None:
        self._handle.update({"text/plain": "", "text/html": ""}, raw=True)


class _Lines:
    """A line now and then, for logs."""

    every = _LINES_EVERY

    def show(self, text: str, done: int, total: int) -> None:
        del done, total
        sys.stderr.write(f"mapdag: {text}\n")

    def close(self) -> None:
        sys.stderr.flush()
