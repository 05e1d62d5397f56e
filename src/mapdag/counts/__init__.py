"""Contingency tables of families, over observed configurations only.

Ask `Counter`; it picks the kernel. Graphs and scores are unknown here.
"""

from mapdag.counts.counter import Backend, Counter
from mapdag.counts.table import CountTable, TableBatch, declared

__all__ = ["Backend", "CountTable", "Counter", "TableBatch", "declared"]
