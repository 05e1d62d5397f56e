"""The options of the commands, from the commands themselves: what ``<!-- options of learn -->`` in pages becomes."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import typer

from mapdag.cli.app import app

MARK = re.compile(r"^<!-- options of ([a-z -]+) -->$", re.MULTILINE)


def with_options(text: str) -> str:
    """Put lists of options in the places that are marked for them; nothing for a command that there is not."""
    return MARK.sub(lambda mark: options_of(mark[1].split()), text)


def options_of(path: list[str]) -> str:
    """Return the arguments and options of a command as HTML, a row each, to be opened by a click."""
    command: Any = typer.main.get_command(app)
    for name in path:
        command = command.commands.get(name)
        if command is None:
            return ""
    rows = "".join(_row(each) for each in command.params if each.name != "help")
    title = f"Options of <code>mapdag {' '.join(path)}</code>"
    return f"<details><summary>{title}</summary><table><tbody>{rows}</tbody></table></details>"


def _row(option: Any) -> str:
    is_argument = option.param_type_name == "argument"
    value = "" if is_argument or option.is_flag else f" {option.metavar or option.name.upper()}"
    names = [option.metavar or option.name.upper()] if is_argument else [*option.opts, *option.secondary_opts]
    told = escape(" ".join((option.help or "").split()))
    if not is_argument and option.default not in (None, False, [], ()):
        told += f" Default: {_default(option.default)}."
    shown = ", ".join(f"<code>{escape(name + value)}</code>" for name in names)
    return f"<tr><td>{shown}</td><td>{told}</td></tr>"


def _default(value: Any) -> str:
    each = value if isinstance(value, (list, tuple)) else [value]
    return ", ".join(f"<code>{escape(str(one))}</code>" for one in each)
