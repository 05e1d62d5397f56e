"""read() on text whose fields are separated by blanks, and on the row names that R writes."""

from __future__ import annotations

import random

import pytest

from mapdag.data import dialect, read
from mapdag.errors import DataError, MapdagWarning


def cells(data):
    return [list(data.row(i).values()) for i in range(data.n_rows)]


@pytest.mark.parametrize(
    "text",
    [
        "a b c\n1 x u\n2 y v\n",
        "a b c\r\n1 x u\r\n2 y v\r\n",
        "a b c\r1 x u\r2 y v",
        "\n\n  a   b  c \n\n 1 x   u\n   \n2\ty \t v  \n\n",
        "a\tb c\n1 x u\n2 y v\n",
        '"a" "b" "c"\n"1" "x" "u"\n"2"  y v\n',
    ],
)
def test_blanks_separate_fields_when_nothing_else_does(text, tmp_path):
    path = tmp_path / "table.txt"
    path.write_bytes(text.encode())
    for source in (path, text.encode()):
        data = read(source)
        assert data.names == ("a", "b", "c")
        assert cells(data) == [["1", "x", "u"], ["2", "y", "v"]]


def test_blanks_inside_quotes_separate_nothing():
    text = b'"home  town"  n\n"New  York"  1\n"it said \\"hi\\" "  2\n"say ""ho"""   2\n'
    data = read(text)
    assert data.names == ("home  town", "n")
    assert data.levels["home  town"] == ("New  York", 'it said "hi"', 'say "ho"')
    assert cells(read(b'height  n\n5\'10"  1\n6"  2\n')) == [["5'10\"", "1"], ['6"', "2"]]


def test_missing_values_among_blanks():
    assert cells(read(b"a  b\n1  NA\n2  x\n1  y\n", missing="level"))[0] == ["1", "NA"]
    assert read(b'a b\n1 ""\n2 x\n1 y\n', missing="drop").n_rows == 2


def test_a_header_of_one_word_is_one_column():
    assert read(b"city\nNew York\nLos Angeles\n").levels["city"] == ("Los Angeles", "New York")
    assert read(b'"home city"\nNew York\nLos Angeles\n').names == ("home city",)
    assert read(b"home city\nNew York\nLos Angeles\n", separator=",").names == ("home city",)


def test_uneven_lines_stay_one_column_but_not_silently():
    with pytest.warns(MapdagWarning, match=r"one column, 'a b c': .* header has 3 fields, but some line has 2"):
        assert read(b"a b c\n1 2 3\n3 2 1\n1 2\n").names == ("a b c",)
    assert read(b"what do you like\nice cream\nall of it, really\nno\n", separator=";").n_columns == 1
    assert read(b"what do you like\nice cream\nall of it, really\nno\n").n_columns == 1


def test_uneven_lines_beyond_the_first_look_are_named():
    for blank in (" ", "   "):
        text = f"a{blank}b\n" + f"1{blank}2\n2{blank}1\n" * 1000 + "1\n"
        with pytest.raises(
            DataError, match="line 2,002: 1 field instead of the header's 2; fields are separated by ' '"
        ):
            read(text.encode())


def test_headers_longer_than_the_first_look_are_split_too():
    names = [f"a_rather_long_name_of_gene_{i}" for i in range(12_000)]
    text = "  ".join(names) + "\n" + "  ".join(["x"] * 12_000) + "\n" + "  ".join(["y"] * 12_000) + "\n"
    assert read(text.encode(), drop=names[3:]).names == tuple(names[:3])


def test_tables_longer_than_the_first_look_are_split_as_a_whole():
    rng = random.Random(1)
    rows = [[rng.choice("uvw"), rng.choice(["x y", "z"]), str(rng.randint(0, 11))] for _ in range(30_000)]
    text = "p q r\n" + "\n".join(f'{p}   "{q}" {r}' for p, q, r in rows) + "\n"
    assert len(text) > dialect.HEAD
    assert cells(read(text.encode())) == rows


def test_tables_with_single_blanks_are_parsed_where_they_are(tmp_path, monkeypatch):
    path = tmp_path / "table.txt"
    path.write_bytes(b'a b\n"New York" 1\n"Los Angeles" 2\n')
    monkeypatch.setattr(dialect, "_TOKEN", None)
    assert read(path).levels["a"] == ("Los Angeles", "New York")


# Row names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '"x" "y"\n"1" "a b" 3\n"2" "c" 4\n"3" "a b" 3\n',
        '"x","y"\n"1","a b",3\n"2","c",4\n"3","a b",3\n',
        "x\ty\nr1\ta b\t3\nr2\tc\t4\nr3\ta b\t3\n",
        "x;y\r\n1;a b;3\r\n2;c;4\r\n3;a b;3\r\n",
    ],
)
def test_row_names_as_r_writes_them_are_left_out_with_a_warning(text):
    with pytest.warns(MapdagWarning, match=r"every line has 3 fields, .* header has 2 names: .* row names") as found:
        data = read(text.encode())
    assert len(found) == 1
    assert data.names == ("x", "y")
    assert cells(data) == [["a b", "3"], ["c", "4"], ["a b", "3"]]


def test_many_row_names_are_left_out_too():
    text = "x,y\n" + "".join(f"{i + 1},{i % 3},{i % 2}\n" for i in range(3000))
    with pytest.warns(MapdagWarning, match="row names"):
        assert read(text.encode()).cards.tolist() == [3, 2]
    with pytest.raises(DataError, match=r"the first field cannot be row names.*'7' is on more than one row"):
        read((text + "7,0,0\n").encode())


def test_a_first_field_that_repeats_is_no_row_name():
    for separator in " ,;\t|":
        text = f"x{separator}y\nr{separator}1{separator}2\nr{separator}2{separator}1\n"
        with pytest.raises(DataError, match=r"'r' is on more than one row\. Write one name per column"):
            read(text.encode())


def test_lines_that_are_longer_only_sometimes_are_an_error():
    with pytest.raises(DataError, match="line 3: 3 fields instead of the header's 2"):
        read(b"x,y\n1,2\nr,2,1\n")
