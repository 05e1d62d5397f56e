"""A sample of the rows of a table that neither the order of the rows nor labels decide.

Rows are drawn by what is in them: of every distinct row its share is kept, rounded up or down by a hash of how often
the pairs of levels occur that it has in neighbouring columns. So whoever has the same rows draws the same sample, in
whatever order, in one table or in many blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.counts.passes import Slices, sealed
from mapdag.data import Dataset
from mapdag.data.interventions import Interventions
from mapdag.data.labels import code_dtype
from mapdag.kernels import Ints, Words, entry, mix
from mapdag.tasks import pool
from mapdag.wording import free_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

_FAR_OFF = 2.0  # times smaller or larger than wanted: rows that cannot be told apart are no basis for a sample
_AT_A_TIME = 1 << 23  # rows that are told apart at a time, more or less: memory follows it
_LEAST = 1 << 14  # rows that a thread takes at a time
_ONCE: Ints = np.empty(0, dtype=np.int64)  # instead of weights: every row counts once


def rows_of(data: Dataset) -> int:
    """Return the number of rows, one that counts several times being as many, if weights are whole numbers."""
    return int(data.total) if data.weights is not None and data.weights.dtype.kind == "i" else data.n_rows


def draw(data: Dataset, share: float, *, threads: int = 1) -> Dataset | None:
    """Draw a share of the rows, with so many threads; nothing where their content does not allow it.

    Weights must be whole numbers, if there are any: a row is drawn as its copies would be. Rows in which different
    variables were set are different.
    """
    if data.interventions is not None:
        return _draw_experiments(data, data.interventions, share, threads)
    widths = data.widths  # gaps are a level like others here
    first = np.concatenate([[0], np.cumsum(widths * np.append(widths[1:], 1))])
    if data.weights is not None:
        codes, times = _draw_from_weighted(data, share, widths, first)
    elif data.engine == "cores":
        codes, times = _draw_from_memory(data, share, widths, first, threads)
    else:
        codes, times = _draw_from_blocks(data, share, first)
    if not 1 / _FAR_OFF <= times.sum() / (share * rows_of(data)) <= _FAR_OFF:
        return None
    return Dataset(data.names, data.levels, np.repeat(codes, times, axis=1), has_gaps=data.has_gaps)


def _draw_experiments(data: Dataset, was_set: Interventions, share: float, threads: int) -> Dataset | None:
    """Draw from rows with one more column: what was set."""
    name, cards = free_name("set", data.levels), [*data.cards.tolist(), len(was_set.targets)]
    codes = np.empty((len(cards), data.n_rows), dtype=code_dtype(cards, gaps=data.has_gaps))
    codes[:-1], codes[-1] = data.codes, was_set.codes
    levels = {**data.levels, name: tuple(map(str, range(len(was_set.targets))))}
    drawn = draw(
        Dataset((*data.names, name), levels, codes, data.weights, has_gaps=data.has_gaps), share, threads=threads
    )
    if drawn is None:
        return None
    left = Interventions.of(was_set.targets, drawn.codes[-1], data.names)
    return Dataset(data.names, data.levels, drawn.codes[:-1], has_gaps=data.has_gaps, interventions=left)


def _draw_from_memory(
    data: Dataset, share: float, widths: Ints, first: Ints, threads: int
) -> tuple[NDArray[Any], Ints]:
    """Distinct rows that are drawn, ascending by key, and how often each."""
    slices = Slices(data.codes, max(-(-data.n_rows // (4 * threads)), _LEAST))

    def each(function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        def do(i: int) -> Any:
            return function(sealed(np.ascontiguousarray(slices.codes(i))), *arguments)

        return pool(threads).map(do, range(len(slices)))

    pairs = widths, first, reduce(np.add, each(count_pairs, widths, first, _ONCE))
    colours, keys = (np.concatenate(found) for found in zip(*each(coloured, *pairs), strict=True))
    parts = 1 << (threads - 1).bit_length()

    def told_apart(part: int) -> tuple[NDArray[np.uint64], NDArray[np.intp], Ints]:
        rows = np.flatnonzero(keys & np.uint64(parts - 1) == np.uint64(part))
        order, begins, found = _distinct(keys[rows], colours[rows], np.ones(len(rows), dtype=np.int64))
        kept = _kept(found, share)
        return found.keys[kept > 0], rows[order[begins]][kept > 0], kept[kept > 0]

    every, rows, times = (
        np.concatenate(each) for each in zip(*pool(threads).map(told_apart, range(parts)), strict=True)
    )
    order = np.argsort(every)
    return data.codes[:, rows[order]], times[order]


def _draw_from_weighted(data: Dataset, share: float, widths: Ints, first: Ints) -> tuple[NDArray[Any], Ints]:
    """Do the same with rows in memory that have weights."""
    assert data.weights is not None
    codes, weights = sealed(np.ascontiguousarray(data.codes)), np.ascontiguousarray(data.weights, dtype=np.int64)
    colours, keys = coloured(codes, widths, first, count_pairs(codes, widths, first, weights))
    order, begins, found = _distinct(keys, colours, weights)
    kept = _kept(found, share)
    return data.codes[:, order[begins][kept > 0]], kept[kept > 0]


def _draw_from_blocks(data: Dataset, share: float, first: Ints) -> tuple[NDArray[Any], Ints]:
    """Do the same with rows that are elsewhere: they are told apart first, and fetched then."""
    widths = data.widths
    pairs = widths, first, data.sum(pair_counts, widths, first)
    keys, times = [np.empty(0, dtype=np.uint64)], [np.empty(0, dtype=np.int64)]
    parts = -(-data.n_rows // _AT_A_TIME)
    for part in range(parts):
        found: Distinct = data.sum(distinct_rows, pairs, part, parts).whole()
        kept = _kept(found, share)
        keys.append(found.keys[kept > 0])
        times.append(kept[kept > 0])
    every = np.concatenate(keys)
    order = np.argsort(every)
    drawn: Drawn = data.sum(chosen_rows, pairs, every[order]).whole()
    return drawn.codes, np.concatenate(times)[order]


def _kept(found: Distinct, share: float) -> Ints:
    """How often each of some rows is drawn."""
    threshold = (found.colours >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.floor(found.times * share + threshold).astype(np.int64)


@dataclass(frozen=True)
class Pile:
    """What was found in blocks: merged only with pieces of about the same size, so that many take little more."""

    parts: tuple[Distinct | Drawn, ...]  # from large to small

    def __add__(self, other: Pile) -> Pile:
        parts = sorted((*self.parts, *other.parts), key=lambda part: -len(part.keys))
        while len(parts) > 1 and len(parts[-2].keys) < 2 * len(parts[-1].keys):
            last = parts.pop()
            parts[-1] = parts[-1].merged(last)
            parts.sort(key=lambda part: -len(part.keys))
        return Pile(tuple(parts))

    def whole(self) -> Any:
        """Everything in one piece."""
        found = self.parts[-1]
        for part in reversed(self.parts[:-1]):
            found = part.merged(found)
        return found


@dataclass(frozen=True)
class Distinct:
    """Distinct rows, ascending by key; what two blocks have adds up."""

    keys: NDArray[np.uint64]
    colours: NDArray[np.uint64]
    times: NDArray[np.int64]  # how often each occurs

    def merged(self, other: Any) -> Distinct:
        """Put two together: rows that both have occur more often."""
        keys, colours = np.append(self.keys, other.keys), np.append(self.colours, other.colours)
        return _distinct(keys, colours, np.append(self.times, other.times))[2]


def _distinct(
    keys: NDArray[np.uint64], colours: NDArray[np.uint64], times: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.intp], Distinct]:
    """Tell rows apart; also, their order by key, and where in it each distinct one begins."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else order
    sums = np.add.reduceat(times[order], begins) if len(keys) else times
    return order, begins, Distinct(keys[begins], colours[order][begins], sums)


