"""Families of any data, likelihood and engine: they are asked for, layer by layer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mapdag.counts import Request
from mapdag.graphs.masks import members
from mapdag.search.certified.candidates import Enumeration, join, most_parents, words_of
from mapdag.search.frame.memory import check_memory
from mapdag.search.frame.watch import EarlyEnd

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mapdag.contracts import Objective
    from mapdag.families import FamilyScores
    from mapdag.search.cache import FamilyCache
    from mapdag.search.certified.lattice import Extensions, Layer
    from mapdag.search.frame.watch import Watch

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Words = NDArray[np.uint64]

_MOST = 6_000_000  # families that are scored where the number of parents is not limited
_ASKED = 4096  # families, with their candidates, that are asked for at a time
_BYTES = 40.0  # for each family of a layer


class _Child:
    """One child, its candidate parents, and the sets of them that were scored.

    Parameters
    ----------
    node : int
    demanded : tuple of int
        Nodes that are parents in any case; sets are those of the others.
    candidates : tuple of int
        Ascending.
    pinned : bool array (candidates,)
        Those that must be parents unless they are children.
    odds : float array (candidates,)
        Log prior of each arc.
    """

    def __init__(
        self, node: int, demanded: tuple[int, ...], candidates: Ints, pinned: NDArray[np.bool_], odds: Floats
    ) -> None:
        self.node, self.demanded, self.candidates, self.pinned, self.odds = node, demanded, candidates, pinned, odds
        self.bits = len(candidates).bit_length()
        self.layer: Layer
        self.gains: Floats  # of the sets of the layer, on the best of their subsets
        self.kept: list[tuple[Words, Floats]] = []  # keys and scores
        self.is_cut = False  # whether larger sets were left out because of the limit on parents

    def begin(self, score: float, *, is_open: bool) -> None:
        """Begin with the set that has nobody but those that must be there."""
        from mapdag.search.certified.lattice import Layer

        nothing = np.zeros(1, dtype=np.uint64)
        self.layer = Layer(nothing, np.array([score]), np.zeros(1), np.array([is_open]))
        self.gains = np.zeros(1)
        self.kept.append((nothing, np.array([score])))

    def base(self) -> Request:
        """Return the family of those that must be there."""
        return Request(self.node, self.demanded)

    def requests(self, rows: Ints, last: Ints) -> Iterator[Request]:
        """Ask for sets, each made from one of the last layer and one more candidate."""
        from mapdag.search.certified.lattice import unpack_keys

        if not len(rows):
            return
        begins = np.flatnonzero(np.diff(rows, prepend=-1))
        words = np.zeros((len(begins), (int(self.candidates[-1]) >> 6) + 1), dtype=np.uint64)
        unpack_keys(self.layer.keys[rows[begins]], self.bits, self.candidates, words)
        nodes = self.candidates[last]
        for i, (begin, end) in enumerate(zip(begins, [*begins[1:], len(rows)], strict=True)):
            parents = members(sum(int(word) << 64 * j for j, word in enumerate(words[i])))
            yield Request(self.node, tuple(sorted((*self.demanded, *parents))), tuple(nodes[begin:end].tolist()))

    def families(self, n_words: int) -> tuple[Words, Floats]:
        """Sets of parents that were kept and their scores, the best first, smaller keys first among equals."""
        from mapdag.search.certified.lattice import unpack_keys

        keys, scores = (np.concatenate(each) for each in zip(*self.kept, strict=True))
        order = np.lexsort((keys, -scores))
        order = order[scores[order] > -math.inf]
        sets = np.repeat(words_of([sum(1 << p for p in self.demanded)], n_words), len(order), axis=0)
        unpack_keys(keys[order], self.bits, self.candidates, sets)
        return sets, scores[order]


class AskedLattice:
    """All families of one problem, layer by layer.

    Parameters
    ----------
    objective, cache
        What to maximise, on which data, under which constraints.
    watch : Watch
    scores : FamilyScores
        Of the objective alone; with gaps and `Support`, without its limits, too: there a larger set may be allowed
        where a smaller one is not, as it leaves fewer rows.
    slack : float
        A family is left out if a subset has a score that is higher by at least that much: no graph within `slack` of
        the best one has it.
    margins : sequence of float
        Where there is no room to extend all families, those are not extended that a subset beats by so much: by the
        first of these numbers, in descending order, that makes room.
    most : int, optional
        Families that are scored where the number of parents is not limited.
    listed : int, optional
        Families of each size that are kept for a child, those that gain the most on their subsets.

    Attributes
    ----------
    left_out : float
        Sum over the families that were scored and left out of exp(score - highest score of a subset): no more than the
        posterior probability that a graph has any of them.
    """

    def __init__(
        self,
        objective: Objective,
        cache: FamilyCache,
        watch: Watch,
        scores: FamilyScores,
        *,
        slack: float = 0.0,
        margins: Sequence[float] = (),
        most: int | None = None,
        listed: int | None = None,
    ) -> None:
        self._watch = watch
        self._slack, self._margins = slack, margins
        self._room, self._listed = _MOST if most is None else most, listed
        self.left_out = 0.0
        rules = cache.rules(objective)
        data = cache.data
        self._most, self._is_limited = most_parents(rules)
        odds = np.where(rules.allowed, objective.prior.log_odds(data.names), 0.0)
        self._scores = scores
        self._n_words = (data.n_columns + 63) // 64
        demanded = rules.fixed & rules.allowed & ~rules.allowed.T
        pinned = rules.fixed & rules.allowed & rules.allowed.T
        self._base = [math.fsum(odds[demanded[:, node], node]) for node in range(data.n_columns)]
        self._children = [
            _Child(
                node,
                tuple(np.flatnonzero(demanded[:, node]).tolist()),
                free := np.flatnonzero(rules.allowed[:, node] & ~demanded[:, node]),
                pinned[free, node],
                odds[free, node],
            )
            for node in range(data.n_columns)
        ]

    def enumerate(self) -> Enumeration:
        """Score all families that are worth it, the small ones first.

        Where the number of parents is not limited, it ends before a layer that would be too large. Where a limit or
        Ctrl-C ends it, what came out is that of the layers that are complete.
        """
        firsts = self._scores.scores([child.base() for child in self._children])
        for child, score, prior in zip(self._children, firsts, self._base, strict=True):
            child.begin(float(score[0, 0]) + prior, is_open=bool(score[-1, 0] > -math.inf))
        scored, size = len(self._children), 0
        while True:
            planned = self._plan(size, scored)
            asked = sum(len(each.rows) for each in planned)
            is_too_much = not self._is_limited and size > 0 and scored + asked > self._room
            if asked == 0 or is_too_much:
                break
            size += 1
            check_memory(_BYTES * asked, f"scoring {asked:,} families", "set max_parents or forbid arcs")
            try:
                for number, (child, sets) in enumerate(zip(self._children, planned, strict=True)):
                    self._watch.tell("enumerating", number, len(planned))
                    self._score(child, sets)
            except EarlyEnd:
                if size < 2:  # nothing that a bound could be about
                    raise
                for child in self._children:
                    child.kept = child.kept[:size]  # one for each size
                size, is_too_much = size - 1, True
                break
            scored += asked
            self._watch.families += asked
        cut = any(child.is_cut for child in self._children)
        families = join([child.families(self._n_words) for child in self._children])
        if not is_too_much and cut and self._is_limited:
            return Enumeration(families, scored, self._most, complete=True, limited=True)
        return Enumeration(families, scored, size, complete=not (is_too_much or cut))

    def _plan(self, size: int, scored: int) -> list[Extensions]:
        """Return the sets of the next layer that are worth a look, and for which there is room."""
        planned = [self._extend(child, size + 1) for child in self._children]
        for margin in self._margins:
            if size == 0 or scored + sum(len(each.rows) for each in planned) <= self._room:
                break
            for child in self._children:
                child.layer = child.layer._replace(open=child.layer.open & (child.gains > -margin))
            planned = [self._extend(child, size + 1) for child in self._children]
        return planned

    def _extend(self, child: _Child, size: int) -> Extensions:
        """Return the sets of so many candidates of a child that are worth a look."""
        from mapdag.search.certified.lattice import Extensions, extend_layer

        if size + len(child.demanded) > self._most or not len(child.candidates):
            child.is_cut |= bool(len(child.candidates) and child.layer.open.any() and size <= len(child.candidates))
            nothing = np.empty(0, dtype=np.int64)
            return Extensions(nothing, nothing, np.empty(0, dtype=np.uint64), np.empty(0))
        return extend_layer(child.layer, size - 1, child.bits, child.pinned)

    def _score(self, child: _Child, sets: Extensions) -> None:
        """Score sets of one child; they become its layer, and those that nothing can stand for are kept."""
        from mapdag.search.certified.lattice import Layer

        found = []
        requests = list(child.requests(sets.rows, sets.last))
        for first in range(0, len(requests), _ASKED):
            self._watch.check()
            found += self._scores.scores(requests[first : first + _ASKED])
        prior = child.layer.prior[sets.rows] + child.odds[sets.last]
        known = np.concatenate(found, axis=1) if found else np.empty((1, 0))
        scores = known[0] + (prior + self._base[child.node])
        kept = scores > sets.below - self._slack
        if self._listed is not None and kept.sum() > self._listed:
            gains = np.where(kept, scores - sets.below, -math.inf)
            kept &= gains >= np.partition(gains, -self._listed)[-self._listed]
        child.kept.append((sets.keys[kept], scores[kept]))
        known_loss = ~kept & (scores > -math.inf) & (sets.below > -math.inf)
        self.left_out += float(np.exp(scores[known_loss] - sets.below[known_loss]).sum())
        with np.errstate(invalid="ignore"):
            child.gains = np.where(scores > -math.inf, scores - sets.below, math.inf)
        child.layer = Layer(sets.keys, np.maximum(scores, sets.below), prior, known[-1] > -math.inf)
