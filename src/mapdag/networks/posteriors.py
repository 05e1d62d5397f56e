"""Distributions of the gaps of rows given what is known of each, for whoever asks for expected counts of any family.

A component of a row, gaps that depend on each other, is a list of joint levels with their probabilities: all of them,
or draws that are spread evenly where there are too many (`mapdag.counts.expected.Posterior`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.counts.expected import Posterior
from mapdag.kernels import Floats, Ints, entry, inner, mix, new_ints, no_ints
from mapdag.networks.buckets import arrange, collect, decide
from mapdag.networks.completion import (
    MOST,
    SPREAD,
    Component,
    Tables,
    flatten,
    gather,
    mark_large,
    new_component,
    put_in,
    share_of,
    weigh,
)
from mapdag.networks.cpts import check_size
from mapdag.networks.expectation import entries_of
from mapdag.networks.factors import Families
from mapdag.networks.gaps import codes_with_gaps, fill
from mapdag.networks.network import BayesianNetwork
from mapdag.tasks import available_cores, pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data import Dataset
    from mapdag.data.labels import Codes
    from mapdag.graphs import DAG

STATES = 1 << 23
"""Joint levels of all components of all rows that are kept, about: 64 MiB of probabilities, and their codes."""

_LEAST, _SIZES = 6, 5  # powers of two: joint levels of a component that are listed at least, and how many more may be
_COMPONENTS, _STATES, _CODES, _LARGE = range(4)
_PIECE = 2**12  # rows that are done at a time


class Lists(NamedTuple):
    """What is filled: fields of a `Posterior` of the same names."""

    cells: Any
    components: Any
    columns: Any
    marginal_starts: Ints
    marginals: Floats
    state_ends: Ints
    code_starts: Ints
    sizes: Any
    probabilities: Floats
    levels: Any


class Large(NamedTuple):
    """Completions of rows with components that are too large even to be eliminated by compiled code."""

    numbers: Ints  # (rows,) which of them each row is, if it is one
    codes: Any  # (such rows, draws, nodes)


@entry
def measure(rows: Any, tables: Tables, most: int, draws: int, sizes: Ints, states: Ints) -> int:
    """Find how much room each row takes where components have so many joint levels at most; returns gaps in others.

    Parameters
    ----------
    rows : array (rows, nodes)
    tables : Tables
    most, draws : int
        Joint levels that are listed, and draws where there are more.
    sizes : int64 array (rows, 4)
        Gets components, joint levels, codes of these, and 1 where a component is too large to be eliminated.
    states : int64 array
        Gets the joint levels of all rows, for each power of two that `most` might be.
    """
    n = len(tables.cards)
    part, found, mark, drawn = new_component(n, 0), no_ints(2 * n), 0, 0
    sizes[:] = 0
    for r in range(len(rows)):
        mark = mark_large(rows[r], tables, found, mark, part)
        sizes[r, _LARGE], mark = mark < 0, abs(mark)
        begun = mark
        for node in range(n):
            if np.int64(rows[r, node]) < tables.cards[node] or found[node] > begun:
                continue
            mark += 1
            size, total = gather(node, rows[r], tables, found, mark, part)
            kept = total if total <= most else draws
            drawn += size if total > most else 0
            sizes[r, _COMPONENTS] += 1
            sizes[r, _STATES] += kept
            sizes[r, _CODES] += kept * size
            for j in range(len(states)):
                states[j] += total if total <= 1 << (_LEAST + j) else draws
    return drawn


@entry
def describe(
    rows: Any, first: int, key: int, tables: Tables, most: int, starts: Ints, large: Large, lists: Lists
) -> None:
    """Fill the lists of some rows.

    Parameters
    ----------
    rows : array (rows, nodes)
    first, key : int
        Number of the first row, and a seed, which draws depend on.
    tables : Tables
    most : int
        Joint levels of a component that are listed.
    starts : int64 array (rows, 4)
        Where what `measure` has measured begins.
    large : Large
    lists : Lists
    """
    n, times = len(tables.cards), large.codes.shape[1]
    part, gaps, found, mark, at = new_component(n, most), new_ints(n), no_ints(2 * n), 0, new_ints(4)
    for r in range(len(rows)):
        row = rows[r]
        put_in(row, tables, gaps, part.places)
        mark = mark_large(row, tables, found, mark, part)
        is_large, mark = mark < 0, abs(mark)
        begun = mark
        at[:] = starts[r]
        for node in range(n):
            if np.int64(row[node]) < tables.cards[node] or found[node] > begun:
                continue
            mark += 1
            size, total = gather(node, row, tables, found, mark, part)
            if total <= most:
                _list(size, total, at, tables, part, lists)
                _enter(first + r, size, total, at, tables, part, lists)
                continue
            if is_large:
                for d in range(times):
                    for i in range(size):
                        lists.levels[at[_CODES] + d * size + i] = large.codes[
                            large.numbers[first + r], d, part.nodes[i]
                        ]
            else:
                word = mix(np.uint64(key) ^ mix(np.uint64(first + r) * np.uint64(n) + np.uint64(node)))
                _draw(size, times, word, row, at, tables, part, lists)
            lists.probabilities[at[_STATES] : at[_STATES] + times] = 1.0 / times
            _enter(first + r, size, times, at, tables, part, lists)


@inner
def _list(size: int, total: int, at: Ints, tables: Tables, part: Component, lists: Lists) -> None:
    """List all joint levels of a component."""
    whole = weigh(size, total, tables, part)
    for s in range(total):
        lists.probabilities[at[_STATES] + s] = part.weights[s] / whole if whole > 0 else 1.0 / total
        rest = s
        for i in range(size - 1, -1, -1):
            card = tables.cards[part.nodes[i]]
            lists.levels[at[_CODES] + s * size + i] = rest % card
            rest //= card


@inner
def _draw(size: int, times: int, word: Any, row: Any, at: Ints, tables: Tables, part: Component, lists: Lists) -> None:
    """List draws from the joint levels of a component."""
    arrange(size, row, tables, part, part.room)
    collect(False, size, row, tables, part, part.room)
    for d in range(times):
        decide(1, size, share_of(SPREAD, d, times, word), mix(word + np.uint64(2 + d)), tables, part, part.room)
        for i in range(size):
            lists.levels[at[_CODES] + d * size + i] = part.digits[i]


@inner
def _enter(row: int, size: int, total: int, at: Ints, tables: Tables, part: Component, lists: Lists) -> None:
    """Enter a component whose joint levels are listed, with the distribution of each gap; go on to the next place."""
    component, states, codes = at[_COMPONENTS], at[_STATES], at[_CODES]
    lists.state_ends[component + 1], lists.code_starts[component] = states + total, codes
    lists.sizes[component] = size
    for i in range(size):
        gap, card = lists.cells[part.nodes[i], row], tables.cards[part.nodes[i]]
        lists.components[gap], lists.columns[gap], begin = component, i, lists.marginal_starts[gap]
        lists.marginals[begin : begin + card] = 0.0
        for s in range(total):
            lists.marginals[begin + np.int64(lists.levels[codes + s * size + i])] += lists.probabilities[states + s]
    at[_COMPONENTS] += 1
    at[_STATES] += total
    at[_CODES] += total * size


def work_beyond_lists(dag: DAG, data: Dataset, most: int) -> int:
    """Count the entries of the tables by which a graph's nodes are eliminated in rows that compiled code leaves alone.

    Not beyond `most`. `data` has the columns of the graph in its order. What its tables would hold does not
    matter here.
    """
    check_size(dag, data.levels)
    shapes = {node: [len(data.levels[name]) for name in (*dag.parents(node), node)] for node in dag.nodes}
    network = BayesianNetwork._trusted(dag, data.levels, {node: np.empty(shapes[node]) for node in dag.nodes})  # noqa: SLF001
    codes, sizes = codes_with_gaps(network, data), np.zeros((data.n_rows, 4), dtype=np.int64)
    measure(np.ascontiguousarray(codes.T), flatten(network), 1, 1, sizes, np.zeros(1, dtype=np.int64))
    large = codes[:, sizes[:, _LARGE] > 0]
    return entries_of(Families(network), large < data.cards[:, None], most)


class Described(NamedTuple):
    """The distributions of gaps, and how many of these are known by draws only."""

    posterior: Posterior
    drawn: int


def describe_gaps(
    network: BayesianNetwork, codes: Codes, weights: NDArray[Any] | None, *, draws: int, seed: int, threads: int
) -> Described:
    """Find the distributions of the gaps of rows, `codes` being from `mapdag.networks.gaps.codes_with_gaps`.

    As many joint levels of a component are listed as there is room for; of larger ones, so many draws.
    """
    tables, n_rows = flatten(network), codes.shape[1]
    rows = np.ascontiguousarray(codes.T)
    pieces = [slice(start, min(start + _PIECE, n_rows)) for start in range(0, n_rows, _PIECE)]
    workers = threads or available_cores()
    run = map if workers == 1 or len(pieces) < 2 else pool(workers, "gaps").map
    sizes = np.zeros((n_rows, 4), dtype=np.int64)
    most, drawn = MOST, 0
    for _ in range(2):  # once to see what there is room for
        states = [np.zeros(_SIZES, dtype=np.int64) for _ in pieces]

        def look(i: int, most: int = most, states: list[Ints] = states) -> int:
            return measure(rows[pieces[i]], tables, most, draws, sizes[pieces[i]], states[i])

        drawn = sum(run(look, range(len(pieces))))
        allowed = np.flatnonzero(np.sum(states, axis=0) <= STATES) if pieces else [_SIZES - 1]
        most = 1 << (_LEAST + int(allowed[-1] if len(allowed) else 0))
        if most == MOST:
            break
    starts = np.zeros((n_rows + 1, 4), dtype=np.int64)
    np.cumsum(sizes, axis=0, out=starts[1:])
    lists, which = _new_lists(starts[-1].tolist(), codes, tables.cards), np.flatnonzero(sizes[:, _LARGE])
    numbers = np.zeros(n_rows, dtype=np.int64)
    numbers[which] = np.arange(len(which))
    spread = partial(fill, network, codes[:, which], draws=draws, spread=True, seed=seed, threads=threads)
    filled = spread() if len(which) else np.empty((draws, len(codes), 0), dtype=codes.dtype)
    large = Large(numbers, np.ascontiguousarray(filled.transpose(2, 0, 1)))

    def do(piece: slice) -> None:
        describe(rows[piece], piece.start, seed, tables, most, starts[piece], large, lists)

    for _ in run(do, pieces):
        pass
    longest = max(int(np.diff(lists.state_ends).max(initial=1)), int(tables.cards.max(initial=1)))
    by_row = np.ones(n_rows) if weights is None else weights.astype(np.float64)
    named = {name: getattr(lists, name) for name in Lists._fields}
    return Described(Posterior(codes=codes, cards=tables.cards, weights=by_row, longest=longest, **named), drawn)


def _new_lists(room: list[int], codes: Codes, cards: Ints) -> Lists:
    components, states, levels, _ = room
    missing, narrow = codes == cards[:, None].astype(codes.dtype), np.int32
    # One variable after the other, as they will be counted.
    cells = np.where(missing, np.cumsum(missing.ravel()).reshape(codes.shape) - 1, -1).astype(narrow)
    widths = np.repeat(cards, missing.sum(axis=1))
    return Lists(
        cells=cells,
        components=np.empty(len(widths), dtype=narrow),
        columns=np.empty(len(widths), dtype=narrow),
        marginal_starts=np.cumsum(widths) - widths,
        marginals=np.empty(int(widths.sum())),
        state_ends=np.zeros(components + 1, dtype=np.int64),
        code_starts=np.empty(components, dtype=np.int64),
        sizes=np.empty(components, dtype=narrow),
        probabilities=np.empty(states),
        levels=np.empty(levels, dtype=codes.dtype),
    )
