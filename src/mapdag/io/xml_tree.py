"""XML as a tree whose elements know their lines; without entities, so that no file can blow up or fetch anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from mapdag.errors import FormatError

_DEEPEST = 100


@dataclass
class Element:
    """An element: its name in lower case, its attributes, what is inside, and where it is."""

    source: str
    line: int
    tag: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, *tags: str) -> Iterator[Element]:
        """Return the children with any of these names."""
        return (child for child in self.children if child.tag in tags)

    def one(self, *tags: str) -> Element:
        """Return the only child with one of these names."""
        found = list(self.all(*tags))
        if len(found) != 1:
            self.fail(f"<{self.tag}> needs one <{tags[0]}>, got {len(found) or 'none'}")
        return found[0]

    def attribute(self, name: str) -> str:
        """Return an attribute that must be there."""
        if not self.attributes.get(name):
            self.fail(f"<{self.tag}> needs the attribute {name!r}")
        return self.attributes[name]

    def fail(self, message: str) -> NoReturn:
        """Raise `FormatError` for this place."""
        raise FormatError(message, self.source, self.line)


def parse_xml(text: str, source: str) -> tuple[Element, list[str]]:
    """Return the outermost element of a text, and all comments.

    Examples
    --------
    >>> root, comments = parse_xml("<BIF><!-- hello --><NAME>x</NAME></BIF>", "the text")
    >>> root.one("name").text, comments
    ('x', [' hello '])
    >>> parse_xml('<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>', "the text")
    Traceback (most recent call last):
    mapdag.errors.FormatError: the text, line 1: XML entities are not read
    """
    top = Element(source, 1, "", {})
    open_elements, comments = [top], list[str]()
    parser = expat.ParserCreate()
    parser.buffer_text, parser.buffer_size = True, 2**20

    def start(tag: str, attributes: dict[str, str]) -> None:
        lower = {name.lower(): value for name, value in attributes.items()}
        element = Element(source, parser.CurrentLineNumber, tag.lower(), lower)
        if len(open_elements) > _DEEPEST:
            element.fail("too many elements inside one another")
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def end(_: str) -> None:
        open_elements.pop()

    def characters(data: str) -> None:
        open_elements[-1].text += data

    def refuse(*_: object) -> None:
        raise FormatError("XML entities are not read", source, parser.CurrentLineNumber)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.CommentHandler = characters, comments.append
    parser.EntityDeclHandler = parser.ExternalEntityRefHandler = refuse  # type: ignore[assignment]
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        message = expat.errors.messages[error.code]
        raise FormatError(f"not XML: {message}", source, error.lineno, error.offset + 1) from None
    except UnicodeEncodeError:
        raise FormatError("not XML: half of a pair of characters", source) from None
    return top.children[0], comments
