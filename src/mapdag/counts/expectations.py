"""Expected counts of a set of variables, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mapdag.kernels import Ints, entry, new_floats, new_ints

if TYPE_CHECKING:
    from mapdag.counts.expected import Posterior

_FEW = 1 << 10  # ways to fill the gaps of a set in one row, at first


@entry
def add_up(  # noqa: PLR0912, PLR0915 - one loop: arrays that are passed on in tuples have their owners counted each time
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
    # Arrays are taken out of their tuple once: each time counts owners.
    (codes, every_card, weights, gap_numbers, components, columns, marginal_starts, marginals, state_ends, code_starts,
     widths, probabilities, levels, longest) = posterior  # fmt: skip
    k, used, is_full, room = len(members), 0, len(table) > 0, _FEW
    cards = new_ints(k)
    for i in range(k):
        cards[i] = every_card[members[i]]
    which, number, component = new_ints(k), new_ints(k), new_ints(k)  # the gaps of a row: members, and so on
    some_steps, some_cards, some_columns = new_ints(k), new_ints(k), new_ints(k)  # those of one component
    old_steps, old_values, new_steps, new_values = new_ints(room), new_floats(room), new_ints(room), new_floats(room)
    own_steps, own_values = new_ints(longest), new_floats(longest)
    for r in range(first, codes.shape[1]):
        place, n = 0, 0
        for i in range(k):
            code = np.int64(codes[members[i], r])
            if code < cards[i]:
                place += code * strides[i]
            else:
                which[n], number[n] = i, gap_numbers[members[i], r]
                component[n] = components[number[n]]
                n += 1
        weight = weights[r] * scale
        if n == 0 and is_full:
            table[place] += np.int64(weight + 0.5)
            continue
        if n == 1 and is_full:
            begin, step = marginal_starts[number[0]], strides[which[0]]
            for level in range(cards[which[0]]):
                table[place + level * step] += np.int64(weight * marginals[begin + level] + 0.5)
            continue
        if n == 2 and is_full and component[0] != component[1]:
            begin, step = marginal_starts[number[0]], strides[which[0]]
            other, by = marginal_starts[number[1]], strides[which[1]]
            for level in range(cards[which[0]]):
                value, at = weight * marginals[begin + level], place + level * step
                for more in range(cards[which[1]]):
                    table[at + more * by] += np.int64(value * marginals[other + more] + 0.5)
            continue
        old_steps[0], old_values[0], length = place, weight, 1
        for i in range(n):
            mine, is_first = component[i], True
            for j in range(i):
                is_first = is_first and component[j] != mine
            if not is_first:
                continue
            size, cells = 0, 1
            for j in range(i, n):
                if component[j] == mine:
                    some_steps[size], some_cards[size] = strides[which[j]], cards[which[j]]
                    some_columns[size] = columns[number[j]]
                    cells *= cards[which[j]]
                    size += 1
            states, own = state_ends[mine + 1] - state_ends[mine], cells
            if size == 1:
                begin = marginal_starts[number[i]]
                for level in range(cells):
                    own_steps[level], own_values[level] = level * some_steps[0], marginals[begin + level]
            elif cells <= states:
                at, width, begin = code_starts[mine], np.int64(widths[mine]), state_ends[mine]
                for cell in range(cells):
                    own_values[cell] = 0.0
                for s in range(states):
                    cell = 0
                    for j in range(size):
                        cell = cell * some_cards[j] + np.int64(levels[at + some_columns[j]])
                    own_values[cell] += probabilities[begin + s]
                    at += width
                for cell in range(cells):
                    rest, step = cell, 0
                    for j in range(size - 1, -1, -1):
                        step += rest % some_cards[j] * some_steps[j]
                        rest //= some_cards[j]
                    own_steps[cell] = step
            else:
                at, width, begin, own = code_starts[mine], np.int64(widths[mine]), state_ends[mine], states
                for s in range(states):
                    step = 0
                    for j in range(size):
                        step += np.int64(levels[at + some_columns[j]]) * some_steps[j]
                    own_steps[s], own_values[s] = step, probabilities[begin + s]
                    at += width
            if length * own > room:
                room = 2 * length * own
                more_steps, more_values = new_ints(room), new_floats(room)
                for a in range(length):
                    more_steps[a], more_values[a] = old_steps[a], old_values[a]
                old_steps, old_values, new_steps, new_values = more_steps, more_values, new_ints(room), new_floats(room)
            many = 0
            for a in range(length):
                for b in range(own):
                    new_steps[many], new_values[many] = old_steps[a] + own_steps[b], old_values[a] * own_values[b]
                    many += 1
            length = many
            old_steps, old_values, new_steps, new_values = new_steps, new_values, old_steps, old_values
        if is_full:
            for w in range(length):
                table[old_steps[w]] += np.int64(old_values[w] + 0.5)
            continue
        if used + length > len(keys):
            return r, used
        for w in range(length):
            keys[used], values[used] = old_steps[w], np.int64(old_values[w] + 0.5)
            used += 1
    return codes.shape[1], used
