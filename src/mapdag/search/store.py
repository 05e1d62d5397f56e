"""The compiled side of the family cache: where scores are kept, how they are found, how missing ones are made.

A store is a tuple of arrays. A *column* holds the scores of one family with each other node added to its parents in
turn, and of the family itself; a *single* is the score of one family. Both are found by a 128-bit hash of (child,
parents).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mapdag.kernels import address_of, call_at, entry, inner, new_floats, new_ints, new_words, part

OK, FULL, ASK = 0, 1, 2  # done; the store must grow; the score must be asked for in Python
COLUMNS, SINGLES, FAMILIES, STATUS = 0, 1, 2, 3  # what is in `used`
WHOLE, COLUMN = -1, -2

_EXACT = 2.0**37  # declared configurations up to which products with a number of levels are exact in floats


def new_store(n_nodes: int, n_likelihoods: int, columns: int, singles: int) -> tuple[Any, ...]:
    """Make an empty store: keys, places, scores and own scores of columns; keys, places and scores of singles; used."""
    slots = [1 << (2 * size - 1).bit_length() for size in (columns, singles)]
    return (
        np.zeros((slots[0], 2), dtype=np.uint64),
        np.full(slots[0], -1, dtype=np.int64),
        np.full((columns, n_likelihoods, n_nodes), np.nan),
        np.full((columns, n_likelihoods), np.nan),
        np.zeros((slots[1], 2), dtype=np.uint64),
        np.full(slots[1], -1, dtype=np.int64),
        np.full((singles, n_likelihoods), np.nan),
        np.zeros(4, dtype=np.int64),
    )


def grown(store: tuple[Any, ...], columns: int, singles: int) -> tuple[Any, ...]:
    """Make a store with the same content, and room for so many columns and singles."""
    keys, places, scores, own, single_keys, single_places, alone, used = store
    larger = new_store(scores.shape[2], scores.shape[1], columns, singles)
    larger[2][: len(scores)], larger[3][: len(own)], larger[6][: len(alone)] = scores, own, alone
    _rehash(keys, places, larger[0], larger[1])
    _rehash(single_keys, single_places, larger[4], larger[5])
    larger[7][:] = used
    return larger


@inner
def known(score: float) -> bool:
    """Whether a score was computed: unknown ones are not a number."""
    return score == score  # noqa: PLR0124


@inner
def _slot(key: Any, keys: Any, places: Any) -> int:
    """Slot of a key, or the free one where it would go."""
    mask = len(places) - 1
    i = np.int64(key[0]) & mask
    while places[i] >= 0 and (keys[i, 0] != key[0] or keys[i, 1] != key[1]):
        i = (i + 1) & mask
    return i


@entry
def _rehash(keys: Any, places: Any, new_keys: Any, new_places: Any) -> None:
    for i in range(len(places)):
        if places[i] >= 0:
            slot = _slot(keys[i], new_keys, new_places)
            new_keys[slot, 0], new_keys[slot, 1] = keys[i, 0], keys[i, 1]
            new_places[slot] = places[i]


@entry
def family_key(child: int, parents: Any, size: int, skip: int, zobrist: Any) -> Any:
    """Hash of a family; the parent at position `skip` is left out (-1: none)."""
    n = len(zobrist) // 2
    key = new_words(2)
    key[0], key[1] = zobrist[n + child, 0], zobrist[n + child, 1]
    for i in range(size):
        if i != skip:
            key[0] ^= zobrist[parents[i], 0]
            key[1] ^= zobrist[parents[i], 1]
    return key


@entry
def find_column(key: Any, store: Any) -> int:
    """Place of a column, or -1."""
    return store[1][_slot(key, store[0], store[1])]


@entry
def make_column(key: Any, store: Any) -> int:
    """Place of a new column without scores, or -1 if there is no room."""
    keys, places, scores, used = store[0], store[1], store[2], store[7]
    place = used[COLUMNS]
    if place >= len(scores):
        return -1
    slot = _slot(key, keys, places)
    keys[slot, 0], keys[slot, 1] = key[0], key[1]
    places[slot] = place
    used[COLUMNS] += 1
    return place


@entry
def find_family(child: int, parents: Any, size: int, skip: int, zobrist: Any, store: Any, out: Any) -> bool:
    """Look up the scores of one family: as a single, as a column's own, or as an entry of a smaller family's column."""
    key = family_key(child, parents, size, skip, zobrist)
    place = store[5][_slot(key, store[4], store[5])]
    if place >= 0:
        for k in range(len(out)):
            out[k] = store[6][place, k]
        return True
    place = find_column(key, store)
    if place >= 0 and known(store[3][place, 0]):
        for k in range(len(out)):
            out[k] = store[3][place, k]
        return True
    smaller = new_words(2)
    for i in range(size):
        if i == skip:
            continue
        p = parents[i]
        smaller[0], smaller[1] = key[0] ^ zobrist[p, 0], key[1] ^ zobrist[p, 1]
        place = find_column(smaller, store)
        if place >= 0 and known(store[2][place, 0, p]):
            for k in range(len(out)):
                out[k] = store[2][place, k, p]
            return True
    return False


@entry
def keep_single(key: Any, scores: Any, store: Any) -> bool:
    """Keep the scores of one family; tells whether there was room."""
    keys, places, singles, used = store[4], store[5], store[6], store[7]
    place = used[SINGLES]
    if place >= len(singles):
        return False
    slot = _slot(key, keys, places)
    keys[slot, 0], keys[slot, 1] = key[0], key[1]
    places[slot] = place
    for k in range(len(scores)):
        singles[place, k] = scores[k]
    used[SINGLES] += 1
    used[FAMILIES] += 1
    return True


@part
def _declared(parents: Any, size: int, native: Any) -> Any:
    """Declared configurations of some parents and one more, by the number of levels of the latter, and their logs."""
    cards, card_values = native[0][3], native[4]
    q = 1.0
    for i in range(size):
        q *= cards[parents[i]]
    both, logs = new_floats(len(card_values)), new_floats(len(card_values))
    for i in range(len(card_values)):
        both[i] = q * card_values[i]
        logs[i] = math.log(both[i])
    return q, both, logs


@part
def _ensure_family(
    child: int, parents: Any, size: int, skip: int, native: Any, zobrist: Any, store: Any, out: Any
) -> int:
    """Scores of one family under all likelihoods, counted if they are not known."""
    if find_family(child, parents, size, skip, zobrist, store, out):
        return OK
    data, recipes, terms, backend, _, card_index, extend = native
    if data[0].shape[1] == 0:
        return ASK
    # The family is counted as one more parent added to the others; without parents, as it is.
    members = new_ints(size + 1)
    m = 0
    for i in range(size):
        if i != skip:
            members[m] = parents[i]
            m += 1
    candidates = new_ints(min(m, 1))
    if m:
        m -= 1
        candidates[0] = members[m]
    q, both, logs = _declared(members, m, native)
    if q > _EXACT:
        return ASK
    members[m] = child
    found = np.empty((len(out), 1))
    declared = (both, logs, card_index)
    no_back = np.empty((0, 0))
    call_at(extend, (data, members[: m + 1], declared, candidates, recipes, terms, backend, found, no_back))
    for k in range(len(out)):
        out[k] = found[k, 0]
    return OK if keep_single(family_key(child, parents, size, skip, zobrist), out, store) else FULL


@part
def _ensure_column(child: int, parents: Any, size: int, wanted: Any, native: Any, zobrist: Any, store: Any) -> int:
    """Make sure that a family's column has the scores of all wanted candidates (no parents, nor the child)."""
    key = family_key(child, parents, size, -1, zobrist)
    place = find_column(key, store)
    if place < 0:
        place = make_column(key, store)
        if place < 0:
            return FULL
    scores = store[2][place]
    missing = new_ints(len(wanted))
    count = 0
    for c in range(len(wanted)):
        if wanted[c] and not known(scores[0, c]):
            missing[count] = c
            count += 1
    if count == 0:
        return OK
    data, recipes, terms, backend, _, card_index, extend = native
    q, both, logs = _declared(parents, size, native)
    if data[0].shape[1] == 0 or q > _EXACT:
        return ASK
    family = new_ints(size + 1)
    for i in range(size):
        family[i] = parents[i]
    family[size] = child
    found = np.empty((scores.shape[0], count))
    declared = (both, logs, card_index)
    no_back = np.empty((0, 0))
    call_at(extend, (data, family, declared, missing[:count], recipes, terms, backend, found, no_back))
    for i in range(scores.shape[0]):
        for m in range(count):
            scores[i, missing[m]] = found[i, m]
    store[7][FAMILIES] += count
    return OK


