r"""Notes for ourselves in files of other programs' formats, as comments, which those programs skip.

A comment `mapdag: {...}` holds JSON about one variable: its `variable` in the file, the `name` that it has here, the
`levels` that were changed (what the file has: what it stands for), and the `coding` of the column. JSON's escapes keep
out whatever would end the comment, or mislead a program that does not know comments well. A file without notes, or from
which a program has dropped them, is read as it stands.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from mapdag.data.codings import Coding, Cuts, ValueType
from mapdag.errors import FormatError, ParameterError

_MARK = "mapdag:"


@dataclass(frozen=True)
class Note:
    """What a file cannot say of a variable: its name, levels that were changed, what they stand for."""

    variable: str
    name: str | None = None
    levels: Mapping[str, str] = field(default_factory=dict)
    coding: Coding | None = None

    @property
    def says_something(self) -> bool:
        """Whether the file does not say it all."""
        return bool(self.name or self.levels or self.coding)

    def comment(self, *unwanted: str) -> str:
        r"""Return the text of the comment, in which some texts, none of them part of a number, must not be.

        >>> print(Note("x", name="a -- b").comment("--"))
        mapdag: {"variable":"x","name":"a -\u002d b"}
        """
        content: dict[str, Any] = {"variable": self.variable}
        if self.name is not None:
            content["name"] = self.name
        if self.levels:
            content["levels"] = dict(self.levels)
        if self.coding is not None:
            content["coding"] = coding_entry(self.coding)
        text = json.dumps(content, separators=(",", ":"))
        for each in unwanted:
            text = text.replace(each, f"{each[:-1]}\\u{ord(each[-1]):04x}")
        return f"{_MARK} {text}"


def read_notes(comments: Iterable[str], source: str) -> dict[str, Note]:
    """Return the notes among the comments of a file, by the variable's name in it."""
    notes = {}
    for comment in comments:
        text = comment.strip()
        if text.startswith(_MARK):
            note = _note(text.removeprefix(_MARK), source)
            notes[note.variable] = note
    return notes


def _note(text: str, source: str) -> Note:
    try:
        content = json.loads(text)
        variable, name, levels = content["variable"], content.get("name"), content.get("levels", {})
        texts = [variable, *levels, *levels.values(), *([] if name is None else [name])]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        texts = [None]
    if not all(isinstance(each, str) for each in texts):
        raise FormatError(
            f"a comment that mapdag wrote is damaged, {_MARK}{text[:60]}; without it, the file is read as it stands",
            source,
        )
    return Note(variable, name, levels, read_coding(content, variable, source))


# What levels stand for ----------------------------------------------------------------------------------------------


def coding_entry(coding: Coding) -> dict[str, Any]:
    """Return a coding as JSON has it."""
    if coding.edges is None:
        return {"type": coding.type, **({"lumped": list(coding.lumped)} if coding.lumped else {})}
    return {"type": coding.type, "edges": [edge if math.isfinite(edge) else None for edge in coding.edges]}


def read_coding(entry: Mapping[str, Any], name: str, source: str) -> Coding | None:
    """Return what the levels of a node stand for, if its entry says so."""
    if "coding" not in entry:
        return None
    content = entry["coding"]
    edges = content.get("edges") if isinstance(content, dict) else ()
    known = isinstance(content, dict) and content.get("type", "text") in get_args(ValueType)
    if not known or not (edges is None or (isinstance(edges, list) and len(edges) > 2)):
        raise FormatError(f'"coding" of {name!r} must have a type and edges, got {json.dumps(content)[:60]}', source)
    if edges is None:
        lumped = content.get("lumped", [])
        if not isinstance(lumped, list) or not all(isinstance(label, str) for label in lumped):
            raise FormatError(f'"lumped" of {name!r} must be a list of labels', source)
        return Coding(content.get("type", "text"), lumped=tuple(lumped))
    ends = [-math.inf if edges[0] is None else edges[0], *edges[1:-1], math.inf if edges[-1] is None else edges[-1]]
    try:
        return Coding(content.get("type", "text"), Cuts({name: ends})[name])
    except ParameterError as error:
        raise FormatError(str(error), source) from None
