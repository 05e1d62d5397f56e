"""Files of any kind, read as blocks of rows, from any block on; texts are cut between records."""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.content import (
    FIRST,
    HEAD,
    Content,
    NotInEncoding,
    decoded,
    failures,
    has_carriages,
    is_columnar_within,
    is_utf8,
    known_encoding,
    not_in,
    open_content,
    opened,
    read_bytes,
    refuse_nul,
    shown,
    start_of,
)
from mapdag.data.delimited import are_varied, parse
from mapdag.data.dialect import Dialect, look_at, single_blanks
from mapdag.data.packed.blocks import BLOCK_ROWS, Block, find_distinct
from mapdag.data.panics import without_reports
from mapdag.data.source import levels_in_file, named_categories
from mapdag.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import polars as pl


#: What a text is tried as that turns out not to be what its start looked like.
_NEXT_ENCODING = {"utf-8": "cp1252", "cp1252": "latin-1"}


class Reader(ABC):
    """The rows of a source, block by block."""

    called: str  # in messages

    @abstractmethod
    def blocks(self, last: Mapping[str, Any] | None) -> Iterator[Callable[[], Block]]:
        """Give functions that make the blocks, after the one that has these facts; they may be called in threads."""

    def share(self, facts: Mapping[str, Any]) -> float:  # noqa: ARG002 - not every source knows how long it is
        """Return how much of the source was read up to the block with these facts."""
        return 0.0

    @abstractmethod
    def about(self) -> dict[str, Any]:
        """Return what is to be known about the columns, once all blocks are made.

        ``names``; ``header``, whether they were the first line of a text; ``row_names``; ``varied``, of a text: which
        columns have very many values; ``declared``, levels by column that the file declares.
        """


class TextReader(Reader):
    """A file of text."""

    def __init__(self, path: Path, separator: str | None, encoding: str | None, tried: str | None = None) -> None:
        self.called = shown(path)
        self._separator, self._asked = separator, encoding
        self._text = _looked_at(path, separator, encoding, tried)
        self._integers = True

    def share(self, facts: Mapping[str, Any]) -> float:
        """Return how much was read: less, where the text is longer than the file."""
        return min(facts["end"] / max(self._text.path.stat().st_size, 1), 1.0)

    @property
    def encoding(self) -> str:
        """What the bytes are taken for."""
        return self._text.encoding

    def blocks(self, last: Mapping[str, Any] | None) -> Iterator[Callable[[], Block]]:
        """Give functions that parse pieces of the text."""
        start, lines = (0, 0) if last is None else (last["end"], last["lines"])
        for piece in self._text.pieces(BLOCK_ROWS, start, lines):
            yield partial(self._block, piece)

    def _block(self, piece: Piece) -> Block:
        text, data = self._text, piece.data
        dialect = replace(text.dialect, lines=0, start=0)
        content = Content.of(text.name, single_blanks(data) if text.blanks else data)
        if data[:1] in b"\r\n" and not data.strip(b"\r\n"):  # nothing but blank lines, at the end
            return Block(0, [], [], self._facts(piece, "integers"))
        try:
            parsed = parse(content, dialect, integers=self._integers, before=piece.before)
        except UnicodeDecodeError as error:
            raise NotInEncoding(text.encoding, error) from error
        self._integers = parsed.way == "integers"  # no way back: the worst is what the whole file is read as
        parts = [find_distinct(column, own=True) for column in parsed.columns]
        return Block.of(parsed.n_rows, parts, self._facts(piece, parsed.way))

    @staticmethod
    def _facts(piece: Piece, way: str) -> dict[str, Any]:
        return {"way": way, "end": piece.end, "lines": piece.before + piece.lines}

    def about(self) -> dict[str, Any]:
        """Return what the header tells."""
        dialect = self._text.dialect
        varied = are_varied(dialect)
        return {"names": dialect.names, "header": True, "row_names": dialect.row_names, "varied": varied}

    def in_other_encoding(self, error: NotInEncoding) -> TextReader:
        """Return a reader that takes the text for something else, unless the user said what it is."""
        return TextReader(
            self._text.path, self._separator, self._asked, _next_encoding(error, self._asked, self.called)
        )


