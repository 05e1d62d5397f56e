"""The door to a family's score: many requests at once, each "this family, extended by each of these candidates"."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mapdag.checks import is_one_of
from mapdag.counts import Backend, Counter, Engine, Request, make_engine
from mapdag.counts.device.engine import DeviceEngine
from mapdag.counts.device.plan import families_of
from mapdag.counts.table import join_batches
from mapdag.data.gaps import refuse_gaps
from mapdag.errors import DataError, ParameterError, Setting
from mapdag.tasks import pool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mapdag.contracts import Likelihood
    from mapdag.counts import CountTable
    from mapdag.counts.table import TableBatch
    from mapdag.data import Dataset
    from mapdag.families.crew import Crew
    from mapdag.families.device import DeviceScores
    from mapdag.families.fused import Declared, Inputs
    from mapdag.recipes import Recipes
    from mapdag.terms.formulas import Terms

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

_PNAL = "; use PNAL, which takes the rows that are complete in a family, or, to learn under any objective, "
_EM = "structural EM (mapdag.structural_em, or mapdag learn --em)"
WORTH_A_THREAD = 400_000.0  # nanoseconds of counting that outweigh the hand-over to a thread
_FEW = 64  # requests that compiled code posts at most at a time: what a move asks for, and more


def check_gaps(data: Dataset, likelihood: Likelihood, way: Setting | str = _EM) -> None:
    """Refuse data with gaps for a likelihood that needs complete rows; `way` leads to structural EM."""
    if not likelihood.takes_gaps:
        refuse_gaps(data, str(likelihood), _PNAL, way)


@dataclass(frozen=True)
class Criterion:
    """What families are judged by.

    Attributes
    ----------
    likelihood : Likelihood
    limits : tuple of float
        Most configurations that the parents of each node may have; the score of a family with more is minus infinity.
        Empty where there is no limit.
    """

    likelihood: Likelihood
    limits: tuple[float, ...] = ()


class FamilyScores:
    """Log-likelihoods of any family of one data set, several criteria from one count; nodes are column indices.

    Rows without weights, counted on this machine's cores, and likelihoods with recipes are counted and scored by one
    compiled call (`is_compiled`); whatever else there is goes through tables.

    Parameters
    ----------
    data : Dataset
    criteria : sequence of Likelihood or Criterion
    engine : str or callable, optional
        Who counts, see `mapdag.counts.engine`, as the data set says unless given; the scores are the same to the last
        bit.
    backend : {"auto", "bitsets", "tables", "sorted"}
        How this machine's cores count; the scores are the same to the last bit.
    threads : int
        How many threads may share a large request; the scores are the same to the last bit.
    """

    def __init__(
        self,
        data: Dataset,
        criteria: Sequence[Likelihood | Criterion],
        *,
        engine: str | Callable[[Dataset], Engine] | None = None,
        backend: Backend = "auto",
        threads: int = 1,
    ) -> None:
        self._criteria = [each if isinstance(each, Criterion) else Criterion(each) for each in criteria]
        likelihoods = tuple(each.likelihood for each in self._criteria)
        for likelihood in likelihoods:
            if likelihood.whole_counts and data.weights is not None and data.weights.dtype.kind == "f":
                raise DataError(f"{likelihood} is defined for whole counts, but the weights of the rows are fractions")
            check_gaps(data, likelihood)
        self.likelihoods = likelihoods
        who = data.engine if engine is None else engine
        self.engine: Engine = (
            Counter(data, backend=backend, threads=threads) if is_one_of(who, ("cores",)) else make_engine(who, data)
        )
        self.engine.threads = threads
        recipes = [each.recipe(data.total, data.n_columns) for each in likelihoods]
        self._with_recipe = [i for i, recipe in enumerate(recipes) if recipe is not None]
        self._from_tables = [i for i, recipe in enumerate(recipes) if recipe is None]
        self._recipes = [recipe for recipe in recipes if recipe is not None]
        self.threads = threads
        self._names = data.names
        self._data = data
        self._helpers, self._ticket = 0, 1
        self._lock = threading.Lock()

    @property
    def is_compiled(self) -> bool:
        """Whether every request is one call of a kernel."""
        return self.engine.is_compiled and not self._from_tables

    @property
    def counts_here(self) -> bool:
        """Whether this machine's cores count, rows that are in memory."""
        return isinstance(self.engine, Counter)

    @property
    def totals(self) -> Floats:
        """Observations that there are of each node as a child: those in which it was not set."""
        return self._data.totals

    @property
    def device(self) -> str:
        """Who counts: "cpu", or the name of a GPU."""
        return self.engine.device.name if isinstance(self.engine, DeviceEngine) else "cpu"

    def inputs(self, crew: Crew | None = None) -> Inputs:
        """Return what compiled callers take to count and score, or to know that they must ask here.

        They must where not everything is compiled. With a `crew`, its threads help with large requests.
        """
        from mapdag.families.fused import Inputs, no_rows

        engine = self.engine
        if not self.is_compiled:
            rows, way = no_rows(engine.cards, getattr(engine, "codes", None)), 0
        else:
            assert isinstance(engine, Counter)
            rows, way = engine.rows, engine.way
        known = rows, self.recipes, self.terms, way, engine.card_values, engine.card_index
        children = (engine.as_child, engine.totals) if isinstance(engine, Counter) else self._as_they_are
        found = Inputs(*known, 0, 0, 0, 0, crew or self._nobody, not self.is_compiled, *children)
        return found if found.asks else self._with_addresses(found, shared=crew is not None)

    def _with_addresses(self, inputs: Inputs, *, shared: bool) -> Inputs:
        from mapdag.families.fused import Declared, extend, extend_prepared, no_preparation
        from mapdag.kernels import address_of

        nodes, scores, codes = np.empty(1, dtype=np.int64), np.empty((1, 1)), inputs.rows.codes
        family = inputs, nodes, Declared(inputs.card_values, inputs.card_values), nodes
        score = address_of(extend_prepared, *family, no_preparation(), scores, scores, varies=codes)
        alone = address_of(extend, *family, scores, scores, varies=codes)
        inputs = inputs._replace(extend=alone, alone=alone, score=score)
        if shared:
            from mapdag.families.work import share, work

            together = address_of(share, *family, scores, scores, varies=codes)
            inputs = inputs._replace(extend=together, work=address_of(work, 0, inputs, varies=codes))
        return inputs

    @cached_property
    def _as_they_are(self) -> tuple[Ints, Floats]:
        """Columns as children, and their rows, where another engine knows of that."""
        n = self.engine.n_nodes
        return np.arange(n), np.full(n, float(self.engine.total))

    @cached_property
    def _nobody(self) -> Crew:
        return self._new_crew(1, 0, 0)

    @cached_property
    def crew(self) -> Crew:
        """Where compiled code meets the threads that help it, once `staff` has sent them."""
        return self._new_crew(self.threads, _FEW, 2 * self.engine.n_nodes + _FEW)

    def _new_crew(self, threads: int, requests: int, room: int) -> Crew:
        from mapdag.families.crew import new_crew

        engine = self.engine
        levels = len(np.unique(engine.cards)) if threads > 1 else 0
        return new_crew(threads, engine.n_rows, engine.n_nodes, len(self.likelihoods), levels, requests, room)

    def staff(self) -> None:
        """Send as many threads as there may be to help compiled code; they leave after a long wait."""
        from mapdag.families.crew import OPEN

        with self._lock:
            missing, self._helpers = self.threads - 1 - self._helpers, self.threads - 1
            self.crew.board[OPEN] = self._ticket
        for _ in range(missing):
            pool(self.threads).submit(self._help, self._ticket)

    def dismiss(self) -> None:
        """Let the threads go that `staff` has sent."""
        from mapdag.families.crew import OPEN

        with self._lock:
            self.crew.board[OPEN] = 0
            self._ticket += 1  # who is still on the way out does not count any more
            self._helpers = 0

    def _help(self, ticket: int) -> None:
        try:
            self._serve(self.crew, ticket)
        finally:
            with self._lock:
                self._helpers -= ticket == self._ticket

    def _serve(self, crew: Crew, ticket: int) -> None:
        from mapdag.families.crew import FAILED
        from mapdag.families.work import serve

        try:
            serve(ticket, self.inputs(crew))
        except BaseException:
            crew.board[FAILED] = 1  # what it has taken will not be done
            raise

    def estimate(self, n_rows: int | None = None) -> float:
        """Estimate the nanoseconds to count one node without parents with every candidate, in all rows or so many."""
        from mapdag.counts.choice import estimate

        engine = self.engine
        middle = np.argsort(engine.cards)[engine.n_nodes // 2 :][:1]
        rows = engine.n_rows if n_rows is None else n_rows
        return float(estimate(rows, middle, np.arange(engine.n_nodes), engine.cards))

    def family(self, child: int, parents: Sequence[int]) -> Floats:
        """Score of one family under each criterion."""
        return self.scores([Request(child, tuple(sorted(parents)))])[0][:, 0]

    def extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> Floats:
        """Scores of one family with each candidate parent added in turn, one row per criterion."""
        return self.scores([Request(child, tuple(sorted(parents)), tuple(candidates))])[0]

    def scores(self, requests: Sequence[Request]) -> list[Floats]:
        """Score every family of some requests: an array (criteria, families) for each; threads share what is worth it.

        The score of a family with more configurations than its child may have is minus infinity.
        """
        return self._fused(requests) if self.is_compiled else self._by_tables(requests)

    def _fused(self, requests: Sequence[Request]) -> list[Floats]:
        from mapdag.counts.choice import estimate
        from mapdag.families.fused import Declared

        engine = self.engine
        assert isinstance(engine, Counter)
        answers, asked, work = [], [], 0.0
        for child, parents, candidates in requests:
            alone = int(candidates is None and not parents)
            if candidates is None:  # counted as one more parent added to the others, or as a node without parents
                parents, candidates = parents[:-1], parents[-1:]  # noqa: PLW2901
            members = (*parents, engine.as_child[child])
            family, every = (np.array(nodes, dtype=np.int64) for nodes in (members, candidates))
            answers.append(np.empty((len(self.likelihoods), len(every) or alone)))
            if not answers[-1].shape[1]:
                continue
            cost = estimate(engine.n_rows, family, every, engine.cards) if self.threads > 1 else 0.0
            asked.append(_Asked(cost, family, Declared(*engine.declared(parents)), every, answers[-1]))
            work += cost
        if work < WORTH_A_THREAD:
            self._alone(asked)
        else:
            self._together(asked)
        return answers

    def _alone(self, asked: Sequence[_Asked]) -> None:
        from mapdag.families.fused import extend

        inputs, nothing = self.inputs(), np.empty((0, 0))
        for each in asked:
            extend(inputs, each.family, each.declared, each.candidates, each.answer, nothing)

    def _together(self, asked: Sequence[_Asked]) -> None:
        from mapdag.families.crew import FAILED, OPEN, SLOTS
        from mapdag.families.work import post, read_found, work

        sizes = [each.answer.shape[1] for each in asked]
        crew = self._new_crew(self.threads, len(asked), sum(sizes))
        inputs = self.inputs(crew)
        # The largest ones are prepared for all threads at once.
        ordered = sorted(zip(asked, sizes, strict=True), key=lambda each: -each[0].cost)
        first = 0
        for i, (each, size) in enumerate(ordered):
            post(i, inputs, each.family, each.declared, each.candidates, first, i < SLOTS and size > 1)
            first += size
        crew.board[OPEN] = 1
        sent = [pool(self.threads).submit(self._serve, crew, 1) for _ in range(self.threads - 1)]
        work(len(asked), inputs)
        crew.board[OPEN] = 0
        for helper in sent:
            helper.result()
        if crew.board[FAILED]:
            raise MemoryError
        for i, (each, _) in enumerate(ordered):
            read_found(i, crew, each.answer)

    def _by_tables(self, requests: Sequence[Request]) -> list[Floats]:
        """Score weighted rows, one's own likelihoods, or what other engines have counted."""
        every = [np.empty((len(self.likelihoods), families_of(request))) for request in requests]
        asked = [i for i, scores in enumerate(every) if scores.shape[1]]
        if self._with_recipe and isinstance(self.engine, DeviceEngine):
            for i, scores in zip(asked, self._on_device(self.engine, [requests[i] for i in asked]), strict=True):
                every[i][self._with_recipe] = scores
        elif self._with_recipe:
            from mapdag.recipes import score_tables

            batches = self.engine.tables([requests[i] for i in asked])
            by_child: dict[int, list[tuple[int, TableBatch]]] = {}
            for i, batch in zip(asked, batches, strict=True):
                by_child.setdefault(batch.child, []).append((i, batch))
            for group in by_child.values():  # each in one call, which takes a while to begin
                scores = score_tables(join_batches([batch for _, batch in group]), self.recipes, self.terms)
                first = 0
                for i, _ in group:
                    every[i][self._with_recipe] = scores[:, first : first + every[i].shape[1]]
                    first += every[i].shape[1]
        if self._from_tables:
            for scores, request in zip(every, requests, strict=True):
                for place, parents in enumerate(request.families()):
                    self._score_table(request.child, parents, scores[:, place])
        return every

    def _on_device(self, engine: DeviceEngine, requests: Sequence[Request]) -> list[Floats]:
        """Score what a device counts, and beside it what it does not, under the likelihoods that have a recipe."""
        turns, elsewhere = engine.divide(requests)
        answers = [np.empty((len(self._with_recipe), families_of(each))) for each in requests]
        for turn in turns:
            for (i, places), scores in zip(turn.places, self._there.scores(turn.requests, self.terms), strict=True):
                answers[i][:, places] = scores
        others = self._beside.scores(elsewhere.requests) if elsewhere.requests else []
        for (i, places), scores in zip(elsewhere.places, others, strict=True):
            answers[i][:, places] = scores
        return answers

    @cached_property
    def _there(self) -> DeviceScores:
        from mapdag.families.device import DeviceScores

        assert isinstance(self.engine, DeviceEngine)
        return DeviceScores(self.engine, self.recipes, self.terms)

    @cached_property
    def _beside(self) -> FamilyScores:
        """Who scores what a device does not count."""
        return FamilyScores(self._data, [self._criteria[i] for i in self._with_recipe], threads=self.threads)

    def _score_table(self, child: int, parents: Sequence[int], scores: Floats) -> None:
        """Score one family under the likelihoods that take a whole table."""
        table = self.engine.table(child, parents)
        for i in self._from_tables:
            thin = table.q_obs > self._limits[i, child]
            scores[i] = -np.inf if thin else self._finite(self.likelihoods[i], table, child, parents)

    def _finite(self, likelihood: Likelihood, table: CountTable, child: int, parents: Sequence[int]) -> float:
        value = likelihood.score(table)
        if not math.isfinite(value):
            family = f"{self._names[child]!r} with parents {[self._names[p] for p in parents]}"
            raise ParameterError(f"{likelihood} must return a finite number, got {value!r} for {family}")
        return value

    @cached_property
    def recipes(self) -> Recipes:
        """The likelihoods that have a recipe, as `mapdag.recipes` takes them."""
        from mapdag.recipes import KINDS, Recipes

        codes = np.array([KINDS[recipe.kind] for recipe in self._recipes], dtype=np.int64)
        numbers = np.array([[recipe.x, recipe.y] for recipe in self._recipes]).reshape(-1, 2)
        return Recipes(codes, numbers, self._limits[self._with_recipe])

    @cached_property
    def _limits(self) -> Floats:
        """Most configurations that the parents of each node may have, one row for each criterion."""
        n, n_set = len(self._names), 0
        if self._data.interventions is not None:
            n_set = len(self._data.interventions.names)
        limits = np.full((len(self._criteria), n + n_set), np.inf)
        for row, criterion in zip(limits, self._criteria, strict=True):
            if criterion.limits:
                row[:n] = criterion.limits
                row[n:] = [limit for name, limit in zip(self._names, row, strict=False) if self._was_set(name)]
        return limits

    def _was_set(self, name: str) -> bool:
        interventions = self._data.interventions
        return interventions is not None and name in interventions.names

    @property
    def terms(self) -> Terms:
        """What this thread remembers of terms."""
        from mapdag.terms.sums import terms_of_thread

        return terms_of_thread(self.engine.total, self.engine.fractions)


@dataclass(frozen=True)
class _Asked:
    """A family, candidates to extend it by, what that is estimated to cost, and where the scores go."""

    cost: float
    family: Ints
    declared: Declared
    candidates: Ints
    answer: Floats
