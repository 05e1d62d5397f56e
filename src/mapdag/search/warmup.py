"""Compile kernels in a second process, so that the first run after an installation takes little more than half as long.

Compilation keeps one core busy for some twenty seconds, once, and numba cannot share it among threads. The command line
calls `warm_up` when nothing is compiled yet: another process then compiles the kernels of the search while this one
compiles those that count and score. What it has finished is found on the disk; what it has not is compiled here.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_SWITCH = "MAPDAG_WARM_UP"  # "0" switches this off


def warm_up() -> bool:
    """Start the second process if it has something to do; tells whether it was started."""
    folder = Path(__file__).parent
    if os.environ.get(_SWITCH) == "0" or "NUMBA_CACHE_DIR" in os.environ or (os.cpu_count() or 1) < 2:
        return False
    import mapdag.kernels  # noqa: F401 - drops what is out of date

    if any(folder.glob("climbing/__pycache__/climb.climb-*.nbi")) or not os.access(folder, os.W_OK):
        return False
    command = [sys.executable, "-c", "from mapdag.search.warmup import compile_kernels; compile_kernels()"]
    quiet: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    try:
        subprocess.Popen(command, env={**os.environ, _SWITCH: "0"}, **quiet)  # noqa: S603 - our own code
    except OSError:
        return False
    return True


def compile_kernels() -> None:
    """Compile the kernels of the default search for tables of up to 256 levels, leaving out those that count."""
    import numpy as np

    from mapdag import kernels
    from mapdag.data import Dataset
    from mapdag.graphs import DAG
    from mapdag.objective import DEFAULT
    from mapdag.search.cache import store
    from mapdag.search.climbing import climb
    from mapdag.search.climbing.state import GraphState
    from mapdag.search.frame.options import Options
    from mapdag.search.orders import sweep, trees
    from mapdag.search.orders.state import OrderState

    noted: dict[Any, tuple[Any, ...]] = {}

    def note(function: Any, *arguments: Any) -> int:
        noted[function] = arguments
        return 0

    compile_for = kernels.address_of
    for module in (kernels, store, trees):
        module.address_of = note  # type: ignore[attr-defined]  # no kernel is compiled before its turn
    data = Dataset.from_codes(np.eye(6, dtype=np.int64))
    cache = Options(threads=1).make_cache(data, [DEFAULT])
    state, orders = GraphState(DAG(data.names), DEFAULT, cache), OrderState(DEFAULT, cache)
    compile_for(store.ensure, *noted[store.ensure])
    compile_for(climb.climb, 1, state.ground, state.problem, cache.store, np.empty((1, 4)))
    compile_for(trees.trace, *noted[trees.trace])
    compile_for(sweep.sweep, *orders.arguments())
