"""`Draft`: what the file of a network holds, whatever its format; and how it becomes a network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from mapdag.data.problems import listed
from mapdag.errors import CapacityError, DataError, FormatError, GraphError, NetworkError
from mapdag.graphs import DAG
from mapdag.io.notes import Note
from mapdag.networks import BayesianNetwork
from mapdag.networks.cpts import MAX_ENTRIES, MAX_PARENTS, Floats

if TYPE_CHECKING:
    from mapdag.data import Coding


_MANY = 100  # the product of more numbers of levels than this is too long to be written


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

    def declare(self, node: str, labels: Sequence[str], line: int | None) -> None:
        """Add a variable with its levels."""
        if not node or node in self.levels:
            self._fail(f"the variable {node!r} is declared twice" if node else "a variable has no name", line)
        if not labels or "" in labels or len(set(labels)) < len(labels):
            self._fail(f"the levels of {node!r} must be different and not empty, got {listed(labels)}", line)
        self.levels[node] = tuple(labels)

    def define(self, node: str, parents: Sequence[str], numbers: Sequence[str], line: int | None) -> None:
        """Add the probabilities of a variable: in each configuration those of its levels, the last parent fastest."""
        for name in (node, *parents):
            if name not in self.levels:
                self._fail(f"the variable {name!r} is not declared", line)
        if node in self.tables or node in parents or len(set(parents)) < len(parents):
            self._fail(f"the probabilities of {node!r} are given twice, or given the same variable twice", line)
        shape = self.shape(node, parents)
        if len(numbers) != math.prod(shape):
            self._fail(
                f"expected {math.prod(shape):,} numbers, one probability for each of the {shape[-1]} levels of {node!r}"
                f" and {math.prod(shape[:-1]):,} configurations, got {len(numbers):,}",
                line,
            )
        try:
            table = np.array([float(number) for number in numbers])
        except ValueError as error:
            self._fail(f"the probabilities of {node!r} must be numbers: {error}", line)
        self.parents[node], self.tables[node] = tuple(parents), table.reshape(shape)

    def _fail(self, message: str, line: int | None) -> NoReturn:
        raise FormatError(message, self.source, line)

    def shape(self, node: str, parents: Sequence[str]) -> tuple[int, ...]:
        """Return the shape of a table, if one of this size can be read."""
        shape = tuple(len(self.levels[name]) for name in (*parents, node))
        entries = math.prod(shape[:_MANY])
        if len(parents) > MAX_PARENTS or entries > MAX_ENTRIES:
            raise CapacityError(
                f"{self.source}: the table of {node!r} has {len(parents)} parents and {entries:,} entries; at "
                f"most {MAX_PARENTS} and {MAX_ENTRIES:,} are possible"
            )
        return shape

    def network(self, tolerance: float, order: Sequence[str] = ()) -> BayesianNetwork:
        """Return the network, with the names and levels that it had before it was written.

        `order` has the nodes in order, if that of the file is another; unless it has others.
        """
        for node in self.levels:
            if node not in self.tables:
                self._fail(f"the probabilities of {node!r} are missing", None)
        nodes = order if sorted(order) == sorted(self.levels) else self.levels
        names = {node: self._note(node).name or node for node in nodes}
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
            self._fail(
                f"the comment that mapdag wrote about {node!r} knows {what}, which it does not have; without the "
                "comment, the file is read as it stands",
                None,
            )
