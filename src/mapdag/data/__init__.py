"""Tables of categories: `read` makes a `Dataset` from any table, `discretize` finds where to cut continuous columns.

`as_dataset` is for functions that take either.
"""

from mapdag.data.codings import Coding
from mapdag.data.cuts import Cuts
from mapdag.data.dataset import Dataset
from mapdag.data.discretization import discretize
from mapdag.data.reader import as_dataset, read

__all__ = ["Coding", "Cuts", "Dataset", "as_dataset", "discretize", "read"]
