"""Counting and scoring in one compiled call: one family extended by each of many candidate parents."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapdag.counts import bitsets, histogram
from mapdag.counts.dispatch import (
    BITSETS,
    SORTED,
    TABLES,
    choose,
    declared_cells,
    refine_choice,
    with_first_levels,
)
from mapdag.counts.histogram import number_rows, sort_rows
from mapdag.kernels import entry, new_floats, new_ints, new_rows, no_counts, part, popcount
from mapdag.recipes import score_batch

_CHUNK = 1 << 16  # entries of the tables that are counted before they are scored: they stay in the cache


@part
def _score_chunk(
    data: Any, family: Any, declared: Any, groups: Any, mine: Any, own: Any, recipes: Any, terms: Any, way: int
) -> Any:
    """Count some candidates, all in one way, and score them: an array (recipes, candidates).

    And another one with scores of the candidates given the node, if its positive counts, `own`, are there.
    """
    codes, bits, first_level, cards = data
    q, log_q, card_index = declared
    if way == BITSETS:
        members = with_first_levels(family, first_level, cards)
        counts = bitsets.count_extensions(bits, members, with_first_levels(mine, first_level, cards))
    elif way == TABLES:
        counts = histogram.tabulate(codes, groups[0], mine, cards)
    else:
        zero = no_counts(0)
        counts = histogram.count_sorted(codes, groups[1], groups[0][2], mine, cards, None, zero)
    each, each_log = new_floats(len(mine)), new_floats(len(mine))
    n_parents, levels = new_ints(len(mine)), new_ints(len(mine))
    for t in range(len(mine)):
        levels[t] = cards[mine[t]]
        each[t], each_log[t] = q[card_index[mine[t]]], log_q[card_index[mine[t]]]
        n_parents[t] = len(family)
    cells, cell_ends, totals, total_ends, n_positive, q_obs = counts
    r, total = cards[family[-1]], float(codes.shape[1])
    child = family[-1]
    batch = (cells, cell_ends, totals, total_ends, n_positive, q_obs, r, each, each_log, n_parents, total, child)
    found = np.empty((len(recipes[0]), len(mine)))
    back = np.empty((len(recipes[0]) if len(own) else 0, len(mine)))
    score_batch(batch, recipes, terms, found, (mine, levels, own), back)
    return found, back


@part
def _positive_counts(bits: Any) -> Any:
    """How often each level of one node occurs, if at all, from its bitsets."""
    counts = no_counts(len(bits))
    size = 0
    for level in range(len(bits)):
        total = 0
        for w in range(bits.shape[1]):
            total += popcount(bits[level, w])
        counts[size] = total
        size += total > 0
    return counts[:size]


@part
def _score_root(node: int, cells: Any, card: int, total: float, recipes: Any, terms: Any, out: Any) -> None:
    """Scores of one node without parents: ``out[recipe, 0]``."""
    totals = no_counts(1)
    ends, one, none = new_ints(1), new_ints(1), new_ints(1)
    q, log_q = new_floats(1), new_floats(1)
    totals[0], ends[0], one[0], none[0], q[0], log_q[0] = total, len(cells), 1, 0, 1.0, 0.0
    batch = (cells, ends, totals, one, ends, one, card, q, log_q, none, total, node)
    score_batch(batch, recipes, terms, out, (none, none, totals), np.empty((0, 0)))


@entry
def extend(
    data: Any, family: Any, declared: Any, candidates: Any, recipes: Any, terms: Any, backend: int, out: Any, back: Any
) -> None:
    """Scores of one family extended by each candidate parent: ``out[recipe, candidate]``.

    Without candidates, the family must be a node without parents, and its own scores go to ``out[recipe, 0]``.

    Parameters
    ----------
    data : (codes, bits, first_level, cards)
    family : int64 array
        The parents and, last, the child.
    declared : (q, log_q, card_index)
        Declared configurations of an extended family, by the candidate's `card_index`.
    candidates : int64 array
    recipes : (codes, numbers, limits)
        See `mapdag.recipes.score_batch`.
    terms : tuple
        From `mapdag.terms.new_terms`, for this thread.
    backend : int
        As in `mapdag.counts.dispatch`.
    out : float64 array (recipes, candidates)
    back : float64 array (recipes, candidates)
        Gets the scores of each candidate with the child as its only parent, from the same counts, where the family has
        no parents. Without rows, they are not wanted.
    """
    codes, bits, first_level, cards = data
    n = codes.shape[1]
    own = no_counts(0)
    if len(candidates) == 0 or len(back):
        own = _positive_counts(bits[first_level[family[0]] : first_level[family[0] + 1]])
    if len(candidates) == 0:
        _score_root(family[0], own, cards[family[0]], float(n), recipes, terms, out)
        return
    how = choose(n, family, candidates, cards, backend)
    rows = new_rows(0), np.int64(min(n, declared_cells(family, cards))), new_ints(0)
    order = new_rows(0), new_ints(0)
    by_rows = False
    for c in range(len(candidates)):
        by_rows = by_rows or how[c] != BITSETS
    if by_rows:
        rows = number_rows(codes, family, cards)
        any_sorted = refine_choice(how, n, rows[1], family, candidates, cards) if backend == 0 else backend == SORTED
        if any_sorted:
            order = sort_rows(rows[0], rows[1])
    groups = (rows, order)
    entries = declared_cells(family, cards)
    chunk = new_ints(len(candidates))
    way, c, size, filled = BITSETS, 0, 0, 0
    while way <= SORTED:
        # Gather the next candidates that are counted this way, as many as fit into one chunk.
        while c < len(candidates) and (size == 0 or filled < _CHUNK):
            if how[c] == way:
                chunk[size] = c
                size += 1
                filled += cards[candidates[c]] * entries
            c += 1
        if size:
            mine = new_ints(size)
            for t in range(size):
                mine[t] = candidates[chunk[t]]
            found, reverse = _score_chunk(data, family, declared, groups, mine, own, recipes, terms, way)
            for i in range(found.shape[0]):
                for t in range(size):
                    out[i, chunk[t]] = found[i, t]
            for i in range(reverse.shape[0]):
                for t in range(size):
                    back[i, chunk[t]] = reverse[i, t]
            size, filled = 0, 0
        if c == len(candidates):
            way += 1
            c, entries = 0, rows[1]
