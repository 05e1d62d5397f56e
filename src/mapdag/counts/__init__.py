"""Contingency tables of families, over observed configurations only.

`engine` says what a counting engine promises and which ones there are; `cores` counts on this machine, by `bitsets` or
by `rows`, as `choice` decides. For rows that come in blocks, `agenda` says what to count in which pass over them,
`passes` makes one, `blocks` has its kernels, and `summed` the engines. `device/` counts on a GPU. Graphs and scores are
unknown here.
"""

from mapdag.counts.cores import Backend, Counter
from mapdag.counts.engine import ENGINES, Engine, Request, engine_of, make_engine
from mapdag.counts.table import CountTable, TableBatch, batch_of, declared

__all__ = [
    "ENGINES",
    "Backend",
    "CountTable",
    "Counter",
    "Engine",
    "Request",
    "TableBatch",
    "batch_of",
    "declared",
    "engine_of",
    "make_engine",
]
