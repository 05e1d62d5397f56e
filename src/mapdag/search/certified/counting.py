"""Families of rows in memory under built-in likelihoods: sets of variables are counted for all children at once."""

from __future__ import annotations

import queue
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.search.certified.atoms import find_atoms
from mapdag.search.certified.candidates import Enumeration, join, most_parents
from mapdag.search.frame.memory import check_memory
from mapdag.search.frame.watch import EarlyEnd
from mapdag.tasks import threads_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import ThreadPoolExecutor

    from numpy.typing import NDArray

    from mapdag.contracts import Objective
    from mapdag.families import FamilyScores
    from mapdag.search.cache import FamilyCache
    from mapdag.search.certified.cells import Cells, Levels
    from mapdag.search.certified.sets import Index, Listed, Open
    from mapdag.search.exact.scores import Memo
    from mapdag.search.exact.tallies import Partitions, Tallies
    from mapdag.search.frame.watch import Watch
    from mapdag.terms.formulas import Terms

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Words = NDArray[np.uint64]

_CHUNK = 4096  # sets that a thread counts at a time
_BYTES = 300.0  # for each set of a layer
WORK = 2e10  # rows to be gone through, at most, where the number of parents is not limited
PACE = 5e-10  # seconds of one core for each of them
_ROUNDING = 1e-8  # of scores and limits
_SCORING = 2000.0  # what it takes to score a family, in rows


class _Tools(NamedTuple):
    """What one thread counts and scores with."""

    counters: tuple[Partitions, Cells]
    memo: Memo
    terms: Terms


class _Counted(NamedTuple):
    """What came out of some sets of a layer."""

    tallies: Tallies
    kept: tuple[Ints, Words, Floats]  # children, keys of parents, scores
    open: tuple[Words, Floats, Bools]  # keys of families, the best that may stand for each; which sets are alive
    scored: int


