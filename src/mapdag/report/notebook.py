"""What a notebook shows of a result: the main figures and the picture, without scripts or styles that could leak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mapdag.plots.graphs import for_notebook
from mapdag.report.html import Html, tag

if TYPE_CHECKING:
    from mapdag.search import Result


def result_html(result: Result) -> str:
    """Return the summary of a result, and its picture unless the graph is large or igraph is not installed.

    Examples
    --------
    >>> import mapdag as md
    >>> "MU(c=1)+BDs(alpha=1)" in result_html(md.learn(md.network("asia").sample(500, seed=1)))
    True
    """
    svg = for_notebook(result)
    parts = [tag("pre", str(result), style="margin:0 0 8px")]
    if svg is not None:
        parts.append(tag("div", Html(svg), style="overflow-x:auto"))
        if result.reversible:
            told = "Dashed arcs are reversible: an equivalent graph has them the other way round."
            parts.append(tag("p", told, style="font-size:90%"))
    return tag("div", parts)
