"""The columns of a data set as a network sees them: found by name, coded by its levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mapdag.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mapdag.data.dataset import Dataset

_SHOWN = 5

Codes = NDArray[np.unsignedinteger[Any]]


def matched_codes(levels: Mapping[str, tuple[str, ...]], data: Dataset, nodes: Sequence[str]) -> dict[str, Codes]:
    """Return the codes of these nodes in the order of the network's levels.

    Columns are matched by name and levels by label, so that the order of either does not matter. Columns without a
    node are ignored.

    Raises
    ------
    DataError
        If a node has no column, or a row a level that the network does not know.
    """
    missing = [node for node in nodes if node not in data.levels]
    if missing:
        shown = ", ".join(map(repr, missing[:_SHOWN])) + (
            f" and {len(missing) - _SHOWN} more" if missing[_SHOWN:] else ""
        )
        raise DataError(f"the data have no column {shown}, which the network needs")
    positions = {name: position for position, name in enumerate(data.names)}
    codes: dict[str, Codes] = {node: data.codes[positions[node]] for node in nodes if data.levels[node] == levels[node]}
    different = [node for node in nodes if node not in codes]
    if different:
        recoded = data.select(different).with_levels({node: levels[node] for node in different})
        codes.update(zip(recoded.names, recoded.codes, strict=True))
    return codes
