"""Tables of categories: `read` makes a `Dataset` from any table, `discretize` finds where to cut continuous columns.

`check` looks at a table before that. `as_dataset` is for functions that take either, with the options of `read`
(`ReadingOptions`) for the latter.
"""

from mapdag.data.check import Check, ColumnCheck, check
from mapdag.data.codings import Coding, Cuts
from mapdag.data.dataset import Dataset
from mapdag.data.discretization import discretize
from mapdag.data.gaps import Gaps
from mapdag.data.interventions import Interventions
from mapdag.data.options import ReadingOptions, split_options, with_gaps
from mapdag.data.packed import ScannedDataset, scan
from mapdag.data.reader import as_dataset, read

__all__ = [
    "Check",
    "Coding",
    "ColumnCheck",
    "Cuts",
    "Dataset",
    "Gaps",
    "Interventions",
    "ReadingOptions",
    "ScannedDataset",
    "as_dataset",
    "check",
    "discretize",
    "read",
    "scan",
    "split_options",
    "with_gaps",
]
