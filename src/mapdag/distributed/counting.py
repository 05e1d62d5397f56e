"""What workers do to count: the partitions that they have, what they find added up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.counts.passes import Parts, add_parts, count_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.counts.agenda import Turn
    from mapdag.distributed.packing import PackedRows


class Joined:
    """The blocks of several partitions."""

    def __init__(self, partitions: Sequence[PackedRows]) -> None:
        self._blocks = [(rows, i) for rows in partitions for i in range(len(rows))]

    def __len__(self) -> int:
        return len(self._blocks)

    def codes(self, i: int) -> NDArray[Any]:
        """Codes of one block."""
        rows, number = self._blocks[i]
        return rows.codes(number)

    def planes(self, i: int) -> tuple[NDArray[np.uint64], int]:
        """Planes of one block, and its number of rows."""
        rows, number = self._blocks[i]
        return rows.planes(number)


def count_rows(partitions: Sequence[PackedRows], turn: Turn) -> Parts:
    """Count some partitions."""
    cards, widths = (np.array(sizes, dtype=np.int64) for sizes in (partitions[0].cards, partitions[0].widths))
    return narrowed(count_blocks(Joined(partitions), turn, cards, widths))


def add_up(parts: Sequence[Parts]) -> Parts:
    """Add the counts of several groups of partitions."""
    return narrowed(add_parts([widened(each) for each in parts]))


def narrowed(parts: Parts) -> Parts:
    """Return counts in as few bytes as they need, to be sent."""
    return parts._replace(full=parts.full.astype(np.min_scalar_type(int(parts.full.max(initial=0)))))


def widened(parts: Parts) -> Parts:
    """Return counts that can be added to."""
    return parts._replace(full=parts.full.astype(np.int64))


def codes_of(rows: PackedRows, i: int) -> NDArray[Any]:
    """Return the codes of one block of a partition."""
    return rows.codes(i)


def total_of(
    partitions: Sequence[PackedRows], columns: Sequence[int], function: Callable[..., Any], arguments: Sequence[Any]
) -> Any:
    """Sum of a function of the codes of each block; None where there are no rows."""
    blocks = Joined(partitions)
    found = [function(np.ascontiguousarray(blocks.codes(i)[list(columns)]), *arguments) for i in range(len(blocks))]
    return add_totals(found)


def add_totals(totals: Sequence[Any]) -> Any:
    """Add what groups of partitions give, those without rows left out."""
    found = [each for each in totals if each is not None]
    return sum(found[1:], found[0]) if found else None
