"""The scores of all families of a data set, child after child: what exact search and exact posteriors start from."""

from __future__ import annotations

import math
import queue
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mapdag.counts import Request
from mapdag.counts.passes import sealed
from mapdag.errors import CapacityError, ParameterError, Setting
from mapdag.families import FamilyScores
from mapdag.graphs.masks import members
from mapdag.objective.constraints import complete_start
from mapdag.search.frame.memory import check_memory, fits
from mapdag.search.frame.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mapdag.contracts import Objective
    from mapdag.data import Dataset
    from mapdag.data.labels import Codes
    from mapdag.objective.constraints import Rules
    from mapdag.search.cache import FamilyCache
    from mapdag.search.exact.scores import Lookup
    from mapdag.search.exact.subsets import Families
    from mapdag.search.exact.tallies import Partitions, Tallies
    from mapdag.search.frame.options import Options
    from mapdag.terms.formulas import Terms

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: What an arc is charged so that the fewest win among equals: far more than rounding errors, far less than evidence.
TIE = 2.0**-26

MOST_NODES = 30  # bits of a set that are looked up, ten at a time
_BLOCK, _BLOCKS = 10, 8  # bits of the sets that are tallied at a time, at least; bits of the number of times, at most
_STRETCH = 1 << 15  # families that are scored at a time
_PART = 1 << 16  # families that one thread scores before it takes others
_SHORTEST = 13  # bits of the sets that are gone through at a time, at least
_ASKED = 256  # families, with their candidates, that are asked for at a time where they are not compiled
_OVERHEAD = 60e6  # terms and the like, for each thread

_FEW_NODES = 20  # for which the time is estimated; beyond, arrays of all families take hundreds of megabytes
# Nanoseconds of one core, more or less:
_NS_ROW, _NS_STEP = 5.0, 10.0  # for each row of a set of nodes that is counted; for each set and node of the program
_NS_FAMILY, _NS_TERM = 300.0, 60.0  # for each family; for each of its counts, where pseudo-counts differ by family
_NS_ALONE, _NS_ALONE_ROW = 15_000.0, 9.0  # for each family that is counted by itself, and for each of its rows


@dataclass(frozen=True)
class Child:
    """One node and the parents that it may have; sets of these are places, bit i for the i-th candidate.

    Attributes
    ----------
    node : int
    candidates : tuple of int
        Nodes that may be parents, ascending.
    demanded, pinned : int
        Places: candidates that must be parents; that must be parents unless they come after the node.
    start : int
        Where its scores begin among those of all children.
    """

    node: int
    candidates: tuple[int, ...]
    demanded: int
    pinned: int
    start: int

    @property
    def size(self) -> int:
        """Sets of candidates."""
        return 1 << len(self.candidates)

    def place(self, nodes: int) -> int:
        """Place of the candidates that are in a set of nodes."""
        return sum(1 << i for i, candidate in enumerate(self.candidates) if nodes >> candidate & 1)

    def nodes(self, place: int) -> int:
        """Set of nodes at a place."""
        return sum(1 << self.candidates[i] for i in members(place))

    def extensions(self, place: int) -> Request:
        """Return the family at a place with each candidate after its own: all places together, every family once."""
        parents = tuple(self.candidates[i] for i in members(place))
        return Request(self.node, parents, self.candidates[place.bit_length() :])


