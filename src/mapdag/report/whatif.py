"""What follows from evidence, in the page: how it can find out, and the section where one asks it.

Exactly, by messages between cliques (``assets/junction.js``), wherever the tables fit into the page and the cliques
into its memory; elsewhere by counting samples of the network that agree with the evidence (``assets/samples.js``). The
section says which of the two it is.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from mapdag.errors import CapacityError
from mapdag.networks.elimination import best_order
from mapdag.report.html import Content, tag
from mapdag.wording import plural

if TYPE_CHECKING:
    from mapdag.data import Dataset
    from mapdag.networks import BayesianNetwork
    from mapdag.report.facts import FamilyFacts
    from mapdag.search import Result

MOST_ENTRIES = 1 << 24
"""The most entries of all cliques together: a browser goes through them in a second, and needs 16 bytes for each."""

_BITS = 9_000_000  # of all samples: one and a half megabytes in the page
_SAMPLES = (1_000, 20_000)
_SEED = 1


@dataclass(frozen=True)
class Plan:
    """How the page answers.

    Attributes
    ----------
    kind : {"exact", "samples", "none"}
    order : list of int
        For exact answers: the nodes in the order of their elimination.
    entries : int
        Of all cliques.
    rows : int
        The number of samples.
    samples : list of str
        The samples of each node, as few bits each as its levels need, in base 64.
    why : str
        Why there are no answers, or none that are exact.
    """

    kind: Literal["exact", "samples", "none"]
    order: list[int]
    entries: int = 0
    rows: int = 0
    samples: tuple[str, ...] = ()
    why: str = ""


def make_plan(
    result: Result,
    known: Sequence[FamilyFacts],
    network: BayesianNetwork | None,
    *,
    whole: bool,
    most: int = MOST_ENTRIES,
) -> Plan:
    """Find out how the page can answer, and prepare what it needs.

    Parameters
    ----------
    result : Result
    known : sequence of FamilyFacts
    network : BayesianNetwork or None
        The one that was given; otherwise it is estimated.
    whole : bool
        Whether the page holds all probability tables.
    most : int
        The most entries of all cliques together.
    """
    if network is not None and network.n_undefined:
        return Plan("none", [], why=f"{plural(network.n_undefined, 'configuration')} without probabilities.")
    if whole:
        order, entries = _elimination(known, most)
        if entries <= most:
            return Plan("exact", order, entries)
        why = f"The cliques of this network would need more than {most:,} numbers."
    else:
        why = "The probability tables of this network are too large for a page."
    try:
        drawn = (network or result.fit()).sample
    except CapacityError:
        return Plan("none", [], why=why)
    bits = sum(_bits(family.table.r) for family in known)
    rows = min(max(_BITS // bits, _SAMPLES[0]), _SAMPLES[1])
    return Plan("samples", [], rows=rows, samples=_packed(drawn(rows, seed=_SEED), known), why=why)


def _elimination(known: Sequence[FamilyFacts], most: int) -> tuple[list[int], int]:
    """Return an order of elimination, and how many entries its cliques have in all, or just more than `most`."""
    index = {family.node: i for i, family in enumerate(known)}
    cards = [family.table.r for family in known]
    scopes = [[*(index[parent] for parent in family.parents), i] for i, family in enumerate(known)]
    if max(math.prod(cards[i] for i in scope) for scope in scopes) > most:
        return [], most + 1
    order = best_order(scopes, cards, kept=())
    return order.nodes, order.total


def _bits(r: int) -> int:
    """How many bits a level of r takes.

    >>> [_bits(r) for r in (1, 2, 3, 4, 5)]
    [1, 1, 2, 2, 3]
    """
    return max((r - 1).bit_length(), 1)


def _packed(data: Dataset, known: Sequence[FamilyFacts]) -> tuple[str, ...]:
    texts = []
    for family in known:
        width = _bits(family.table.r)
        digits = data.column(family.node).astype(np.int64)[:, None] >> np.arange(width - 1, -1, -1) & 1
        texts.append(base64.b64encode(np.packbits(digits.astype(np.uint8).ravel()).tobytes()).decode())
    return tuple(texts)


def what_if(plan: Plan) -> Content:
    """Write the section; what it shows is made by ``assets/whatif.js``."""
    tools = [
        tag("input", type="search", id="monitor-filter", placeholder="Filter nodes", aria_label="Filter nodes"),
        tag(
            "label",
            "Order ",
            tag(
                "select",
                tag("option", "as in the data", value="data"),
                tag("option", "largest change first", value="change"),
                id="monitor-order",
            ),
        ),
    ]
    return [
        tag("p", _TOLD[plan.kind].format(why=plan.why, rows=f"{plan.rows:,}")),
        tag("div", class_="evidence", aria_live="polite"),
        tag("div", tools, class_="toolbar"),
        tag("div", id="monitors", class_="monitors"),
        tag("p", id="monitor-rest", class_="help"),
    ]


_TOLD = {
    "exact": "Click a level to say that it was observed, and all other distributions follow: exact probabilities, "
    "computed in this page. Click it again to take it back. Small marks show where the levels were without evidence; "
    "in the graph, nodes are the darker the more they changed.",
    "samples": "Click a level to say that it was observed. {why} So probabilities are estimated from those of {rows} "
    "samples of the network that agree with the evidence: good to a few per cent for one piece of evidence, worse for "
    "several or rare ones. For exact answers about a few nodes, ask the network: network.query(node, evidence).",
    "none": "What follows from evidence cannot be computed in this page. {why} Shown are the shares in the data.",
}
