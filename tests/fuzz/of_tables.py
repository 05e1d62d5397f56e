"""Tables: what is accepted must be what others find in them, cell by cell."""

from __future__ import annotations

import bz2
import contextlib
import csv
import decimal
import gzip
import io
import lzma
import random
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import inputs
from target import folder

import mapdag as md
from mapdag.data.content import Content
from mapdag.data.delimited import from_text
from mapdag.errors import MapdagError
from scanning import blocks_of, same


def read_cells(data: bytes) -> None:
    """Read a text table; what is accepted must be what the csv module, and pyarrow, find in it, cell by cell."""
    source = from_text(Content.of("x", data), ",", None)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    parts = [part if isinstance(part, list) else part.to_list() for part in source.parts]
    found = [["" if cell is None else str(cell).strip() for cell in row] for row in zip(*parts, strict=True)]
    header, rows = _by_csv(data)
    if len(header) > 1 and all(len(row) == len(header) + 1 for row in rows):
        return  # row names, which were left out with a warning
    assert source.names == header
    assert found == rows, _difference(found, rows)
    other = _by_arrow(data, len(header))
    assert other is None or found == other, f"pyarrow: {_difference(found, other or [])}"


def _difference(found: list[list[str]], expected: list[list[str]]) -> str:
    differing = [(i, a, b) for i, (a, b) in enumerate(zip(found, expected, strict=False)) if a != b]
    return f"{len(found)} rows instead of {len(expected)}; {differing[:2]}"


def _text(data: bytes) -> str:
    for encoding in ("utf-8-sig", "cp1252"):
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode(encoding)
    return data.decode("latin-1")


def _by_csv(data: bytes) -> tuple[list[str], list[list[str]]]:
    """Read with the csv module, blanks around cells taken off; blank lines are no rows, but for those of one column."""
    text = _text(data)
    if "\n" not in text:
        text = text.replace("\r", "\n")
    text = re.sub(r'\A("?)sep=[,;\t|]\1\r?\n', "", text)
    closed = _close_up(text)
    records = list(csv.reader(io.StringIO(closed, newline="\n"), skipinitialspace=True, strict=True))
    blank = [len(record) < 2 and not "".join(record).strip() for record in records]
    first = blank.index(False)
    header, rest = [name.strip() for name in records[first]], records[first + 1 :]
    if len(header) > 1:
        rows = [record for record, empty in zip(rest, blank[first + 1 :], strict=True) if not empty]
    else:
        while rest and not rest[-1]:
            rest.pop()
        rows = [record or [""] for record in rest]
    return header, [[cell.strip() for cell in row] for row in rows]


def _close_up(text: str) -> str:
    """Take off blanks after closing quotes, going through the text letter by letter."""
    kept, inside, start = [], False, True
    place = 0
    while place < len(text):
        letter = text[place]
        if inside:
            kept.append(letter)
            if letter == '"':
                if text[place + 1 : place + 2] == '"':
                    kept.append('"')
                    place += 1
                else:
                    inside = False
                    after = place + 1
                    while text[after : after + 1] in {" ", "\t"}:
                        after += 1
                    if text[after : after + 1] in {"", ",", "\n", "\r"}:
                        place = after - 1
        else:
            kept.append(letter)
            inside = start and letter == '"'
            start = letter in ",\n" or (start and letter in " \t" and not inside)
        place += 1
    return "".join(kept)


