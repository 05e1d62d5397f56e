"""What the bundled networks are: their size, where they come from, whom to cite. The figures are checked by a test.

The catalogue itself is `data/catalogue.json`, beside the networks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

DATA = files("mapdag.reference") / "data"
_REPOSITORY = "Bayesian network repository, https://www.bnlearn.com/bnrepository/, by way of pgmpy"


@dataclass(frozen=True)
class Entry:
    """A reference network.

    Parameters
    ----------
    name : str
        What `network` calls it.
    nodes, arcs, parameters : int
        Its size; parameters are free ones, the sum of (r - 1) q.
    citation : str
        The publication to cite.
    note : str
        Where it differs from what has been published, or nothing.
    source : str
        Where the file comes from.

    Examples
    --------
    >>> alarm = next(entry for entry in catalogue() if entry.name == "alarm")
    >>> alarm.nodes, alarm.arcs, alarm.parameters
    (37, 46, 509)
    """

    name: str
    nodes: int
    arcs: int
    parameters: int
    citation: str
    note: str = ""
    source: str = _REPOSITORY


@cache
def catalogue() -> tuple[Entry, ...]:
    """Return all bundled networks, by name.

    Examples
    --------
    >>> [entry.name for entry in catalogue()][:4]
    ['alarm', 'andes', 'asia', 'barley']
    """
    return tuple(Entry(**each) for each in json.loads((DATA / "catalogue.json").read_text(encoding="utf-8")))
