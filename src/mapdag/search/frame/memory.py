"""How much memory there is, and what does not fit into it."""

from __future__ import annotations

from pathlib import Path

from mapdag.errors import CapacityError, Setting


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


def _amount(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e6:,.1f} MB"
