"""What a notebook shows of results and networks: the main figures and the picture, without scripts or styles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mapdag.plots.graphs import for_notebook
from mapdag.report.html import Content, Html, tag
from mapdag.tables import AS_IS, SHOWN

if TYPE_CHECKING:
    from mapdag.networks import BayesianNetwork
    from mapdag.search import Result


def result_html(result: Result) -> str:
    """Return the summary of a result, and its picture; its arcs where the graph is large or igraph is not installed.

    Examples
    --------
    >>> import mapdag as md
    >>> "MU(c=1)+BDs(alpha=1)" in result_html(md.learn(md.network("asia").sample(500, seed=1)))
    True
    """
    told = "Dashed arcs are reversible: an equivalent graph has them the other way round."
    return _summary(result, str(result), tag("p", told, style="font-size:90%") if result.reversible else None)


def network_html(network: BayesianNetwork) -> str:
    """Return the size of a network, and its picture; its nodes where there are many or igraph is not installed.

    Examples
    --------
    >>> import mapdag as md
    >>> "8 nodes, 8 arcs, 18 parameters" in network_html(md.network("asia"))
    True
    """
    return _summary(network, network.size_text)


def _summary(value: Result | BayesianNetwork, text: str, about_arcs: Content = None) -> str:
    picture = for_notebook(value)
    parts: list[Content] = [tag("pre", text, style="margin:0 0 8px")]
    if picture is None:
        parts.append(Html(value.to_table(SHOWN)._repr_html_()))
    else:
        parts += [Html(picture._repr_html_()), about_arcs]
    return tag("div", parts, class_=AS_IS)
