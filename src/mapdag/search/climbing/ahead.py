"""All that one or two nodes will ask for, made at once by all threads, compiled.

After a move, one or two families have changed: wanted are their columns, and each family without each of its parents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mapdag.families.crew import close_post, has_failed, open_post
from mapdag.families.work import is_worth_it, post, read_found
from mapdag.kernels import (
    Bools,
    Ints,
    Words,
    address_of,
    call_at,
    entry,
    fetch_add,
    inner,
    look,
    new_bools,
    new_ints,
    new_scores,
    new_table,
    part,
)
from mapdag.search.cache.status import FULL, OK
from mapdag.search.cache.store import (
    EXACT,
    FAMILIES,
    WHOLE,
    Problem,
    Store,
    declared_of,
    family_key,
    find_family,
    keep_single,
    known,
    make_column,
    write_column,
)
from mapdag.search.climbing.links import list_members

if TYPE_CHECKING:
    from mapdag.objective.constraints import Rules


@inner
def mark_candidates(child: int, parents: Ints, size: int, rules: Rules, wanted: Bools) -> None:
    """Mark the nodes that may become parents of a node, which has some already."""
    allowed = rules.allowed
    room, anybody = size < rules.max_parents, rules.open[child]
    for i in range(len(wanted)):
        wanted[i] = room and (anybody or allowed[i, child])
    wanted[child] = False
    for i in range(size):
        wanted[parents[i]] = False


@part
def _post_columns(nodes: Ints, parents_of: Words, problem: Problem, store: Store, missing: Ints, sizes: Ints) -> int:
    """Post the columns of some nodes, as far as they are not known; returns the number of requests, or -1: no room."""
    inputs, n = problem.inputs, len(parents_of)
    parents, wanted = new_ints(n), new_bools(n)
    requests, at = 0, 0
    for m in range(len(nodes)):
        sizes[m] = 0
        size = list_members(parents_of[nodes[m]], parents)
        mark_candidates(nodes[m], parents, size, problem.rules, wanted)
        q, declared = declared_of(parents, size, inputs)
        if q > EXACT:
            continue
        place = make_column(family_key(nodes[m], parents, size, WHOLE, problem.zobrist), store)
        if place < 0:
            return -1
        count, column = 0, store.scores[place, 0]
        for c in range(n):
            if wanted[c] and not known(look(column, c)):
                missing[m, count] = c
                count += 1
        parents[size] = inputs.as_child[nodes[m]]
        family = parents[: size + 1]
        if count > 1 and is_worth_it(inputs, family, missing[m, :count]):
            post(requests, inputs, family, declared, missing[m, :count], at, True)
            sizes[m] = count
            at += count
            requests += 1
    return requests


@part
def _post_singles(
    requests: int, nodes: Ints, parents_of: Words, problem: Problem, store: Store, which: Ints, at: int
) -> int:
    """Post the families of some nodes without each of their parents; returns the number of all requests."""
    inputs, n = problem.inputs, len(parents_of)
    parents, single = new_ints(n), new_scores(1, store.scores.shape[1])[0]
    for m in range(len(nodes)):
        size = list_members(parents_of[nodes[m]], parents)
        for skip in range(size):
            if requests == len(which) or find_family(nodes[m], parents, size, skip, problem.zobrist, store, single):
                continue
            members = new_ints(size)
            left = 0
            for i in range(size):
                if i != skip:
                    members[left] = parents[i]
                    left += 1
            last = max(left - 1, 0)  # the parent that counts as the candidate, if there is one
            candidates = members[last:left].copy()
            members[last] = inputs.as_child[nodes[m]]
            q, declared = declared_of(members, last, inputs)
            if q > EXACT:
                continue
            post(requests, inputs, members[: last + 1], declared, candidates, at, False)
            which[requests, 0], which[requests, 1] = m, skip
            at += 1
            requests += 1
    return requests


@entry
def look_ahead(nodes: Ints, parents_of: Words, problem: Problem, store: Store) -> None:
    """Put into the store what bringing some nodes up to date will ask for, as far as threads can help with it.

    What became of it goes to the store's `status`; what is not made here is made later.

    Parameters
    ----------
    nodes : int64 array
        One or two.
    parents_of : uint64 array (nodes, words)
        Parents of every node.
    """
    inputs = problem.inputs
    crew = inputs.crew
    store.status[0] = OK
    if not open_post(crew.board):
        return
    missing, sizes = new_table(len(nodes), len(parents_of)), new_ints(len(nodes))
    columns = _post_columns(nodes, parents_of, problem, store, missing, sizes)
    if columns <= 0:
        store.status[0] = OK if columns == 0 else FULL
        close_post(crew.board)
        return
    which = new_table(len(crew.requests), 2)
    requests = _post_singles(columns, nodes, parents_of, problem, store, which, sizes.sum())
    call_at(inputs.work, requests, inputs)
    if has_failed(crew.board):
        raise MemoryError
    parents = new_ints(len(parents_of))
    request = 0
    for m in range(len(nodes)):
        if sizes[m]:
            found = new_scores(store.scores.shape[1], sizes[m])
            read_found(request, crew, found)
            size = list_members(parents_of[nodes[m]], parents)
            place = make_column(family_key(nodes[m], parents, size, WHOLE, problem.zobrist), store)
            write_column(found, missing[m], sizes[m], store.scores[place])
            fetch_add(store.used, FAMILIES, sizes[m])
            request += 1
    for request in range(columns, requests):
        found = new_scores(store.scores.shape[1], 1)
        read_found(request, crew, found)
        node, skip = nodes[which[request, 0]], which[request, 1]
        size = list_members(parents_of[node], parents)
        if not keep_single(family_key(node, parents, size, skip, problem.zobrist), found[:, 0].copy(), store):
            store.status[0] = FULL
    close_post(crew.board)


def with_help(problem: Problem, store: Store) -> Problem:
    """Return the same problem, for which threads that help look ahead."""
    nodes, parents_of = np.empty(1, dtype=np.int64), np.empty((1, 1), dtype=np.uint64)
    codes = problem.inputs.rows.codes
    return problem._replace(ahead=address_of(look_ahead, nodes, parents_of, problem, store, varies=codes))
