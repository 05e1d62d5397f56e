"""Pictures: graphs drawn in layers, as SVG text or as files. The only importers of the layout and plotting libraries.

`plot` and `to_svg` are the front doors.
"""

from mapdag.plots.graphs import FIGURE_SUFFIXES, draw, plot, to_svg
from mapdag.plots.layers import check_installed

__all__ = ["FIGURE_SUFFIXES", "check_installed", "draw", "plot", "to_svg"]
