"""Kernels of certified search: what a fractional graph looks like on a few nodes, and cuts that show it is no mixture.

The families of a fractional graph are seen from a few nodes: for each of these, how much weight the families have whose
parents among the few are a given set. If the fractional graph is a mixture of graphs, so is what is seen of it. Whether
it is one is a linear program over all graphs on the few nodes, whose columns are made as they are needed, by dynamic
programming: the best graph for given weights. If it is none, the dual solution is a cut, as deep as there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import Bools, Floats, Ints, Words, entry, inner, new_bools, new_floats, new_ints, new_scores

if TYPE_CHECKING:
    from mapdag.search.certified.clusters import Support

_OPTIMAL = 1e-7  # what a graph may exceed its limit by
_INSIDE = 2e-4  # weight that a mixture may lack
_NEGATIVE = -1e-9
_PIVOT = 1e-9
_NOTHING = 1e-9  # coefficients below it


class View(NamedTuple):
    """What is seen of a fractional graph from a few nodes; sets of these are words, bit i for the i-th of them."""

    first: Ints  # (nodes + 1,) where the sets of each node begin
    sets: Ints  # parents among the few: none of them empty
    weights: Floats


class Scratch(NamedTuple):
    """Room for the dynamic program over sets of the few nodes."""

    best: Floats  # (sets,) value of the best graph on a set
    sink: Ints  # (sets,) its last node
    choice: Ints  # (sets,) what this has as parents: a place in the view, or -1


@inner
def _look(nodes: Ints, support: Support, n: int) -> View:
    """Look at a fractional graph from a few nodes."""
    child, ends, parents, weights = support
    place = new_ints(n)
    for v in range(n):
        place[v] = -1
    for i in range(len(nodes)):
        place[nodes[i]] = i
    size = 0
    owner, sets, total = new_ints(len(child)), new_ints(len(child)), new_floats(len(child))
    for f in range(len(child)):
        v = place[child[f]]
        if v < 0:
            continue
        seen = 0
        for i in range(ends[f - 1] if f else 0, ends[f]):
            if place[parents[i]] >= 0:
                seen |= 1 << place[parents[i]]
        if seen == 0:
            continue
        at = 0
        while at < size and not (owner[at] == v and sets[at] == seen):
            at += 1
        if at == size:
            owner[at], sets[at], total[at] = v, seen, 0.0
            size += 1
        total[at] += weights[f]
    first, sorted_sets, sorted_total = new_ints(len(nodes) + 1), new_ints(size), new_floats(size)
    filled = 0
    for v in range(len(nodes)):
        first[v] = filled
        for i in range(size):
            if owner[i] == v:
                sorted_sets[filled], sorted_total[filled] = sets[i], total[i]
                filled += 1
    first[len(nodes)] = filled
    return View(first, sorted_sets, sorted_total)


@inner
def _best_graph(view: View, value: Floats, scratch: Scratch, column: Floats) -> float:
    """Return the value of the best graph on the few nodes, each set of parents having one; `column` gets its sets."""
    first, sets, _ = view
    best, sink, choice = scratch
    n = len(first) - 1
    best[0] = 0.0
    for nodes in range(1, 1 << n):
        top = -1.0
        for v in range(n):
            if not nodes >> v & 1:
                continue
            before = nodes & ~(1 << v)
            gain, pick = 0.0, -1
            for i in range(first[v], first[v + 1]):
                if sets[i] & ~before == 0 and value[i] > gain:
                    gain, pick = value[i], i
            if best[before] + gain > top:
                top, sink[nodes], choice[nodes] = best[before] + gain, v, pick
        best[nodes] = top
    for i in range(len(column)):
        column[i] = 0.0
    nodes = (1 << n) - 1
    while nodes:
        if choice[nodes] >= 0:
            column[choice[nodes]] = 1.0
        nodes &= ~(1 << sink[nodes])
    return best[(1 << n) - 1]


@inner
def _pivot(inverse: Floats, basic: Floats, step: Floats, column: Floats) -> int:
    """Bring a column into the basis of the linear program; returns which one leaves, -1 if none can."""
    size = len(basic)
    leaves, least = -1, np.inf
    for i in range(size):
        total = 0.0
        for j in range(size):
            if column[j] != 0.0:
                total += inverse[i, j] * column[j]
        step[i] = total
        if total > _PIVOT:
            ratio = basic[i] / total
            if ratio < least - 1e-12 or (ratio < least + 1e-12 and total > step[leaves]):
                leaves, least = i, ratio
    if leaves < 0:
        return leaves
    least = max(least, 0.0)
    for i in range(size):
        basic[i] -= least * step[i]
    basic[leaves] = least
    for j in range(size):
        inverse[leaves, j] /= step[leaves]
    for i in range(size):
        if i != leaves and step[i] != 0.0:
            for j in range(size):
                inverse[i, j] -= step[i] * inverse[leaves, j]
    return leaves


@inner
def _prices(inverse: Floats, costs: Floats, weights: Floats, value: Floats) -> tuple[float, int]:
    """Dual solution that goes with a basis, whose columns cost 0 or 1; returns its worth and its lowest entry."""
    total, lowest = 0.0, 0
    for j in range(len(value)):
        value[j] = 0.0
        for i in range(len(value)):
            if costs[i] != 0.0:
                value[j] += inverse[i, j]
        total += value[j] * weights[j]
        if value[j] < value[lowest]:
            lowest = j
    return total, lowest


@entry
def find_facet(nodes: Ints, support: Support, n: int, most: int) -> tuple[View, float]:
    """Find a cut that a fractional graph violates, as it is seen from a few nodes.

    Parameters
    ----------
    nodes : int array
        The few.
    support : Support
    n : int
        Nodes in all.
    most : int
        Steps of the simplex method, at most.

    Returns
    -------
    The cut as a view with coefficients instead of weights: no graph has a sum above 1. And the sum that the fractional
    graph has; there is no cut if it is not above 1.
    """
    view = _look(nodes, support, n)
    first, sets, weights = view
    size = len(weights)
    scratch = Scratch(new_floats(1 << len(nodes)), new_ints(1 << len(nodes)), new_ints(1 << len(nodes)))
    inverse = new_scores(size, size)
    basic, costs, value, found = weights.copy(), new_floats(size), new_floats(size), new_floats(size)
    step, column = new_floats(size), new_floats(size)
    for i in range(size):
        costs[i], found[i] = 1.0, 0.0
        for j in range(size):
            inverse[i, j] = 1.0 if i == j else 0.0
    highest = 0.0
    for _ in range(most):
        total, lowest = _prices(inverse, costs, weights, value)
        if total <= 1.0 + _INSIDE:  # a mixture: no cut can be found any more
            break
        cost = 0.0
        if value[lowest] < _NEGATIVE:
            for i in range(size):
                column[i] = 0.0
            column[lowest] = -1.0
        else:
            limit = _best_graph(view, value, scratch, column)
            if total / limit > highest:
                highest = total / limit
                for i in range(size):
                    found[i] = value[i] / limit if value[i] > _NOTHING else 0.0
            if limit <= 1.0 + _OPTIMAL:
                break
            cost = 1.0
        leaves = _pivot(inverse, basic, step, column)
        if leaves < 0:
            break
        costs[leaves] = cost
    # Whatever rounding did to the coefficients, this is what the best graph makes of them.
    limit = _best_graph(view, found, scratch, column)
    total = 0.0
    for i in range(size):
        found[i] = found[i] / limit if limit > 0.0 else 0.0
        total += found[i] * weights[i]
    return View(first, sets, found), total


@entry
def facet_row(nodes: Ints, cut: View, owner: Ints, sets: Words, columns: Ints, values: Floats) -> int:
    """Which families have a coefficient in a cut; returns how many there are.

    Parents may be left out of any graph. So families whose parents among the few were not seen have the coefficient of
    the best subset that was.
    """
    first, seen, coefficients = cut
    place = new_ints(64 * sets.shape[1])
    for v in range(len(place)):
        place[v] = -1
    for i in range(len(nodes)):
        place[nodes[i]] = i
    found = 0
    for f in range(len(owner)):
        v = place[owner[f]]
        if v < 0:
            continue
        inside = 0
        for i in range(len(nodes)):
            u = nodes[i]
            if (sets[f, u >> 6] >> np.uint64(u & 63)) & np.uint64(1):
                inside |= 1 << i
        top = 0.0
        for i in range(first[v], first[v + 1]):
            if seen[i] & ~inside == 0 and coefficients[i] > top:
                top = coefficients[i]
        if top > 0.0:
            columns[found], values[found] = f, top
            found += 1
    return found


@entry
def grow_sets(starts: Ints, links: Floats, noise: Floats, size: int, out: Bools) -> None:
    """Grow a set of nodes around each of some: the one that is linked to it most strongly joins, again and again."""
    n = len(links)
    pull, member = new_floats(n), new_bools(n)
    for s in range(len(starts)):
        for v in range(n):
            member[v] = v == starts[s]
            pull[v] = links[starts[s], v] * noise[s, v]
        for _ in range(size - 1):
            joins = -1
            for v in range(n):
                if not member[v] and pull[v] > 0.0 and (joins < 0 or pull[v] > pull[joins]):
                    joins = v
            if joins < 0:
                break
            member[joins] = True
            for v in range(n):
                pull[v] += links[joins, v] * noise[s, v]
        for v in range(n):
            out[s, v] = member[v]
