"""Several chains over graphs: where they start, how long they run, what is kept of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.sampling.convergence import monte_carlo_error
from mapdag.search.frame.watch import EarlyEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mapdag.sampling.gibbs import Block, ChainState, Neighbours, ParentLists
    from mapdag.sampling.parent_lists import ListedFamilies
    from mapdag.search.frame.result import Stopped
    from mapdag.search.frame.watch import Watch

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

_WARMTHS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7)  # powers of the posterior that dispersed chains go through
_WARM_SWEEPS = 20  # at each of them
_SETTLING = 100  # sweeps before neighbours are chosen from what chains have seen, twice
_DRAWS = 50  # graphs that a chain keeps in each batch
_BATCHES = 40  # after which neighbouring ones are merged
_FEWEST = 10  # batches before the error is looked at
_LEAST = 4  # batches without which nothing is returned
_BURN_IN = 0.25  # share of the batches that is dropped
_STEPS = 500  # between two looks at the clock
_WIDTH = 24  # nodes that a block may take next to one of its own
_PER_SWEEP = 4  # nodes that a step is counted as


class Run(NamedTuple):
    """What several chains have given."""

    draws: NDArray[np.int32]  # (chains, draws, nodes) the family of each node
    held: NDArray[np.int32]  # (chains, batches, families) for how many steps each family was there
    sweeps: int  # of each chain, those dropped apart
    finished: bool  # whether the error is as small as asked for


@dataclass
class _Lane:
    """One chain, and what it has given so far."""

    state: ChainState
    block: Block
    is_spread: bool
    draws: list[NDArray[np.int32]] = field(default_factory=list)  # (draws, nodes) of each batch
    held: list[NDArray[np.int32]] = field(default_factory=list)  # (families,) steps, of each batch


class Chains:
    """Several chains for one problem.

    Parameters
    ----------
    families : ListedFamilies
    starts : sequence of int64 arrays (nodes,)
        The family of each node where each chain starts.
    spread : sequence of bool
        Whether each goes through flattened posteriors first, so that it comes from anywhere.
    seed : int
    watch : Watch
    """

    def __init__(
        self, families: ListedFamilies, starts: Sequence[Ints], spread: Sequence[bool], *, seed: int, watch: Watch
    ) -> None:
        from mapdag.sampling.gibbs import ChainState, new_block

        self._families, self._watch = families, watch
        self._lists = families.compiled()
        self._members = families.members()
        n, longest = families.n_nodes, int(np.diff(families.starts).max())
        self._steps = -(-n // _PER_SWEEP)
        self._lanes = []
        streams = np.random.SeedSequence(seed).spawn(len(starts))
        for stream, start, is_spread in zip(streams, starts, spread, strict=True):
            state = ChainState(
                chosen=start.copy(),
                sequence=self._order(start),
                since=np.ones(n, dtype=np.int64),
                held=np.zeros(len(families.scores), dtype=np.int64),
                step=np.zeros(1, dtype=np.int64),
                random=stream.generate_state(1, dtype=np.uint64),
            )
            self._lanes.append(_Lane(state, new_block(n, longest), is_spread))
        self._near = self._neighbours(self._alone())

    def run(self, *, error: float, most: int) -> tuple[Run, Stopped]:
        """Run all chains, side by side, until no arc has a larger Monte Carlo error, or for so many sweeps at most.

        Returns also why they ended. Raises EarlyEnd where a limit is reached before there is enough to judge them by.
        """
        finished = False
        with self._watch:
            self._settle()
            finished = self._sample(error, most)
        stopped = self._watch.stopped
        if self._n_batches < _LEAST:
            raise EarlyEnd(stopped)
        if stopped == "converged" and not finished:
            stopped = "max_iter"
        return self._result(finished), stopped

    @property
    def _n_batches(self) -> int:
        return min(len(lane.held) for lane in self._lanes)

    def _order(self, chosen: Ints) -> Ints:
        """Order the nodes so that parents come before children."""
        parents = self._members[chosen]
        left, found = np.arange(len(chosen)), []
        while len(left):
            free = left[~parents[np.ix_(left, left)].any(axis=1)]
            assert len(free)
            found.append(free)
            left = np.setdiff1d(left, free)
        return np.concatenate(found)

    def _alone(self) -> Floats:
        """Probabilities of arcs where each node takes any listed parents, cycles or not."""
        tops = np.repeat(self._families.scores[self._families.starts[:-1]], np.diff(self._families.starts))
        return self.arcs(np.exp(self._families.scores - tops))

    def arcs(self, weights: Floats | Ints | NDArray[np.int32]) -> Floats:
        """Shares of the weights of families that have each arc, ``[parent, child]``."""
        return arc_shares(weights, self._families.starts, self._members)

    def _neighbours(self, arcs: Floats) -> Neighbours:
        """Choose neighbours: nodes that are often adjacent, or have a child in common."""
        from mapdag.sampling.gibbs import Neighbours

        n = len(arcs)
        closeness = np.sqrt(arcs + arcs.T + arcs @ arcs.T / 2)
        np.fill_diagonal(closeness, 0.0)
        width = min(_WIDTH, n - 1)
        nodes = np.argsort(-closeness, axis=1, kind="stable")[:, :width].astype(np.int64)
        weights = np.take_along_axis(closeness, nodes, axis=1) + 1e-3
        chances = np.cumsum(weights, axis=1)
        return Neighbours(np.ascontiguousarray(nodes), np.ascontiguousarray(chances / chances[:, -1:]))

    def _each(self, phase: str, job: Callable[[_Lane], None], done: int, total: int) -> None:
        """Do a job for all chains, several at a time."""
        self._watch.work("", [partial(job, lane) for lane in self._lanes])
        self._watch.tell(phase, done, total, score=self._score())

    def _score(self) -> float:
        """Score of the first chain's graph."""
        return float(self._families.scores[self._lanes[0].state.chosen].sum())

    def _go(self, lane: _Lane, lists: ParentLists, sweeps: int) -> None:
        from mapdag.sampling.gibbs import run_chain

        left = sweeps * self._steps
        while left > 0:
            self._watch.check()
            run_chain(min(left, _STEPS), 0, lists, self._near, lane.state, lane.block)
            left -= _STEPS

    def _settle(self) -> None:
        """Let chains come from anywhere to where the posterior is, and learn which nodes belong together."""
        warm = [self._families.compiled(warmth) for warmth in _WARMTHS]

        def cool(lane: _Lane) -> None:
            if lane.is_spread:
                for lists in warm:
                    self._go(lane, lists, _WARM_SWEEPS)

        def settle(lane: _Lane) -> None:
            lane.state.held[:] = 0
            self._go(lane, self._lists, _SETTLING)

        self._each("settling", cool, 0, 3)
        for turn in range(2):
            self._each("settling", settle, turn + 1, 3)
            self._near = self._neighbours(self.arcs(np.sum([lane.state.held for lane in self._lanes], axis=0)))

    def _sample(self, error: float, most: int) -> bool:
        thin, sweeps = 1, 0

        def draw(lane: _Lane) -> None:
            lane.state.held[:] = 0
            drawn = np.empty((_DRAWS, self._families.n_nodes), dtype=np.int32)
            for i in range(_DRAWS):
                self._go(lane, self._lists, thin)
                drawn[i] = lane.state.chosen
            lane.draws.append(drawn)
            lane.held.append(lane.state.held.astype(np.int32))

        while sweeps + thin * _DRAWS <= max(most, _FEWEST * _DRAWS):
            self._each("sampling", draw, sweeps, most)
            sweeps += thin * _DRAWS
            if self._n_batches % _FEWEST == 0 and self._error() <= error:
                return True
            if self._n_batches == _BATCHES:
                thin *= 2
                for lane in self._lanes:
                    lane.draws = [
                        np.concatenate([a, b])[1::2] for a, b in zip(lane.draws[::2], lane.draws[1::2], strict=True)
                    ]
                    lane.held = [a + b for a, b in zip(lane.held[::2], lane.held[1::2], strict=True)]
        return False

    def _kept(self) -> slice:
        """Batches that count."""
        return slice(int(_BURN_IN * self._n_batches), self._n_batches)

    def _error(self) -> float:
        """Return the largest Monte Carlo error of an arc."""
        means = [[self.arcs(held) for held in lane.held[self._kept()]] for lane in self._lanes]
        return float(monte_carlo_error(np.array(means)).max(initial=0.0))

    def _result(self, finished: bool) -> Run:
        kept = self._kept()
        draws = np.array([np.concatenate(lane.draws[kept]) for lane in self._lanes])
        held = np.array([lane.held[kept] for lane in self._lanes])
        return Run(draws, held, int(held[0, :, : self._families.starts[1]].sum()) // self._steps, finished)


def arc_shares(weights: Floats | Ints | NDArray[np.int32], starts: Ints, members: Bools) -> Floats:
    """Shares of the weights of families that have each arc, ``[parent, child]``."""
    n = len(starts) - 1
    found = np.zeros((n, n))
    for x in range(n):
        mine = slice(starts[x], starts[x + 1])
        some = np.flatnonzero(weights[mine])
        found[:, x] = weights[mine][some] @ members[mine][some] / weights[mine][some].sum()
    return found
