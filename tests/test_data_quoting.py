"""Quotes and line ends of text tables: every cell as it is written, or an error that says where."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import mapdag as md
from mapdag.data.dialect import Marks, are_lines_regular, are_quotes_regular, close_up, count_marks, find_fault
from mapdag.errors import DataError


def as_array(text):
    return np.frombuffer(text.encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    ("text", "line", "column", "why"),
    [
        (b'a,b\nx,yes\nz,"yes', 3, 3, "never closed"),
        (b'a,b\nx,y\nz,"\xe9', 3, 3, "never closed"),
        (b'a,b\n"1"a,b\xdf\nx,y\n', 2, 4, "'a' follows a closing quote"),
        (b'"1"a,b\n1,\xdf\n2,x\n', 1, 4, "'a' follows a closing quote"),
        (b'a,b\nx,"1"2\ny,z\n', 2, 6, "'2' follows a closing quote"),
        (b'a,b\n-1","a\n0,x\n', 2, 5, "never closed"),
        (b"a,b\nx,y\rz,w\nu,v\n", 2, 4, "carriage return alone"),
        (b"a,b\rc\nx,y\n", 1, 4, "carriage return alone"),
        (b'a,b\n"x,1\n"y,2\n', 3, 2, "'y' follows a closing quote"),
        (b'a,b\nx,"q""', 2, 3, "never closed"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_line_and_column(text, line, column, why):
    with pytest.raises(
        DataError, match=rf"the data, line {line}, column {column}: malformed quotes or line ends: .*{why}"
    ):
        md.read(text)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        (b'a,b\n 5\'10",x\n6",y\n', [["5'10\"", "x"], ['6"', "y"]]),
        (b'a,b\n"x" ,1\n "y"\t,2\n', [["x", "1"], ["y", "2"]]),
        (b'a,b\n"x\r\ny",1\nz,2\n', [["x\r\ny", "1"], ["z", "2"]]),
        (b"a,b\r\n01,2\n1,02\r\n", [["01", "2"], ["1", "02"]]),
        (b"a,b\r\nx,1\r\r\ny,2\r\r\n", [["x", "1"], ["y", "2"]]),
        (b'a,b\n"""x""",1\n" ""y""",2\n', [['"x"', "1"], ['"y"', "2"]]),
        (b"a,b\n\xef\xbb\xbfx,1\ny,2\n", [["\ufeffx", "1"], ["y", "2"]]),
    ],
)
def test_what_can_be_understood_is_read_as_it_is_written(text, cells):
    data = md.read(text)
    assert [list(data.row(i).values()) for i in range(data.n_rows)] == cells


def test_mixed_line_ends_do_not_hide_leading_zeros():
    # Each line is one byte shorter than the header's line end promises, and each number one byte longer.
    rows = b"01,2\n1,02\n" * 600
    assert md.read(b"a,b\r\n" + rows).levels["a"] == ("01", "1")


def test_a_mark_of_byte_order_after_blank_lines_is_part_of_a_cell():
    for text in ("a\nx\n\n\ufeffa\n", "a\n\n\ufeffa\nx\n", "a,b\n\n\n\ufeffa,1\nx,2\n"):
        assert "\ufeffa" in md.read(text.encode(), missing="drop").levels["a"]


def test_a_separator_at_the_very_end_is_a_field():
    with pytest.raises(DataError, match="line 3: 3 fields instead of the header's 2"):
        md.read(b"a,b\nx,1\ny,2,")


def test_quotes_that_are_part_of_a_value_in_memory_stay():
    assert md.read({"a": [' "x"', "y"], "b": ["1", "2"]}).levels["a"] == ('"x"', "y")


@pytest.mark.parametrize("text", [b'"', b'""', b'"\n"', b'\n"'])
def test_files_without_names_are_refused(text):
    with pytest.raises(DataError, match="no names in its first line"):
        md.read(text)


def test_every_short_text_is_judged_as_a_slow_reader_would():
    """All texts of up to six characters: what the fast tests accept, a reader that goes letter by letter accepts."""
    for size in range(1, 6):
        for letters in itertools.product('",\nx', repeat=size):
            text = "".join(letters)
            regular = are_quotes_regular(as_array(text), ord(","))
            assert regular == (find_fault(text, ",") is None and not _has_literal(text)), text


def _has_literal(text):
    """Tell whether an unquoted field has a quote in it."""
    place, start = 0, True
    while place < len(text):
        if text[place] == '"':
            if not start:
                return True
            place = text.index('"', place + 1)
            while text[place + 1 : place + 2] == '"':
                place = text.index('"', place + 2)
        start = text[place] in ",\n"
        place += 1
    return False


def test_marks_prove_nothing_but_what_is_regular():
    for size in range(1, 7):
        for letters in itertools.product('",\nx', repeat=size):
            text = "".join(letters)
            marks = count_marks(as_array(text), ord(","))
            if not marks.plain:
                continue
            # A reader that takes every separator and line end for a border, quotes or not.
            lines = text.removesuffix("\n").split("\n")
            widths = {line.count(",") for line in lines}
            if len(widths) == 1 and marks.prove(len(lines), widths.pop() + 1):
                between = text.replace("\n", ",").split(",")
                opened = [field for field in between if field.startswith('"')]
                if all(len(field) > 1 and field.endswith('"') for field in opened):
                    assert are_quotes_regular(as_array(text), ord(",")) or any('"' in field[1:-1] for field in between)


def test_blocks_of_any_size_are_judged_alike(monkeypatch):
    text = '"a","b,c"\n"d""e",f\r\n"",x\n' * 5
    expected = count_marks(as_array(text), ord(","))
    assert isinstance(expected, Marks)
    for block in (1, 2, 3, 7):
        monkeypatch.setattr("mapdag.data.dialect._BLOCK", block)
        assert are_quotes_regular(as_array(text), ord(","))
        assert not are_quotes_regular(as_array(text + '"'), ord(","))
        assert count_marks(as_array(text), ord(",")) == expected
        assert are_lines_regular(as_array(text))
        assert not are_lines_regular(as_array(text + "a\rb"))


def test_marks_are_those_that_a_loop_counts(monkeypatch):
    monkeypatch.setattr("mapdag.data.dialect._BLOCK", 126)  # and one byte on both sides: two words of bits
    rng = random.Random(1)
    for _ in range(300):
        field = rng.choice([["x", '"x"'], ['"x"'], ["x", '"x"', '"'], ["xyz", '"q"', '"a,b"', '""']])
        text = "".join(rng.choice(field) + rng.choice(",,,\n\r") for _ in range(rng.randint(1, 250)))
        around = f"\n{text}\n"
        quotes = [place for place, letter in enumerate(around) if letter == '"']
        before = [around[place - 1] in ",\n\r" for place in quotes]
        after = [around[place + 1] in ",\n\r" for place in quotes]
        beside = all(one != other for one, other in zip(before, after, strict=True))
        plain = beside and 2 * sum(before) == len(quotes) and not (quotes and before[-1])
        expected = Marks(text.count(","), text.count("\n") + (text[-1] != "\n"), plain)
        assert count_marks(as_array(text), ord(",")) == expected


def test_blanks_after_closing_quotes_are_taken_off_outside_of_quotes_only():
    assert close_up('"a ",b\n"x" , "y ""z"" "\t\n', ",") == '"a ",b\n"x", "y ""z"" "\n'
    assert close_up('a "b" ,c', ",") == 'a "b" ,c'
