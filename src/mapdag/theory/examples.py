"""The count tables of the paper's Examples 1 and 2: X given (Z, W), and given (Z, W, Y)."""

from __future__ import annotations

from dataclasses import dataclass

from mapdag.counts import CountTable


@dataclass(frozen=True)
class Example:
    """Tables of one child without the arc Y -> X (G-) and with it (G+)."""

    name: str
    without: CountTable
    with_arc: CountTable

    @property
    def tables(self) -> tuple[CountTable, CountTable]:
        """G+ and G-, in the order that functions of pairs take."""
        return self.with_arc, self.without


_NONE = (0, 0)


def _example(name: str, *rows: tuple[int, int]) -> Example:
    """Y is 0 in the first three configurations of (Z, W) and 1 in the last, so four of eight are never observed."""
    smaller = CountTable.from_dense(rows)
    return Example(name, smaller, CountTable.from_dense([*rows[:3], _NONE, _NONE, _NONE, _NONE, rows[3]]))


EXAMPLE_1 = _example("Example 1", (2, 1), (1, 2), (1, 2), (2, 1))
EXAMPLE_2 = _example("Example 2", (3, 0), (0, 3), (0, 3), (3, 0))