@dataclass(frozen=True)
class Drawn:
    """Rows that were chosen, ascending by key; those of two blocks are put together."""

    keys: NDArray[np.uint64]
    codes: NDArray[Any]  # (columns, rows)

    def merged(self, other: Any) -> Drawn:
        """Put two together: rows that both have are there once."""
        keys, places = np.unique(np.append(self.keys, other.keys), return_index=True)
        return Drawn(keys, np.concatenate([self.codes, other.codes], axis=1)[:, places])


def distinct_rows(codes: NDArray[Any], pairs: tuple[Ints, Ints, Ints], part: int, parts: int) -> Pile:
    """Tell the rows of a block apart: those whose keys are in one part of all keys."""
    colours, keys = coloured(sealed(codes), *pairs)
    mine = keys % np.uint64(parts) == np.uint64(part) if parts > 1 else slice(None)
    return Pile((_distinct(keys[mine], colours[mine], np.ones(len(keys[mine]), dtype=np.int64))[2],))


def chosen_rows(codes: NDArray[Any], pairs: tuple[Ints, Ints, Ints], chosen: NDArray[np.uint64]) -> Pile:
    """Find the chosen rows of a block, each once; `chosen` is ascending."""
    _, keys = coloured(sealed(codes), *pairs)
    found, places = np.unique(keys, return_index=True)
    at = np.minimum(np.searchsorted(chosen, found), max(len(chosen) - 1, 0))
    mine = chosen[at] == found if len(chosen) else np.zeros(len(found), dtype=np.bool_)
    return Pile((Drawn(found[mine], codes[:, places[mine]]),))


