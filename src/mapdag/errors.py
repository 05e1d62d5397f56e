"""Every exception and warning that mapdag raises, and the options that their messages name; nothing else lives here.

::

    MapdagError
    ├── DataError (ValueError)        a table cannot be used as it is; names the column, the rows and the way out
    ├── GraphError (ValueError)       nodes or arcs that make no sense
    │   └── CycleError                a directed cycle; `cycle` lists its nodes
    ├── NetworkError (ValueError)     probabilities that do not fit their graph, or evidence that cannot happen
    ├── ParameterError (ValueError)   an option outside its range; names the option, the rule and the value
    ├── NotationError (ValueError)    a score expression that cannot be read; `position` points into it
    ├── FormatError (ValueError)      a file that cannot be parsed; carries line and column
    ├── FileError (OSError)           a file that cannot be opened or written; names the path and the reason
    ├── StudyError                    results of a study that cannot be continued or put together
    ├── CapacityError                 the request needs more memory or time than is sensible
    ├── ClusterError                  machines that cannot be reached or used, or that were lost
    └── MissingExtraError (ImportError)  an optional package is needed; says how to install it

    MapdagWarning (UserWarning)       the result is right, but probably not what was meant

A message is made of parts. Options are parts of their own (`Setting`, or several to be given together), so that whoever
shows the message can write them as its reader would: `str` as in Python, the command line as its flags.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Longer lists are cut short where an option is written.
SHOWN_ITEMS = 25

_AROUND = 800  # letters of an expression that are shown before and after a place in it
_SCREEN = 3000  # letters that a terminal shows at once


#: The objective unless another one is given: what `mapdag.objective.DEFAULT` is written as, for who does not load it.
DEFAULT_SCORE = "Support(m=3)+MU(c=1)+BDs(alpha=1)"

#: Flags of the command line, where they are not the option's name.
_FLAGS = {
    "R": "--replicates",
    "forbidden": "--forbid",
    "missing_values": "--missing-value",
    "objective": "--score",
    "required": "--require",
}


def flag_of(option: str) -> str:
    """Return what the command line calls an option.

    >>> flag_of("required"), flag_of("max_parents")
    ('--require', '--max-parents')
    """
    return _FLAGS.get(option, f"--{option.replace('_', '-')}")


@dataclass(frozen=True)
class Setting:
    """An option and its value, as part of a message; most often a way out.

    >>> str(Setting("drop", ["id"])), str(Setting("codes", True))
    ('drop=["id"]', 'codes=True')
    """

    option: str
    value: Any

    def __str__(self) -> str:
        return self.code(SHOWN_ITEMS)

    def code(self, most: int | None = None) -> str:
        """Write it as Python takes it, with at most so many items of a list (then it is only to be read)."""
        return f"{self.option}={_quoted(self.value, most)}"

    def flags(self, most: int | None = None) -> str:
        """Write it as the command line takes it: a flag is repeated for every item of a list.

        >>> Setting("missing_values", {"*": ["?"], "smoke": ["9"]}).flags()
        "--missing-value '?' --missing-value smoke=9"
        >>> Setting("drop", ["id", "-x"]).flags(), Setting("discretize", {"*": "quantile", "age": [18, 65]}).flags()
        ('--drop id --drop=-x', '--discretize quantile --discretize age=18,65')
        """
        if self.option == "levels":
            is_file = isinstance(self.value, str)
            return f"--levels {shlex.quote(self.value) if is_file else 'FILE (a JSON object, name -> list of levels)'}"
        if self.option == "codes":
            return "--codes" if self.value else "--labels"
        if self.value is True:
            return flag_of(self.option)
        flag, texts = flag_of(self.option), texts_of(self.option, self.value, most)
        return " ".join(f"{flag}{'=' if text.startswith('-') else ' '}{shlex.quote(text)}" for text in texts)


@dataclass(frozen=True)
class Function(Setting):
    """A function, as part of a message, and the flag that stands for it on the command line.

    >>> str(Function("em", "structural_em")), Function("em", "structural_em").flags()
    ('mapdag.structural_em', '--em')
    """

    def code(self, most: int | None = None) -> str:  # noqa: ARG002 - there is nothing to cut short
        """Write its name."""
        return f"mapdag.{self.value}"

    def flags(self, most: int | None = None) -> str:  # noqa: ARG002
        """Write the flag."""
        return f"--{self.option}"


def texts_of(option: str, value: Any, most: int | None = None) -> list[str]:
    """Write the value of an option as the command line and the explorer take it: a text for each item.

    What is about single columns is written as COLUMN=VALUE; at most so many items of a list are written.

    >>> texts_of("discretize", {"*": "quantile", "age": [18, 65], "dose": 4})
    ['quantile', 'age=18,65', 'dose=quantile(4)']
    >>> texts_of("missing_values", {"*": ["?", "a=b"], "smoke": [9]}), texts_of("drop", ["id"])
    (['?', '*=a=b', 'smoke=9'], ['id'])
    >>> texts_of("required", [("A", "B")])
    ['A->B']
    """
    if option == "missing_values":
        values = value if isinstance(value, Mapping) else {"*": value}
        found = []
        for name, each in values.items():
            texts = map(str, [each] if isinstance(each, str) or not isinstance(each, Iterable) else each)
            found += [text if name == "*" and "=" not in text else f"{name}={text}" for text in texts]
        return found[:most]
    if option in {"required", "forbidden"}:
        return [f"{start}->{end}" for start, end in list(value)[:most]]
    if isinstance(value, Mapping):
        return [_way_text(str(name), way) for name, way in value.items()]
    return [str(item) for item in (value[:most] if isinstance(value, list) else [value])]


def _way_text(name: str, way: Any) -> str:
    """Write how a column is to be cut, or, for the name "*", all others."""
    text = str(way)
    if isinstance(way, list | tuple):
        text = ",".join(map(_point_text, way))
    elif isinstance(way, int):
        text = f"quantile({way})"
    return text if name == "*" else f"{name}={text}"


def _point_text(point: float) -> str:
    """Write a number with as few digits as it takes to read it again."""
    short = f"{point:.15g}"
    return short if float(short) == point else f"{point:.17g}"


def _quoted(value: Any, most: int | None) -> str:
    """Write a value in Python's notation with double quotes; lists longer than `most` are cut short."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_quoted(key, most)}: {_quoted(item, most)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(_quoted(item, most) for item in value) + ")"
    if isinstance(value, list):
        items = [*value[:most], "..."] if most is not None and len(value) > most else value
        return "[" + ", ".join("..." if item == "..." and most else _quoted(item, most) for item in items) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def _screenful(text: str) -> str:
    """Cut out the middle of a text that nobody would read: names and values in it may be as long as they like."""
    return text if len(text) <= _SCREEN else f"{text[: _SCREEN * 2 // 3]} [...] {text[-_SCREEN // 3 :]}"


