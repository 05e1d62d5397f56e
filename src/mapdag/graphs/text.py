"""Texts that programs write for each other: quoted strings, and errors that say where they are."""

from __future__ import annotations

from mapdag.errors import FormatError, ParameterError


def quoted(name: str) -> str:
    r"""Return a name in quotation marks, its own and backslashes escaped.

    Examples
    --------
    >>> print(quoted('say "B"'))
    "say \"B\""
    """
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def error_at(position: int, text: str, source: str, message: str) -> FormatError:
    r"""Return the error for a place in a text.

    Examples
    --------
    >>> print(error_at(4, "one\ntwo", "the text", "strange"))
    the text, line 2, column 1: strange
    """
    start = text.rfind("\n", 0, position) + 1
    return FormatError(message, source, text.count("\n", 0, position) + 1, position - start + 1)


def check_text(text: object) -> None:
    """Refuse what is no text."""
    if not isinstance(text, str):
        raise ParameterError(f"text must be a string, got {type(text).__name__}")
