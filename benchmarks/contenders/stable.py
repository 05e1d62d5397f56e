"""Contenders as seen from the scripts: processes that are started, asked, and stopped."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

HERE = Path(__file__).parent


class Contender:
    """One contender in a process of its own; a context manager.

    Parameters
    ----------
    name : str
        As shown in tables.
    command : list of str
        What serves requests as `worker.py` does.
    """

    def __init__(self, name: str, command: list[str]) -> None:
        self.name = name
        self._command = command
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        if kind is not None:
            self._process.terminate()
        self._process.wait()

    def ask(self, request: str, argument: object) -> dict[str, Any]:
        """Send a request and wait for the answer."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{request}\t{argument}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.name} gave up; try: {' '.join(self._command)}")
        found: dict[str, Any] = json.loads(answer)
        return found

    def run(self, objective: str) -> tuple[float, dict[str, Any]]:
        """Learn once; return the seconds and the whole answer."""
        answer = self.ask("run", objective)
        return answer["seconds"], answer


def python_contender(name: str, adapter: str) -> Contender:
    """A contender with an adapter in Python."""
    return Contender(name, [sys.executable, str(HERE / "worker.py"), adapter])


def mapdag() -> Contender:
    return python_contender("mapdag", "mapdag_hc")


def pyagrum() -> Contender:
    return python_contender("pyAgrum", "pyagrum_hc")


def pgmpy() -> Contender:
    return python_contender("pgmpy", "pgmpy_hc")


def bnlearn() -> Contender | None:
    """R bnlearn, where `Rscript` has it."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        return None
    has = subprocess.run([rscript, "-e", "library(bnlearn)"], capture_output=True, check=False).returncode == 0
    return Contender("bnlearn", [rscript, str(HERE / "bnlearn_hc.R")]) if has else None
