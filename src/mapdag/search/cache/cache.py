"""Family scores, each counted once, shared by all objectives that are learned on the same data."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.contracts import is_same
from mapdag.counts import Request
from mapdag.families import Criterion, FamilyScores
from mapdag.families.scores import WORTH_A_THREAD
from mapdag.objective.constraints import Constraints, make_rules
from mapdag.search.cache.gate import Gate
from mapdag.search.limits import criterion_of, refuse_impossible
from mapdag.tasks import helped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from mapdag.contracts import Objective
    from mapdag.counts import Backend, Engine
    from mapdag.data import Dataset
    from mapdag.objective.constraints import Rules
    from mapdag.search.cache.store import Problem, Store

    Floats = NDArray[np.float64]

_TURNS = 8  # pieces of the first pass for each thread, at least
_STEP = 64  # nodes to be paired with others before anybody may look at the clock
_WORTH_HELP = 100_000.0  # nanoseconds of a column from which on threads are worth their overhead
_SCORING = 400.0  # nanoseconds to score one family, whatever its counts


class Ask(NamedTuple):
    """A family that compiled code could not score, and the candidates that it is to be extended by."""

    child: int
    parents: tuple[int, ...]  # ascending
    wanted: NDArray[np.bool_]  # (nodes,)


class Shelf:
    """Scores that several caches share: those of one data set under the same criteria, whatever the priors.

    Parameters
    ----------
    n_nodes : int
    criteria : sequence of Criterion

    Attributes
    ----------
    store : Store
        Replaced by a larger one when it is full.
    zobrist : uint64 array (2 nodes, 2)
        Random keys of nodes as parents, then as children.
    paired : list of bool arrays (nodes, nodes)
        Pairs that were scored in a first pass.
    gate : Gate
    """

    def __init__(self, n_nodes: int, criteria: Sequence[Criterion]) -> None:
        from mapdag.search.cache.store import new_store

        n = n_nodes
        self.criteria = tuple(criteria)
        self.store = new_store(n, len(criteria), columns=4 * n + 16, singles=4 * n + 16)
        self.zobrist = np.random.default_rng(0).integers(0, 2**64, (2 * n, 2), dtype=np.uint64)
        self.paired: list[NDArray[np.bool_]] = []
        self.gate = Gate()

    @property
    def size(self) -> int:
        """Bytes that it takes, more or less."""
        return sum(part.nbytes for part in self.store)


class FamilyCache:
    """Scores of families under several objectives at once, their priors left aside.

    What is kept, and how it is found, is in `mapdag.search.cache.store`. Small requests are counted and scored there,
    within the compiled search; all others are asked for here. Searches in several threads may share a cache, each at
    a `Desk` of its own.

    Parameters
    ----------
    data : Dataset
    objectives : iterable of Objective
        All that will be asked for: a family is counted once for all of them.
    constraints : Constraints, optional
        What the graphs must obey: required arcs win against `Support`.
    engine, backend, threads
        As in `mapdag.families.FamilyScores`; the scores do not depend on them.
    shelf : callable, optional
        Given the criteria that the objectives judge families by, returns a `Shelf` of the same data and criteria, whose
        scores are used and added to; a new one unless given.
    """

    def __init__(
        self,
        data: Dataset,
        objectives: Iterable[Objective],
        *,
        constraints: Constraints | None = None,
        engine: str | Callable[[Dataset], Engine] | None = None,
        backend: Backend = "auto",
        threads: int = 1,
        shelf: Callable[[Sequence[Criterion]], Shelf] | None = None,
    ) -> None:
        self.data = data
        self.constraints = constraints or Constraints()
        self._rules: dict[Objective, Rules] = {}
        by_objective = {each: self._criterion_of(each) for each in objectives}
        self._criteria = criteria = list(dict.fromkeys(by_objective.values()))
        self._rows = {each: criteria.index(criterion) for each, criterion in by_objective.items()}
        self.engine = engine
        self._scores = FamilyScores(data, criteria, engine=engine, backend=backend, threads=threads)
        n = data.n_columns
        self._shelf = Shelf(n, criteria) if shelf is None else shelf(criteria)
        assert self._shelf.criteria == tuple(criteria)
        self.zobrist, self.gate = self._shelf.zobrist, self._shelf.gate
        helped = self._scores.is_compiled and threads > 1
        self._helped = helped and self._scores.estimate() + _SCORING * n >= _WORTH_HELP
        self._problems: dict[tuple[Objective, bool], Problem] = {}  # as of the thread that asked first

    @property
    def store(self) -> Store:
        """Where the scores are."""
        return self._shelf.store

    def rules(self, objective: Objective) -> Rules:
        """Return what graphs must obey under an objective."""
        if objective not in self._rules:
            rules = make_rules(self.constraints, objective.prior, self.data.names)
            refuse_impossible(rules, self.data)
            self._rules[objective] = rules
        return self._rules[objective]

    def _criterion_of(self, objective: Objective) -> Criterion:
        if objective.prior.support is None:
            return Criterion(objective.likelihood)
        return criterion_of(objective, self.data, self.rules(objective))

    @property
    def is_compiled(self) -> bool:
        """Whether compiled code can count and score by itself."""
        return self._scores.is_compiled

    @property
    def counts_here(self) -> bool:
        """Whether this machine's cores count, what is in memory: rows, or what they are expected to hold."""
        return self._scores.counts_here or not self.data.has_rows

    @property
    def device(self) -> str:
        """Who counts: "cpu", or the name of a GPU."""
        return self._scores.device

    def problem(self, objective: Objective, *, shares: bool = True) -> Problem:
        """Return what the compiled search takes besides the store, in this thread.

        Parameters
        ----------
        objective : Objective
        shares : bool
            Whether all threads share large requests, once `staff` has sent them.
        """
        known = self._problems.get((objective, shares))
        if known is not None:
            return known._replace(inputs=known.inputs._replace(terms=self._scores.terms))
        from mapdag.search.cache.store import Problem, address_of_ensure

        rules = self.rules(objective)
        odds = objective.prior.log_odds(self.data.names)
        odds = odds[:1, :1].copy() if is_same(odds) else np.ascontiguousarray(np.where(rules.allowed, odds, 0.0))
        inputs = self._scores.inputs(self._scores.crew if shares and self._helped else None)
        inherits = self.data.refines or not self.criterion(objective).limits
        problem = Problem(rules, odds, self.index(objective), inputs, self.zobrist, 0, 0, inherits)
        found = problem._replace(ensure=address_of_ensure(problem, self.store))
        self._problems[objective, shares] = found
        return found

    def estimate(self, n_rows: int) -> float:
        """Estimate the nanoseconds to count one node without parents with every candidate, in so many rows."""
        return self._scores.estimate(n_rows)

    def staff(self) -> None:
        """Have threads help the compiled search, if that is worth it; to be called now and then."""
        if self._helped:
            self._scores.staff()

    def dismiss(self) -> None:
        """Let these threads go."""
        if self._helped:
            self._scores.dismiss()

    @property
    def families(self) -> int:
        """Families counted so far."""
        from mapdag.search.cache.store import FAMILIES

        return int(self.store.used[FAMILIES])

    def criterion(self, objective: Objective) -> Criterion:
        """Return what an objective judges families by."""
        return self._criteria[self._rows[objective]]

    def index(self, objective: Objective) -> int:
        """Row of an objective in what the other methods return."""
        return self._rows[objective]

    def desk(self) -> Desk:
        """Return a new way to the store, for one search in one thread."""
        return Desk(self)

    def grow(self, store: Store) -> None:
        """Make room for more scores than a store has, unless that was done meanwhile."""
        from mapdag.search.cache.store import HALT, grown

        def is_full() -> bool:
            full = len(store.scores) == len(self.store.scores)
            if full:
                store.used[HALT] = 1
            return full

        with self.gate.alone(is_full) as full:
            if full:
                self._shelf.store = grown(self.store, 2 * len(store.scores), 2 * len(store.singles))

    def family(self, child: int, parents: Sequence[int]) -> Floats:
        """Scores of one family under each likelihood and limit; minus infinity where it is thinner than allowed."""
        scores = self._find(child, parents)
        if scores is None:
            scores = self._scores.family(child, parents)
            with self.gate.alone():
                self._keep(child, parents, scores)
        return scores

    def score(self, families: Iterable[tuple[int, tuple[int, ...]]]) -> None:
        """Make sure that the store has the scores of some families (child, parents); all in one request."""
        unknown = [each for each in dict.fromkeys(families) if self._find(*each) is None]
        found = self._scores.scores([Request(*each) for each in unknown]) if unknown else []
        with self.gate.alone():
            for each, scores in zip(unknown, found, strict=True):
                self._keep(*each, scores[:, 0])

    def _find(self, child: int, parents: Sequence[int]) -> Floats | None:
        from mapdag.search.cache.store import WHOLE, find_family

        members, scores = np.array(parents, dtype=np.int64), np.empty(len(self._criteria))
        found = find_family(child, members, len(members), WHOLE, self.zobrist, self.store, scores)
        return scores if found else None

    def _keep(self, child: int, parents: Sequence[int], scores: Floats) -> None:
        from mapdag.search.cache.store import keep_single

        while not keep_single(self._key(child, parents), scores, self.store):
            self.grow(self.store)

    def _key(self, child: int, parents: Sequence[int]) -> NDArray[np.uint64]:
        from mapdag.search.cache.store import WHOLE, family_key

        return family_key(child, np.array(parents, dtype=np.int64), len(parents), WHOLE, self.zobrist)

    def pair_up(self, wanted: NDArray[np.bool_]) -> Iterator[int]:
        """Score every node alone and with each single parent that is wanted, ``wanted[parent, child]``, in steps.

        Both directions of a pair share one table. Yields how many nodes are done; nothing where all is known, or where
        there are no rows. Engines that must be asked are asked once, for all.
        """
        from mapdag.search.cache.pairs import fill_pairs, find_roots
        from mapdag.search.cache.store import COLUMNS

        n, threads = self.data.n_columns, self._scores.threads
        known = any(wanted is each or np.array_equal(wanted, each) for each in self._shelf.paired)
        if self.data.n_rows == 0 or known or not wanted.any():
            return
        if not self._scores.is_compiled:
            self.fetch([Ask(child, (), wanted[:, child]) for child in range(n)])
            self._shelf.paired.append(wanted)
            yield n
            return
        while self.store.used[COLUMNS] + n > len(self.store.scores):
            self.grow(self.store)
        places = find_roots(self.zobrist, self.store)
        following = np.zeros(1, dtype=np.int64)
        parts = 1 if threads == 1 else min(-(-_TURNS * threads // n), max(n // 2, 1))

        def fill(most: int = n * parts) -> None:
            fill_pairs(following, most, parts, wanted, places, self._scores.inputs(), self.store)

        step = max(_STEP * parts // threads, 1)
        cost = (self._scores.estimate() / n + _SCORING) * n * n / 2
        with helped(fill, threads, min(threads - 1, int(cost / WORTH_A_THREAD))):
            try:
                while following[0] < n * parts:
                    fill(step)
                    yield min(int(following[0]) // parts, n)
            finally:
                following[0] = n * parts
        self._shelf.paired.append(wanted)

    def fetch(self, asks: Sequence[Ask]) -> None:
        """Make sure that the store has some families, their columns, and the families without each of their parents.

        All that is missing is one request of many families; who counts elsewhere goes there once.
        """
        missing = {(each.child, each.parents): np.zeros(self.data.n_columns, dtype=np.bool_) for each in asks}
        for each in asks:
            missing[each.child, each.parents] |= each.wanted
        singles: dict[tuple[int, tuple[int, ...]], None] = {}
        with self.gate.inside():
            for (child, parents), wanted in missing.items():
                column = self._column(child, parents)
                if column is not None:
                    wanted[~np.isnan(column[0])] = False
                smaller = (parents[:i] + parents[i + 1 :] for i in range(len(parents)))
                singles |= {(child, each): None for each in (parents, *smaller) if self._find(child, each) is None}
        columns = {family: np.flatnonzero(wanted) for family, wanted in missing.items() if wanted.any()}
        requests = [Request(*family, tuple(nodes.tolist())) for family, nodes in columns.items()]
        found = self._scores.scores([*requests, *(Request(*family) for family in singles)])
        with self.gate.alone():
            for (family, nodes), scores in zip(columns.items(), found[: len(columns)], strict=True):
                self._keep_column(*family, nodes, scores)
            for (child, parents), scores in zip(singles, found[len(columns) :], strict=True):
                self._keep(child, parents, scores[:, 0])

    def _column(self, child: int, parents: Sequence[int]) -> Floats | None:
        """Scores of a family with each other node added, as far as they are known."""
        from mapdag.search.cache.store import find_column

        place = find_column(self._key(child, parents), self.store)
        return None if place < 0 else self.store.scores[place]

    def _keep_column(self, child: int, parents: Sequence[int], nodes: NDArray[np.int64], scores: Floats) -> None:
        from mapdag.search.cache.store import FAMILIES, make_column

        while (place := make_column(self._key(child, parents), self.store)) < 0:
            self.grow(self.store)
        self.store.scores[place][:, nodes] = scores
        self.store.used[FAMILIES] += len(nodes)


class Desk:
    """The way of one search, in one thread, to a store that it may share with others.

    Parameters
    ----------
    cache : FamilyCache
    """

    def __init__(self, cache: FamilyCache) -> None:
        self._cache = cache
        n = cache.data.n_columns
        self._own: dict[str, Any] = {
            "status": np.zeros(1, dtype=np.int64),
            "asked": np.zeros(n + 2, dtype=np.int64),
            "wanted": np.zeros(n, dtype=np.bool_),
        }
        self.store = cache.store._replace(**self._own)

    @contextmanager
    def open(self) -> Iterator[Store]:
        """Give the store to compiled code; nobody rebuilds it meanwhile."""
        with self._cache.gate.inside():
            if self.store.scores is not self._cache.store.scores:
                self.store = self._cache.store._replace(**self._own)
            yield self.store

    def help(self, status: int) -> None:
        """Do what compiled code could not, so that it may go on."""
        from mapdag.search.cache.status import ASK, FULL

        if status == FULL:
            self._cache.grow(self.store)
        elif status == ASK:
            self.fetch(self.ask())

    def fetch(self, ask: Ask) -> None:
        """Have the cache score what is asked for."""
        self._cache.fetch([ask])

    def ask(self) -> Ask:
        """Return what compiled code asks for."""
        child, size, *parents = self._own["asked"].tolist()
        return Ask(child, tuple(sorted(parents[:size])), self._own["wanted"].copy())
