"""Tables of categories: `read` makes a `Dataset` from any table, `discretize` finds where to cut continuous columns."""

from mapdag.data.cuts import Cuts
from mapdag.data.dataset import Dataset
from mapdag.data.discretize import discretize
from mapdag.data.read import read

__all__ = ["Cuts", "Dataset", "discretize", "read"]
