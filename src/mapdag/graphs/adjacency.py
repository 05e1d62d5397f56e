"""Graphs as adjacency matrices: a 1 in row `i` and column `j` joins node `i` to node `j`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from mapdag.errors import GraphError
from mapdag.graphs.masks import mask_of, members
from mapdag.graphs.nodes import NodeIndex


def to_adjacency(rows: Sequence[int]) -> npt.NDArray[np.int8]:
    """Return the square 0/1 matrix whose row `i` is the mask `rows[i]`.

    Examples
    --------
    >>> to_adjacency([0b10, 0b00])
    array([[0, 1],
           [0, 0]], dtype=int8)
    """
    matrix = np.zeros((len(rows), len(rows)), dtype=np.int8)
    for i, mask in enumerate(rows):
        matrix[i, members(mask)] = 1
    return matrix


def from_adjacency(matrix: npt.ArrayLike, nodes: Iterable[str] | None) -> tuple[NodeIndex, list[int]]:
    """Read a square 0/1 matrix into an index and the mask of each row; without `nodes`, they are X1, X2, ...

    Raises
    ------
    GraphError
        If it is not square, does not fit the nodes, or has other entries.

    Examples
    --------
    >>> from_adjacency([[0, 1], [0, 0]], ["A", "B"])[1]
    [2, 0]
    """
    try:
        array = np.asarray(matrix)
    except ValueError:
        raise GraphError("an adjacency matrix must be square, got rows of different lengths") from None
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise GraphError(f"an adjacency matrix must be square, got shape {array.shape}")
    index = NodeIndex([f"X{i + 1}" for i in range(len(array))] if nodes is None else nodes)
    if len(index) != len(array):
        raise GraphError(f"an adjacency matrix of {len(array)} nodes needs as many names, got {len(index)}")
    present = array == 1
    strange = np.argwhere(~(present | (array == 0)))
    if len(strange):
        i, j = map(int, strange[0])
        raise GraphError(
            f"an adjacency matrix holds only 0 and 1, got {array[i, j]} for "
            f"{index.names[i]!r} -> {index.names[j]!r}; a matrix of weights becomes one by `matrix != 0`"
        )
    return index, [mask_of(np.flatnonzero(row).tolist()) for row in present]
