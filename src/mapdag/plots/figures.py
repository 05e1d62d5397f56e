"""How every figure looks and is saved; matplotlib is loaded here, and only when a figure is made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mapdag.errors import MissingExtraError
from mapdag.io.files import write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#222222"
GRID = "#e3e3e3"
BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#1f4e79", "#e07b00", "#2a8c5a", "#b3262e", "#6a4c93", "#8a8a8a"

_STYLE: Any = {
    "figure.dpi": 100,
    "savefig.dpi": 150,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so that figures are the same everywhere
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelcolor": INK,
    "axes.edgecolor": "#777777",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "lines.linewidth": 2.0,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.fonttype": "path",
    "svg.hashsalt": "mapdag",  # the same figure is the same file
    "axes.unicode_minus": True,
}


def matplotlib() -> Any:
    """Return the plotting library, or say how to install it."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingExtraError(
            'pictures need matplotlib, which is not installed: pip install "mapdag[plots]"'
        ) from error
    return mpl


@contextmanager
def style() -> Iterator[None]:
    """Draw with the common settings; for functions that make a figure, as a decorator."""
    with matplotlib().rc_context(_STYLE):
        yield


def panels(columns: int, *, width: float = 9.0, height: float = 3.4) -> tuple[Figure, list[Axes]]:
    """Make a figure with panels side by side, without a display; call within `style`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False)
    return figure, list(axes.ravel())


def mark_level(axes: Axes, level: float, label: str | None = None) -> None:
    """Draw a thin dashed line at a level that curves go to, or should."""
    axes.axhline(level, color=GREY, linewidth=1, linestyle=(0, (4, 3)), label=label)


def save(
    figure: Figure, path: str | os.PathLike[str], *, formats: tuple[str, ...] = ("svg", "png")
) -> tuple[Path, ...]:
    """Write a figure in several formats, next to each other; `path` has no suffix.

    The files do not carry the date, so that the same figure is the same file.
    """
    written = []
    for suffix in formats:
        target = Path(f"{os.fspath(path)}.{suffix}")
        with style():
            metadata = {"Date": None} if suffix == "svg" else {"Software": None}
            write_file(target, partial(figure.savefig, format=suffix, metadata=metadata))
        written.append(target)
    return tuple(written)
