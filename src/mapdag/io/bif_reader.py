"""Reading networks in the Interchange Format for Bayesian Networks (BIF), as this and other programs write it.

The format is that of version 0.15 (Cozman, 1996), with the liberties that programs take: separators may be commas or
blanks, names may be quoted or bare, configurations come in any order. Comments other than our own notes, properties and
the name of the network are skipped. What a file means is never guessed: whatever is not clear is an error that says
where it is.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from mapdag.data.problems import listed
from mapdag.io.bif_names import split_configuration, split_family
from mapdag.io.bif_scanner import Block, BlockRow, Scanner
from mapdag.io.drafts import Draft
from mapdag.io.notes import read_notes
from mapdag.networks.cpts import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mapdag.networks import BayesianNetwork


def read_bif(text: str, source: str = "BIF text", *, tolerance: float = TOLERANCE) -> BayesianNetwork:
    """Read a network from text in BIF.

    Parameters
    ----------
    text : str
        The whole file.
    source : str
        What to call it in errors.
    tolerance : float
        How far from one the probabilities of a configuration may sum; within, they are divided by their sum.

    Raises
    ------
    FormatError
        If the text cannot be read, with the line and the column of the trouble.

    Examples
    --------
    >>> net = read_bif('''
    ... network rain { }
    ... variable rain { type discrete [ 2 ] { no, yes }; }
    ... variable "wet grass" { type discrete [ 2 ] { no, yes }; }
    ... probability ( rain ) { table 0.8, 0.2; }
    ... probability ( "wet grass" | rain ) { (no) 0.9, 0.1; (yes) 0.05, 0.95; }
    ... ''')
    >>> net.nodes, net.probability("wet grass", "yes", rain="yes")
    (('rain', 'wet grass'), 0.95)
    """
    return _Builder(Scanner(text, source), tolerance).network()


class _Builder:
    """Makes a network of what was found in a file."""

    def __init__(self, file: Scanner, tolerance: float) -> None:
        self._file = file
        self._levels = file.levels
        self._tolerance = tolerance
        self._draft = Draft(file.source, file.levels, notes=read_notes(file.comments, file.source))

    def network(self) -> BayesianNetwork:
        """Return the network."""
        if not self._levels:
            self._file.fail(0, "there is no variable in this file")
        draft = self._draft
        for block in self._file.blocks:
            node, *rest = self._members(block)
            if node in draft.tables:
                self._file.fail(block.position, f"the probabilities of {node!r} are given twice")
            draft.parents[node] = tuple(rest)
            draft.tables[node] = self._table(block, node, rest)
        for node in self._levels:
            if node not in draft.tables:
                self._file.fail(len(self._file.text), f"the probabilities of {node!r} are missing")
        return draft.network(self._tolerance)

    def _members(self, block: Block) -> list[str]:
        """Return the node of a probability block and its parents."""
        names = split_family(block.header, self._levels)
        for name, times in Counter(names).items():
            if name not in self._levels:
                self._file.fail(block.position, f"the variable {name!r} is not declared")
            if times > 1:
                self._file.fail(block.position, f"{name!r} occurs twice in ({block.header.strip()})")
        if not names:
            self._file.fail(block.position, "there is no node between the parentheses")
        return names

    def _table(self, block: Block, node: str, parents: Sequence[str]) -> NDArray[np.float64]:
        """Return the table of a probability block: one axis per parent, in the order of the file, then the node's."""
        *shape, r = self._draft.shape(node, parents)
        q = math.prod(shape)
        if "table" in block.whole:
            return self._whole_table(block, node, [r, *shape])
        table = np.full((q, r), np.nan)
        if "default" in block.whole:
            table[:] = self._rows([block.whole["default"]], node)
        places = self._configurations(block, parents)
        if block.entries:
            table[places] = self._rows(block.entries, node)
        missing = np.flatnonzero(np.isnan(table[:, 0]))
        if len(missing) and not parents:
            self._file.fail(block.position, f"the probabilities of {node!r} are missing")
        if len(missing):
            codes = np.unravel_index(missing[0], shape)
            labels = ", ".join([self._levels[parent][code] for parent, code in zip(parents, codes, strict=True)])
            more = f", and {len(missing) - 1:,} more of its {q:,}" if len(missing) > 1 else ""
            self._file.fail(block.position, f"the configuration ({labels}) of {node!r} is missing{more}")
        return table.reshape(*shape, r)

    def _whole_table(self, block: Block, node: str, shape: Sequence[int]) -> NDArray[np.float64]:
        """Return a table given as one list: all configurations for the first level of the node, then its second."""
        position, _, text = block.whole["table"]
        if block.entries or "default" in block.whole:
            self._file.fail(position, f"the block of {node!r} has a 'table' and other entries; one of them must go")
        size = math.prod(shape)
        expected = f"one probability for each of the {shape[0]} levels of {node!r}"
        if len(shape) > 1:
            expected += f" and {size // shape[0]:,} configurations"
        values: NDArray[np.float64] = np.array(self._numbers(text, position, size, expected)).reshape(shape[0], -1).T
        self._check_sums(values, [position] * len(values), node)
        return values.reshape(*shape[1:], shape[0])

    def _rows(self, entries: Sequence[BlockRow], node: str) -> NDArray[np.float64]:
        """Return the distributions that some entries hold."""
        expected = f"one probability for each level of {node!r}"
        count = len(self._levels[node])
        rows = np.array([self._numbers(entry.numbers, entry.position, count, expected) for entry in entries])
        self._check_sums(rows, [entry.position for entry in entries], node)
        return rows

    def _numbers(self, text: str, position: int, count: int, expected: str) -> list[float]:
        """Return the numbers of an entry."""
        tokens = text.replace(",", " ").split()
        try:
            numbers = list(map(float, tokens))
        except ValueError:
            wrong = next(token for token in tokens if not _is_number(token))
            self._file.fail(self._file.text.index(wrong, position), f"{wrong!r} is not a number")
        if len(numbers) != count:
            self._file.fail(position, f"expected {count:,} numbers, {expected}, got {len(numbers):,}")
        return numbers

    def _check_sums(self, rows: NDArray[np.float64], positions: Sequence[int], node: str) -> None:
        """Refuse rows that are no distributions."""
        sums = rows.sum(axis=1)
        wrong = ~((np.abs(sums - 1) <= self._tolerance) & (rows >= 0).all(axis=1))
        if not wrong.any():
            return
        first = int(np.argmax(wrong))
        if not np.isfinite(rows[first]).all() or (rows[first] < 0).any():
            what = "are not all between 0 and 1"
        else:
            what = f"sum to {sums[first]:.10g} instead of 1"
        more = f" (and those of {int(wrong.sum()) - 1:,} more configurations)" if wrong.sum() > 1 else ""
        hint = "; pass a larger tolerance to have them scaled" if abs(sums[first] - 1) < 0.1 else ""
        self._file.fail(positions[first], f"the probabilities of {node!r} {what}{more}{hint}")

    def _configurations(self, block: Block, parents: Sequence[str]) -> NDArray[np.int64]:
        """Return the position of every entry's configuration in the table."""
        strides = [math.prod(len(self._levels[p]) for p in parents[i + 1 :]) for i in range(len(parents))]
        places = [
            {label: code * stride for code, label in enumerate(self._levels[parent])}
            for parent, stride in zip(parents, strides, strict=True)
        ]
        codes = []
        seen: set[int] = set()
        for position, text, _ in block.entries:
            try:
                code = sum([place[label.strip()] for place, label in zip(places, text.split(","), strict=True)])
            except (KeyError, ValueError):
                code = self._odd_configuration(position, text, parents, places)
            if code in seen:
                self._file.fail(position, f"the configuration ({text.strip()}) is given twice")
            seen.add(code)
            codes.append(code)
        return np.array(codes, dtype=np.int64)

    def _odd_configuration(
        self, position: int, text: str, parents: Sequence[str], places: Sequence[Mapping[str, int]]
    ) -> int:
        """Return the position of a configuration that is not simply labels between commas, or say what is wrong."""
        labels = split_configuration(text, places)
        if len(labels) == len(parents) and all(map(operator.contains, places, labels)):
            return sum(map(operator.getitem, places, labels))
        if "\n" in text:
            self._file.fail(position, "this entry does not end with ';'")
        if len(labels) != len(parents):
            names = ", ".join(parents) or "there are none"
            self._file.fail(
                position, f"expected one level for each of the {len(parents)} parents ({names}), got {len(labels)}"
            )
        wrong, label = next((i, label) for i, label in enumerate(labels) if label not in places[i])
        return self._file.fail(
            position, f"{parents[wrong]!r} has no level {label!r}; its levels are {listed(places[wrong], 10)}"
        )


def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True
