"""Keeping what Rust prints when it panics off the screen.

Polars is written in Rust, where a damaged file may end in a panic. It is caught and told as an error of ours; but by
then, Rust has written a report of its own to the process's standard error, past Python.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

_STDERR = 2
_REPORT = re.compile(rb"\n?thread '[^\n]*panicked at .*", re.DOTALL)

_lock = threading.Lock()
_inside = 0  # threads that are
_aside: tuple[int, IO[bytes]] | None = None  # where standard error goes otherwise, and where it goes now


@contextmanager
def without_reports() -> Iterator[None]:
    """Put aside what is written to standard error meanwhile; what is no report of a panic is written there afterwards.

    That is about the whole process: for calls that are short, and may panic.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _inside, _aside  # noqa: PLW0603 - there is one standard error
    with _lock:
        _inside += 1
        if _inside > 1:
            return
        with suppress(OSError, ValueError, AttributeError):  # closed, or none at all
            sys.stderr.flush()
            real = os.dup(_STDERR)
            try:
                file = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the last one leaves
                os.dup2(file.fileno(), _STDERR)
            except OSError:
                os.close(real)
                raise
            _aside = real, file


def _leave() -> None:
    global _inside, _aside  # noqa: PLW0603
    with _lock:
        _inside -= 1
        if _inside or _aside is None:
            return
        (real, file), _aside = _aside, None
        with suppress(OSError, ValueError, AttributeError):
            sys.stderr.flush()
        os.dup2(real, _STDERR)
        os.close(real)
        with file, suppress(OSError):
            file.seek(0)
            told = _REPORT.sub(b"", file.read())
            if told:
                os.write(_STDERR, told)
