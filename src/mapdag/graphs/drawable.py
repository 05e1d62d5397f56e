"""What everything that can be drawn as a graph has in common: `plot`, and its picture in a notebook."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any


class Drawable:
    """A graph, or something that has one."""

    __slots__ = ()

    def plot(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Draw the graph in layers and write the picture: SVG, PNG or PDF, by the ending of the path.

        Needs the extra ``plots``; options as in `mapdag.plots.plot`.
        """
        # By name, as `mapdag.plots` is a layer above this one.
        import_module("mapdag.plots").plot(self, path, **options)

    def _repr_svg_(self) -> str | None:
        """Return the picture that a notebook shows; text is shown where there is none."""
        svg: str | None = import_module("mapdag.plots.graphs").for_notebook(self)
        return svg
