"""Scores of families that a device counts: their terms are summed there, too, and only the sums come back.

A score is a sum over cells less a sum over configurations and what depends on neither, see `mapdag.recipes`. Sums are
whole numbers, so that these are the same to the last bit as on this machine. The few functions whose terms a device
cannot compute alike are summed here, from its counts.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.counts.device.plan import families_of
from mapdag.kernels import Bools, Floats, Int32s, Ints, entry
from mapdag.recipes import QUOTIENT, Recipes, Rule, Shape, formula_of, quotient_charge, score_tables
from mapdag.terms.formulas import to_float
from mapdag.terms.functions import FULL, NOWHERE, Collection, collect, constants_for, new_collection, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.counts import Request, TableBatch
    from mapdag.counts.device.engine import DeviceEngine, OnDevice
    from mapdag.terms.formulas import Terms

_NOBODY, _THIN = -3, -4  # instead of a function: there are no rows; there are more configurations than allowed
_ROOM, _MOST_ROOM = 1 << 14, 1 << 20  # different functions that are kept on the device, at first and at most


class Families(NamedTuple):
    """What scores depend on besides sums; one entry for each family."""

    child: Ints
    levels: Ints  # of the child
    q: Floats  # declared configurations of the parents
    log_q: Floats  # and their logs
    n_parents: Ints
    n_positive: Int32s  # positive cells
    q_obs: Int32s  # observed configurations


@entry
def choose_functions(
    families: Families, recipes: Recipes, total: float, found: Collection, which: Int32s, rest: Floats
) -> bool:
    """Find the functions of the cells and of the configurations of each family, and what its score has besides.

    Parameters
    ----------
    families, recipes
    total : float
        Number of rows.
    found : Collection
        Gets the functions that it does not have.
    which : int32 array (recipes, families, 2)
        Gets their numbers; or, twice, why there is nothing to be summed on a device.
    rest : float64 array (recipes, families)

    Returns
    -------
    bool
        Whether there was room for all.
    """
    child, levels, q, log_q, n_parents, n_positive, q_obs = families
    codes, numbers, limits = recipes
    for i in range(len(codes)):
        rule, known = Rule(codes[i], numbers[i, 0], numbers[i, 1]), (-1.0, 0.0)
        r, log_r = np.int64(0), 0.0
        for t in range(len(child)):
            if q_obs[t] == 0 or q_obs[t] > limits[i, child[t]]:
                which[i, t, 0] = which[i, t, 1] = _NOBODY if q_obs[t] == 0 else _THIN
                continue
            if levels[t] != r:
                r = levels[t]
                log_r = math.log(r)
            shape = Shape(r, log_r, q[t], log_q[t], n_parents[t], np.int64(n_positive[t]), np.int64(q_obs[t]))
            score = formula_of(rule, shape, total, known)
            known = score.pseudo_count
            f = collect(score.f, score.x, np.int64(total), found)
            g = collect(score.g, score.y, np.int64(total), found)
            if min(f, g) == FULL:
                return False
            if min(f, g) == NOWHERE:
                f = g = NOWHERE
            which[i, t, 0], which[i, t, 1] = f, g
            rest[i, t] = score.rest - (quotient_charge(r, q[t], total) if rule.code == QUOTIENT else 0.0)
    return True


@entry
def put_together(sums: Ints, which: Int32s, rest: Floats, scale: float, out: Floats) -> None:
    """Scores, from sums over cells and over configurations, each in two words, and the rest."""
    for i in range(out.shape[0]):
        for t in range(out.shape[1]):
            if which[i, t, 0] == _NOBODY:
                out[i, t] = 0.0
            elif which[i, t, 0] == _THIN:
                out[i, t] = -np.inf
            else:
                high, low = sums[i, t, 0] - sums[i, t, 2], sums[i, t, 1] - sums[i, t, 3]
                out[i, t] = to_float(high, low, scale) + rest[i, t]


class DeviceScores:
    """Scores families that a device has counted.

    Parameters
    ----------
    engine : DeviceEngine
    recipes : Recipes
    terms : Terms
        For the same total.
    """

    def __init__(self, engine: DeviceEngine, recipes: Recipes, terms: Terms) -> None:
        self._engine = engine
        self._recipes = recipes
        self._constants = constants_for(terms)
        self._lock = threading.Lock()
        self._forget(_ROOM)

    def _forget(self, room: int) -> None:
        """Begin anew with functions, for so many."""
        scale, *tables, start = self._constants
        self._found = new_collection(room)
        self._functions = self._engine.device.new_functions(scale, tuple(tables), start)

    def scores(self, requests: Sequence[Request], terms: Terms) -> list[Floats]:
        """Score requests that the device counts in one turn: an array (recipes, families) for each.

        `terms` are those of this thread.
        """
        with self._lock:
            counted = self._engine.count(requests)
            families = self._families(requests, counted)
            which, rest = self._choose(families, terms)
            sums = self._engine.device.sums(counted.plan.families, counted.counts, self._functions, which)
            found = np.empty(rest.shape)
            put_together(sums, which, rest, self._constants.scale, found)
            ends = np.cumsum([families_of(each) for each in requests])[:-1]
            answers = np.split(found, ends, axis=1)
            missing = np.split(which[:, :, 0] == NOWHERE, ends, axis=1)
            if any(each.any() for each in missing):
                for batch, answer, places in zip(
                    self._engine.batches(requests, counted), answers, missing, strict=True
                ):
                    self._complete(batch, answer, places, terms)
        return answers

    def _families(self, requests: Sequence[Request], counted: OnDevice) -> Families:
        shapes = self._engine.device.shapes(counted.plan.families, counted.counts)
        q, log_q, n_parents = (np.concatenate(each) for each in zip(*map(self._engine.sizes, requests), strict=True))
        child = np.repeat([each.child for each in requests], [families_of(each) for each in requests])
        levels = self._engine.cards[child]
        return Families(child, levels, q, log_q, n_parents, shapes[:, 0].copy(), shapes[:, 1].copy())

    def _choose(self, families: Families, terms: Terms) -> tuple[Int32s, Floats]:
        """Find the functions of some families, and have the device know them."""
        size = len(self._recipes.codes), len(families.child)
        which, rest = np.empty((*size, 2), dtype=np.int32), np.zeros(size)
        before = int(self._found.taken[0])
        while not choose_functions(families, self._recipes, self._engine.total, self._found, which, rest):
            room = 2 * len(self._found.kinds)
            self._forget(room if room <= _MOST_ROOM or before == 0 else _ROOM)
            before = 0
        if self._found.taken[0] > before:
            self._engine.device.add_functions(self._functions, *written(self._found, before, terms))
        return which, rest

    def _complete(self, batch: TableBatch, answer: Floats, places: Bools, terms: Terms) -> None:
        """Score here what the device could not sum."""
        rows = np.flatnonzero(places.any(axis=1))
        if len(rows):
            codes, numbers, limits = self._recipes
            recipes = Recipes(codes[rows], numbers[rows], limits[rows])
            answer[rows] = np.where(places[rows], score_tables(batch, recipes, terms), answer[rows])