class CountedLattice:
    """All families of one problem, layer by layer.

    Parameters
    ----------
    objective, cache, watch, slack
        As in `mapdag.search.certified.asking.AskedLattice`.
    scores : FamilyScores
        Of the objective alone, compiled.
    work : float
        How much may be done where the number of parents is not limited, in rows to be gone through.
    """

    def __init__(
        self,
        objective: Objective,
        cache: FamilyCache,
        watch: Watch,
        scores: FamilyScores,
        *,
        slack: float = 0.0,
        work: float = WORK,
    ) -> None:
        from mapdag.recipes import Rule

        self._watch, self._slack, self._work = watch, slack, work
        rules, data = cache.rules(objective), cache.data
        self._data = data
        self._most, self._is_limited = most_parents(rules)
        self._rules = rules
        self._odds = np.where(rules.allowed, objective.prior.log_odds(data.names), 0.0)
        self._demanded = rules.fixed & rules.allowed & ~rules.allowed.T
        self._pinned = rules.fixed & rules.allowed & rules.allowed.T
        self._bits = data.n_columns.bit_length()
        limits = cache.criterion(objective).limits
        self._limits = np.array(limits) if limits else np.full(data.n_columns, np.inf)
        # What more arcs can add to the log prior of a family: that of all that are likely, or of the least unlikely.
        odds = np.where(rules.allowed, self._odds, -np.inf)
        self._more = np.where((odds > 0).any(axis=0), np.where(odds > 0, odds, 0.0).sum(axis=0), odds.max(axis=0))
        recipes = scores.recipes
        self._rule = Rule(int(recipes.codes[0]), *recipes.numbers[0].tolist())
        self._pool_type = np.uint32 if data.n_rows < 1 << 16 else np.uint64
        self._cards = data.cards.astype(np.int64)
        self._levels: Levels
        self._atoms = find_atoms(data.codes, self._cards, rules.allowed)
        self._tools: queue.SimpleQueue[_Tools] = queue.SimpleQueue()

    def enumerate(self) -> Enumeration:
        """Score all families that are worth it, the small ones first.

        Where the number of parents is not limited, it ends before a layer that would be too large. Where a limit or
        Ctrl-C ends it, what came out is that of the layers that are complete.
        """
        from mapdag.search.certified.sets import extend_sets, new_index

        n = self._data.n_columns
        sets, scored, size, work = np.arange(1, n + 1, dtype=np.uint64), 0, 0, 0.0
        known = self._open(np.empty(0, dtype=np.uint64), np.empty(0))
        before, index = self._nothing(), new_index(np.zeros(1, dtype=np.uint64))
        kept: list[tuple[Ints, Words, Floats]] = []
        with threads_for(self._watch.threads) as threads:
            self._make_tools()
            while True:
                try:
                    parts = list(self._count(threads, sets, size, known, index, before))
                except EarlyEnd:
                    if size < 2:  # nothing that a bound could be about
                        raise
                    size -= 1
                    break
                scored += (found := sum(part.scored for part in parts))
                self._watch.families += found
                kept += [part.kept for part in parts]
                alive = sets[np.concatenate([part.open[2] for part in parts])]
                if size >= self._most or not len(alive):
                    break
                before, index = _joined([part.tallies for part in parts]), new_index(sets)
                known = self._open(
                    np.concatenate([part.open[0] for part in parts]), np.concatenate([part.open[1] for part in parts])
                )
                del parts
                size += 1
                sets = np.sort(extend_sets(alive, size, known))
                if not len(sets):
                    alive, size = sets, size - 1
                    break
                next_work = len(sets) * (self._data.n_rows + _SCORING * (size + 1))
                if not self._is_limited and size > 1 and self._is_too_much(work, next_work):
                    size -= 1
                    break
                work += next_work
                check_memory(_BYTES * len(sets), f"counting {len(sets):,} sets of columns", "set max_parents")
        reached = size >= self._most and self._is_limited
        complete = not len(alive) or size >= n - 1 or reached
        return Enumeration(join(self._sorted(kept)), scored, size, complete, limited=reached and len(alive) > 0)

    def _is_too_much(self, done: float, more: float) -> bool:
        """Whether a layer would be too much work, or take most of the time that is left."""
        return done + more > self._work or more * PACE / self._watch.threads > self._watch.left / 2

    def _make_tools(self) -> None:
        """Make what each thread counts and scores with."""
        from mapdag.search.certified.cells import find_levels, new_cells
        from mapdag.search.exact.scores import new_memo
        from mapdag.search.exact.tallies import new_partitions
        from mapdag.terms.sums import new_terms

        data = self._data
        depths, levels = min(self._most + 2, data.n_columns), int(data.cards.max())
        self._levels = find_levels(data.codes, self._cards)
        for _ in range(self._watch.threads):
            counters = new_partitions(data.n_rows, depths, levels), new_cells(data.n_rows, depths)
            self._tools.put(_Tools(counters, new_memo(data.n_rows, self._rule.code), new_terms(data.total)))

    def _open(self, keys: Words, best: Floats) -> Open:
        from mapdag.search.certified.sets import Open, new_index

        levels = self._cards.astype(np.float64)
        return Open(
            new_index(keys),
            best,
            self._rules.allowed,
            self._pinned,
            np.ascontiguousarray(self._odds),
            levels,
            self._bits,
        )

    def _nothing(self) -> Tallies:
        """Tally of the empty set: all rows in one configuration."""
        half = self._pool_type().itemsize * 4
        pool = np.array([self._data.n_rows << half | 1], dtype=self._pool_type)
        return _tallies(pool, np.ones(1, dtype=np.int64), np.ones(1, dtype=np.int32), float(self._data.total))

    def _count(
        self, threads: ThreadPoolExecutor, sets: Words, size: int, known: Open, index: Index, before: Tallies
    ) -> Iterator[_Counted]:
        """Count the sets of a layer and score their families, so many parents each; chunks in order."""

        def work(first: int) -> _Counted:
            self._watch.check()
            tools = self._tools.get()
            try:
                return self._count_chunk(sets[first : first + _CHUNK], size, known, index, before, tools)
            finally:
                self._tools.put(tools)

        firsts = range(0, len(sets), _CHUNK)
        for number, part in enumerate(threads.map(work, firsts)):
            self._watch.tell("enumerating", number + 1, len(firsts))
            yield part

    def _count_chunk(
        self, sets: Words, size: int, known: Open, index: Index, before: Tallies, tools: _Tools
    ) -> _Counted:
        from mapdag.search.certified.sets import list_families

        counters, memo, terms = tools
        cells = self._tally(sets, size + 1, counters)
        listed = list_families(sets, size + 1, known, index)
        found = self._scored(listed, size, cells, before, memo, terms)
        missing = np.flatnonzero(listed.configurations < 0)
        if len(missing):  # parents that are no family of their own that is worth a look
            keys, place = np.unique(listed.parents[missing], return_inverse=True)
            some = _chosen(listed, missing)._replace(configurations=place.astype(np.int64))
            others = self._scored(some, size, cells, self._tally(keys, size, counters), memo, terms)
            for each, other in zip(found, others, strict=True):
                each[missing] = other
        scores, limits, observed, pseudo = found
        self._tighten(listed, cells, pseudo, limits)
        return self._judge(sets, size, listed, cells, scores + listed.prior, limits + listed.prior, observed)

    def _tighten(self, listed: Listed, cells: Tallies, pseudo: Floats, limits: Floats) -> None:
        """Lower what no superset exceeds, as rows that no parents tell apart have a likelihood, too."""
        from mapdag.recipes import DECLARED, EACH, FACTORISED, OBSERVED, PENALISED
        from mapdag.search.certified.sets import tighten_limits

        if self._rule.code in (PENALISED, FACTORISED):
            limits += self._atoms.likelihood[listed.child]
        elif self._rule.code in (EACH, DECLARED, OBSERVED) and len(self._atoms.gains):
            tighten_limits(listed, cells.n_groups, pseudo, self._cards, self._atoms, limits)

    def _scored(
        self, listed: Listed, size: int, cells: Tallies, before: Tallies, memo: Memo, terms: Terms
    ) -> tuple[Floats, Floats, Ints, Floats]:
        from mapdag.search.certified.sets import score_listed

        known = listed._replace(configurations=np.maximum(listed.configurations, 0))
        return score_listed(known, size, cells, before, self._cards, self._rule, memo, terms)

    def _tally(self, sets: Words, size: int, counters: tuple[Partitions, Cells]) -> Tallies:
        from mapdag.search.certified.sets import count_sets

        room = _tallies(
            np.empty(16 * len(sets), dtype=self._pool_type),
            np.empty(len(sets), dtype=np.int64),
            np.empty(len(sets), dtype=np.int32),
            float(self._data.total),
        )
        rows = self._data.codes, self._cards, self._levels
        pool = count_sets(sets, size, self._bits, rows, counters, room)
        return room._replace(pool=pool)

    def _judge(
        self, sets: Words, size: int, listed: Listed, cells: Tallies, scores: Floats, limits: Floats, observed: Ints
    ) -> _Counted:
        """Say which families are kept, and which are worth larger ones."""
        child = listed.child
        fits = observed <= self._limits[child]
        lacking = self._lacking(self._demanded, listed, size)
        scores = np.where(fits & (lacking == 0), scores, -np.inf)
        best = np.maximum(scores, listed.below)
        kept = (scores > listed.below - self._slack) & (scores > -np.inf)
        # Nothing can stand for a set with one more parent that must not be left out.
        is_open_anyway = self._lacking(self._pinned, listed, size) > 0
        going_on = fits & (is_open_anyway | (limits + self._more[child] > best - self._slack - _ROUNDING))
        alive = np.zeros(len(sets), dtype=np.bool_)
        alive[listed.cells[going_on]] = True
        keys = (child[going_on] + 1).astype(np.uint64) << np.uint64(self._bits * size) | listed.parents[going_on]
        found = child[kept], listed.parents[kept], scores[kept]
        if size >= self._most:  # nobody will look at these
            cells, keys, best, going_on = self._nothing(), keys[:0], best[:0], going_on[:0]
        return _Counted(cells, found, (keys, best[going_on], alive), len(child))

    def _lacking(self, wanted: Bools, listed: Listed, size: int) -> Ints:
        """How many of some arcs into its child each family lacks."""
        lacking = wanted.sum(axis=0)[listed.child]
        if lacking.any():
            digit = np.uint64((1 << self._bits) - 1)
            for place in range(size):
                node = (listed.parents >> np.uint64(self._bits * place) & digit).astype(np.int64) - 1
                lacking = lacking - wanted[node, listed.child]
        return lacking

    def _sorted(self, kept: list[tuple[Ints, Words, Floats]]) -> list[tuple[Words, Floats]]:
        """Families of each child, the best first, smaller keys first among equals."""
        from mapdag.search.certified.lattice import unpack_keys

        children, keys, scores = (np.concatenate(each) for each in zip(*kept, strict=True))
        order = np.lexsort((keys, -scores, children))
        children, keys, scores = children[order], keys[order], scores[order]
        n = self._data.n_columns
        sets = np.zeros((len(keys), (n + 63) // 64), dtype=np.uint64)
        unpack_keys(keys, self._bits, np.arange(n), sets)
        starts = np.searchsorted(children, np.arange(n + 1))
        return [(sets[a:b], scores[a:b]) for a, b in pairwise(starts)]


def _tallies(pool: NDArray[np.unsignedinteger], ends: Ints, n_groups: NDArray[np.int32], total: float) -> Tallies:
    from mapdag.search.exact.tallies import Tallies

    return Tallies(pool, ends, n_groups, total)


def _joined(parts: list[Tallies]) -> Tallies:
    """Tallies of several chunks as those of one."""
    begins = np.cumsum([0, *(len(part.pool) for part in parts)])
    return _tallies(
        np.concatenate([part.pool for part in parts]),
        np.concatenate([part.ends + begin for part, begin in zip(parts, begins, strict=False)]),
        np.concatenate([part.n_groups for part in parts]),
        parts[0].total,
    )


def _chosen(listed: Listed, which: Ints) -> Listed:
    columns: Any = (column[which] for column in listed)
    return type(listed)(*columns)
