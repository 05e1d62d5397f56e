"""Taking the text of a BIF file apart: variables with their levels, and probability blocks as text.

What the blocks mean is for `bif_reader`, which knows all variables by then.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from mapdag.graphs.text import error_at
from mapdag.io.bif_names import QUOTED, split_labels, unquote

# A quote that is not closed goes on to the end of its line.
_COMMENT = re.compile(rf"{QUOTED}?|//[^\n]*|/\*.*?\*/|/\*", re.DOTALL)
_DIGITS = 20  # Python refuses to read whole numbers of some thousands
_BLANKS = re.compile(r"\s*")
_BLOCK = re.compile(r"(network|variable|probability)\b\s*", re.IGNORECASE)
_NAME = re.compile(rf'({QUOTED}\s*|[^{{"]*)\{{')
_FAMILY = re.compile(rf'\(((?:{QUOTED}|[^{{"])*)\)\s*\{{')
_PROPERTY = re.compile(r"property\b", re.IGNORECASE)
_UP_TO_QUOTE = re.compile(r'[^;"]*')
_QUOTED = re.compile(QUOTED)
_UP_TO_END = re.compile(r"[^;\n]*")
_TYPE = re.compile(rf'type\s+(\w+)\s*(?:\[\s*(\d+)\s*\]\s*)?\{{((?:{QUOTED}|[^}}"])*)\}}\s*;?', re.IGNORECASE)
# The first two alternatives are one: the plain case, and labels with quotes or parentheses, where the last parenthesis
# before the numbers is the closing one.
_ENTRY = re.compile(
    rf"""\( ([^()";]*) \) ([^();"]*) ;
    | \( ((?:{QUOTED}|[^;"])*) \) ([^();"]*) ;
    | (table|default)\b ([^;]*) ;""",
    re.VERBOSE | re.IGNORECASE,
)


class BlockRow(NamedTuple):
    """A row of a probability block, as text; `table` and `default` have no configuration."""

    position: int
    configuration: str
    numbers: str


@dataclass
class Block:
    """A probability block.

    Parameters
    ----------
    position : int
        Where it is.
    header : str
        The text between its parentheses.
    entries : list of BlockRow
        Its rows.
    whole : dict from keyword to BlockRow
        Its `table` and `default`.
    """

    position: int
    header: str
    entries: list[BlockRow] = field(default_factory=list)
    whole: dict[str, BlockRow] = field(default_factory=dict)


class Scanner:
    """A file, read once: `levels` by variable, `blocks`, and `comments`.

    Parameters
    ----------
    text : str
        The whole file.
    source : str
        What to call it in errors.
    """

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.text = text
        self.comments: list[str] = []
        self.text = self._without_comments()
        self.levels: dict[str, tuple[str, ...]] = {}
        self.blocks: list[Block] = []
        self._scan()

    def fail(self, position: int, message: str) -> NoReturn:
        """Raise `FormatError` for a place in the text."""
        raise error_at(position, self.text, self.source, message)

    def _unexpected(self, position: int, expected: str) -> NoReturn:
        """Raise `FormatError` for something else than what was expected."""
        if position >= len(self.text):
            self.fail(position, f"the file ends where {expected} should be: it seems to be cut off")
        found = self.text[position : position + 30].partition("\n")[0].strip()
        hint = "; this looks like XML, which is another format" if found.startswith("<") else ""
        self.fail(position, f"expected {expected}, got {found!r}{hint}")

    def _without_comments(self) -> str:
        """Return the text with comments blanked out, so that places stay the same."""
        text = self.text
        if "//" not in text and "/*" not in text:
            return text

        def blank(match: re.Match[str]) -> str:
            found = match.group()
            if found == "/*":
                self.fail(match.start(), "this comment does not end")
            if found.startswith('"'):
                return found
            self.comments.append(found.removeprefix("//"))
            return re.sub(r"[^\n]", " ", found)

        return _COMMENT.sub(blank, text)

    def _skip(self, position: int) -> int:
        """Return the position after blanks."""
        match = _BLANKS.match(self.text, position)
        return match.end() if match else position

    # Blocks ----------------------------------------------------------------------------------------------------

    def _scan(self) -> None:
        """Go through the blocks."""
        position = self._skip(0)
        while position < len(self.text):
            match = _BLOCK.match(self.text, position)
            if match is None:
                self._unexpected(position, "'network', 'variable' or 'probability'")
            scan = {"network": self._scan_network, "variable": self._scan_variable}
            position = self._skip(scan.get(match[1].lower(), self._scan_probability)(match.end()))

    def _scan_network(self, position: int) -> int:
        """Skip the block about the network: a name and properties."""
        match = _NAME.match(self.text, position)
        if match is None:
            self._unexpected(position, "the name of the network and '{'")
        return self._properties(match.end(), "'property ...;' or '}' of the network block")

    def _properties(self, position: int, expected: str) -> int:
        """Skip properties and the closing brace."""
        position = self._after_properties(position)
        if not self.text.startswith("}", position):
            self._unexpected(position, expected)
        return position + 1

    def _after_properties(self, position: int) -> int:
        """Return the position after blanks and any properties."""
        position = self._skip(position)
        while match := _PROPERTY.match(self.text, position):
            end = self._end_of_property(match.end())
            if end < 0:
                return position
            position = self._skip(end)
        return position

    def _end_of_property(self, position: int) -> int:
        """Return the position after the semicolon that ends a property, or -1; quotes not closed mean nothing."""
        text = self.text
        while True:
            position = _UP_TO_QUOTE.match(text, position).end()  # type: ignore[union-attr]  # it matches nothing, too
            if position == len(text):
                return -1
            if text[position] == ";":
                return position + 1
            closed = _QUOTED.match(text, position) or _UP_TO_END.match(text, position)
            assert closed is not None
            position = closed.end()

    def _scan_variable(self, position: int) -> int:
        """Read the block about a variable: its name, its levels and properties."""
        match = _NAME.match(self.text, position)
        if match is None or not match[1].strip():
            self._unexpected(position, "the name of a variable and '{'")
        name = unquote(match[1])
        if name in self.levels:
            self.fail(position, f"the variable {name!r} is declared twice")
        place = self._after_properties(match.end())
        match = _TYPE.match(self.text, place)
        if match is None:
            self._unexpected(place, f"'type discrete [ n ] {{ level, level }};' of the variable {name!r}")
        if match[1].lower() != "discrete":
            self.fail(place, f"the variable {name!r} is {match[1]}; only discrete ones can be read")
        self.levels[name] = self._labels(name, match)
        return self._properties(match.end(), f"'property ...;' or '}}' of the variable {name!r}")

    def _labels(self, name: str, match: re.Match[str]) -> tuple[str, ...]:
        """Return the levels of a variable."""
        if match[2] and len(match[2]) > _DIGITS:
            self.fail(match.start(2), f"the variable {name!r} cannot have {match[2][:_DIGITS]}... levels")
        count = int(match[2]) if match[2] else None
        labels = split_labels(match[3], count)
        if not labels or "" in labels:
            self.fail(match.start(3), f"the variable {name!r} has an empty level")
        if count is not None and len(labels) != count:
            self.fail(
                match.start(3),
                f"the variable {name!r} declares {count} levels but lists {len(labels)}; "
                "labels with commas or blanks must be quoted",
            )
        if len(set(labels)) < len(labels):
            twice = Counter(labels).most_common(1)[0][0]
            self.fail(match.start(3), f"the variable {name!r} lists its level {twice!r} twice")
        return tuple(labels)

    def _scan_probability(self, position: int) -> int:
        """Read the block about the probabilities of a node; its entries stay text for now."""
        match = _FAMILY.match(self.text, position)
        if match is None:
            self._unexpected(position, "'( node | parent, parent ) {'")
        block = Block(position, match[1])
        self.blocks.append(block)
        position = self._skip(match.end())
        entry, add = _ENTRY.match, block.entries.append
        while not self.text.startswith("}", position):
            match = entry(self.text, position)
            if match is None:
                after = self._after_properties(position)
                if after == position:
                    self._unexpected(position, f"'(levels of the parents) probabilities;' or '}}' of ({block.header})")
                position = after
                continue
            plain, numbers, odd, odd_numbers, keyword, rest = match.groups()
            if plain is not None:
                add(BlockRow(position, plain, numbers))
            elif odd is not None:
                add(BlockRow(position, odd, odd_numbers))
            elif keyword.lower() in block.whole:
                self.fail(position, f"there is a second '{keyword}' in this block")
            else:
                block.whole[keyword.lower()] = BlockRow(position, "", rest)
            position = self._skip(match.end())
        return position + 1
