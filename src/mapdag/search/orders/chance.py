"""Random numbers for explorations, compiled: a function of the seed alone."""

from __future__ import annotations

import numpy as np

from mapdag.kernels import Words, inner


@inner
def draw(random: Words, size: int) -> int:
    """Draw a number below `size` (splitmix64); `random` is the state of the generator."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.int64(((z >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32))
