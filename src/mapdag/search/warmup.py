"""Compile kernels in a second process, so that the first run after an installation takes little more than half as long.

Compilation keeps one core busy for some twenty seconds, once, and numba cannot share it among threads. The command line
calls `warm_up` when nothing is compiled yet: another process then compiles some that go through the rows, and those of
the search, in the order in which they are needed, while this one compiles the others. What it has finished is found on
the disk; what it has not begun is compiled here; in between, `wait_for` waits.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from mapdag.compiling import waiting

_SWITCH = "MAPDAG_WARM_UP"  # "0" switches this off
_FOLDER = Path(__file__).parent

_second: list[subprocess.Popen[bytes]] = []  # the second process, if there is one


def warm_up() -> bool:
    """Start the second process if it has something to do; tells whether it was started."""
    if os.environ.get(_SWITCH) == "0" or "NUMBA_CACHE_DIR" in os.environ or (os.cpu_count() or 1) < 2:
        return False
    import mapdag.kernels  # noqa: F401 - drops what is out of date

    if _is_compiled("climbing", "climb") or not os.access(_FOLDER, os.W_OK):
        return False
    command = [sys.executable, "-c", "from mapdag.search.warmup import compile_kernels; compile_kernels()"]
    quiet: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    try:
        _second.append(subprocess.Popen(command, env={**os.environ, _SWITCH: "0"}, **quiet))  # noqa: S603 - our own
    except OSError:
        return False
    return True


def wait_for(room: str, kernel: str) -> None:
    """Wait until the second process, if there is one, has compiled a kernel that it must have begun by now."""
    with waiting():
        for process in _second:
            while process.poll() is None and not _is_compiled(room, kernel):
                time.sleep(0.02)


def _is_compiled(room: str, kernel: str) -> bool:
    return any((_FOLDER / room / "__pycache__").glob(f"{kernel}.{kernel}-*.nbc"))


def compile_kernels() -> None:
    """Compile the kernels of the default search for tables of up to 256 levels, and some of those that count."""
    import numpy as np

    from mapdag import kernels
    from mapdag.counts.choice import AUTO, choose, choose_again
    from mapdag.counts.rows import number_rows, sort_rows
    from mapdag.data import Dataset
    from mapdag.graphs import DAG
    from mapdag.objective import DEFAULT, usual_values
    from mapdag.search.cache import store
    from mapdag.search.climbing import climb
    from mapdag.search.climbing.state import GraphState
    from mapdag.search.frame.options import Options
    from mapdag.search.orders import explore, trees
    from mapdag.search.orders.state import Basis

    noted: dict[Any, tuple[Any, ...]] = {}

    def note(function: Any, *arguments: Any, varies: Any = None) -> int:
        del varies
        noted[function] = arguments
        return 0

    parent, address_of = os.getppid(), kernels.address_of

    def compile_for(function: Any, *arguments: Any) -> None:
        if os.getppid() == parent:  # else it was killed, and the next one has a second process of its own
            address_of(function, *arguments)

    for module in (kernels, store, trees):
        module.address_of = note  # type: ignore[attr-defined]  # no kernel is compiled before its turn
    data = Dataset.from_codes(np.eye(6, dtype=np.int64))
    usual = usual_values(DEFAULT, data.n_columns)
    cache = Options(threads=1).make_cache(data, [usual])
    state, orders = GraphState(DAG(data.names), usual, cache), Basis(usual, cache).state(range(6))
    rows, nodes = state.problem.inputs.rows, np.empty(1, dtype=np.int64)
    compile_for(number_rows, rows.codes, nodes, rows.cards)
    compile_for(sort_rows, np.empty(1, dtype=np.uint32), 1)
    compile_for(choose, 1, nodes, nodes, rows.cards, AUTO)
    compile_for(choose_again, nodes, 1, 1, nodes, nodes, rows.cards)
    compile_for(store.ensure, *noted[store.ensure])
    compile_for(climb.climb, 1, state.ground, state.problem, state.desk.store, np.empty((1, 4)))
    compile_for(explore.explore, *orders.arguments())
    compile_for(trees.trace, *noted[trees.trace])
