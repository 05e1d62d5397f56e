"""Files of any kind, read as blocks of rows, from any block on."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mapdag.data.content import Content, failures, open_content, shown
from mapdag.data.delimited import are_varied, parse
from mapdag.data.dialect import not_in, single_blanks
from mapdag.data.packed.blocks import BLOCK_ROWS, Block, find_distinct
from mapdag.data.packed.streams import NotInEncoding, is_columnar_within
from mapdag.data.packed.texts import Piece, Text
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
