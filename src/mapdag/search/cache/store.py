"""The compiled side of the family cache: where scores are kept, how they are found, how missing ones are made.

A *column* holds the scores of one family with each other node added to its parents in turn, and of the family itself; a
*single* is the score of one family. Both are found by a 128-bit hash of (child, parents).

Many threads use one store at once, without locks: a slot is claimed, filled, and then published. Whatever two threads
write to the same place is the same to the last bit, so that who comes first does not matter.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.families.fused import Declared, Inputs
from mapdag.kernels import (
    Bools,
    Floats,
    Ints,
    Words,
    address_of,
    call_at,
    entry,
    exchange_if,
    fetch_add,
    inner,
    look,
    new_floats,
    new_ints,
    new_scores,
    new_words,
    part,
    publish,
)
from mapdag.search.cache.status import ASK, FULL, OK

if TYPE_CHECKING:
    from mapdag.objective.constraints import Rules

COLUMNS, SINGLES, FAMILIES, HALT = 0, 1, 2, 3  # what is in `Store.used`
WHOLE, COLUMN = -1, -2  # instead of a parent to be left out: none; the family's column is wanted

_FREE, _CLAIMED = -1, -2  # instead of a place: nobody has this slot; somebody is about to fill it

EXACT = 2.0**37  # declared configurations up to which products with a number of levels are exact in floats


class Store(NamedTuple):
    """Scores of families, and what is asked for."""

    keys: Words  # (slots, 2) of columns
    places: Ints  # (slots,) where the column of each key is
    scores: Floats  # (columns, criteria, nodes) not a number: not known yet
    own: Floats  # (columns, criteria) of the family itself
    single_keys: Words  # (slots, 2)
    single_places: Ints  # (slots,)
    singles: Floats  # (singles, criteria)
    used: Ints  # columns and singles in use; families counted so far; whether all shall leave, as it will be rebuilt
    # Of one caller, not shared:
    status: Ints  # (1,) of the last call
    asked: Ints  # (nodes + 2,) child, number of parents, parents: the family that Python is asked for
    wanted: Bools  # (nodes,) the candidates that it is to be extended by


class Problem(NamedTuple):
    """What a search needs besides the store."""

    rules: Rules
    odds: Floats  # (nodes, nodes) the prior's log-odds of each arc; (1, 1) where all have the same: see `odds_of`
    row: int  # of the objective in the store
    inputs: Inputs
    zobrist: Words  # (2 nodes, 2) random keys of nodes as parents, then as children
    ensure: int  # address of `ensure`
    ahead: int  # address of what makes all that a move asks for at once, with the threads that help; 0: none do
    # Whether no larger set of parents has a score where a smaller one has none. With gaps, a larger one leaves fewer
    # rows and may have fewer configurations: `mapdag.Support` may allow it where it does not allow the smaller one.
    inherits: bool = True


def new_store(n_nodes: int, n_criteria: int, columns: int, singles: int) -> Store:
    """Make an empty store; columns take memory when they are made."""
    slots, single_slots = (1 << (2 * size - 1).bit_length() for size in (columns, singles))
    return Store(
        keys=np.zeros((slots, 2), dtype=np.uint64),
        places=np.full(slots, _FREE, dtype=np.int64),
        scores=np.empty((columns, n_criteria, n_nodes)),
        own=np.full((columns, n_criteria), np.nan),
        single_keys=np.zeros((single_slots, 2), dtype=np.uint64),
        single_places=np.full(single_slots, _FREE, dtype=np.int64),
        singles=np.full((singles, n_criteria), np.nan),
        used=np.zeros(4, dtype=np.int64),
        status=np.zeros(1, dtype=np.int64),
        asked=np.zeros(n_nodes + 2, dtype=np.int64),
        wanted=np.zeros(n_nodes, dtype=np.bool_),
    )


def grown(store: Store, columns: int, singles: int) -> Store:
    """Make a store with the same content, and room for so many columns and singles."""
    larger = new_store(store.scores.shape[2], store.scores.shape[1], columns, singles)
    for name, size in (("scores", store.used[COLUMNS]), ("own", None), ("singles", None), ("used", None)):
        old = getattr(store, name)[:size]
        getattr(larger, name)[: len(old)] = old
    larger.used[HALT] = 0
    _rehash(store.keys, store.places, larger.keys, larger.places)
    _rehash(store.single_keys, store.single_places, larger.single_keys, larger.single_places)
    return larger


@inner
def odds_of(odds: Floats, start: int, end: int) -> float:
    """Log-odds of one arc."""
    return odds[start, end] if len(odds) > 1 else odds[0, 0]


@inner
def known(score: float) -> bool:
    """Whether a score was computed: unknown ones are not a number."""
    return score == score  # noqa: PLR0124


@inner
def _find(key: Words, keys: Words, places: Ints) -> int:
    """Place of a key, or -1."""
    mask = len(places) - 1
    i = np.int64(key[0]) & mask
    while True:
        place: int = look(places, i)
        if place == _FREE:
            return -1
        if place != _CLAIMED:  # otherwise whose it is will be known in a moment
            if keys[i, 0] == key[0] and keys[i, 1] == key[1]:
                return place
            i = (i + 1) & mask


@inner
def _claim(key: Words, keys: Words, places: Ints) -> tuple[int, int]:
    """Slot for a key, claimed, and -1; or, where the key has one already, that and its place."""
    mask = len(places) - 1
    i = np.int64(key[0]) & mask
    while True:
        place: int = look(places, i)
        if place == _FREE:
            if exchange_if(places, i, _FREE, _CLAIMED):
                keys[i, 0], keys[i, 1] = key[0], key[1]
                return i, np.int64(-1)
        elif place != _CLAIMED:
            if keys[i, 0] == key[0] and keys[i, 1] == key[1]:
                return i, place
            i = (i + 1) & mask


@inner
def _take_place(kind: int, room: int, slot: int, places: Ints, used: Ints) -> int:
    """Next free place for a claimed slot; -1 if there is no room, the slot then being free again."""
    place: int = fetch_add(used, kind, 1)
    if place < room:
        return place
    fetch_add(used, kind, -1)
    publish(places, slot, _FREE)
    return -1


@entry
def _rehash(keys: Words, places: Ints, new_keys: Words, new_places: Ints) -> None:
    for i in range(len(places)):
        if places[i] >= 0:
            slot, _ = _claim(keys[i], new_keys, new_places)
            new_places[slot] = places[i]


@entry
def family_key(child: int, parents: Ints, size: int, skip: int, zobrist: Words) -> Words:
    """Hash of a family; the parent at position `skip` is left out (`WHOLE`: none)."""
    n = len(zobrist) // 2
    key = new_words(2)
    key[0], key[1] = zobrist[n + child, 0], zobrist[n + child, 1]
    for i in range(size):
        if i != skip:
            key[0] ^= zobrist[parents[i], 0]
            key[1] ^= zobrist[parents[i], 1]
    return key


@entry
def find_column(key: Words, store: Store) -> int:
    """Place of a column, or -1."""
    return _find(key, store.keys, store.places)


@entry
def make_column(key: Words, store: Store) -> int:
    """Place of a column, made without scores where there was none, or -1 if there is no room."""
    slot, place = _claim(key, store.keys, store.places)
    if place < 0:
        place = _take_place(COLUMNS, len(store.scores), slot, store.places, store.used)
        if place >= 0:
            column = store.scores[place]
            for k in range(column.shape[0]):
                for c in range(column.shape[1]):
                    column[k, c] = np.nan
            publish(store.places, slot, place)
    return place


@entry
def find_family(child: int, parents: Ints, size: int, skip: int, zobrist: Words, store: Store, out: Floats) -> bool:
    """Look up the scores of one family: as a single, as a column's own, or as an entry of a smaller family's column."""
    key = family_key(child, parents, size, skip, zobrist)
    place = _find(key, store.single_keys, store.single_places)
    if place >= 0:
        for k in range(len(out)):
            out[k] = store.singles[place, k]
        return True
    place = find_column(key, store)
    if place >= 0 and known(look(store.own[place], 0)):
        for k in range(len(out)):
            out[k] = store.own[place, k]
        return True
    smaller = new_words(2)
    for i in range(size):
        if i == skip:
            continue
        p = parents[i]
        smaller[0], smaller[1] = key[0] ^ zobrist[p, 0], key[1] ^ zobrist[p, 1]
        place = find_column(smaller, store)
        if place >= 0 and known(look(store.scores[place, 0], p)):
            for k in range(len(out)):
                out[k] = store.scores[place, k, p]
            return True
    return False


@entry
def keep_single(key: Words, scores: Floats, store: Store) -> bool:
    """Keep the scores of one family; tells whether there was room."""
    slot, place = _claim(key, store.single_keys, store.single_places)
    if place >= 0:
        return True
    place = _take_place(SINGLES, len(store.singles), slot, store.single_places, store.used)
    if place < 0:
        return False
    for k in range(len(scores)):
        store.singles[place, k] = scores[k]
    publish(store.single_places, slot, place)
    fetch_add(store.used, FAMILIES, 1)
    return True


@inner
def write_column(found: Floats, nodes: Ints, size: int, column: Floats) -> None:
    """Write scores of some nodes into a column, the first criterion last, by which others see that they are known."""
    for i in range(column.shape[0] - 1, 0, -1):
        for m in range(size):
            column[i, nodes[m]] = found[i, m]
    for m in range(size):
        publish(column[0], nodes[m], found[0, m])


@part
def declared_of(parents: Ints, size: int, inputs: Inputs) -> tuple[float, Declared]:
    """Declared configurations of some parents; and of these with one more, by the number of levels of the latter."""
    levels, cards = inputs.card_values, inputs.rows.cards
    q = 1.0
    for i in range(size):
        q *= cards[parents[i]]
    both, logs = new_floats(len(levels)), new_floats(len(levels))
    for i in range(len(levels)):
        both[i] = q * levels[i]
        logs[i] = math.log(both[i])
    return q, Declared(both, logs)


@part
def _ensure_family(child: int, parents: Ints, size: int, skip: int, problem: Problem, store: Store, out: Floats) -> int:
    """Scores of one family under all criteria, counted if they are not known."""
    if find_family(child, parents, size, skip, problem.zobrist, store, out):
        return OK
    inputs = problem.inputs
    if inputs.asks:
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
    q, declared = declared_of(members, m, inputs)
    if q > EXACT:
        return ASK
    members[m] = inputs.as_child[child]
    found = new_scores(len(out), 1)
    call_at(inputs.extend, inputs, members[: m + 1], declared, candidates, found, new_scores(0, 0))
    for k in range(len(out)):
        out[k] = found[k, 0]
    return OK if keep_single(family_key(child, parents, size, skip, problem.zobrist), out, store) else FULL


@part
def _ensure_column(child: int, parents: Ints, size: int, wanted: Bools, problem: Problem, store: Store) -> int:
    """Make sure that a family's column has the scores of all wanted candidates (no parents, nor the child)."""
    key = family_key(child, parents, size, WHOLE, problem.zobrist)
    place = make_column(key, store)
    if place < 0:
        return FULL
    scores = store.scores[place]
    missing = new_ints(len(wanted))
    count = 0
    for c in range(len(wanted)):
        if wanted[c] and not known(look(scores[0], c)):
            missing[count] = c
            count += 1
    if count == 0:
        return OK
    inputs = problem.inputs
    q, declared = declared_of(parents, size, inputs)
    if inputs.asks or q > EXACT:
        return ASK
    family = new_ints(size + 1)
    for i in range(size):
        family[i] = parents[i]
    family[size] = inputs.as_child[child]
    found = new_scores(scores.shape[0], count)
    call_at(inputs.extend, inputs, family, declared, missing[:count], found, new_scores(0, 0))
    write_column(found, missing, count, scores)
    fetch_add(store.used, FAMILIES, count)
    return OK