def pair_counts(codes: NDArray[Any], cards: Ints, first: Ints) -> Ints:
    """Call `count_pairs` by way of a function that other processes find."""
    return count_pairs(sealed(codes), cards, first, _ONCE)


@entry
def count_pairs(codes: Any, cards: Ints, first: Ints, weights: Ints) -> Ints:
    """Count the pairs of levels in neighbouring columns, and the levels of the last one.

    `weights` says how often each row counts; it is empty where all count once.
    """
    weighted = len(weights) > 0
    p, n = codes.shape
    counts = np.zeros(first[p], np.int64)
    for c in range(p):
        mine = counts[first[c] :]
        if c + 1 < p:
            r = cards[c + 1]
            for i in range(n):
                mine[np.int64(codes[c, i]) * r + np.int64(codes[c + 1, i])] += weights[i] if weighted else 1
        else:
            for i in range(n):
                mine[np.int64(codes[c, i])] += weights[i] if weighted else 1
    return counts


@entry
def coloured(codes: Any, cards: Ints, first: Ints, counts: Ints) -> tuple[Words, Words]:
    """Colour rows by how often what they have in neighbouring columns occurs.

    Returns
    -------
    colours, keys : uint64 arrays
        Rows that differ have different keys.
    """
    p, n = codes.shape
    colours, keys, table = np.zeros(n, np.uint64), np.zeros(n, np.uint64), np.empty(len(counts), np.uint64)
    for k in range(len(counts)):
        table[k] = mix(np.uint64(counts[k]))
    for c in range(p):
        mine = table[first[c] :]
        r = cards[c + 1] if c + 1 < p else np.int64(1)
        turn = np.uint64(0x9E3779B97F4A7C15) * np.uint64(2 * c + 1)
        for i in range(n):
            code = np.int64(codes[c, i])
            cell = code * r + (np.int64(codes[c + 1, i]) if c + 1 < p else np.int64(0))
            colours[i] = colours[i] * np.uint64(3) + mine[cell]
            keys[i] = (keys[i] ^ np.uint64(code)) * np.uint64(0xD1342543DE82EF95) + turn
    for i in range(n):
        colours[i], keys[i] = mix(colours[i]), mix(keys[i])
    return colours, keys
