"""What everything that can be drawn as a graph has in common: `plot`, and its picture in a notebook."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

from mapdag.tables import AS_IS

ON_PAPER = "#364152"  # the colour of arcs on a white ground


@dataclass(frozen=True)
class Picture:
    """A picture that notebooks show.

    Attributes
    ----------
    title : str
        What it shows.
    svg : str
        One `svg` element.
    """

    title: str
    svg: str = field(repr=False)

    def _repr_html_(self) -> str:
        """Return the picture in its own size, in a frame to be scrolled: notebooks would squeeze it to their width.

        Arcs are as dark or light as the notebook's text: the colour for paper is hardly seen on a dark page.
        """
        opening, _, rest = self.svg.replace(ON_PAPER, "currentColor").partition(">")
        return (
            f'<div class="{AS_IS}" style="overflow:auto;max-height:85vh">'
            f'{opening} style="max-width:none;height:auto">{rest}</div>'
        )

    def _repr_svg_(self) -> str:
        return self.svg


class Drawable:
    """A graph, or something that has one."""

    __slots__ = ()

    if not TYPE_CHECKING:  # else any attribute would do

        def __getattr__(self, name: str) -> Any:
            """Say what peers' names for an attribute are here."""
            from mapdag.vocabulary import attribute_hint

            kind = type(self).__name__
            told = f"{kind!r} object has no attribute {name!r}{attribute_hint(kind, name)}"
            raise AttributeError(told, name=name, obj=self)

    @overload
    def plot(self, path: None = None, **options: Any) -> Picture: ...
    @overload
    def plot(self, path: str | os.PathLike[str], **options: Any) -> None: ...
    def plot(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Picture | None:
        """Draw the graph in layers: shown in a notebook, or written to a file.

        Needs the extra ``plots``; options as in `mapdag.plots.plot`.

        Parameters
        ----------
        path : path, optional
            SVG, PNG or PDF, by its ending; without one, the picture is returned, which notebooks show.

        Examples
        --------
        >>> from mapdag import DAG
        >>> DAG(["rain", "wet"], [("rain", "wet")]).plot()
        Picture(title='Graph with 2 nodes and 1 arc')
        """
        # By name, as `mapdag.plots` is a layer above this one.
        drawn: Picture | None = import_module("mapdag.plots").plot(self, path, **options)
        return drawn

    def _repr_svg_(self) -> str | None:
        """Return the picture that a notebook shows; text is shown where there is none."""
        picture: Picture | None = import_module("mapdag.plots.graphs").for_notebook(self)
        return None if picture is None else picture.svg

    def _repr_html_(self) -> str | None:
        """Return the same in a frame of its own, which notebooks prefer."""
        picture: Picture | None = import_module("mapdag.plots.graphs").for_notebook(self)
        return None if picture is None else picture._repr_html_()