@entry
def ensure(
    child: int, parents: Ints, size: int, skip: int, wanted: Bools, problem: Problem, store: Store, out: Floats
) -> None:
    """Make sure that scores are in the store; what became of it goes to the store's `status`.

    Parameters
    ----------
    child, parents, size
        A family; `parents` may be longer than `size`.
    skip : int
        Which parent to leave out of it (`WHOLE`: none); the scores of that family go to `out`, one for each criterion.
        `COLUMN`: the scores of the family with each `wanted` candidate added, which stay in the store.
    """
    if skip == COLUMN:
        status = _ensure_column(child, parents, size, wanted, problem, store)
    else:
        status = _ensure_family(child, parents, size, skip, problem, store, out)
    if status == ASK:
        store.asked[0], store.asked[1] = child, size
        for i in range(size):
            store.asked[2 + i] = parents[i]
        for c in range(len(wanted)):
            store.wanted[c] = wanted[c]
    store.status[0] = status


@inner
def ensure_at(
    child: int, parents: Ints, size: int, skip: int, wanted: Bools, problem: Problem, store: Store, out: Floats
) -> int:
    """Do as `ensure` does, by its address; returns the status."""
    call_at(problem.ensure, child, parents, size, skip, wanted, problem, store, out)
    return store.status[0]


def address_of_ensure(problem: Problem, store: Store) -> int:
    """Address of `ensure` for the arrays of one cache."""
    parents, wanted, out = np.empty(1, dtype=np.int64), np.empty(1, dtype=np.bool_), np.empty(1)
    return address_of(ensure, 0, parents, 0, 0, wanted, problem, store, out, varies=problem.inputs.rows.codes)
