"""What the command line says of errors and warnings: one sentence, in terms of its own options.

The library's messages name Python's options, ``drop=["id"]``; here they become ``--drop id``.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from typing import Any

import typer

from mapdag.errors import MapdagWarning

_VALUE = r"""(?:\[[^\]]*\]|\{(?:[^{}]|\[[^\]]*\])*\}|"[^"]*"|'[^']*'|[\w.+-]+)"""


def _each(flag: str) -> Callable[[Any], str]:
    """Repeat a flag for every item of a list."""
    return lambda value: " ".join(f"{flag} {_quoted(item)}" for item in (value if isinstance(value, list) else [value]))


def _by_column(value: Any) -> str:
    items = value.items() if isinstance(value, dict) else [(None, value)]
    return " ".join(f"--discretize {_quoted(method if name is None else f'{name}={method}')}" for name, method in items)


def _quoted(value: Any) -> str:
    return "..." if value == "..." else shlex.quote(str(value))


#: How each option of `mapdag.read` and `mapdag.learn` is written on the command line.
_FLAGS: dict[str, Callable[[Any], str]] = {
    "drop": _each("--drop"),
    "missing": _each("--missing"),
    "missing_values": _each("--missing-value"),
    "max_levels": _each("--max-levels"),
    "separator": _each("--separator"),
    "encoding": _each("--encoding"),
    "search": _each("--search"),
    "weights": _each("--weights"),
    "codes": lambda value: "--codes" if value else "--labels",
    "levels": lambda _: "--levels FILE (a JSON object, name -> list of levels)",
    "discretize": _by_column,
}
_OPTION = re.compile(rf"(?<![\w.])({'|'.join(_FLAGS)})=({_VALUE})")


def in_flags(message: str) -> str:
    """Rewrite the options in a message of the library as the command line takes them.

    >>> in_flags('the column has 300 levels: pass drop=["id"] or max_levels=300')
    'the column has 300 levels: pass --drop id or --max-levels 300'
    >>> in_flags('All at once: drop=["id"], missing="drop"')  # to be pasted
    'All at once: --drop id --missing drop'
    """

    def rewrite(match: re.Match[str]) -> str:
        text = match[2].replace("True", "true").replace("False", "false").replace("'", '"')
        try:
            value = json.loads(re.sub(r",?\s*\.\.\.", "", text))
        except json.JSONDecodeError:
            value = text.strip('"')
        return _FLAGS[match[1]](value)

    rewritten = _OPTION.sub(rewrite, message)
    return re.sub(r"^All at once: .*", lambda line: line[0].replace(", --", " --"), rewritten, flags=re.MULTILINE)


class Warnings:
    """Shows each warning once."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def show(self, message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        """Stand in for `warnings.showwarning`."""
        if issubclass(category, MapdagWarning) and str(message) not in self._seen:
            self._seen.add(str(message))
            typer.echo(f"mapdag: warning: {in_flags(str(message))}", err=True)