class Message(Exception):  # noqa: N818 - not yet an error
    """What errors and warnings say: texts, and settings among them.

    >>> error = DataError("300 levels: pass ", Setting("drop", ["id"]), " or ", Setting("max_levels", 300))
    >>> str(error)
    '300 levels: pass drop=["id"] or max_levels=300'
    >>> error.settings
    (Setting(option='drop', value=['id']), Setting(option='max_levels', value=300))
    """

    def __init__(self, *parts: Any) -> None:
        self.parts = parts
        super().__init__(str(self))

    @property
    def _groups(self) -> list[tuple[Any, ...]]:
        return [part if isinstance(part, tuple) else (part,) for part in self.parts]

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The options that the message names, in order."""
        return tuple(part for group in self._groups for part in group if isinstance(part, Setting))

    def written(self, write: Callable[[Setting], str], between: str) -> str:
        """Return the text, given how to write a setting, and what to put between those that belong together."""
        texts = [[write(part) if isinstance(part, Setting) else str(part) for part in group] for group in self._groups]
        return _screenful("".join(between.join(group) for group in texts))

    def __str__(self) -> str:
        return self.written(str, ", ")


class MapdagError(Message):
    """Base class of everything mapdag raises on purpose."""


class DataError(MapdagError, ValueError):
    """A table cannot be used as it is.

    Attributes
    ----------
    remedy : tuple of Setting
        The options that settle everything that is wrong, each by its most likely way out; empty where none do.
    """

    remedy: tuple[Setting, ...] = ()


class GraphError(MapdagError, ValueError):
    """Nodes or arcs that do not make a graph."""


class CycleError(GraphError):
    """The arcs contain a directed cycle.

    Parameters
    ----------
    cycle : sequence of str
        The nodes along the cycle, the first repeated at the end.
    """

    def __init__(self, cycle: Sequence[str]) -> None:
        self.cycle = tuple(cycle)
        super().__init__(f"the arcs contain a cycle: {' -> '.join(self.cycle)}")

    def __reduce__(self) -> tuple[Any, ...]:
        return CycleError, (self.cycle,)


class NetworkError(MapdagError, ValueError):
    """Probabilities that do not fit their graph, or evidence that cannot happen."""


class ParameterError(MapdagError, ValueError):
    """An option is outside its range."""


class NotationError(MapdagError, ValueError):
    """A score expression cannot be read.

    Parameters
    ----------
    message : str
        What is wrong, and what would be right.
    text : str
        The whole expression.
    position : int
        Where in `text` the trouble starts.
    """

    def __init__(self, message: str, text: str, position: int) -> None:
        self.message = message
        self.text = text
        self.position = position
        start = max(position - _AROUND, 0)
        shown = text[start : position + _AROUND]
        super().__init__(f"{message}\n  {shown}\n  {' ' * (position - start)}^")

    def __reduce__(self) -> tuple[Any, ...]:
        return NotationError, (self.message, self.text, self.position)


class FormatError(MapdagError, ValueError):
    """A file cannot be parsed.

    Parameters
    ----------
    message : str
        What is wrong.
    source : str
        The file's name, or what stands for it.
    line, column : int, optional
        Where, counted from 1.
    """

    def __init__(self, message: str, source: str, line: int | None = None, column: int | None = None) -> None:
        self.message, self.source, self.line, self.column = message, source, line, column
        place = source if line is None else f"{source}, line {line}"
        if column is not None:
            place += f", column {column}"
        super().__init__(f"{place}: {message}")

    def __reduce__(self) -> tuple[Any, ...]:
        return FormatError, (self.message, self.source, self.line, self.column)


class FileError(MapdagError, OSError):
    """A file cannot be opened or written."""


class StudyError(MapdagError):
    """Results of a study cannot be continued or put together."""


class CapacityError(MapdagError):
    """The request needs more memory or time than is sensible."""


class ClusterError(MapdagError):
    """A cluster cannot be reached or used, or lost what it was given."""


class MissingExtraError(MapdagError, ImportError):
    """An optional package is needed."""


class MapdagWarning(Message, UserWarning):
    """The result is right, but probably not what was meant."""