class Lattice:
    """All sets of nodes of one problem, and the scores of all families.

    Parameters
    ----------
    cache : FamilyCache
        Knows the data, and how thin a family may be.
    objective : Objective
        Its prior must be a sum over arcs.
    options : Options
        For limits, progress and threads.
    charge : float
        What every arc costs.
    copies : int
        How many arrays of the size of all families are needed, for the estimate of memory. If only one is, and it would
        take half of what is available, `in_lists` is true.
    """

    def __init__(
        self,
        cache: FamilyCache,
        objective: Objective,
        options: Options,
        *,
        charge: float = TIE,
        copies: int = 1,
    ) -> None:
        if not objective.prior.is_arcwise:
            raise ParameterError(
                f"exact search needs a prior that is a sum over arcs, and {objective.prior} looks at whole graphs; "
                "use another prior or another search"
            )
        self.watch = watch = Watch(options)
        self.data = data = cache.data
        self.objective = objective
        self.cache = cache
        rules = cache.rules(objective)
        complete_start(None, rules, data.names)  # raises where no graph obeys the rules
        self.n_nodes = data.n_columns
        self.most = rules.max_parents
        self.children = _children(rules)
        self._check_size(copies)
        self._odds = np.where(rules.allowed, objective.prior.log_odds(data.names), 0.0) - charge
        self._criterion = cache.criterion(objective)
        self._families = FamilyScores(data, [self._criterion], engine=cache.engine, threads=watch.threads)
        alone = self._families.scores([Request(child.node, ()) for child in self.children])
        self.base = [float(scores[0, 0]) for scores in alone]

    @property
    def is_compiled(self) -> bool:
        """Whether all families of a child are scored by compiled code, in any thread."""
        return self._families.is_compiled and not self.data.has_gaps  # whose tallies are not sums of larger ones

    @property
    def size(self) -> int:
        """Sets of candidates of all children."""
        return sum(child.size for child in self.children)

    def _check_size(self, copies: int) -> None:
        n = self.n_nodes
        way_out = "set max_parents, forbid arcs, use fewer nodes, or another search such as ", Setting("search", "hc")
        if n > MOST_NODES:
            raise CapacityError(f"exact search takes at most {MOST_NODES} nodes, got {n}; use another search")
        tallied = sum(math.comb(n, size) for size in range(min(self.most + 1, n) + 1))
        different = min(math.sqrt(2 * self.data.n_rows) + 1, 32)  # counts in one tally, on average
        width = 4 if self.data.n_rows < 1 << 16 else 8
        tallies = (2 * tallied * different * width + 2**n * 12.0) * _times_tallied(self.data)
        partitions = self.watch.threads * (self.data.n_rows * (n + 1) * 8.0 + _OVERHEAD)
        common = 2**n * 8.0 * max(copies, 1) + tallies + partitions
        self.in_lists = copies == 0 or (copies == 1 and not fits(2 * (common + self.size * 8.0)))
        needed = self.size * 8.0 * copies
        if self.in_lists:
            needed = 8.0 * max(child.size for child in self.children) * (self.watch.threads + 1)
        check_memory(common + needed, f"exact search of {n} nodes", *way_out)

    def scores(self) -> Floats:
        """Score of every family, relative to that of the child alone: likelihood and prior."""
        found = np.empty(self.size)
        score = self.scorer()
        jobs = [partial(score, child, found[child.start : child.start + child.size]) for child in self.children]
        if self.is_compiled:  # in parts, so that threads are busy to the end
            jobs = [
                partial(score, child, found[child.start + first : child.start + min(first + _PART, child.size)], first)
                for child in self.children
                for first in range(0, child.size, _PART)
            ]
        self.watch.work("scoring", jobs, in_turn=not self.is_compiled)
        return found

    def scorer(self) -> Callable[..., None]:
        """Make a function that scores families of a child, ``score(child, out)`` all of them.

        If likelihoods are compiled, threads may share it, and ``score(child, out, first)`` scores some from a place on.
        """
        self.watch.families += sum(math.comb(len(c.candidates), k) for c in self.children for k in range(self.most + 1))
        return self._scorer_by_tallies() if self.is_compiled else self._score_by_tables

    def undominated(self, phase: str) -> dict[int, tuple[Ints, Floats]]:
        """List the sets of parents that score higher than all their subsets, best first, by child: places, scores."""
        from mapdag.search.exact.subsets import keep_undominated

        score = self.scorer()
        found: dict[int, tuple[Ints, Floats]] = {}

        def make_list(child: Child) -> None:
            scores = np.empty(child.size)
            score(child, scores)
            places, values = keep_undominated(scores, child.pinned, self.most)
            order = np.lexsort((places, -values))
            order = order[np.isfinite(values[order])]
            found[child.node] = places[order], values[order]

        jobs = [partial(make_list, child) for child in self.children]
        self.watch.work(phase, jobs, in_turn=not self.is_compiled)
        return found

    def _scorer_by_tallies(self) -> Callable[..., None]:
        from mapdag.recipes import Rule
        from mapdag.search.exact.scores import Memo, new_memo, score_families
        from mapdag.terms.sums import new_terms

        tallies = self._tallies_of_children()
        recipes = self._families.recipes
        rule = Rule(int(recipes.codes[0]), *recipes.numbers[0].tolist())
        spare: list[tuple[Memo, Terms]] = []  # of threads that have done their part
        lookups = {child.node: self._lookup(child) for child in self.children}

        def score(child: Child, out: Floats, begin: int = 0) -> None:
            try:
                memo, terms = spare.pop()
            except IndexError:
                memo, terms = new_memo(self.data.n_rows, rule.code), new_terms(self.data.total)
            known = lookups[child.node]
            for first in range(0, len(out), _STRETCH):
                self.watch.check()
                score_families(
                    known, tallies[child.node], rule, memo, terms, begin + first, out[first : first + _STRETCH]
                )
            spare.append((memo, terms))

        return score

    def _tallies_of_children(self) -> dict[int, Tallies]:
        """Counts of all sets of variables, by child: in the rows in which it was not set."""
        was_set = self.data.interventions
        names = () if was_set is None else was_set.names
        others = [child for child in self.children if self.data.names[child.node] not in names]
        found: dict[int, Tallies] = {}
        if others:
            found |= dict.fromkeys((child.node for child in others), self._tallies(self.data.codes, others))
        for child in self.children:
            if was_set is not None and child.node not in found:
                left = ~was_set.rows_of(self.data.names[child.node])
                found[child.node] = self._tallies(sealed(np.ascontiguousarray(self.data.codes[:, left])), [child])
        return found

    def _tallies(self, codes: Codes, children: Sequence[Child]) -> Tallies:
        """Counts of all sets of variables that some children need, in some rows."""
        from mapdag.search.exact.tallies import Tallies, Wanted, new_partitions, tally_block

        n, n_rows = self.n_nodes, codes.shape[1]
        ends = np.empty(1 << n, dtype=np.int64)
        n_groups = np.empty(1 << n, dtype=np.int32)
        kind = np.uint32 if n_rows < 1 << 16 else np.uint64
        families = [sum(1 << c for c in child.candidates) | 1 << child.node for child in children]
        wanted = Wanted(self.most + 1, np.array(families, dtype=np.int64))
        spare: queue.SimpleQueue[Partitions] = queue.SimpleQueue()
        most_levels = int(self.data.cards.max())
        for _ in range(self.watch.threads):
            spare.put(new_partitions(n_rows, n, most_levels))
        size = 1 << min(max(_BLOCK, n - _BLOCKS), n)
        pools = [np.empty(0, dtype=kind)] * (len(ends) // size)
        total = float(self._families.totals[children[0].node])

        def tally(block: int) -> None:
            partitions = spare.get()
            mine = slice(block * size, (block + 1) * size)
            out = Tallies(np.empty(size, dtype=kind), ends[mine], n_groups[mine], total)
            pool, used = tally_block(block * size, codes, self.data.cards, wanted, partitions, out)
            pools[block] = pool[:used].copy()
            spare.put(partitions)

        self.watch.work("counting", [partial(tally, block) for block in range(len(pools))])
        begins = np.cumsum([0, *(len(pool) for pool in pools)])
        for block in range(len(pools)):
            ends[block * size : (block + 1) * size] += begins[block]
        return Tallies(np.concatenate(pools), ends, n_groups, total)

    def _lookup(self, child: Child) -> Lookup:
        """Return what `score_families` takes of a child."""
        from mapdag.search.exact.scores import CHUNK, CHUNKS, Lookup

        sets = np.zeros((CHUNKS, 1 << CHUNK), dtype=np.int64)
        declared, odds = np.ones(sets.shape), np.zeros(sets.shape)
        cards = self.data.cards
        for i, candidate in enumerate(child.candidates):
            # Sets of the candidates so far are known: the others have one more.
            chunk, size = i // CHUNK, 1 << i % CHUNK
            has, lacks = slice(size, 2 * size), slice(size)
            sets[chunk, has] = sets[chunk, lacks] | 1 << candidate
            declared[chunk, has] = declared[chunk, lacks] * cards[candidate]
            odds[chunk, has] = odds[chunk, lacks] + self._odds[candidate, child.node]
        levels = int(cards[child.node])
        limit = self._criterion.limits[child.node] if self._criterion.limits else math.inf
        base = self.base[child.node]
        return Lookup(child.node, levels, child.demanded, self.most, limit, base, sets, declared, odds)

    def _score_by_tables(self, child: Child, out: Floats) -> None:
        """Score weighted rows or one's own likelihood: family after family."""
        from mapdag.search.exact.scores import CHUNK

        out[:] = -np.inf
        out[0] = 0.0
        odds = self._lookup(child).odds
        places = np.arange(child.size)
        prior = np.zeros(child.size)
        for chunk, mine in enumerate(odds):  # added up in the order of the kernel, as are the scores
            prior += mine[places >> CHUNK * chunk & (1 << CHUNK) - 1]
        asked = [p for p in range(child.size) if p.bit_count() < self.most and p.bit_length() < len(child.candidates)]
        for first in range(0, len(asked), _ASKED):
            self.watch.check()
            some = asked[first : first + _ASKED]
            for place, scores in zip(some, self._families.scores([child.extensions(p) for p in some]), strict=True):
                larger = [place | 1 << i for i in range(place.bit_length(), len(child.candidates))]
                out[larger] = (scores[0] - self.base[child.node]) + prior[larger]
        out[places & child.demanded != child.demanded] = -np.inf

    def families_with(self, scores: Floats) -> Families:
        """Return what kernels take to look up the scores of all families, child after child."""
        from mapdag.search.exact.scores import CHUNK, CHUNKS
        from mapdag.search.exact.subsets import Families

        places = np.zeros((self.n_nodes, CHUNKS, 1 << CHUNK), dtype=np.int64)
        for child in self.children:
            bits = {candidate: 1 << i for i, candidate in enumerate(child.candidates)}
            for node in range(self.n_nodes):
                mine, size = places[child.node, node // CHUNK], 1 << node % CHUNK
                mine[size : 2 * size] = mine[:size] | bits.get(node, 0)
        return Families(scores, np.array([child.start for child in self.children], dtype=np.int64), places)


def nanoseconds_for_all(data: Dataset, objective: Objective, rules: Rules) -> float:
    """Estimate what exact search takes where this machine's cores count; infinite where it is not known, or very long.

    The estimate does not depend on the engine that counts, so that the choice of a search does not either.
    """
    n, rows = data.n_columns, max(data.n_rows, data.total)  # rows count the same however they are held
    recipe = objective.likelihood.recipe(data.total, n)
    if n > _FEW_NODES or recipe is None:
        return math.inf
    most = rules.max_parents
    families = sum(_subsets(int(candidates), most) for candidates in np.count_nonzero(rules.allowed, axis=0))
    program = 2.0**n * n * _NS_STEP
    # Whole weights say how often rows occur: where they are kept, counting takes less than the same rows one by one.
    if (data.weights is None or data.weights.dtype.kind != "f") and not data.has_gaps:
        terms = _NS_TERM * math.sqrt(2 * rows) if recipe.kind == "observed" else 0.0  # so many counts may differ
        return program + _subsets(n, most + 1) * rows * _NS_ROW * _times_tallied(data) + families * (_NS_FAMILY + terms)
    return program + families * (_NS_ALONE + rows * _NS_ALONE_ROW)


def _times_tallied(data: Dataset) -> int:
    """How often all sets are tallied: once for each variable that was set in some rows, and once for all others."""
    return 1 if data.interventions is None else 1 + len(data.interventions.names)


def _subsets(n: int, most: int) -> float:
    """Count the sets of at most so many of some elements."""
    return float(sum(math.comb(n, size) for size in range(min(most, n) + 1)))


def layers(n_nodes: int) -> list[list[tuple[int, int]]]:
    """Divide all sets of nodes into stretches, ``(first, last)``; those of a layer need sets of earlier ones only.

    And smaller ones of their own. A stretch has its highest bits in common; a layer, how many of these there are.

    >>> layers(3)
    [[(0, 8)]]
    """
    high = min(max(n_nodes - _SHORTEST, 0), _BLOCKS)
    size = 1 << n_nodes - high
    found: list[list[tuple[int, int]]] = [[] for _ in range(high + 1)]
    for block in range(1 << high):
        found[block.bit_count()].append((block * size, (block + 1) * size))
    return found


def _children(rules: Rules) -> tuple[Child, ...]:
    found: list[Child] = []
    start = 0
    for node in range(len(rules.allowed)):
        candidates = np.flatnonzero(rules.allowed[:, node]).tolist()
        fixed, both = rules.fixed[candidates, node], rules.allowed[node, candidates]
        demanded = sum(1 << i for i in np.flatnonzero(fixed & ~both).tolist())
        pinned = sum(1 << i for i in np.flatnonzero(fixed & both).tolist())
        found.append(Child(node, tuple(candidates), demanded, pinned, start))
        start += found[-1].size
    return tuple(found)
