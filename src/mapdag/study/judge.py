"""How good a learned graph is: distance to the true one, and log-likelihood of the test set.

Both are added up from parts that many graphs of one sample share, so that each part is computed once: a graph that two
objectives learn, and a family that two graphs contain.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.graphs import compare
from mapdag.graphs.masks import members

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.data import Dataset
    from mapdag.graphs import DAG
    from mapdag.study.samples import Truth

    Ints = NDArray[np.int64]

_ALPHA = 1.0  # imaginary sample size of the parameters, as in the paper
_DENSE = 8  # cells of a table for each row of the sample and the test set, from which on it is not laid out in full


@dataclass(frozen=True)
class Quality:
    """What a graph is worth; the attributes as in `mapdag.study.cells.Row`."""

    shd: int
    arcs: int
    true_arcs: int
    log_likelihood: float
    precision: float
    recall: float
    skeleton_precision: float
    skeleton_recall: float
    graph: str


class Judge:
    """Compares graphs learned from one sample with the truth.

    Parameters
    ----------
    truth : Truth
    sample : Dataset
        What the graphs were learned from; the columns in the order of the network.
    """

    def __init__(self, truth: Truth, sample: Dataset) -> None:
        self._truth = truth
        self._cards = sample.cards.tolist()
        self._codes = (sample.codes, truth.test.codes)
        self._limit = _DENSE * (sample.n_rows + truth.test.n_rows)
        self._known: dict[tuple[int, ...], Quality] = {}
        self._families: dict[tuple[int, int], float] = {}

    def judge(self, dag: DAG) -> Quality:
        """Measure a graph, its nodes in any order."""
        truth = self._truth.network.dag
        if dag.nodes != truth.nodes:
            dag = dag.reordered(truth.nodes)
        masks = dag.parent_masks
        if masks not in self._known:
            self._known[masks] = self._measure(dag)
        return self._known[masks]

    def _measure(self, dag: DAG) -> Quality:
        found = compare(self._truth.cpdag, dag.to_cpdag())
        text = ";".join(format(mask, "x") for mask in dag.parent_masks)
        return Quality(
            shd=found.shd,
            arcs=dag.n_arcs,
            true_arcs=self._truth.network.dag.n_arcs,
            log_likelihood=math.fsum(self._family(child, mask) for child, mask in enumerate(dag.parent_masks)),
            precision=found.precision,
            recall=found.recall,
            skeleton_precision=found.skeleton_precision,
            skeleton_recall=found.skeleton_recall,
            graph=hashlib.sha256(text.encode()).hexdigest()[:16],
        )

    def _family(self, child: int, mask: int) -> float:
        if (child, mask) not in self._families:
            self._families[child, mask] = self._log_likelihood(child, members(mask))
        return self._families[child, mask]

    def _log_likelihood(self, child: int, parents: Sequence[int]) -> float:
        """Log-likelihood of one column of the test set given its parents, estimated from the sample.

        The sum of log((n_ijk + a) / (n_ij + r a)) over the rows of the test set, with a = alpha / (r q).
        """
        r, q = self._cards[child], math.prod(self._cards[p] for p in parents)
        sample, test, seen = self._configurations(parents)
        counts = np.bincount(sample * r + self._codes[0][child], minlength=seen * r).reshape(seen, r)
        wanted = np.bincount(test * r + self._codes[1][child], minlength=seen * r).reshape(seen, r)
        used = wanted.any(axis=1)
        counts, wanted = counts[used], wanted[used]
        levels = np.log(counts + _ALPHA / (r * q)) * wanted
        totals = np.log(counts.sum(axis=1) + _ALPHA / q) * wanted.sum(axis=1)
        return float(levels.sum() - totals.sum())

    def _configurations(self, parents: Sequence[int]) -> tuple[Ints, Ints, int]:
        """Number the configurations of the parents in the sample and in the test set; and how many numbers there are.

        All of them where that is not many more than there are rows; otherwise those that occur.
        """
        rows = [self._codes[0].shape[1], self._codes[1].shape[1]]
        if not parents:
            return np.zeros(rows[0], dtype=np.int64), np.zeros(rows[1], dtype=np.int64), 1
        keys: Any = [codes[parents[0]].astype(np.int64) for codes in self._codes]
        so_far = self._cards[parents[0]]
        for p in parents[1:]:
            if so_far * self._cards[p] > self._limit:
                _, both = np.unique(np.concatenate(keys), return_inverse=True)
                keys, so_far = [both[: rows[0]], both[rows[0] :]], int(both.max()) + 1
            for which, codes in enumerate(self._codes):
                keys[which] *= self._cards[p]
                keys[which] += codes[p]
            so_far *= self._cards[p]
        return keys[0], keys[1], so_far
