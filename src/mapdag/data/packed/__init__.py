"""Tables that are larger than memory: packed into files block by block, and read from there."""

from mapdag.data.packed.dataset import Blocks, ScannedDataset
from mapdag.data.packed.scan import scan

__all__ = ["Blocks", "ScannedDataset", "scan"]
