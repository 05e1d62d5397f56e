"""How much memory there is, and what does not fit into it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mapdag.errors import CapacityError, Setting

if TYPE_CHECKING:
    from mapdag.data import Dataset


def available_memory() -> float:
    """Bytes that can be taken without harm; infinite where the system does not say."""
    found = float("inf")
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found = 1024.0 * float(line.split()[1])
        # In a container, what its group may still take.
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        if limit != "max":
            used = float((group / "memory.current").read_text(encoding="ascii"))
            told = (group / "memory.stat").read_text(encoding="ascii").splitlines()
            files = sum(float(line.split()[1]) for line in told if line.startswith("inactive_file "))
            found = min(found, float(limit) - used + files)
    except (OSError, ValueError, IndexError):
        pass
    return found


def fits(needed: float) -> bool:
    """Whether so many bytes are available."""
    return needed <= available_memory()


def check_memory(needed: float, what: str, *way_out: str | Setting) -> None:
    """Refuse what does not fit into memory."""
    has = available_memory()
    if needed > has:
        told = f"{what} needs {_amount(needed)} of memory, and {_amount(has)} are available; "
        raise CapacityError(told, *way_out)


def tables_that_fit(data: Dataset) -> int:
    """How many searches, each on its own selection of the rows of a table, find room at a time; at least one."""
    values = data.n_rows * data.n_columns * data.codes.itemsize
    bits = data.n_rows * float(data.cards.sum()) / 8
    needed = 2.0 * values + bits  # in the order of the table, in that of the search, and as bitsets
    return max(int(min(available_memory() / max(needed, 1.0), 1e9)), 1)


def _amount(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e6:,.1f} MB"
