"""The simulation study: a design, its run, its results, and what they say. Nothing here prints.

Running needs numpy, scipy and numba only.
"""

from __future__ import annotations

from mapdag.study.cells import Cell, Row, Task
from mapdag.study.design import Arm, Design, Search, paper, quick, read_design
from mapdag.study.executors import Executor, Processes, Serial
from mapdag.study.progress import Progress
from mapdag.study.remote import Remote
from mapdag.study.runs import Outcome, Status, run, status
from mapdag.study.store import RESULTS_VERSION, Store

__all__ = [
    "RESULTS_VERSION",
    "Arm",
    "Cell",
    "Design",
    "Executor",
    "Outcome",
    "Processes",
    "Progress",
    "Remote",
    "Row",
    "Search",
    "Serial",
    "Status",
    "Store",
    "Task",
    "paper",
    "quick",
    "read_design",
    "run",
    "status",
]
