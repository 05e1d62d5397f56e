"""Counting and scoring in one compiled call: one family extended by each of many candidate parents.

The short cut of the engine that counts on this machine's cores: tables are scored while they are in the cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.counts.bitsets import complete
from mapdag.counts.choice import (
    AUTO,
    BITSETS,
    SORTED,
    WAYS,
    choose,
    choose_again,
    count,
    declared_cells,
    no_cells,
    no_order,
    with_first_levels,
)
from mapdag.counts.cores import Rows
from mapdag.counts.rows import Cells, RowOrder, number_rows, sort_rows
from mapdag.counts.table import Counted, TableBatch
from mapdag.kernels import (
    Codes,
    Counts,
    Floats,
    Ints,
    Words,
    call_at,
    entry,
    inner,
    new_floats,
    new_ints,
    new_scores,
    no_count_rows,
    no_counts,
    part,
    popcount,
)
from mapdag.recipes import Recipes, Reverse, score_batch

if TYPE_CHECKING:
    from mapdag.families.crew import Crew
    from mapdag.terms.formulas import Terms

_CHUNK = 1 << 16  # entries of the tables that are counted before they are scored: they stay in the cache


class Inputs(NamedTuple):
    """What compiled code takes to count and score, in one thread."""

    rows: Rows  # without rows where `asks`
    recipes: Recipes
    terms: Terms  # of this thread
    way: int  # of counting, as in `mapdag.counts.choice`
    card_values: Floats  # different numbers of levels, ascending
    card_index: Ints  # (variables,) which of them each variable has
    extend: int  # address of what scores an extended family: `extend`, or `share` where threads help
    alone: int  # address of `extend`
    score: int  # address of `extend_prepared`
    work: int  # address of `work`; 0 where nobody helps
    crew: Crew  # the threads that help
    asks: bool  # whether scores must be asked for in Python instead
    as_child: Ints  # (columns,) the column that stands for each as a child: another one where it was set in some rows
    totals: Floats  # (columns,) rows that there are of each as a child


class Declared(NamedTuple):
    """Declared configurations of a family's parents and one more, by the latter's number of levels."""

    q: Floats
    log_q: Floats


def no_rows(cards: Ints, codes: Codes | None) -> Rows:
    """Stand in for rows that must be asked for, of the same types, so that nothing is compiled once more."""
    none = np.empty((len(cards), 0), dtype=np.uint8 if codes is None else codes.dtype)
    none.setflags(write=False)
    return Rows(none, np.empty((0, 0), dtype=np.uint64), np.empty(0, dtype=np.int64), cards, cards)


class Prepared(NamedTuple):
    """What is known of one family before candidates are counted."""

    how: Ints  # (candidates,) way in which each is counted
    cells: Cells  # of the rows; empty where all candidates are counted by bitsets
    order: RowOrder  # where some are counted by sorted rows
    counts: Counts  # of the family's declared cells, and
    product: Counts  # of these with each level of the candidates, where they were counted before; or empty


def no_preparation() -> Prepared:
    """Stand in for what is known of a family, of the same types."""
    rows, nodes, counts = np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    return Prepared(nodes, Cells(rows, 1, nodes), RowOrder(rows, nodes), counts, counts)


@part
def _score_chunk(
    inputs: Inputs, family: Ints, declared: Declared, prepared: Prepared, mine: Ints, own: Counts, way: int, both: bool
) -> tuple[Floats, Floats]:
    """Count some candidates, all in one way, and score them: an array (recipes, candidates).

    And another one with scores of the candidates given the node, whose positive counts are `own`, where `both` are
    wanted.
    """
    rows, recipes, card_index = inputs.rows, inputs.recipes, inputs.card_index
    cards, (every_q, every_log_q) = rows.cards, declared
    has_gaps = rows.widths[family[-1]] > cards[family[-1]]
    for t in range(len(mine)):
        has_gaps = has_gaps or rows.widths[mine[t]] > cards[mine[t]]
    apart = no_count_rows(len(mine) if has_gaps and both else 0, cards[family[-1]])
    if len(prepared.product):
        levels_of = with_first_levels(mine, rows.first_level, rows.widths)
        counts = complete(prepared.counts, prepared.product, levels_of, cards[family[-1]], cards[mine], apart)
    else:
        counts = count(rows, family, prepared.cells, prepared.order, mine, way, apart)
    own_ends = new_ints(len(apart))
    if len(apart):
        own, own_ends = _joined(apart)
    q, log_q = new_floats(len(mine)), new_floats(len(mine))
    n_parents, levels = new_ints(len(mine)), new_ints(len(mine))
    for t in range(len(mine)):
        levels[t] = cards[mine[t]]
        q[t], log_q[t] = every_q[card_index[mine[t]]], every_log_q[card_index[mine[t]]]
        n_parents[t] = len(family)
    total = inputs.totals[family[-1]]
    batch = TableBatch(counts, family[-1], cards[family[-1]], q, log_q, n_parents, total)
    found = new_scores(len(recipes.codes), len(mine))
    back = new_scores(len(recipes.codes) if both else 0, len(mine))
    score_batch(batch, recipes, inputs.terms, found, Reverse(mine, levels, own, own_ends), back)
    return found, back


@part
def _joined(counts: Counts) -> tuple[Counts, Ints]:
    """Positive counts of all rows of a table, one after the other, and where each ends."""
    found, ends = no_counts(counts.size), new_ints(len(counts))
    size = 0
    for t in range(len(counts)):
        for k in range(counts.shape[1]):
            found[size] = counts[t, k]
            size += counts[t, k] > 0
        ends[t] = size
    return found[:size], ends


@part
def _positive_counts(bits: Words) -> Counts:
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
def _score_root(node: int, cells: Counts, inputs: Inputs, out: Floats) -> None:
    """Scores of one node without parents: ``out[recipe, 0]``."""
    totals = no_counts(1)
    ends, one, none = new_ints(1), new_ints(1), new_ints(1)
    q, log_q = new_floats(1), new_floats(1)
    total = inputs.totals[node]
    for cell in cells:
        totals[0] += cell
    ends[0], one[0], none[0], q[0], log_q[0] = len(cells), np.int64(len(cells) > 0), 0, 1.0, 0.0
    counts = Counted(cells, ends, totals[: one[0]], one, ends, one)
    batch = TableBatch(counts, node, inputs.rows.cards[node], q, log_q, none, total)
    score_batch(batch, inputs.recipes, inputs.terms, out, Reverse(none, none, totals, none), new_scores(0, 0))


@inner
def _scatter(found: Floats, places: Ints, out: Floats) -> None:
    """Put columns where they belong."""
    for i in range(found.shape[0]):
        for t in range(found.shape[1]):
            out[i, places[t]] = found[i, t]


@entry
def extend_prepared(
    inputs: Inputs, family: Ints, declared: Declared, candidates: Ints, prepared: Prepared, out: Floats, back: Floats
) -> None:
    """Scores of one family extended by each candidate, as `extend`, for which some things are known already."""
    rows = inputs.rows
    cards, how = rows.cards, prepared.how
    own = no_counts(0)
    if len(candidates) == 0 or len(back):
        first = rows.first_level[family[0]]
        own = _positive_counts(rows.bits[first : first + cards[family[0]]])
    if len(candidates) == 0:
        _score_root(family[0], own, inputs, out)
        return
    most = _CHUNK if len(prepared.product) == 0 else 1 << 62
    entries = declared_cells(family, cards)
    chunk = new_ints(len(candidates))
    for way in WAYS:
        c = 0
        while c < len(candidates):
            # Gather the next candidates that are counted this way, as many as fit into one chunk.
            size, filled = 0, 0
            while c < len(candidates) and (size == 0 or filled < most):
                if how[c] == way:
                    chunk[size] = c
                    size += 1
                    filled += cards[candidates[c]] * entries
                c += 1
            if size == 0:
                continue
            mine = new_ints(size)
            for t in range(size):
                mine[t] = candidates[chunk[t]]
            found, reverse = _score_chunk(inputs, family, declared, prepared, mine, own, way, len(back) > 0)
            _scatter(found, chunk, out)
            _scatter(reverse, chunk, back)
        entries = prepared.cells.n_cells if len(prepared.cells.ids) else entries


@part
def prepare(inputs: Inputs, family: Ints, candidates: Ints) -> Prepared:
    """Decide how to count each candidate, and number the rows where that is needed."""
    rows = inputs.rows
    cards, n = rows.cards, rows.codes.shape[1]
    how = choose(n, family, candidates, cards, inputs.way)
    cells, order = no_cells(), no_order()
    by_rows = False
    for c in range(len(candidates)):
        by_rows = by_rows or how[c] != BITSETS
    if by_rows:
        cells = number_rows(rows.codes, family, cards)
        any_sorted = inputs.way == SORTED
        if inputs.way == AUTO:
            any_sorted = choose_again(how, n, cells.n_cells, family, candidates, cards)
        if any_sorted:
            order = sort_rows(cells.ids, cells.n_cells)
    return Prepared(how, cells, order, no_counts(0), no_counts(0))


@entry
def extend(inputs: Inputs, family: Ints, declared: Declared, candidates: Ints, out: Floats, back: Floats) -> None:
    """Scores of one family extended by each candidate parent: ``out[recipe, candidate]``.

    Without candidates, the family must be a node without parents, and its own scores go to ``out[recipe, 0]``.

    Parameters
    ----------
    inputs : Inputs
    family : int64 array
        The parents and, last, the column of the child as such.
    declared : Declared
        Of an extended family.
    candidates : int64 array
    out : float64 array (recipes, candidates)
    back : float64 array (recipes, candidates)
        Gets the scores of each candidate with the child as its only parent, from the same counts, where the family has
        no parents. Without rows, they are not wanted.
    """
    prepared = prepare(inputs, family, candidates)
    call_at(inputs.score, inputs, family, declared, candidates, prepared, out, back)
