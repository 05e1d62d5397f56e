"""Writing networks in BIF so that nothing is lost, and that other programs can read them."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from mapdag.io.bif_names import BIF
from mapdag.io.portable import Portable, portable
from mapdag.networks.cpts import refuse_undefined
from mapdag.networks.sparse_tables import refuse_large

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mapdag.networks import BayesianNetwork


def to_bif(network: BayesianNetwork) -> str:
    """Return a network in BIF.

    Numbers have as many digits as it takes to read the same ones back. Names and labels that other programs cannot
    read are replaced by some that they can, with a warning; comments keep the originals, and what the levels stand for.

    Raises
    ------
    NetworkError
        If probabilities are undefined.

    Examples
    --------
    >>> from mapdag.reference import network
    >>> print(to_bif(network("cancer"))[-79:])
    probability ( Dyspnoea | Cancer ) {
      (True) 0.65, 0.35;
      (False) 0.3, 0.7;
    }
    <BLANKLINE>
    """
    refuse_undefined(network.cpts, "BIF")
    refuse_large(network.cpts, "BIF")
    return "\n".join(_lines(network, portable(network, BIF))) + "\n"


def _lines(network: BayesianNetwork, chosen: Portable) -> Iterator[str]:
    names, labels = chosen.names, chosen.labels
    yield "network unknown {"
    yield "}"
    for note in chosen.notes:
        yield f"// {note.comment()}"
    for node in network.nodes:
        yield f"variable {names[node]} {{"
        yield f"  type discrete [ {len(labels[node])} ] {{ {', '.join(labels[node])} }};"
        yield "}"
    for node in network.nodes:
        parents = network.parents(node)
        rows = network.cpts[node].reshape(-1, len(labels[node])).tolist()
        if not parents:
            yield f"probability ( {names[node]} ) {{"
            yield f"  table {', '.join(map(repr, rows[0]))};"
        else:
            yield f"probability ( {names[node]} | {', '.join(names[parent] for parent in parents)} ) {{"
            configurations = product(*(labels[parent] for parent in parents))
            for configuration, row in zip(configurations, rows, strict=True):
                yield f"  ({', '.join(configuration)}) {', '.join(map(repr, row))};"
        yield "}"
