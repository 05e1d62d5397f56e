"""The first pass of a search, compiled: every node alone, and with each single parent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mapdag.kernels import Bools, Floats, Ints, Words, call_at, entry, fetch_add, inner, new_ints, new_scores, part
from mapdag.search.cache.store import FAMILIES, WHOLE, Store, declared_of, family_key, known, make_column

if TYPE_CHECKING:
    from mapdag.families.fused import Inputs


@entry
def find_roots(zobrist: Words, store: Store) -> Ints:
    """Places of the columns of all nodes without parents; missing ones are made, for which there must be room."""
    n = len(zobrist) // 2
    places, nobody = new_ints(n), new_ints(0)
    for child in range(n):
        key = family_key(child, nobody, 0, WHOLE, zobrist)
        places[child] = make_column(key, store)
    return places


@inner
def _is_shared(i: int, j: int, inputs: Inputs) -> bool:
    """Whether both directions of a pair are counted in the same rows: neither was set in some of them."""
    return inputs.as_child[i] == i and inputs.as_child[j] == j


@part
def _fill_apart(j: int, first: int, end: int, wanted: Bools, column: Floats, inputs: Inputs, store: Store) -> None:
    """Score a node with each single parent of some, as far as they share no table with the other direction."""
    partners, family, size = new_ints(end - first), new_ints(1), 0
    for i in range(first, end):
        if i != j and wanted[i, j] and not known(column[0, i]) and not _is_shared(i, j, inputs):
            partners[size] = i
            size += 1
    if size == 0:
        return
    family[0] = inputs.as_child[j]
    _, declared = declared_of(new_ints(0), 0, inputs)
    found = new_scores(len(column), size)
    call_at(inputs.alone, inputs, family, declared, partners[:size], found, new_scores(0, 0))
    for k in range(len(column)):
        for m in range(size):
            column[k, partners[m]] = found[k, m]
    fetch_add(store.used, FAMILIES, size)


@entry
def fill_pairs(
    following: Ints, most: int, parts: int, wanted: Bools, places: Ints, inputs: Inputs, store: Store
) -> None:
    """Score nodes without parents, and with one, both directions of a pair from one table; threads take turns.

    The directions of a pair are counted apart where one of the two was set in some rows: not in the same ones.

    Parameters
    ----------
    following : int64 array (1,)
        What is to be done next, a part of a node; threads share it, and each takes one after the other. Every node is
        paired with half of the others, those that follow it in a circle, so that all nodes together make all pairs.
    most : int
        How many to do before coming back.
    parts : int
        How many each node has.
    wanted : bool array (N, N)
        ``wanted[i, j]``: the score of j given i is wanted.
    places : int64 array (N,)
        Where the column of each node without parents is.
    inputs : Inputs
        Of this thread.
    store : Store
    """
    scores, own = store.scores, store.own
    n, n_criteria = len(places), scores.shape[1]
    partners, family, nothing = new_ints(n), new_ints(1), new_ints(0)
    _, declared = declared_of(nothing, 0, inputs)
    alone = new_scores(n_criteria, 1)
    for _ in range(most):
        turn: int = fetch_add(following, 0, 1)
        if turn >= n * parts:
            return
        j, piece = turn // parts, turn % parts
        family[0] = inputs.as_child[j]
        counted, size = 0, 0
        if piece == 0 and not known(own[places[j], 0]):
            call_at(inputs.alone, inputs, family, declared, nothing, alone, new_scores(0, 0))
            for k in range(n_criteria):
                own[places[j], k] = alone[k, 0]
            counted = 1
        for step in range(1 + n // 2 * piece // parts, 1 + n // 2 * (piece + 1) // parts):
            i = (j + step) % n
            there, back_there = wanted[i, j], wanted[j, i]
            there = there and not known(scores[places[j], 0, i])
            back_there = back_there and not known(scores[places[i], 0, j])
            opposite = 2 * step == n and j > i  # met already from the other side
            if _is_shared(i, j, inputs) and not opposite and (there or back_there):
                partners[size] = i
                size += 1
                counted += there + back_there
        fetch_add(store.used, FAMILIES, counted)
        _fill_apart(j, n * piece // parts, n * (piece + 1) // parts, wanted, scores[places[j]], inputs, store)
        if size == 0:
            continue
        found, back = new_scores(n_criteria, size), new_scores(n_criteria, size)
        call_at(inputs.alone, inputs, family, declared, partners[:size], found, back)
        for k in range(n_criteria):
            for m in range(size):
                i = partners[m]
                if wanted[i, j]:
                    scores[places[j], k, i] = found[k, m]
                if wanted[j, i]:
                    scores[places[i], k, j] = back[k, m]