def _looked_at(path: Path, separator: str | None, asked: str | None, tried: str | None) -> Text:
    """Look at the start of a text, which may not be what its first bytes look like."""
    while True:
        try:
            return Text.of(path, separator, tried or asked)
        except NotInEncoding as error:  # noqa: PERF203 - twice at most
            tried = _next_encoding(error, asked, shown(path))


def _next_encoding(error: NotInEncoding, asked: str | None, called: str) -> str:
    other = _NEXT_ENCODING.get(error.encoding) if asked is None else None
    if other is None:
        raise not_in(error.encoding, called, error) from error
    return other


class FrameReader(Reader):
    """A polars LazyFrame."""

    kind = ""  # of file

    def __init__(self, frame: pl.LazyFrame, called: str = "the table") -> None:
        self.called = called
        self._frame = frame
        self._seen: pl.DataFrame | None = None

    def blocks(self, last: Mapping[str, Any] | None) -> Iterator[Callable[[], Block]]:
        """Give functions that find the distinct values of batches."""
        end = 0 if last is None else int(last["end"])
        frame = self._frame.slice(end) if end else self._frame
        try:
            with without_reports():
                frame.head(1).collect()  # what cannot be read at all would look like no rows
            for batch in _without_reports(frame.collect_batches(chunk_size=BLOCK_ROWS, maintain_order=True)):
                self._seen = batch
                for low in range(0, batch.height, BLOCK_ROWS):
                    rows = batch.slice(low, BLOCK_ROWS)
                    end += rows.height
                    yield partial(_block_of, rows, end)
        except failures() as error:
            kind = f" as {self.kind}" if self.kind else ""
            raise DataError(f"{self.called}: cannot be read{kind}: {error}") from error

    def about(self) -> dict[str, Any]:
        """Return what the types declare."""
        import polars as pl

        seen = self._frame.head(0).collect() if self._seen is None else self._seen
        assert isinstance(seen, pl.DataFrame)
        return {"names": list(seen.columns), "declared": {**named_categories(seen), **self._declared(seen)}}

    def _declared(self, seen: pl.DataFrame) -> dict[str, list[str]]:  # noqa: ARG002 - files have more to say
        return {}


