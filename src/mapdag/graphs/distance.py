"""How far apart two graphs are: structural Hamming distance, Hamming distance, errors arc by arc.

The graphs must have the same node names; their order does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mapdag.errors import ParameterError
from mapdag.graphs.cpdag import CPDAG
from mapdag.graphs.dag import DAG
from mapdag.graphs.masks import count, members
from mapdag.tables import Column, Table, Tabular


def shd(a: DAG | CPDAG, b: DAG | CPDAG) -> int:
    """Return the structural Hamming distance: pairs of nodes that two equivalence classes join differently.

    DAGs are turned into CPDAGs first; a `CPDAG` is taken as it is. An unordered pair of nodes is joined by
    nothing, by an arc, by the opposite arc or by an edge; every pair where this differs counts 1
    (Tsamardinos, Brown and Aliferis, 2006, "The max-min hill-climbing Bayesian network structure learning
    algorithm").

    Examples
    --------
    >>> chain = DAG.from_modelstring("[A][B|A][C|B]")
    >>> shd(chain, DAG.from_modelstring("[C][B|C][A|B]"))
    0
    >>> shd(chain, DAG.from_modelstring("[A][C][B|A:C]"))
    2
    """
    return _status_distance(*_aligned(_class(a), _class(b)))


def hamming(a: DAG | CPDAG, b: DAG | CPDAG) -> int:
    """Return the number of pairs of nodes that are adjacent in one of the graphs and not in the other.

    Examples
    --------
    >>> hamming(DAG.from_modelstring("[A][B|A][C|B]"), DAG.from_modelstring("[A][C][B|A:C]"))
    0
    """
    first, second = _aligned(_mixed(a), _mixed(b))
    return _difference(first.adjacent_masks, second.adjacent_masks) // 2


@dataclass(frozen=True)
class Comparison(Tabular):
    """The errors of a graph, measured against a target; see `compare`.

    Attributes
    ----------
    true_positives, false_positives, false_negatives : int
        Pairs of nodes joined in the same way in both graphs; joined in the current graph, but not so in the
        target; joined in the target, but not so in the current graph. A reversed arc is both a false positive
        and a false negative.
    skeleton_true_positives, skeleton_false_positives, skeleton_false_negatives : int
        The same, directions ignored.
    reversed : int
        Arcs that point the other way.
    shd : int
        The structural Hamming distance between the equivalence classes.

    Notes
    -----
    What is missing or extra is so with regard to the target, the first graph: `missing` are the pairs of nodes that
    only the target joins, `extra` those that only the current graph joins; a reversed arc is neither. Reports use the
    same words. A ratio 0/0 is 1.0 if there was nothing to find and nothing was found, else 0.0.
    """

    true_positives: int
    false_positives: int
    false_negatives: int
    skeleton_true_positives: int
    skeleton_false_positives: int
    skeleton_false_negatives: int
    reversed: int
    shd: int

    @property
    def missing(self) -> int:
        """Pairs of nodes that are joined in the target and not in the current graph."""
        return self.skeleton_false_negatives

    @property
    def extra(self) -> int:
        """Pairs of nodes that are joined in the current graph and not in the target."""
        return self.skeleton_false_positives

    @property
    def hamming(self) -> int:
        """The Hamming distance between the skeletons: missing and extra."""
        return self.missing + self.extra

    @property
    def precision(self) -> float:
        """The share of what was found that is right."""
        return _ratio(self.true_positives, self.false_positives, self.false_negatives)

    @property
    def recall(self) -> float:
        """The share of what is right that was found."""
        return _ratio(self.true_positives, self.false_negatives, self.false_positives)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return _f1(self.true_positives, self.false_positives + self.false_negatives)

    @property
    def skeleton_precision(self) -> float:
        """The precision, directions ignored."""
        return _ratio(self.skeleton_true_positives, self.skeleton_false_positives, self.skeleton_false_negatives)

    @property
    def skeleton_recall(self) -> float:
        """The recall, directions ignored."""
        return _ratio(self.skeleton_true_positives, self.skeleton_false_negatives, self.skeleton_false_positives)

    @property
    def skeleton_f1(self) -> float:
        """The harmonic mean of precision and recall, directions ignored."""
        return _f1(self.skeleton_true_positives, self.hamming)

    def to_table(self, most: int | None = None) -> Table:
        """Return a row for the arcs, and one for the skeleton."""
        prefixes = {"arcs": "", "skeleton": "skeleton_"}
        kinds = list(prefixes)[:most]
        fields = {"right": "true_positives", "precision": "precision", "recall": "recall", "f1": "f1"}
        figures = [
            Column(
                head,
                np.array([getattr(self, prefixes[kind] + name) for kind in kinds]),
                "," if head == "right" else ".3f",
                right=True,
            )
            for head, name in fields.items()
        ]
        wrong = f"missing {self.missing:,} (in the target only), extra {self.extra:,}, reversed {self.reversed:,}"
        told = f"{wrong}; SHD {self.shd}, Hamming {self.hamming}"
        return Table([Column("of", kinds, head=""), *figures], notes=[told], left=2 - len(kinds), index=1)


def compare(target: DAG | CPDAG, current: DAG | CPDAG) -> Comparison:
    """Count what a graph gets right and wrong about a target.

    The arcs are compared as they are, not those of the equivalence classes; to compare classes, pass CPDAGs.
    There, an edge is right if it is an edge in the target, too.

    Examples
    --------
    >>> target = DAG.from_modelstring("[A][B|A][C|B][D|C]")
    >>> print(compare(target, DAG.from_modelstring("[A][C][B|A:C][D|A]")))
               right  precision  recall     f1
    arcs           1      0.333   0.333  0.333
    skeleton       2      0.667   0.667  0.667
    missing 1 (in the target only), extra 1, reversed 1; SHD 4, Hamming 2
    """
    first, second = _aligned(_mixed(target), _mixed(current))
    wanted, found = first.adjacent_masks, second.adjacent_masks
    n_wanted, n_found = count(wanted) // 2, count(found) // 2
    same_pairs = (n_wanted + n_found - _difference(wanted, found) // 2) // 2
    right = _common(first.parent_masks, second.parent_masks)
    right += _common(first.neighbour_masks, second.neighbour_masks) // 2
    return Comparison(
        true_positives=right,
        false_positives=n_found - right,
        false_negatives=n_wanted - right,
        skeleton_true_positives=same_pairs,
        skeleton_false_positives=n_found - same_pairs,
        skeleton_false_negatives=n_wanted - same_pairs,
        reversed=_common(first.parent_masks, second.child_masks),
        shd=shd(target, current),
    )


def _class(graph: DAG | CPDAG) -> CPDAG:
    """Return the equivalence class of a DAG."""
    return graph.to_cpdag() if isinstance(graph, DAG) else _checked(graph)


def _mixed(graph: DAG | CPDAG) -> CPDAG:
    """Return the graph as it is, as one that has arcs and (no) edges."""
    if isinstance(graph, DAG):
        return CPDAG.from_masks(graph.index, graph.parent_masks, [0] * len(graph.nodes), check=False)
    return _checked(graph)


def _checked(graph: CPDAG) -> CPDAG:
    if not isinstance(graph, CPDAG):
        raise ParameterError(f"a graph must be a DAG or a CPDAG, got {type(graph).__name__}")
    return graph


def _aligned(a: CPDAG, b: CPDAG) -> tuple[CPDAG, CPDAG]:
    """Return both graphs with the node order of the first."""
    if a.nodes != b.nodes:
        a.index.positions_in(b.index, "the first graph", "the second")
        b = b.reordered(a.nodes)
    return a, b


def _status_distance(a: CPDAG, b: CPDAG) -> int:
    """Return the number of unordered pairs of nodes whose status differs."""
    rows = [
        (p ^ q) | (m ^ n)
        for p, q, m, n in zip(a.parent_masks, b.parent_masks, a.neighbour_masks, b.neighbour_masks, strict=True)
    ]
    # A pair is in one row or in both, and counts once.
    twice = sum(rows[j] >> i & 1 for i, row in enumerate(rows) for j in members(row)) // 2
    return count(rows) - twice


def _difference(a: Sequence[int], b: Sequence[int]) -> int:
    """Return the number of bits in which two lists of masks differ."""
    return sum((x ^ y).bit_count() for x, y in zip(a, b, strict=True))


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    """Return the number of bits set in both of two lists of masks."""
    return sum((x & y).bit_count() for x, y in zip(a, b, strict=True))


def _ratio(right: int, wrong: int, other: int) -> float:
    """Return `right / (right + wrong)`; for 0/0, whether there was nothing else to count either."""
    return right / (right + wrong) if right + wrong else float(not other)


def _f1(right: int, wrong: int) -> float:
    """Return the harmonic mean of precision and recall; 1.0 if there is nothing at all."""
    return 2 * right / (2 * right + wrong) if right or wrong else 1.0
