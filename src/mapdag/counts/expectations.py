"""Expected counts of a set of variables, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import Floats, Ints, entry, inner, new_floats, new_ints, new_scores, new_table

if TYPE_CHECKING:
    from mapdag.counts.expected import Posterior

_FEW = 1 << 10  # ways to fill the gaps of a set in one row, at first


class Gaps(NamedTuple):
    """The gaps of a set of variables in one row."""

    places: Ints  # (members,) which members they are
    numbers: Ints  # (members,)
    components: Ints  # (members,) which component each belongs to


class Ways(NamedTuple):
    """Room for the ways to fill them: by how much the place in the table grows, and how probable that is."""

    steps: Ints  # (2, ways) of the components so far, before and after one more
    values: Floats  # (2, ways)
    own_steps: Ints  # (joint levels,) of one component
    own_values: Floats  # (joint levels,)


@inner
def _new_ways(size: int, longest: int) -> Ways:
    return Ways(new_table(2, size), new_scores(2, size), new_ints(longest), new_floats(longest))


@inner
def _is_first(i: int, gaps: Gaps) -> bool:
    """Whether no gap before this one belongs to the same component."""
    for j in range(i):
        if gaps.components[j] == gaps.components[i]:
            return False
    return True


@inner
def _cells_of(i: int, n: int, members: Ints, gaps: Gaps, posterior: Posterior) -> int:
    """Return the joint levels of those gaps, in a set, that belong to the component of the i-th."""
    cells = 1
    for j in range(i, n):
        if gaps.components[j] == gaps.components[i]:
            cells *= posterior.cards[members[gaps.places[j]]]
    return cells


@inner
def _how_many(n: int, members: Ints, gaps: Gaps, posterior: Posterior) -> int:
    """Return how many ways to fill the gaps of a set in one row will be listed, at most."""
    found = 1
    for i in range(n):
        if _is_first(i, gaps):
            component = gaps.components[i]
            states = posterior.state_ends[component + 1] - posterior.state_ends[component]
            found *= min(_cells_of(i, n, members, gaps, posterior), states)
    return found


@inner
def _list_one(i: int, members: Ints, strides: Ints, gaps: Gaps, posterior: Posterior, ways: Ways) -> int:
    """List the levels of one gap; returns how many there are."""
    member, begin = gaps.places[i], posterior.marginal_starts[gaps.numbers[i]]
    card = posterior.cards[members[member]]
    for level in range(card):
        ways.own_steps[level], ways.own_values[level] = level * strides[member], posterior.marginals[begin + level]
    return card


@inner
def _list_several(i: int, n: int, members: Ints, strides: Ints, gaps: Gaps, posterior: Posterior, ways: Ways) -> int:
    """List the joint levels of the gaps that belong to the component of the i-th; returns how many there are.

    Those of the component that agree in these gaps are put together where that makes the list shorter.
    """
    component = gaps.components[i]
    first, at, width = posterior.state_ends[component], posterior.code_starts[component], posterior.sizes[component]
    states, cells = posterior.state_ends[component + 1] - first, _cells_of(i, n, members, gaps, posterior)
    together = cells <= states
    if together:
        for cell in range(cells):
            ways.own_values[cell] = 0.0
    for s in range(states):
        step = 0
        for j in range(i, n):
            if gaps.components[j] == component:
                member = gaps.places[j]
                level = np.int64(posterior.levels[at + s * width + posterior.columns[gaps.numbers[j]]])
                step = step * posterior.cards[members[member]] + level if together else step + level * strides[member]
        if together:
            ways.own_values[step] += posterior.probabilities[first + s]
        else:
            ways.own_steps[s], ways.own_values[s] = step, posterior.probabilities[first + s]
    if not together:
        return states
    for cell in range(cells):
        rest, step = cell, 0
        for j in range(n - 1, i - 1, -1):
            if gaps.components[j] == component:
                member = gaps.places[j]
                step += rest % posterior.cards[members[member]] * strides[member]
                rest //= posterior.cards[members[member]]
        ways.own_steps[cell] = step
    return cells


@inner
def _fill(n: int, members: Ints, strides: Ints, gaps: Gaps, posterior: Posterior, ways: Ways) -> tuple[int, int]:
    """List all ways to fill the gaps of a set in one row: how many, and in which half of the room they are."""
    length, side = 1, 0
    for i in range(n):
        if not _is_first(i, gaps):
            continue
        alone = True
        for j in range(i + 1, n):
            alone = alone and gaps.components[j] != gaps.components[i]
        if alone:
            own = _list_one(i, members, strides, gaps, posterior, ways)
        else:
            own = _list_several(i, n, members, strides, gaps, posterior, ways)
        many = 0
        for a in range(length):
            step, value = ways.steps[side, a], ways.values[side, a]
            for b in range(own):
                if ways.own_values[b] > 0:
                    ways.steps[1 - side, many] = step + ways.own_steps[b]
                    ways.values[1 - side, many] = value * ways.own_values[b]
                    many += 1
        length, side = many, 1 - side
    return length, side


@entry
def add_up(
    members: Ints, strides: Ints, scale: float, posterior: Posterior, first: int, table: Ints, keys: Ints, values: Ints
) -> tuple[int, int]:
    """Add up what rows are expected to hold of a set of variables, as whole numbers: multiples of 1 / scale.

    Parameters
    ----------
    members, strides : int64 array
        The variables, ascending, and by how much the number of a cell grows with the level of each.
    scale : float
    posterior : Posterior
    first : int
        Where to begin.
    table : int64 array
        Of all cells, to be added to; or empty, where there are too many:
    keys, values : int64 array
        then cells and what is to be added to them, as much as there is room for.

    Returns
    -------
    row, used : int
        Where to go on, and how many there are in `keys`.
    """
    k, used, is_full = len(members), 0, len(table) > 0
    codes, cards, weights = posterior.codes, posterior.cards, posterior.weights
    gaps = Gaps(new_ints(k), new_ints(k), new_ints(k))
    room = _FEW
    ways = _new_ways(room, posterior.longest)
    for r in range(first, codes.shape[1]):
        place, n = 0, 0
        for i in range(k):
            code = np.int64(codes[members[i], r])
            if code < cards[members[i]]:
                place += code * strides[i]
            else:
                number = posterior.cells[members[i], r]
                gaps.places[n], gaps.numbers[n], gaps.components[n] = i, number, posterior.components[number]
                n += 1
        if n == 0 and is_full:
            table[place] += np.int64(np.rint(weights[r] * scale))
            continue
        if n == 1 and is_full:
            begin, step, weight = (
                posterior.marginal_starts[gaps.numbers[0]],
                strides[gaps.places[0]],
                weights[r] * scale,
            )
            for level in range(cards[members[gaps.places[0]]]):
                table[place + level * step] += np.int64(np.rint(weight * posterior.marginals[begin + level]))
            continue
        needed = _how_many(n, members, gaps, posterior)
        if not is_full and used + needed > len(keys):
            return r, used
        if needed > room:
            room = 2 * needed
            ways = _new_ways(room, posterior.longest)
        ways.steps[0, 0], ways.values[0, 0] = place, weights[r] * scale
        length, side = _fill(n, members, strides, gaps, posterior, ways)
        for w in range(length):
            value = np.int64(np.rint(ways.values[side, w]))
            if is_full:
                table[ways.steps[side, w]] += value
            else:
                keys[used], values[used] = ways.steps[side, w], value
                used += 1
    return codes.shape[1], used