def _without_reports(batches: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Give batches; nothing is printed where one cannot be read."""
    following = iter(batches)
    while True:
        with without_reports():
            batch = next(following, None)
        if batch is None:
            return
        yield batch


def _block_of(rows: pl.DataFrame, end: int) -> Block:
    return Block.of(rows.height, [find_distinct(series) for series in rows.get_columns()], {"way": "typed", "end": end})


class ColumnarReader(FrameReader):
    """A Parquet or Arrow file."""

    def __init__(self, content: Content) -> None:
        import polars as pl

        self._content, self.kind = content, content.format
        self._n_rows: int | None = None
        source = content.stream()
        if content.format == "parquet":
            frame = pl.scan_parquet(source, glob=False)
        elif content.format == "ipc":
            frame = pl.scan_ipc(source, glob=False) if content.data is None else pl.read_ipc(source).lazy()
        else:
            frame = pl.read_ipc_stream(source if content.data is None else io.BytesIO(content.data)).lazy()
        super().__init__(frame, content.name)

    def share(self, facts: Mapping[str, Any]) -> float:
        """Return how many of the rows were read."""
        import polars as pl

        if self._n_rows is None:
            self._n_rows = int(self._frame.select(pl.len()).collect().item())
        return float(facts["end"] / max(self._n_rows, 1))

    def _declared(self, seen: pl.DataFrame) -> dict[str, list[str]]:
        try:
            return levels_in_file(self._content, seen)
        except failures() as error:  # what polars overlooks, pyarrow may not
            raise DataError(f"{self.called}: cannot be read as {self.kind}: {error}") from error


def open_reader(path: Path, separator: str | None, encoding: str | None, tried: str | None = None) -> Reader:
    """Open a file, whatever it holds; `tried`: an encoding that fits better than what its start looks like."""
    content = open_content(path, unpack=False)
    if content.format == "text" and is_columnar_within(path):
        content = open_content(path)
    if content.format == "text":
        return TextReader(path, separator, encoding, tried)
    try:
        with without_reports():
            return ColumnarReader(content)
    except failures() as error:
        raise DataError(f"{content.name}: cannot be read as {content.format}: {error}") from error


# Text, cut between records -------------------------------------------------------------------------------------------

_MOST = 2**26  # bytes of a piece


@dataclass(frozen=True)
class Piece:
    """Some whole records of a text."""

    data: bytes
    before: int  # lines of the text before it, the header included
    lines: int  # its own
    start: int  # where it begins in the text, in bytes of UTF-8

    @property
    def end(self) -> int:
        """Where the next one begins."""
        return self.start + len(self.data)


@dataclass(frozen=True)
class Text:
    """A text table in a file.

    Attributes
    ----------
    path : Path
    encoding : str
        What its bytes are.
    carriage : bool
        Whether lines end in a carriage return alone.
    dialect : Dialect
    blanks : bool
        Whether fields are separated by blanks, of which there may be several.
    """

    path: Path
    encoding: str
    carriage: bool
    dialect: Dialect
    blanks: bool

    @classmethod
    def of(cls, path: Path, separator: str | None, encoding: str | None) -> Text:
        """Look at the start of a text; `encoding` as in `read`."""
        name, found = shown(path), encoding
        with opened(path) as file:
            head = read_bytes(file, HEAD, name)
        if not head:
            raise DataError(f"{name} is empty")
        found = known_encoding(head, encoding) or ("utf-8" if is_utf8(head, whole=len(head) < HEAD) else "cp1252")
        if found == "utf-8":
            _check_utf8(head)
        start = next(decoded(path, found, carriage=False, size=FIRST), b"")
        refuse_nul(name, start[:HEAD])
        carriage = has_carriages(start[:HEAD])
        content = start_of(path, found, carriage)
        _, dialect, blanks = look_at(content, separator)
        return cls(path, found, carriage, dialect, blanks)

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return shown(self.path)

    def pieces(self, rows: int, start: int = 0, lines: int = 0) -> Iterator[Piece]:
        """Cut the records after the header into pieces of at most so many lines.

        Parameters
        ----------
        rows : int
            Most lines of a piece; a quoted line break does not end one.
        start, lines : int
            Where to go on, and how many lines are before that; the end of the header by default.
        """
        ahead = _Ahead(decoded(self.path, self.encoding, carriage=self.carriage, start=start))
        if not start:
            lines = self.dialect.lines
            while ahead.lines < lines and ahead.more():
                pass
            start = len(ahead.take(ahead.end_of_line(lines)))
        while ahead.size or ahead.more():
            data, n = ahead.take(self._cut(ahead, rows)), ahead.taken
            yield Piece(data, lines, n, start)
            start, lines = start + len(data), lines + n

    def _cut(self, ahead: _Ahead, rows: int) -> int:
        """Return where the next piece ends."""
        while ahead.lines < rows and ahead.size < _MOST and ahead.more():
            pass
        alone = len(self.dialect.names) == 1
        if not ahead.quoted and not alone and (ahead.lines or not ahead.is_open):
            return ahead.end_of_line(rows)
        while True:
            text = ahead.text()
            cut = _record_end(text, self.dialect.separator, rows, ended=not ahead.is_open)
            if cut and alone and (ahead.is_open or cut < len(text)):
                # Blank lines of a single column are missing values, unless nothing comes after them.
                full = len(text[:cut].rstrip(b"\r\n"))
                cut = text.find(b"\n", full) + 1 if full else 0
            if cut:
                return cut
            if not ahead.is_open or ahead.lines > rows:  # a piece of blank lines: it goes on to what comes after them
                rows *= 2
                continue
            if ahead.size > 4 * _MOST:
                raise DataError(f"{self.name}: malformed quotes, or an endless line of {ahead.size:,} bytes")
            ahead.more()


class _Ahead:
    """Text that was read ahead."""

    def __init__(self, source: Iterator[bytes]) -> None:
        self._source = source
        self._blocks: list[tuple[bytes, int]] = []  # each with its number of line ends
        self.is_open = True
        self.quoted = False
        self.size = self.lines = 0
        self.taken = 0  # lines that were handed out the last time

    def more(self) -> bool:
        """Read on, if there is more."""
        block = next(self._source, None)
        self.is_open = block is not None
        if block is not None:
            self._add(block)
        return self.is_open

    def _add(self, block: bytes) -> None:
        lines = block.count(b"\n")
        self._blocks.append((block, lines))
        self.quoted = self.quoted or b'"' in block
        self.size, self.lines = self.size + len(block), self.lines + lines

    def text(self) -> bytes:
        """Return all that was read ahead."""
        joined = b"".join(block for block, _ in self._blocks)
        self._blocks = [(joined, self.lines)]
        return joined

    def end_of_line(self, number: int) -> int:
        """Return where a line ends, or the last one, or the text if it is all there."""
        while self.lines < number and self.is_open and not self.lines:
            self.more()
        end, before = 0, 0
        for block, lines in self._blocks:
            if before + lines >= number:
                return end + _place_of_line(block, number - before)
            end, before = end + len(block), before + lines
        if not self.is_open:
            return end
        text = self.text()
        return text.rfind(b"\n") + 1

    def take(self, size: int) -> bytes:
        """Hand out the first bytes."""
        blocks, left, parts = self._blocks, size, []
        self._blocks, self.size, self.quoted = [], 0, False
        self.lines, before = 0, self.lines
        for block, _ in blocks:
            if left:
                parts.append(block if len(block) <= left else block[:left])
            if len(block) > left:
                self._add(block[left:] if left else block)
            left -= min(left, len(block))
        self.taken = before - self.lines
        return b"".join(parts)


def _place_of_line(block: bytes, number: int) -> int:
    """Return where a line of a text ends that has at least so many."""
    return int(np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))[number - 1]) + 1 if number else 0


# Where records end ---------------------------------------------------------------------------------------------------


def _record_end(text: bytes, separator: str, most: int, *, ended: bool) -> int:
    """Return where the last of the first records ends, at most so many of them, or 0 if none does."""
    bare = text if b'"' not in text else _without_quoted(text, separator)
    lines = np.flatnonzero(np.frombuffer(bare, dtype=np.uint8) == ord("\n"))
    if len(lines) >= most:
        return int(lines[most - 1]) + 1
    if ended:
        return len(text)
    return int(lines[-1]) + 1 if len(lines) else 0


def _without_quoted(text: bytes, separator: str) -> bytes:
    """Write something else for the line ends within quotes, which open at the start of a field only."""
    data = np.frombuffer(text, dtype=np.uint8)
    quote = data == ord('"')
    border = (data == ord(separator)) | (data == ord("\n")) | (data == ord("\r")) | quote
    places = np.flatnonzero(quote)
    opening, closing = places[::2], places[1::2]
    before = (opening == 0) | border[opening - 1]
    after = (closing == len(data) - 1) | border[np.minimum(closing + 1, len(data) - 1)]
    if before.all() and after.all():  # in turns, each opens, closes, or is one of two: those before a line end count
        inside = (np.cumsum(quote, dtype=np.uint32) & 1).astype(bool)
        masked = data.copy()
        masked[inside & (data == ord("\n"))] = ord(" ")
        return masked.tobytes()
    field = rf'(?:\A|(?<=[{re.escape(separator)}\n]))[ ]*"[^"]*(?:""[^"]*)*(?:"|\Z)'.encode()
    return re.sub(field, lambda match: match[0].replace(b"\n", b" "), text)


def _check_utf8(head: bytes) -> None:
    """Refuse a start that is not in UTF-8, though somebody said so: of the rest, each piece is looked at when read."""
    if not is_utf8(head, whole=len(head) < HEAD):
        try:
            head.decode()
        except UnicodeDecodeError as error:
            raise NotInEncoding("utf-8", error) from error
