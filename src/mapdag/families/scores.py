"""The door to a family's score: many requests at once, each "this family, extended by each of these candidates"."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from mapdag.counts import Backend, Counter, Engine, Request, make_engine
from mapdag.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mapdag.contracts import Likelihood
    from mapdag.counts import CountTable
    from mapdag.data import Dataset
    from mapdag.families.fused import Inputs
    from mapdag.recipes import Recipes
    from mapdag.terms.formulas import Terms

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

_WORTH_A_THREAD = 400_000.0  # nanoseconds of counting that outweigh the hand-over to a thread


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


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that live on, since each remembers the terms that it has computed."""
    return ThreadPoolExecutor(threads, thread_name_prefix="mapdag")


if hasattr(os, "register_at_fork"):  # a process that is forked off has none of them
    os.register_at_fork(after_in_child=_pool.cache_clear)


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
        self.likelihoods = likelihoods
        who = data.engine if engine is None else engine
        self.engine: Engine = Counter(data, backend=backend) if who == "cores" else make_engine(who, data)
        self.engine.threads = threads
        recipes = [each.recipe(data.total, data.n_columns) for each in likelihoods]
        self._with_recipe = [i for i, recipe in enumerate(recipes) if recipe is not None]
        self._from_tables = [i for i, recipe in enumerate(recipes) if recipe is None]
        self._recipes = [recipe for recipe in recipes if recipe is not None]
        self._threads = threads
        self._names = data.names

    @property
    def is_compiled(self) -> bool:
        """Whether every request is one call of a kernel."""
        return self.engine.is_compiled and not self._from_tables

    def inputs(self, *, asks: bool = False) -> Inputs:
        """Return what compiled callers take to count and score, or to know that they must ask here.

        They must where it is demanded, or where not everything is compiled.
        """
        from mapdag.families.fused import Declared, Inputs, extend, no_rows
        from mapdag.kernels import address_of

        if asks or not self.is_compiled:
            cards = self.engine.cards
            levels, index = np.unique(cards, return_inverse=True)
            rows = no_rows(cards, getattr(self.engine, "codes", None))
            return Inputs(rows, self.recipes, self._terms, 0, levels.astype(np.float64), index, 0, asks=True)
        found = self._own_inputs()
        nodes, scores = np.empty(1, dtype=np.int64), np.empty((1, 1))
        declared = Declared(found.card_values, found.card_values)
        return found._replace(extend=address_of(extend, found, nodes, declared, nodes, scores, scores))

    def _own_inputs(self) -> Inputs:
        from mapdag.families.fused import Inputs

        engine = self.engine
        assert isinstance(engine, Counter)
        levels = engine.card_values, engine.card_index
        return Inputs(engine.rows, self.recipes, self._terms, engine.way, *levels, 0, asks=False)

    def estimate(self) -> float:
        """Estimate the nanoseconds to count one node without parents with every candidate."""
        from mapdag.counts.choice import estimate

        engine = self.engine
        middle = np.argsort(engine.cards)[engine.n_nodes // 2 :][:1]
        return float(estimate(engine.n_rows, middle, np.arange(engine.n_nodes), engine.cards))

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

        engine = self.engine
        answers, pieces, work = [], [], 0.0
        for child, parents, candidates in requests:
            alone = int(candidates is None and not parents)
            if candidates is None:  # counted as one more parent added to the others, or as a node without parents
                parents, candidates = parents[:-1], parents[-1:]  # noqa: PLW2901
            family, every = (np.array(nodes, dtype=np.int64) for nodes in ((*parents, child), candidates))
            cost, parts = 0.0, 1
            if self._threads > 1 and candidates:
                cost = estimate(engine.n_rows, family, every, engine.cards)
                parts = min(self._threads, len(every), int(cost / _WORTH_A_THREAD) + 1)
            # Dealt out in turn, so that every thread gets its share of nodes with many levels.
            shares = [np.empty((len(self.likelihoods), len(every[part::parts]) or alone)) for part in range(parts)]
            pieces += [(family, every[part::parts], share) for part, share in enumerate(shares) if share.shape[1]]
            answers.append(shares)
            work += cost
        if len(pieces) == 1 or work < _WORTH_A_THREAD:
            for piece in pieces:
                self._extend(*piece)
        else:
            list(_pool(self._threads).map(lambda piece: self._extend(*piece), pieces))
        return [_dealt_back(shares) for shares in answers]

    def _extend(self, family: Ints, candidates: Ints, scores: Floats) -> None:
        from mapdag.families.fused import Declared, extend

        assert isinstance(self.engine, Counter)
        declared = Declared(*self.engine.declared(family[:-1].tolist()))
        extend(self._own_inputs(), family, declared, candidates, scores, np.empty((0, 0)))

    def share(self, task: Callable[[Ints], None], nodes: Ints) -> None:
        """Do a task for some nodes, each about as much work as half of `estimate`, shared among threads if worth it."""
        parts = min(self._threads, len(nodes), int(self.estimate() * len(nodes) / 2 / _WORTH_A_THREAD) + 1)
        if parts == 1:
            task(nodes)
        else:
            list(_pool(self._threads).map(lambda part: task(nodes[part::parts]), range(parts)))

    def _by_tables(self, requests: Sequence[Request]) -> list[Floats]:
        """Score weighted rows, one's own likelihoods, or what other engines have counted."""
        every = [np.empty((len(self.likelihoods), len(request.families()))) for request in requests]
        if self._with_recipe:
            from mapdag.recipes import score_tables

            asked = [i for i, scores in enumerate(every) if scores.shape[1]]
            for i, batch in zip(asked, self.engine.tables([requests[i] for i in asked]), strict=True):
                every[i][self._with_recipe] = score_tables(batch, self.recipes, self._terms)
        if self._from_tables:
            for scores, request in zip(every, requests, strict=True):
                for place, parents in enumerate(request.families()):
                    self._score_table(request.child, parents, scores[:, place])
        return every

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
        limits = np.full((len(self._criteria), len(self._names)), np.inf)
        for row, criterion in zip(limits, self._criteria, strict=True):
            if criterion.limits:
                row[:] = criterion.limits
        return limits

    @property
    def _terms(self) -> Terms:
        from mapdag.terms.sums import terms_of_thread

        return terms_of_thread(self.engine.total, self.engine.fractions)


def _dealt_back(shares: Sequence[Floats]) -> Floats:
    """Bring columns together that were dealt out in turn."""
    if len(shares) == 1:
        return shares[0]
    every = np.empty((len(shares[0]), sum(share.shape[1] for share in shares)))
    for part, share in enumerate(shares):
        every[:, part :: len(shares)] = share
    return every