@entry
def find_roots(zobrist: Any, store: Any) -> Any:
    """Places of the columns of all nodes without parents; missing ones are made, for which there must be room."""
    n = len(zobrist) // 2
    places, nobody = new_ints(n), new_ints(0)
    for child in range(n):
        key = family_key(child, nobody, 0, -1, zobrist)
        places[child] = find_column(key, store)
        if places[child] < 0:
            places[child] = make_column(key, store)
    return places


@entry
def fill_pairs(children: Any, wanted: Any, places: Any, native: Any, scores: Any, own: Any) -> None:
    """Score nodes without parents, and with one, both directions of a pair from one table.

    Parameters
    ----------
    children : int64 array
        Each is paired with half of the nodes, those that follow it in a circle: all nodes together make all pairs.
    wanted : bool array (N, N)
        ``wanted[i, j]``: the score of j given i is wanted.
    places : int64 array (N,)
        Where the column of each node without parents is.
    native : tuple
        From `FamilyScores.native`, of this thread.
    scores, own : float64 arrays (columns, likelihoods, N), (columns, likelihoods)
        Of the store.
    """
    data, recipes, terms, backend, _, card_index, extend = native
    n = len(places)
    partners, family, nothing = new_ints(n), new_ints(1), new_ints(0)
    _, both, logs = _declared(nothing, 0, native)
    declared = (both, logs, card_index)
    alone, no_back = np.empty((scores.shape[1], 1)), np.empty((0, 0))
    for j in children:
        size = 0
        for step in range(1, n // 2 + 1):
            i = (j + step) % n
            opposite = 2 * step == n and j > i  # met already from the other side
            if not opposite and (wanted[i, j] or wanted[j, i]):
                partners[size] = i
                size += 1
        family[0] = j
        call_at(extend, (data, family, declared, nothing, recipes, terms, backend, alone, no_back))
        for k in range(scores.shape[1]):
            own[places[j], k] = alone[k, 0]
        if size == 0:
            continue
        found, back = np.empty((scores.shape[1], size)), np.empty((scores.shape[1], size))
        call_at(extend, (data, family, declared, partners[:size], recipes, terms, backend, found, back))
        for k in range(scores.shape[1]):
            for m in range(size):
                i = partners[m]
                if wanted[i, j]:
                    scores[places[j], k, i] = found[k, m]
                if wanted[j, i]:
                    scores[places[i], k, j] = back[k, m]


@entry
def ensure(
    child: int, parents: Any, size: int, skip: int, wanted: Any, native: Any, zobrist: Any, store: Any, out: Any
) -> None:
    """Make sure that scores are in the store; what became of it goes to the store's `status`.

    Parameters
    ----------
    child, parents, size
        A family; `parents` may be longer than `size`.
    skip : int
        Which parent to leave out of it (`WHOLE`: none); the scores of that family go to `out`, one for each likelihood.
        `COLUMN`: the scores of the family with each `wanted` candidate added, which stay in the store.
    native : tuple
        From `FamilyScores.native`; it may have no rows, then Python must be asked.
    """
    if skip == COLUMN:
        store[7][STATUS] = _ensure_column(child, parents, size, wanted, native, zobrist, store)
    else:
        store[7][STATUS] = _ensure_family(child, parents, size, skip, native, zobrist, store, out)


@inner
def ensure_at(child: int, parents: Any, size: int, skip: int, wanted: Any, problem: Any, store: Any, out: Any) -> int:
    """Do as `ensure` does, by its address; returns the status."""
    _, _, native, zobrist, address = problem
    call_at(address, (child, parents, size, skip, wanted, native, zobrist, store, out))
    return store[7][STATUS]


def address_of_ensure(native: tuple[Any, ...], zobrist: Any, store: tuple[Any, ...]) -> int:
    """Address of `ensure` for the arrays of one cache."""
    parents, wanted, out = np.empty(1, dtype=np.int64), np.empty(1, dtype=np.bool_), np.empty(1)
    return address_of(ensure, 0, parents, 0, 0, wanted, native, zobrist, store, out)
