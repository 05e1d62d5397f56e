"""What the functions have in common that users call with a table: they explain themselves, and warn once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from mapdag.notices import said_once

F = TypeVar("F", bound=Callable[..., Any])


def public(*groups: type, but: Sequence[str] = ()) -> Callable[[F], F]:
    """Let a function say what options that it does not have are called here, and say each of its warnings once.

    Parameters
    ----------
    *groups : TypedDict
        The options that its ``**options`` may be.
    but : sequence of str
        Those among them that it does not take.
    """

    def decorate(function: F) -> F:
        named = [p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
        several = [name for group in groups for name in group.__annotations__ if name not in but]
        known = dict.fromkeys([*named, *several])

        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            if not options.keys() <= known.keys():
                from mapdag.vocabulary import unknown_options  # loaded only where something is wrong

                raise unknown_options(function.__name__, options, tuple(known))
            with said_once():
                return function(*arguments, **options)

        wrapped: Any = call
        return wrapped

    return decorate
