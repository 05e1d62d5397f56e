"""A matrix of shares as a heat map: the probabilities of arcs."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

from mapdag.graphs.drawable import Picture
from mapdag.io.files import check_writable, write_file
from mapdag.plots.figures import GRID, INK, matplotlib, style
from mapdag.plots.graphs import FIGURE_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_INCHES = 0.22  # of a cell
_LARGEST = 30.0  # inches, within which more nodes have smaller names


def plot_matrix(
    nodes: Sequence[str], shares: NDArray[Any], title: str, path: str | os.PathLike[str] | None = None
) -> Picture | None:
    """Draw shares between 0 and 1, a row for each start and a column for each end; to a file, or as a picture.

    Examples
    --------
    >>> import numpy as np
    >>> plot_matrix(["rain", "wet"], np.array([[0, 0.9], [0.1, 0]]), "Arcs")
    Picture(title='Arcs')
    """
    if path is not None:
        check_writable(path, FIGURE_SUFFIXES)
    matplotlib()
    ending = "svg" if path is None else os.fspath(path)[-3:].lower()
    with style():
        figure, content = _figure(nodes, shares, title), io.BytesIO()
        dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        figure.savefig(content, format=ending, metadata=dates.get(ending))
    if path is None:
        text = content.getvalue().decode()
        return Picture(title, text[text.index("<svg") :])
    write_file(path, lambda stream: stream.write(content.getvalue()))
    return None


def _figure(nodes: Sequence[str], shares: NDArray[Any], title: str) -> Figure:
    from matplotlib.figure import Figure

    n = len(nodes)
    side = min(max(_INCHES * n, 1.6), _LARGEST)
    figure = Figure(figsize=(side + 2.6, side + 1.8), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    size = max(min(9.0, 72 * side / n * 0.8), 1.0)
    axes.set_xticks(range(n), nodes, rotation=90, fontsize=size)
    axes.set_yticks(range(n), nodes, fontsize=size)
    axes.set(xlabel="to", ylabel="from", title=title)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for edge in range(n - 1):
        axes.axhline(edge + 0.5, color=GRID, linewidth=0.4)
        axes.axvline(edge + 0.5, color=GRID, linewidth=0.4)
    bar = figure.colorbar(image, ax=axes, shrink=min(1.0, 4.0 / side), label="probability")
    bar.outline.set_edgecolor(INK)
    return figure
