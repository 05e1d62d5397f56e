"""Random numbers for explorations, compiled: a function of the seed alone."""

from __future__ import annotations

import numpy as np

from mapdag.kernels import STEP, Words, inner, mix


@inner
def draw(random: Words, size: int) -> int:
    """Draw a number below `size` (splitmix64); `random` is the state of the generator."""
    z = mix(random[0])
    random[0] += STEP
    return np.int64(((z >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32))
