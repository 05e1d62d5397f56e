"""Whole numbers in as few bits as they need: one bit plane for each of their binary digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD = 64  # bits: planes are whole words, so that they can be counted as such


def planes_of(size: int) -> int:
    """Return how many binary digits the numbers below `size` need.

    >>> [planes_of(size) for size in (1, 2, 3, 4, 5, 256, 257)]
    [0, 1, 2, 2, 3, 8, 9]
    """
    return max(size - 1, 0).bit_length()


def plane_bytes(n: int) -> int:
    """Return how many bytes a plane of so many numbers takes."""
    return -(-n // _WORD) * (_WORD // 8)


def pack(numbers: NDArray[Any], planes: int) -> bytes:
    """Return the planes of some unsigned numbers, the lowest digit first.

    >>> pack(np.array([0, 1, 2, 3], dtype=np.uint8), 2).hex()
    '0a000000000000000c00000000000000'
    """
    width = plane_bytes(len(numbers))
    packed = np.zeros((planes, width), dtype=np.uint8)
    for plane, bits in enumerate(packed):
        digits = numbers & numbers.dtype.type(1 << plane)  # any but zero is a one
        found = np.packbits(digits if digits.dtype == np.uint8 else digits != 0, bitorder="little")
        bits[: len(found)] = found
    return packed.tobytes()


def unpack(bits: NDArray[np.uint8], n: int) -> NDArray[Any]:
    """Return the numbers that were packed, given their planes as rows: in 8 bits, 16 or 32."""
    planes = len(bits)
    dtype = np.uint8 if planes <= 8 else np.uint16 if planes <= 16 else np.uint32
    numbers: NDArray[Any] = np.zeros(n, dtype=dtype)
    for low in range(0, planes, 8):
        # A word holds a digit of eight numbers, a byte each: all of them are put in place at once.
        words = np.zeros(bits.shape[1], dtype=np.uint64)
        for place, plane in enumerate(bits[low : low + 8]):
            words |= np.unpackbits(plane, bitorder="little").view(np.uint64) << np.uint64(place)
        octets = words.view(np.uint8)[:n]
        numbers = octets if planes <= 8 else numbers | (octets.astype(dtype) << dtype(low))
    return numbers
