"""`Draft`: what the file of a network holds, whatever its format; and how it becomes a network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mapdag.errors import CapacityError, DataError, FormatError, GraphError, NetworkError
from mapdag.graphs import DAG
from mapdag.io.notes import Note
from mapdag.networks import BayesianNetwork
from mapdag.networks.cpts import MAX_ENTRIES, MAX_PARENTS, Floats

if TYPE_CHECKING:
    from mapdag.data import Coding


@dataclass
class Draft:
    """The parts of a network as a file has them.

    Parameters
    ----------
    source : str
        What to call the file in errors.
    levels : dict
        The levels of each variable; its order is that of the nodes.
    parents : dict
        The parents of each variable, in the order of the axes of its table.
    tables : dict
        For each variable, an array with one axis per parent and the last for itself.
    notes : mapping
        What the file notes about the originals of names and levels.
    """

    source: str
    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tables: dict[str, Floats] = field(default_factory=dict)
    notes: Mapping[str, Note] = field(default_factory=dict)

    def shape(self, node: str, parents: Sequence[str]) -> tuple[int, ...]:
        """Return the shape of a table, if one of this size can be read."""
        shape = tuple(len(self.levels[name]) for name in (*parents, node))
        if math.prod(shape) > MAX_ENTRIES or len(parents) > MAX_PARENTS:
            raise CapacityError(
                f"{self.source}: the table of {node!r} has {len(parents)} parents and {math.prod(shape):,} entries; at "
                f"most {MAX_PARENTS} and {MAX_ENTRIES:,} are possible"
            )
        return shape

    def network(self, tolerance: float) -> BayesianNetwork:
        """Return the network, with the names and levels that it had before it was written."""
        names = {node: self._note(node).name or node for node in self.levels}
        arcs = [(names[parent], names[node]) for node in self.levels for parent in self.parents[node]]
        try:
            dag = DAG(names.values(), arcs)
            cpts, levels, codings = {}, {}, {}
            for node, name in names.items():
                before = [names[parent] for parent in self.parents[node]]
                axes = [before.index(parent) for parent in dag.parents(name)]
                cpts[name] = self.tables[node].transpose(*axes, len(axes))
                levels[name] = self._labels(node)
                coding = self._coding(node)
                if coding is not None:
                    codings[name] = coding
            return BayesianNetwork(dag, levels, cpts, tolerance=tolerance, codings=codings)
        except (GraphError, NetworkError, DataError) as error:
            raise FormatError(str(error), self.source) from error

    def _note(self, node: str) -> Note:
        return self.notes.get(node, Note(node))

    def _labels(self, node: str) -> tuple[str, ...]:
        """Return the levels as they were; a note that does not know them is of another file."""
        originals = self._note(node).levels
        self._check(node, set(originals) <= set(self.levels[node]), f"the levels {', '.join(originals)}")
        return tuple(originals.get(label, label) for label in self.levels[node])

    def _coding(self, node: str) -> Coding | None:
        coding = self._note(node).coding
        if coding is not None and coding.edges is not None:
            intervals = len(coding.edges) - 1
            self._check(node, intervals <= len(self.levels[node]), f"{intervals} intervals")
        return coding

    def _check(self, node: str, fits: bool, what: str) -> None:
        if not fits:
            raise FormatError(
                f"the comment that mapdag wrote about {node!r} knows {what}, which it does not have; without the "
                "comment, the file is read as it stands",
                self.source,
            )
