"""The engine that counts on a device: rows are there once, or come in blocks where they do not all fit.

What the device cannot count, or what is not worth the way there, the engine of the data set itself counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.counts.device.choice import Limits, cost, fits
from mapdag.counts.device.plan import Planner, families_of, split
from mapdag.counts.engine import Engine, Request, engine_of
from mapdag.counts.table import Counted, CountTable, TableBatch, merge_counts
from mapdag.data.labels import code_dtype
from mapdag.errors import DataError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.counts.device.interface import Device
    from mapdag.counts.device.plan import Plan

    Ints = NDArray[np.int64]

_SHARE = 0.6  # of the device's memory for rows


class Share(NamedTuple):
    """What one engine counts of some requests."""

    requests: list[Request]
    places: list[tuple[int, Ints]]  # for each of them: of which request it is a part, and of which of its families

    def add(self, number: int, request: Request, places: Ints) -> None:
        """Take some families of a request."""
        if len(places):
            if request.candidates is not None and len(places) < len(request.candidates):
                request = request._replace(candidates=tuple(request.candidates[i] for i in places.tolist()))
            self.requests.append(request)
            self.places.append((number, places))


class OnDevice(NamedTuple):
    """Counts of some requests, which are on the device."""

    plan: Plan
    counts: Any


class DeviceEngine(Engine):
    """Counts on a device.

    Parameters
    ----------
    data : data set
        Without weights.
    device : Device
    limits : Limits, optional
        What fits where; for tests, in which little is to be counted as much is.
    """

    fractions = 0

    def __init__(self, data: Any, device: Device, *, limits: Limits | None = None) -> None:
        if data.weights is not None:
            way_out = Setting("device", "cpu")
            raise DataError("rows that carry weights are counted on this machine's cores: pass ", way_out)
        self.cards = data.cards
        self.n_rows = data.n_rows
        self.total = data.n_rows
        self.device = device
        self._data = data
        self._limits = limits or Limits()

    @cached_property
    def other(self) -> Engine:
        """Who counts what the device does not."""
        found = engine_of(self._data)
        found.threads = self.threads
        return found

    def divide(self, requests: Sequence[Request]) -> tuple[list[Share], Share]:
        """Decide what the device counts, turn by turn, and what it does not."""
        turns, elsewhere = [Share([], [])], Share([], [])
        taken, here, there = 0, self._limits.call, 0.0
        for number, request in enumerate(requests):
            family, candidates = split(request)
            more, cells = np.array(candidates, dtype=np.int64), math.prod(self.cards[list(family)].tolist())
            mine = fits(self.n_rows, cells, self.cards[more], self._limits)
            elsewhere.add(number, request, np.flatnonzero(~mine))
            some = np.flatnonzero(mine)
            if not len(some):  # there may be more cells than numbers
                continue
            sizes = cells * self.cards[more[some]]
            here += cost(self.n_rows, sizes, self._limits)
            there += self._cost_of_cores(family, more[some])
            while len(some):
                fit = int(np.searchsorted(taken + np.cumsum(sizes), self._limits.batch, side="right"))
                fit = max(fit, int(taken == 0))  # one table always does
                turns[-1].add(number, request, some[:fit])
                taken += int(sizes[:fit].sum())
                some, sizes = some[fit:], sizes[fit:]
                if len(some):
                    turns.append(Share([], []))
                    taken = 0
        if here >= there:
            every = Share([], [])
            for number, request in enumerate(requests):
                every.add(number, request, np.arange(families_of(request)))
            return [], every
        return [each for each in turns if each.requests], elsewhere

    def count(self, requests: Sequence[Request]) -> OnDevice:
        """Count requests on the device; they are one turn."""
        plan = Planner(requests, self.cards, self._limits).plan()
        counts = self.device.new_counts(plan.cells)
        for rows in self._rows or map(self._load, self._blocks()):
            self.device.count(rows, plan, counts)
        return OnDevice(plan, counts)

    def tables(self, requests: Sequence[Request]) -> list[TableBatch]:
        """Count every family of some requests: a batch of tables for each, positive counts only."""
        turns, elsewhere = self.divide(requests)
        found: list[list[tuple[Ints, Counted]]] = [[] for _ in requests]
        for turn in turns:
            parts = self.batches(turn.requests, self.count(turn.requests))
            for (number, places), batch in zip(turn.places, parts, strict=True):
                found[number].append((places, batch.counts))
        others = self.other.tables(elsewhere.requests) if elsewhere.requests else []
        for (number, places), batch in zip(elsewhere.places, others, strict=True):
            found[number].append((places, batch.counts))
        return [self._batch(request, runs) for request, runs in zip(requests, found, strict=True)]

    def table(self, child: int, parents: Sequence[int]) -> CountTable:
        """Count one family in full, where the rows came from."""
        return self.other.table(child, parents)

    def observed(self, parents: Sequence[int]) -> int:
        """Return how many configurations of these parents occur."""
        return self.other.observed(parents)

    def _cost_of_cores(self, family: tuple[int, ...], candidates: Ints) -> float:
        """Nanoseconds to count some tables on this machine, where little is hardly faster with more threads."""
        from mapdag.counts.choice import estimate

        members = np.array(family, dtype=np.int64)
        return float(estimate(self.n_rows, members, candidates, self.cards))

    def batches(self, requests: Sequence[Request], counted: OnDevice) -> Iterator[TableBatch]:
        """Return the tables of requests that the device has counted."""
        from mapdag.counts.blocks import positive_counts

        families = counted.plan.families
        full = self.device.read(counted.counts, 0, counted.plan.cells).astype(np.int64)
        sides = np.stack([families[name] for name in ("place", "above", "levels", "below")], axis=1, dtype=np.int64)
        end = 0
        for request in requests:
            begin, end = end, end + families_of(request)
            yield self._batch(request, [(np.arange(end - begin), positive_counts(full, sides[begin:end]))])

    def _batch(self, request: Request, runs: list[tuple[Ints, Counted]]) -> TableBatch:
        q, log_q, n_parents = self.sizes(request)
        return TableBatch(
            counts=merge_counts(runs, len(q)),
            child=request.child,
            r=int(self.cards[request.child]),
            q=q,
            log_q=log_q,
            n_parents=n_parents,
            total=float(self.total),
        )

    def sizes(self, request: Request) -> tuple[NDArray[np.float64], NDArray[np.float64], Ints]:
        """Declared configurations of each family of a request, their logs; and how many parents there are."""
        _, parents, candidates = request
        if candidates is None and not parents:
            return np.ones(1), np.zeros(1), np.zeros(1, dtype=np.int64)
        if candidates is None:
            parents, candidates = parents[:-1], parents[-1:]
        q, log_q = self.declared(parents)
        which = self.card_index[list(candidates)]
        return q[which], log_q[which], np.full(len(which), len(parents) + 1)

    @cached_property
    def _rows(self) -> list[Any]:
        """Rows on the device; none where they do not all fit."""
        shape = self.n_nodes, self.n_rows
        if shape[0] * shape[1] * self._dtype.itemsize > _SHARE * self.device.memory:
            return []
        return [self.device.load(self._blocks(), shape, self._dtype)]

    def _load(self, block: NDArray[Any]) -> Any:
        return self.device.load([block], block.shape, self._dtype)

    def _blocks(self) -> Iterator[NDArray[Any]]:
        """Codes of all rows, in blocks."""
        blocks = getattr(self._data, "blocks", None)
        if blocks is None:
            size = max(self._limits.block_bytes // max(self.n_nodes * self._dtype.itemsize, 1), 1)
            for begin in range(0, self.n_rows, size):
                yield self._data.codes[:, begin : begin + size]
        else:
            for i in range(len(blocks)):
                yield blocks.codes(i)

    @cached_property
    def _dtype(self) -> np.dtype[Any]:
        return np.dtype(code_dtype(self.cards.tolist()))
