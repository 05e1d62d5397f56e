"""Files of networks as other packages read them: every entry of every table, by names, in any order of the axes."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

#: {node: {{(node, level), (parent, level), ...}: probability}}
Entries = dict[str, dict[frozenset[tuple[str, str]], float]]

SINGLE = 1e-6  # pyAgrum's files hold single precision
_NOTE = re.compile(r"\s*(//|<!--|%) mapdag: \{.*")
_FORMATS = {"bif": "BIF", "bifxml": "XMLBIF", "net": "NET"}


def as_written(path: Path) -> Entries:
    """What a file says to those who skip our notes in it."""
    import mapdag as md

    text = "\n".join(line for line in path.read_text().split("\n") if not _NOTE.fullmatch(line))
    network = md.read_network(text.encode(), format=_FORMATS[path.suffix[1:]].lower())
    return {node: _table((*network.parents(node), node), network.levels, network.cpt(node)) for node in network.nodes}


def by_pgmpy(path: Path) -> Entries:
    from pgmpy import readwrite

    model = getattr(readwrite, f"{_FORMATS[path.suffix[1:]]}Reader")(str(path)).get_model()
    model.check_model()
    return {cpd.variable: _table(cpd.variables, cpd.state_names, cpd.values) for cpd in model.get_cpds()}


def by_pyagrum(path: Path) -> Entries:
    import pyagrum

    model = pyagrum.loadBN(str(path))
    found = {}
    for node in model.names():
        cpt = model.cpt(node)
        variables = [cpt.variable(i) for i in range(cpt.nbrDim())]
        levels = {variable.name(): list(variable.labels()) for variable in variables}
        # Its arrays have the last variable first.
        found[node] = _table([variable.name() for variable in variables][::-1], levels, cpt.toarray())
    return found


def difference(first: Entries, second: Entries) -> float:
    """The largest difference between two entries; infinite where names or levels are not the same."""
    if first.keys() != second.keys():
        return float("inf")
    gaps = [0.0]
    for node, table in first.items():
        if table.keys() != second[node].keys():
            return float("inf")
        gaps += [abs(p - second[node][case]) for case, p in table.items()]
    return max(gaps)


def _table(family: Any, levels: Any, values: Any) -> dict[frozenset[tuple[str, str]], float]:
    every = itertools.product(*[levels[member] for member in family])
    return {frozenset(zip(family, case, strict=True)): float(p) for case, p in zip(every, values.ravel(), strict=True)}
