"""Scores of single families in one data set: what a search asks for."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.counts import Backend, Counter
from mapdag.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mapdag.contracts import Likelihood
    from mapdag.counts import CountTable
    from mapdag.data import Dataset

    Request = tuple[int, Sequence[int], Sequence[int]]  # a child, its parents, candidates for one more
    Floats = NDArray[np.float64]


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


_WORTH_A_THREAD = 400_000.0  # nanoseconds of counting that outweigh the hand-over to a thread


def _dealt_back(shares: Sequence[Floats]) -> Floats:
    """Bring columns together that were dealt out in turn."""
    if len(shares) == 1:
        return shares[0]
    every = np.empty((len(shares[0]), sum(share.shape[1] for share in shares)))
    for part, share in enumerate(shares):
        every[:, part :: len(shares)] = share
    return every


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that live on, since each remembers the terms that it has computed."""
    return ThreadPoolExecutor(threads, thread_name_prefix="mapdag")


if hasattr(os, "register_at_fork"):  # a process that is forked off has none of them
    os.register_at_fork(after_in_child=_pool.cache_clear)


class FamilyScores:
    """Log-likelihoods of any family of one data set, several likelihoods from one count; nodes are column indices.

    Parameters
    ----------
    data : Dataset
    criteria : sequence of Likelihood or Criterion
    backend : {"auto", "bitsets", "tables", "sorted"}
        How to count; the scores are the same to the last bit.
    threads : int
        How many threads may share a large request; the scores are the same to the last bit.
    """

    def __init__(
        self,
        data: Dataset,
        criteria: Sequence[Likelihood | Criterion],
        *,
        backend: Backend = "auto",
        threads: int = 1,
    ) -> None:
        self._criteria = [each if isinstance(each, Criterion) else Criterion(each) for each in criteria]
        likelihoods = tuple(each.likelihood for each in self._criteria)
        for likelihood in likelihoods:
            if likelihood.whole_counts and data.weights is not None and data.weights.dtype.kind == "f":
                raise DataError(f"{likelihood} is defined for whole counts, but the weights of the rows are fractions")
        self.likelihoods = likelihoods
        self._counter = Counter(data, backend=backend)
        recipes = [each.recipe(data.total, data.n_columns) for each in likelihoods]
        self._with_recipe = [i for i, recipe in enumerate(recipes) if recipe is not None]
        self._from_tables = [i for i, recipe in enumerate(recipes) if recipe is None]
        self._recipes = [recipe for recipe in recipes if recipe is not None]
        self._threads = threads
        self._names = data.names

    @property
    def is_compiled(self) -> bool:
        """Whether every request is one call of a kernel: rows without weights, likelihoods with recipes."""
        return self._counter.weights is None and not self._from_tables

    def native(self, *, serial: bool = True) -> tuple[Any, ...]:
        """Return what compiled callers need to count and score.

        That is (data, recipes, terms, backend, levels, their index, address of `mapdag.objective.kernel.extend`);
        without rows where they must ask here instead: not `serial`, or not `is_compiled`.
        """
        counter = self._counter
        shared = (self.recipes, self._terms, counter.backend)
        levels = (counter.card_values, counter.card_index)
        if not (serial and self.is_compiled):
            none = (counter.codes[:, :0].copy(), np.empty((0, 0), dtype=np.uint64), np.empty(0, dtype=np.int64))
            return (*none, counter.cards), *shared, *levels, 0
        from mapdag.kernels import address_of
        from mapdag.objective.kernel import extend

        nodes, scores = np.empty(1, dtype=np.int64), np.empty((1, 1))
        declared = (*levels[:1], *levels)
        address = address_of(extend, counter.arrays, nodes, declared, nodes, *shared, scores, scores)
        return counter.arrays, *shared, *levels, address

    def estimate(self) -> float:
        """Estimate the nanoseconds to count one node without parents with every candidate."""
        from mapdag.counts.dispatch import estimate

        counter = self._counter
        everyone = np.arange(counter.n_nodes)
        middle = np.argsort(counter.cards)[counter.n_nodes // 2 :][:1]
        return float(estimate(counter.n_rows, middle, everyone, counter.cards))

    def family(self, child: int, parents: Sequence[int]) -> Floats:
        """Score of one family under each likelihood."""
        parents = sorted(parents)
        if parents:
            return self.extensions(child, parents[:-1], parents[-1:])[:, 0]
        if not self.is_compiled:
            return self._scores_of_tables(child, (), None)[:, 0]
        scores = np.empty((len(self.likelihoods), 1))
        self._extend(np.array([child], dtype=np.int64), np.empty(0, dtype=np.int64), scores)
        return scores[:, 0]

    def extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> Floats:
        """Scores of one family with each candidate parent added in turn, one row per likelihood."""
        return self.several([(child, parents, candidates)])[0]

    def several(self, requests: Sequence[Request]) -> list[Floats]:
        """Answer some requests as `extensions` does, threads sharing what is worth it."""
        if not self.is_compiled:
            return [self._scores_of_tables(child, sorted(parents), extra) for child, parents, extra in requests]
        from mapdag.counts.dispatch import estimate

        counter = self._counter
        answers, pieces, work = [], [], 0.0
        for child, parents, candidates in requests:
            family = np.array([*sorted(parents), child], dtype=np.int64)
            every = np.asarray(candidates, dtype=np.int64)
            cost, parts = 0.0, 1
            if self._threads > 1:
                cost = estimate(counter.n_rows, family, every, counter.cards)
                parts = min(self._threads, len(every), int(cost / _WORTH_A_THREAD) + 1)
            # Dealt out in turn, so that every thread gets its share of nodes with many levels.
            shares = [np.empty((len(self.likelihoods), len(every[part::parts]))) for part in range(parts)]
            pieces += [(family, every[part::parts], share) for part, share in enumerate(shares)]
            answers.append(shares)
            work += cost
        if len(pieces) == 1 or work < _WORTH_A_THREAD:
            for piece in pieces:
                self._extend(*piece)
        else:
            list(_pool(self._threads).map(lambda piece: self._extend(*piece), pieces))
        return [_dealt_back(shares) for shares in answers]

    def _extend(self, family: NDArray[np.int64], candidates: NDArray[np.int64], scores: Floats) -> None:
        from mapdag.objective.kernel import extend

        data, recipes, terms, backend = (
            self._counter.arrays,
            self.recipes,
            self._terms,
            self._counter.backend,
        )
        declared = (*self._counter.declared(family[:-1].tolist()), self._counter.card_index)
        extend(data, family, declared, candidates, recipes, terms, backend, scores, np.empty((0, 0)))

    def share(self, task: Callable[[NDArray[np.int64]], None], nodes: NDArray[np.int64]) -> None:
        """Do a task for some nodes, each about as much work as half of `estimate`, shared among threads if worth it."""
        parts = min(self._threads, len(nodes), int(self.estimate() * len(nodes) / 2 / _WORTH_A_THREAD) + 1)
        if parts == 1:
            task(nodes)
        else:
            list(_pool(self._threads).map(lambda part: task(nodes[part::parts]), range(parts)))

    def _scores_of_tables(self, child: int, parents: Sequence[int], candidates: Sequence[int] | None) -> Floats:
        """Scores with weighted rows or one's own likelihoods, one table after the other."""
        families = [sorted([*parents, extra]) for extra in candidates] if candidates is not None else [list(parents)]
        scores = np.empty((len(self.likelihoods), len(families)))
        if self._with_recipe:
            from mapdag.recipes import score_tables

            batch = self._counter.family(child, families[0])
            if candidates is not None:
                batch = self._counter.extensions(child, parents, candidates)
            found = np.empty((len(self._with_recipe), len(families)))
            score_tables(batch.arrays(), self.recipes, self._terms, found, child)
            scores[self._with_recipe] = found
        for place, members in enumerate(families if self._from_tables else ()):
            table = self._counter.table(child, members)
            for i in self._from_tables:
                thin = table.q_obs > self._limits[i, child]
                scores[i, place] = -np.inf if thin else self._finite(self.likelihoods[i], table, child, members)
        return scores

    def _finite(self, likelihood: Likelihood, table: CountTable, child: int, parents: Sequence[int]) -> float:
        value = likelihood.score(table)
        if not math.isfinite(value):
            family = f"{self._names[child]!r} with parents {[self._names[p] for p in parents]}"
            raise ParameterError(f"{likelihood} must return a finite number, got {value!r} for {family}")
        return value

    @cached_property
    def recipes(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Codes, numbers and limits of the likelihoods that have a recipe: what `mapdag.recipes` takes."""
        from mapdag.recipes import KINDS

        codes = np.array([KINDS[recipe.kind] for recipe in self._recipes], dtype=np.int64)
        numbers = np.array([[recipe.x, recipe.y] for recipe in self._recipes]).reshape(-1, 2)
        return codes, numbers, self._limits[self._with_recipe]

    @cached_property
    def _limits(self) -> Floats:
        """Most configurations that the parents of each node may have, one row for each likelihood."""
        limits = np.full((len(self._criteria), len(self._names)), np.inf)
        for row, criterion in zip(limits, self._criteria, strict=True):
            if criterion.limits:
                row[:] = criterion.limits
        return limits

    @property
    def _terms(self) -> Any:
        from mapdag.terms import terms_of_thread

        return terms_of_thread(self._counter.total, self._counter.fractions)
