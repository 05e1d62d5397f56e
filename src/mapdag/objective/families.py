"""Scores of single families in one data set: what a search asks for."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.counts import Backend, Counter
from mapdag.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.contracts import Likelihood
    from mapdag.counts import CountTable
    from mapdag.data import Dataset

    Floats = NDArray[np.float64]

_WORTH_A_THREAD = 400_000.0  # nanoseconds of counting that outweigh the hand-over to a thread


class FamilyScores:
    """Log-likelihoods of any family of one data set, several likelihoods from one count; nodes are column indices.

    Parameters
    ----------
    data : Dataset
    likelihoods : sequence of Likelihood
    backend : {"auto", "bitsets", "tables", "sorted"}
        How to count; the scores are the same to the last bit.
    threads : int
        How many threads may share a large request; the scores are the same to the last bit.
    """

    def __init__(
        self, data: Dataset, likelihoods: Sequence[Likelihood], *, backend: Backend = "auto", threads: int = 1
    ) -> None:
        for likelihood in likelihoods:
            if likelihood.whole_counts and data.weights is not None and data.weights.dtype.kind == "f":
                raise DataError(f"{likelihood} is defined for whole counts, but the weights of the rows are fractions")
        self.likelihoods = tuple(likelihoods)
        self._counter = Counter(data, backend=backend)
        recipes = [each.recipe(data.total, data.n_columns) for each in likelihoods]
        self._with_recipe = [i for i, recipe in enumerate(recipes) if recipe is not None]
        self._from_tables = [i for i, recipe in enumerate(recipes) if recipe is None]
        self._recipes = [recipe for recipe in recipes if recipe is not None]
        self._threads = threads
        self._names = data.names
        self._own = threading.local()  # a thread's memo of terms

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
        shared = (self._codes_and_numbers, self._terms, counter.backend)
        levels = (counter.card_values, counter.card_index)
        if not (serial and self.is_compiled):
            none = (counter.codes[:, :0].copy(), np.empty((0, 0), dtype=np.uint64), np.empty(0, dtype=np.int64))
            return (*none, counter.cards), *shared, *levels, 0
        from mapdag.kernels import address_of
        from mapdag.objective.kernel import extend

        nodes, scores = np.empty(1, dtype=np.int64), np.empty((1, 1))
        declared = (*levels[:1], *levels)
        address = address_of(extend, counter.arrays, nodes, declared, nodes, *shared, scores)
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
        parents = sorted(parents)
        if not self.is_compiled:
            return self._scores_of_tables(child, parents, candidates)
        from mapdag.counts.dispatch import estimate

        counter = self._counter
        every = np.asarray(candidates, dtype=np.int64)
        family = np.array([*parents, child], dtype=np.int64)
        scores = np.empty((len(self.likelihoods), len(every)))
        parts = 1
        if self._threads > 1:
            work = estimate(counter.n_rows, family, every, counter.cards)
            parts = min(self._threads, len(every), int(work / _WORTH_A_THREAD) + 1)
        if parts == 1:
            self._extend(family, every, scores)
            return scores
        # Dealt out in turn, so that every thread gets its share of nodes with many levels.
        hands = [np.arange(part, len(every), parts) for part in range(parts)]
        found = [np.empty((len(self.likelihoods), len(hand))) for hand in hands]
        list(self._pool.map(lambda part: self._extend(family, every[hands[part]], found[part]), range(parts)))
        for hand, share in zip(hands, found, strict=True):
            scores[:, hand] = share
        return scores

    def _extend(self, family: NDArray[np.int64], candidates: NDArray[np.int64], scores: Floats) -> None:
        from mapdag.objective.kernel import extend

        data, recipes, terms, backend = (
            self._counter.arrays,
            self._codes_and_numbers,
            self._terms,
            self._counter.backend,
        )
        declared = (*self._counter.declared(family[:-1].tolist()), self._counter.card_index)
        extend(data, family, declared, candidates, recipes, terms, backend, scores)

    def _scores_of_tables(self, child: int, parents: Sequence[int], candidates: Sequence[int] | None) -> Floats:
        """Scores with weighted rows or one's own likelihoods, one table after the other."""
        families = [sorted([*parents, extra]) for extra in candidates] if candidates is not None else [list(parents)]
        scores = np.empty((len(self.likelihoods), len(families)))
        if self._with_recipe:
            from mapdag.recipes import score_batch

            batch = self._counter.family(child, families[0])
            if candidates is not None:
                batch = self._counter.extensions(child, parents, candidates)
            found = np.empty((len(self._with_recipe), len(families)))
            score_batch(batch.arrays(), *self._codes_and_numbers, self._terms, found)
            scores[self._with_recipe] = found
        for place, members in enumerate(families if self._from_tables else ()):
            table = self._counter.table(child, members)
            for i in self._from_tables:
                scores[i, place] = self._finite(self.likelihoods[i], table, child, members)
        return scores

    def _finite(self, likelihood: Likelihood, table: CountTable, child: int, parents: Sequence[int]) -> float:
        value = likelihood.score(table)
        if not math.isfinite(value):
            family = f"{self._names[child]!r} with parents {[self._names[p] for p in parents]}"
            raise ParameterError(f"{likelihood} must return a finite number, got {value!r} for {family}")
        return value

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._threads, thread_name_prefix="mapdag")

    @cached_property
    def _codes_and_numbers(self) -> tuple[NDArray[np.int64], Floats]:
        from mapdag.recipes import KINDS

        codes = np.array([KINDS[recipe.kind] for recipe in self._recipes], dtype=np.int64)
        return codes, np.array([[recipe.x, recipe.y] for recipe in self._recipes]).reshape(-1, 2)

    @property
    def _terms(self) -> Any:
        if not hasattr(self._own, "terms"):
            from mapdag.terms import new_terms

            self._own.terms = new_terms(self._counter.total)
        return self._own.terms
