"""Pictures: graphs drawn in layers, and figures. The only importers of the layout and plotting libraries.

Those are an extra: ``pip install "mapdag[plots]"``. Functions take values and return figures or text; nothing is
computed or learned here. `plot` and `to_svg` are the front doors for graphs.
"""

from mapdag.plots.graphs import FIGURE_SUFFIXES, draw, plot, to_svg
from mapdag.plots.layers import check_installed

__all__ = ["FIGURE_SUFFIXES", "check_installed", "draw", "plot", "to_svg"]
