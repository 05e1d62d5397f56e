"""Warnings: each is said once in a call, and points at the line of the caller's code that the call is on.

Every warning of the package goes through `warn`. What is one call to the user runs within `said_once`, whatever it does
many times: over folds, resamples or objectives.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mapdag.errors import MapdagWarning

if TYPE_CHECKING:
    from types import FrameType

_PACKAGE = __name__.partition(".")[0]


@dataclass
class Call:
    """A call from outside the package: where it is, and what it has been warned of.

    Attributes
    ----------
    filename, line, module : str, int, str
        The place in the caller's code.
    registry : dict
        What Python knows of the warnings of that module.
    said : set of str
        The warnings so far.
    mute : bool
        Whether nothing more is to be said.
    kept : list, optional
        Where warnings go that are to be said elsewhere.
    """

    filename: str
    line: int
    module: str
    registry: dict[Any, Any] = field(repr=False)
    said: set[str] = field(default_factory=set, repr=False)
    mute: bool = False
    kept: list[tuple[Any, ...]] | None = field(default=None, repr=False)


_current: ContextVar[Call | None] = ContextVar("call", default=None)


@contextmanager
def said_once() -> Iterator[Call]:
    """Say every warning once as long as this lasts; within a call that does so already, it is the same call."""
    call = _current.get()
    if call is not None:
        yield call
        return
    call = _call()
    token = _current.set(call)
    try:
        yield call
    finally:
        _current.reset(token)


@contextmanager
def unsaid() -> Iterator[None]:
    """Leave warnings unsaid as long as this lasts: what they say has been said, or is meant to be."""
    token = _current.set(replace(_call(), mute=True))
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def heard() -> Iterator[list[tuple[Any, ...]]]:
    """Keep the parts of warnings as long as this lasts, each once, so that they can be said on another machine."""
    kept: list[tuple[Any, ...]] = []
    token = _current.set(replace(_call(), kept=kept))
    try:
        yield kept
    finally:
        _current.reset(token)


def warn(*parts: Any) -> None:
    """Warn of a result that is right but probably not what was meant; a message is made of parts, see `Message`."""
    call = _current.get() or _call()
    message = MapdagWarning(*parts)
    if not call.mute and str(message) not in call.said:
        call.said.add(str(message))
        if call.kept is not None:
            call.kept.append(parts)
            return
        warnings.warn_explicit(message, None, call.filename, call.line, call.module, call.registry)


def _call() -> Call:
    """Find the first frame outside the package; the last one there is if all are inside."""
    frame: FrameType = sys._getframe(1)  # noqa: SLF001 - `inspect` would read files
    while frame.f_back is not None and _is_inside(frame):
        frame = frame.f_back
    names = frame.f_globals
    registry = names.setdefault("__warningregistry__", {})
    return Call(frame.f_code.co_filename, frame.f_lineno, names.get("__name__", "<unknown>"), registry)


def _is_inside(frame: FrameType) -> bool:
    """Tell our frames, also those of generated code (dataclasses), and those between ours."""
    module = str(frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] == _PACKAGE or module in ("contextlib", "functools")