def _by_arrow(data: bytes, width: int) -> list[list[str]] | None:
    """Read with pyarrow, where it reads in the same way: in UTF-8, no blanks around quotes, more than one column."""
    try:
        import pyarrow as pa
        from pyarrow import csv as arrow
    except ImportError:
        return None
    odd = (b'" ', b' "', b'"\t', b'\t"', b"\xef\xbb\xbf", b"sep=", b"\x00")
    if width < 2 or not data.isascii() or any(mark in data for mark in odd) or b"\r" in data.replace(b"\r\n", b""):
        return None
    if re.search(rb'[^,\n\r"]"', data) or re.search(rb"^[ \t\r]*$", data.strip(b"\r\n"), re.MULTILINE):
        return None  # quotes inside of cells, blank lines
    try:
        found = arrow.read_csv(
            io.BytesIO(data),
            read_options=arrow.ReadOptions(autogenerate_column_names=True),
            parse_options=arrow.ParseOptions(newlines_in_values=True),
            convert_options=arrow.ConvertOptions(
                column_types={f"f{i}": pa.string() for i in range(width)}, strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    rows = zip(*(column.to_pylist() for column in found.columns), strict=True)
    return [[cell.strip() for cell in row] for row in rows][1:]


def read_anything(given: tuple[bytes, dict[str, Any]]) -> None:
    """Read a table under any options."""
    data, options = given
    md.read(data, **options)


def some_options(rng: random.Random) -> tuple[bytes, dict[str, Any]]:
    """Choose a table and options, of any kind."""
    options: dict[str, Any] = {}
    for name in rng.sample(
        ["levels", "discretize", "missing", "codes", "drop", "weights", "max_levels", "encoding"], 2
    ):
        options[name] = inputs.value(rng)
    if rng.random() < 0.5:
        options["discretize"] = rng.choice(["quantile", "interval(4)", "hartemink", "quantile(99999)", {"a": [1, 2]}])
    if isinstance(options.get("levels"), str):
        options["levels"] = {"a": rng.choice([2, 10**9, ["x", "y"], -1])}
    if rng.random() < 0.1:
        return inputs.packed(rng), {}
    return inputs.table(rng), options if rng.random() < 0.8 else {}


@dataclass(frozen=True)
class Scanned:
    """A file that is to be scanned, how, and in which pieces."""

    data: bytes
    options: dict[str, Any]
    rows: int  # of a block
    read: int  # bytes at a time
    whole: bool  # whether what is decided goes by all rows, or by counts


def some_scan(rng: random.Random) -> Scanned:
    """Choose a file, options that both `read` and `scan` have, and pieces so small that few rows make many."""
    data = inputs.packed(rng) if rng.random() < 0.15 else inputs.table(rng)
    if rng.random() < 0.1:
        data = rng.choice([gzip.compress, bz2.compress, lzma.compress])(data)
    choices: dict[str, list[Any]] = {
        "missing": ["drop", "level", "error"],
        "missing_values": [["a"], ["1"], "x", {"a": ["1"]}, {"*": ["a"]}, {"a": {"b": 1}}],
        "discretize": ["quantile", "interval(2)", {"a": [1, 2]}, {"b": "interval(3)"}],
        "max_levels": [2, 3, 5],
        "levels": [{"a": ["a", "b", "1", "2"]}, {"b": 3}, {"a": ["x", "y"]}],
        "drop": ["a", ["b"], "nosuch"],
        "codes": [True, False],
        "separator": [",", ";", "\t", " "],
        "encoding": ["utf-8", "latin-1", "utf-16"],
    }
    options = {name: rng.choice(choices[name]) for name in rng.sample(list(choices), rng.choice([0, 0, 1, 1, 2, 3]))}
    return Scanned(data, options, rng.randint(1, 6), rng.choice([1, 2, 3, 7, 20, 100, 2**22]), rng.random() < 0.6)


def read_and_scan(given: Scanned) -> None:
    """Read a file and scan it: the same names, levels, codes and meanings, or both refuse."""
    path = folder() / "scanned.csv"
    path.write_bytes(given.data)
    expected = _outcome(lambda: md.read(path, **given.options))
    with tempfile.TemporaryDirectory(dir=folder()) as cache:
        with blocks_of(given.rows, read=given.read, whole=given.whole):
            found = _outcome(lambda: md.scan(path, cache=cache, **given.options))
        if isinstance(found, Exception) or isinstance(expected, Exception):
            assert isinstance(found, Exception) and isinstance(expected, Exception), f"{expected!r} {found!r}"  # noqa: PT018
            assert type(found) is type(expected), f"{expected!r} {found!r}"
            damaged = "cannot be read as" in str(expected)  # of which polars says one thing or the other
            assert damaged or not given.whole or _place(found) == _place(expected), f"{expected} {found}"
            raise expected
        assert same(found, expected), f"{expected.levels} {found.levels}"


def _place(error: Exception) -> str:
    """Return what an error tells, less what depends on the piece of a file that it was found in."""
    told = re.sub(r" \([\d,]+ such lines\)|; so has every line: a separator at its end\?", "", str(error))
    told = re.sub(r" \(written [^)]*\)| or levels=\{.*", "", told, flags=re.DOTALL)  # with blanks around, or not
    told = re.sub(r"(cannot be decompressed|cannot be read as \w+)\b.*", r"\1", told, flags=re.DOTALL)
    told = re.sub(r":? is not (a text table|[\w-]+ text).*", "", told, flags=re.DOTALL)
    return re.sub(r"(, line \d+).*(malformed|instead of).*", "", told)


def _outcome(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except MapdagError as error:
        return error


def check_table(data: bytes) -> None:
    """Look at a table; what is proposed must then be accepted or refused in our own words."""
    str(md.check(data))


def read_levels(data: bytes) -> None:
    """Read a file of levels."""
    path = folder() / "levels.json"
    path.write_bytes(data)
    md.read(b"a,b\nx,1\ny,2\n", levels=path)


def read_tiers(data: bytes) -> None:
    """Read a file of tiers."""
    from mapdag.cli.options import load_tiers

    path = folder() / "tiers.txt"
    path.write_bytes(data)
    load_tiers(str(path))


# Values -------------------------------------------------------------------------------------------------------------

_NUMBERS = [
    "1", "1.0", "1.", "01", "001", "+1", "-1", "1e0", "10e-1", "0", "-0", "-0.0", "0.0", ".0", "1e5", "1E5", "100000",
    "1e+05", "1_000", "0x10", "1e400", "1e500", "1e-400", "1e-999999999999999999999", "0.1", "0.10", "1e-1",
    "0.1000000000000000055511151231257827", "9007199254740993", "9007199254740993.0", "9007199254740992",
    "9007199254740992.5", "0.30000000000000004", "0.3", "1e22", "1e23", "99999999999999991611392", "5e-324", "3e-324",
    "1,5", "1.5", "2147483648", "18446744073709551616", "inf", "Infinity", "1e", "e5", "--1", "1.0.0", "\u0661", "½",
]  # fmt: skip
_OTHERS = [
    "x", "X", "x.", "True", "true", "TRUE", "T", "False", "yes", "Yes", "é", "e\u0301", "ﬁ", "fi", "ß", "ss", "x y",
    "x  y", "2020-01-01", "2020-1-1", "2020-01-01 00:00:00", "2020-01-01T00:00:00", "01/02/2020", "12:00", "12:00:00",
    "\u200bx", "x\u200b", "İ", "i", "K", "\u212a", "None", "none", "-", "unknown",
]  # fmt: skip


def written_values(rng: random.Random) -> list[str]:
    """Write the cells of a column: numbers in several spellings, or texts that look alike, or both."""
    pool = rng.choice([_NUMBERS, _NUMBERS[:32], _NUMBERS[:24], _OTHERS, _OTHERS[:8], _NUMBERS + _OTHERS])
    few = rng.sample(pool, rng.randint(2, min(6, len(pool))))
    around = rng.choice([[""], [""], ["", " ", "  "]])
    return [rng.choice(around) + rng.choice(few) + rng.choice(around) for _ in range(30)]


def read_values(cells: list[str]) -> None:
    """Read a column: two cells are one level only if they are one value, however it is spelled; scanned, too."""
    data = "".join(['"a","b"\n', *(f'"{cell}",{i % 2}\n' for i, cell in enumerate(cells))]).encode()
    found = md.read(data)
    labels = [found.levels["a"][code] for code in found.column("a")]
    meant: dict[str, Any] = {}
    for cell, label in zip(cells, labels, strict=True):
        value = _value(cell.strip())
        assert meant.setdefault(label, value) == value, f"{cell!r} is {label!r}, and so is another value"
        assert _value(label) == value, f"{cell!r} has become {label!r}"


def _value(text: str) -> Any:
    """Return what a text stands for, found out by other means than ours."""
    if text.lower() in {"true", "false"}:
        return text.lower()
    if text.isascii() and "_" not in text and not re.match(r"[+-]?0\d", text):
        with contextlib.suppress(decimal.InvalidOperation):
            number = decimal.Decimal(text)
            return number if number.is_finite() else text
    return re.sub(r"[T ]00:00:00$", "", text)
