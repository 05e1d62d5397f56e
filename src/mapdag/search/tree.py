"""Parents of a node among its predecessors, by growing and shrinking, remembered in trees.

A tree belongs to one child. Its nodes are sets of parents; a branch adds the candidate that improves the score most.
The best parents among any set of predecessors are found by following, at each node, the first branch whose candidate is
one of the predecessors, then taking back what is no longer needed. Whatever was computed for one set of predecessors
serves all others: that makes searching over orders cheap.

A tree is a tuple of arrays:

- `own`, `best`: score of each node's family, as grown and after shrinking (not a number: not known yet);
- `kept`: the parents left after shrinking, as bitsets;
- `start`, `count`: where its branches are;
- `candidate`, `value`, `next`: of each branch, the best first: whom it adds, the score then, the node it leads to (-1:
  none yet);
- `roots`: the first node of each child's tree (-1: none yet);
- `used`: how many nodes and branches there are, and the node that was found last;
- `relevant`: ``relevant[i, j]``: i is a branch somewhere in the tree of j;
- `asked`, `wanted`: the family that is being looked at (child, number of parents, parents) and the candidates whose
  scores it needs: what Python must provide where the compiled code cannot;
- `work`: estimated nanoseconds of counting that the nodes are worth, cached or not, and the number of rows;
- `possible`: for each node, the candidates that may be added to it, as bitsets. Who makes a family thinner than allowed
  does so for every larger one, too, and is not counted there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapdag.counts.dispatch import cost_by_bitsets, cost_by_rows
from mapdag.kernels import address_of, entry, inner, new_floats
from mapdag.search.graph import contains, flip
from mapdag.search.moves import TOLERANCE
from mapdag.search.store import COLUMN, OK, STATUS, WHOLE, ensure_at, family_key, find_column, known

CROWDED = 5  # the tree must grow


def new_tree(n_nodes: int, n_rows: int, size: int, branches: int) -> tuple[Any, ...]:
    """Make an empty tree with room for so many nodes and branches."""
    words = (n_nodes + 63) // 64
    return (
        np.full(size, np.nan),
        np.full(size, np.nan),
        np.zeros((size, words), dtype=np.uint64),
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
        np.zeros(branches, dtype=np.int32),
        np.zeros(branches),
        np.full(branches, -1, dtype=np.int32),
        np.full(n_nodes, -1, dtype=np.int64),
        np.zeros(3, dtype=np.int64),
        np.zeros((n_nodes, n_nodes), dtype=np.bool_),
        np.zeros(n_nodes + 2, dtype=np.int64),
        np.zeros(n_nodes, dtype=np.bool_),
        np.array([0.0, n_rows]),
        np.zeros((size, words), dtype=np.uint64),
    )


def larger_tree(tree: tuple[Any, ...], size: int, branches: int) -> tuple[Any, ...]:
    """Make a tree with the same content, and room for so many nodes and branches."""
    larger = new_tree(len(tree[8]), 0, size, branches)
    for old, new in zip(tree, larger, strict=True):
        new[: len(old)] = old
    return larger


@inner
def _cost(child: int, parents: Any, size: int, wanted: Any, cards: Any, n: Any) -> float:
    """Estimated nanoseconds to count one family with each wanted candidate."""
    cells: Any = float(cards[child])
    for i in range(size):
        cells = min(cells * cards[parents[i]], n)
    total = 0.0
    for c in range(len(wanted)):
        if wanted[c]:
            total += min(cost_by_bitsets(n, cells, cells, cards[c]), cost_by_rows(n, cells, cards[c]))
    return total


@inner
def _grow(child: int, parents: Any, size: int, wanted: Any, rules: Any, problem: Any, store: Any, tree: Any) -> Any:
    """Make the node of one set of parents, with a branch for each wanted candidate that improves its score.

    Returns
    -------
    status, node
    """
    _, fixed, max_parents = rules
    odds, which, _, zobrist, _ = problem
    own, best, _, start, count, candidate, value, following, _, used, relevant = tree[:11]
    n = len(odds)
    if used[0] == len(own) or used[1] + n > len(value):
        return CROWDED, -1
    scores = new_floats(store[2].shape[1])
    status = ensure_at(child, parents, size, WHOLE, wanted, problem, store, scores)
    if status == OK and size < max_parents:
        status = ensure_at(child, parents, size, COLUMN, wanted, problem, store, scores)
    if status != OK:
        return status, -1
    tree[13][0] += _cost(child, parents, size, wanted, problem[2][0][3], tree[13][1])
    prior = 0.0
    for i in range(size):
        prior += odds[parents[i], child]
    here = scores[which] + prior
    node, first = used[0], used[1]
    last = first
    if size < max_parents:
        column = store[2][find_column(family_key(child, parents, size, -1, zobrist), store), which]
        for c in range(n):
            if not wanted[c]:
                continue
            if column[c] > -np.inf:
                flip(tree[14][node], c)
            score = column[c] + prior + odds[c, child]
            if not (score - here > TOLERANCE or fixed[c, child]):
                continue
            rank = np.inf if fixed[c, child] else score
            at = last
            while at > first and rank > (np.inf if fixed[candidate[at - 1], child] else value[at - 1]):
                candidate[at], value[at] = candidate[at - 1], value[at - 1]
                at -= 1
            candidate[at], value[at] = c, score
            relevant[c, child] = True
            last += 1
    for k in range(first, last):
        following[k] = -1
    own[node], best[node], start[node], count[node] = here, np.nan, first, last - first
    used[0] += 1
    used[1] = last
    return OK, node


@inner
def _shrink(node: int, child: int, parents: Any, size: int, rules: Any, problem: Any, store: Any, tree: Any) -> int:
    """Take back parents while that does not lower the score; kept with the node."""
    fixed = rules[1]
    odds, which = problem[0], problem[1]
    own, best, kept = tree[0], tree[1], tree[2]
    here = own[node]
    prior = 0.0
    for i in range(size):
        prior += odds[parents[i], child]
    scores = new_floats(store[2].shape[1])
    while size:
        found, drop = here - TOLERANCE, -1
        for i in range(size):
            if fixed[parents[i], child]:
                continue
            status = ensure_at(child, parents, size, i, tree[12], problem, store, scores)
            if status != OK:
                tree[11][1] = size
                return status
            score = scores[which] + prior - odds[parents[i], child]
            if score > found:
                found, drop = score, i
        if drop < 0:
            break
        here = found
        prior -= odds[parents[drop], child]
        size -= 1
        for i in range(drop, size):
            parents[i] = parents[i + 1]
    for w in range(kept.shape[1]):
        kept[node, w] = 0
    for i in range(size):
        flip(kept[node], parents[i])
    best[node] = here
    return OK


@entry
def trace(child: int, before: Any, rules: Any, problem: Any, store: Any, tree: Any) -> None:
    """Find the best parents of a node among the nodes of a set.

    The tree's node goes to `used`, what became of it to the store's `status`.
    """
    allowed = rules[0]
    start, count, candidate, following, roots, used = tree[3], tree[4], tree[5], tree[7], tree[8], tree[9]
    asked, wanted = tree[11], tree[12]
    parents = asked[2:]
    asked[0] = child
    size, node, branch, above = 0, roots[child], -1, np.int64(-1)
    status = OK
    while True:
        if node < 0:
            asked[1] = size
            for c in range(len(roots)):
                wanted[c] = allowed[c, child] if above < 0 else contains(tree[14][above], c)
            for i in range(size):
                wanted[parents[i]] = False
            status, node = _grow(child, parents, size, wanted, rules, problem, store, tree)
            if status != OK:
                break
            if branch < 0:
                roots[child] = node
            else:
                following[branch] = node
        above = node
        branch, end = start[node], start[node] + count[node]
        while branch < end and not contains(before, candidate[branch]):
            branch += 1
        if branch == end:
            break
        # The parents are kept in order, so that their log-odds are summed in one way.
        at = size
        while at and parents[at - 1] > candidate[branch]:
            parents[at] = parents[at - 1]
            at -= 1
        parents[at] = candidate[branch]
        size += 1
        node = np.int64(following[branch])
    if status == OK and not known(tree[1][node]):
        asked[1] = size
        for c in range(len(roots)):
            wanted[c] = False
        status = _shrink(node, child, parents, size, rules, problem, store, tree)
    used[2] = node
    store[7][STATUS] = status


def address_of_trace(rules: tuple[Any, ...], problem: tuple[Any, ...], store: tuple[Any, ...], tree: Any) -> int:
    """Address of `trace` for the arrays of one search."""
    return address_of(trace, 0, np.empty(1, dtype=np.uint64), rules, problem, store, tree)
