"""Sets of node positions as Python integers: bit `i` of a mask stands for node `i`.

Here live the few operations that every graph algorithm of this package is made of. What the bits mean
(parents, neighbours, ...) is the business of the callers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def members(mask: int) -> list[int]:
    """List the positions in a mask, smallest first.

    Examples
    --------
    >>> members(0b10110)
    [1, 2, 4]
    """
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def mask_of(positions: Iterable[int]) -> int:
    """Return the mask of some positions.

    Examples
    --------
    >>> bin(mask_of([1, 2, 4]))
    '0b10110'
    """
    mask = 0
    for position in positions:
        mask |= 1 << position
    return mask


def transpose(masks: Sequence[int]) -> tuple[int, ...]:
    """Turn parents into children, and back: bit `i` of `result[j]` is bit `j` of `masks[i]`.

    Examples
    --------
    >>> transpose([0b000, 0b001, 0b011])
    (6, 4, 0)
    """
    columns = [0] * len(masks)
    for i, mask in enumerate(masks):
        for j in members(mask):
            columns[j] |= 1 << i
    return tuple(columns)


def permute(masks: Sequence[int], new_position: Sequence[int]) -> tuple[int, ...]:
    """Rewrite the masks of a graph whose node `i` moves to `new_position[i]`.

    Examples
    --------
    >>> permute([0b000, 0b001], [1, 0])
    (2, 0)
    """
    moved = [0] * len(masks)
    for i, mask in enumerate(masks):
        moved[new_position[i]] = mask_of(new_position[j] for j in members(mask))
    return tuple(moved)


def count(masks: Iterable[int]) -> int:
    """Return the number of bits set in all the masks together.

    Examples
    --------
    >>> count([0b101, 0b1])
    3
    """
    return sum(mask.bit_count() for mask in masks)
