"""What inputs are given to; the folder that they have."""

from __future__ import annotations

import random
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import mapdag as md
from mapdag.errors import MapdagError

LONGEST = 6000  # letters of a message


@dataclass(frozen=True)
class Target:
    """Something that takes inputs.

    `make` makes one of a random generator; `run` is to raise nothing but our errors, and may return False for an input
    that was refused.
    """

    name: str
    make: Callable[[random.Random], Any]
    run: Callable[[Any], object]
    share: int  # of a million inputs, more or less
    seconds: float | None = 1.0  # that an input may take; None for what is asked to search

    def check(self, given: Any) -> bool:
        """Give it one input; tells whether it was accepted."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.run(given) is not False
        except MapdagError as error:
            too_long = len(str(error)) > LONGEST
        assert not too_long, "a message longer than a screen"
        return False


@cache
def folder() -> Path:
    """Return a folder of this process, with some files in it."""
    folder = Path(tempfile.mkdtemp(prefix="mapdag-fuzz-"))
    network, rng = md.network("cancer"), random.Random(1)
    rows = [[rng.choice(levels) for levels in network.levels.values()] for _ in range(60)]
    (folder / "cancer.csv").write_text("\n".join(map(",".join, [network.nodes, *rows])) + "\n")
    (folder / "bad.csv").write_bytes(b'a,b\nx,"y\n')
    md.write_network(md.network("cancer"), folder / "cancer.bif")
    (folder / "tiers.txt").write_text("Pollution,Smoker\nCancer\n")
    return folder
