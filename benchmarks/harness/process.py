"""Memory of a process, and running a script's parts in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def memory(field: str = "VmRSS") -> float:
    """Resident memory of this process in MiB; `VmHWM` is its peak."""
    path = Path("/proc/self/status")
    if path.exists():  # ru_maxrss would count the parent's memory, inherited by the fork
        line = next(line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith(field))
        return int(line.split()[1]) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def forget_peak() -> bool:
    """Start the peak anew from what is resident now; tells whether the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    except OSError:
        return False
    return True


def part(script: str, *arguments: object) -> Any:
    """Run a script with `--part` in a fresh process; return the JSON in its last line of output."""
    command = [sys.executable, script, "--part", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])
