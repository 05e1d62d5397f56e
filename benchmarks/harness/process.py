"""Memory of a process, and running a script's parts in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import partial
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


def limit_cpu(seconds: int) -> None:
    """End this process when it has used so many CPU seconds."""
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


def part(script: str, *arguments: object, cpu_limit: int | None = None) -> Any:
    """Run a script with `--part` in a fresh process; return the JSON in its last line of output.

    With a limit of CPU seconds, which a busy machine does not change, None if the process reaches it.
    """
    command = [sys.executable, script, "--part", *map(str, arguments)]
    limit = None if cpu_limit is None else partial(limit_cpu, cpu_limit)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ), preexec_fn=limit)
    if cpu_limit is not None and done.returncode == -signal.SIGXCPU:
        return None
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])
