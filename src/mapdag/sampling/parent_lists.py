"""The sets of parents that a chain chooses from: all that may matter, with a bound on what is left out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mapdag.families import Criterion, FamilyScores
from mapdag.graphs.masks import members as members_of_set
from mapdag.search.certified.asking import AskedLattice
from mapdag.search.certified.candidates import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.contracts import Objective
    from mapdag.sampling.gibbs import ParentLists
    from mapdag.search.cache import FamilyCache
    from mapdag.search.certified.candidates import Families
    from mapdag.search.frame.watch import Watch

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Words = NDArray[np.uint64]
    Bools = NDArray[np.bool_]

SLACK = 9.0  # nats by which a subset is better than a set that is left out
_CANDIDATES = 64  # of one child: bits of a word
_MOST_SCORED = 200_000  # sets; where they are more, fewer are extended:
_MARGINS = (30.0, 20.0, 14.0, 9.0, 6.0, 4.0)  # those that no subset beats by so many nats
_LISTED = 20_000  # sets of one size, of one child


@dataclass(frozen=True)
class ListedFamilies:
    """Sets of parents of all nodes, those of a node together, the best first.

    Attributes
    ----------
    sets : uint64 array (families, words)
        Bits of nodes.
    scores : float64 array (families,)
        Log-likelihood and log prior of the arcs.
    starts : int64 array (nodes + 1,)
    pinned : bool array (nodes, nodes)
        Arcs that must be there if the parent comes before the child.
    left_out : float
        The posterior probability that a graph has a set that was scored and left out is at most that.
    scored : int
        How many sets were scored.
    cut_at : int or None
        Sets with more parents were not scored, for want of time or memory; None where all were that may matter.
    """

    sets: Words
    scores: Floats
    starts: Ints
    pinned: Bools
    left_out: float
    scored: int
    cut_at: int | None = None

    @property
    def n_nodes(self) -> int:
        """Children."""
        return len(self.starts) - 1

    def members(self) -> Bools:
        """Return the sets as rows of a matrix, (families, nodes)."""
        return members_of(self.sets, self.n_nodes)

    def of_graph(self, parents: Sequence[int]) -> Ints:
        """Find the families of a graph, given as sets of parents; of one that is not listed, the best listed subset."""
        found = np.empty(self.n_nodes, dtype=np.int64)
        for child, wanted in enumerate(words_of(parents, self.sets.shape[1])):
            first, last = self.starts[child], self.starts[child + 1]
            inside = np.flatnonzero(((self.sets[first:last] & ~wanted) == 0).all(axis=1))
            sizes = np.bitwise_count(self.sets[first:last][inside]).sum(axis=1)
            whole = inside[sizes == np.bitwise_count(wanted).sum()]
            found[child] = first + (whole[0] if len(whole) else inside[0])
        return found

    def compiled(self, warmth: float = 1.0) -> ParentLists:
        """Return what the kernel takes; all scores are multiplied by `warmth`, 1 for the posterior itself."""
        from mapdag.sampling.gibbs import ParentLists

        members, n = self.members(), self.n_nodes
        masks = np.zeros(len(self.scores), dtype=np.uint64)
        candidates = np.zeros((n, _CANDIDATES), dtype=np.int64)
        sizes, pins = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.uint64)
        for x in range(n):
            mine = slice(self.starts[x], self.starts[x + 1])
            nodes = np.flatnonzero(members[mine].any(axis=0))
            bits = np.uint64(1) << np.arange(len(nodes), dtype=np.uint64)
            masks[mine] = (members[mine][:, nodes] * bits).sum(axis=1, dtype=np.uint64)
            candidates[x, : len(nodes)], sizes[x] = nodes, len(nodes)
            pins[x] = (self.pinned[nodes, x] * bits).sum(dtype=np.uint64)
        tops = np.repeat(self.scores[self.starts[:-1]], np.diff(self.starts))
        logs = warmth * (self.scores - tops) / math.log(2)
        powers = np.floor(logs)
        return ParentLists(
            masks, np.exp2(logs - powers - 1), powers.astype(np.int64) + 1, self.starts, candidates, sizes, pins
        )


def members_of(sets: Words, n_nodes: int) -> Bools:
    """Bitsets of nodes as rows of a matrix."""
    octets = np.ascontiguousarray(sets).astype("<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little")[:, :n_nodes].astype(np.bool_)


def list_families(objective: Objective, cache: FamilyCache, watch: Watch, *, slack: float = SLACK) -> ListedFamilies:
    """Score sets of parents layer by layer, and list those that no subset beats by `slack`.

    A graph that has a set which a subset beats becomes another graph with that subset in its place, that many times as
    probable: so much is left out at most. All sets are scored as long as there is room; then, only those are extended
    that no subset beats by a margin. Where the time limit of `watch` is reached, or there are too many all the same,
    larger ones are left out.
    """
    criteria = [cache.criterion(objective)]
    if criteria[0].limits and not cache.data.refines:
        criteria.append(Criterion(objective.likelihood))
    scores = FamilyScores(cache.data, criteria, engine=cache.engine, threads=watch.threads)
    rules = cache.rules(objective)
    lattice = AskedLattice(
        objective, cache, watch, scores, slack=slack, margins=_MARGINS, most=_MOST_SCORED, listed=_LISTED
    )
    found = lattice.enumerate()
    families, lost = _with_few_candidates(found.families)
    pinned = rules.fixed & rules.allowed & rules.allowed.T
    sets, starts = np.ascontiguousarray(families.sets), families.starts.astype(np.int64)
    cut_at = None if found.complete else found.most
    return ListedFamilies(sets, families.scores, starts, pinned, lattice.left_out + lost, found.scored, cut_at)


def _with_few_candidates(families: Families) -> tuple[Families, float]:
    """Leave out sets until each child has no more candidates than a word has bits.

    Those go first that are beaten by the most in every set that has them. Returns also a bound on what that leaves out.
    """
    n = families.n_nodes
    members = members_of(families.sets, n)
    kept = np.ones(len(families.scores), dtype=np.bool_)
    lost = 0.0
    for x in range(n):
        mine = slice(families.starts[x], families.starts[x + 1])
        has = members[mine]
        if has.any(axis=0).sum() <= _CANDIDATES:
            continue
        gains = families.scores[mine] - _best_subsets(families.sets[mine], families.scores[mine])
        best = np.array([gains[has[:, y]].max(initial=-math.inf) for y in range(n)])
        base = has[has.sum(axis=1).argmin()]  # those that every set has
        dropped = np.argsort(np.where(base, -math.inf, -best), kind="stable")[_CANDIDATES:]
        without = ~has[:, dropped].any(axis=1)
        lost += float(np.exp(np.minimum(gains[~without], 0.0)).sum())
        kept[mine] = without
    return families.select(kept), lost


def _best_subsets(sets: Words, scores: Floats) -> Floats:
    """Highest score of a proper subset of each set, as far as subsets hang together by sets that are listed."""
    whole = [sum(int(word) << 64 * i for i, word in enumerate(each)) for each in sets]
    at = {each: i for i, each in enumerate(whole)}
    best = np.full(len(scores), -math.inf)
    for i in sorted(range(len(whole)), key=lambda i: whole[i].bit_count()):
        for y in members_of_set(whole[i]):
            j = at.get(whole[i] ^ 1 << y)
            if j is not None:
                best[i] = max(best[i], scores[j], best[j])
    best[~np.isfinite(best)] = scores.min() - 1.0
    return best
