"""read() on text files: layouts, encodings, cells exactly as written, and what is wrong with its line number."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from mapdag.data import delimited, read
from mapdag.data.content import Content
from mapdag.data.dialect import find_dialect
from mapdag.errors import DataError, MapdagWarning

CENSUS = Path(__file__).parent / "data" / "census.csv"


def cells(data):
    return [list(data.row(i).values()) for i in range(data.n_rows)]


def test_a_table_as_a_census_office_writes_it():
    data = read(CENSUS, drop=["Person ID", "Note"], missing="level")
    assert data.names == ("Sex at birth", "Age group", "Household size", "Région", "Smoker")
    assert data.levels["Age group"] == ("18-34", "35-64", "65+")
    assert data.levels["Household size"] == ("1", "2", "3", "4", "10")
    assert data.levels["Région"] == ("Corse", "Provence; Alpes", "Île-de-France")
    assert data.levels["Smoker"] == ("no", "yes", "NA")
    assert data.n_rows == 5
    notes = read(CENSUS, missing="level", max_levels=5)
    assert notes.levels["Note"] == ('says "maybe"', "two\nlines", "NA")


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("end", ["", "{n}", "{n}{n}{n}"])
def test_separators_and_newlines_are_found(separator, newline, end):
    lines = [["a", "b", "c"], ["1", "x", "u"], ["2", "y", "v"], ["1", "y", "v"]]
    text = newline.join(separator.join(line) for line in lines) + end.format(n=newline)
    data = read(text.encode())
    assert data.names == ("a", "b", "c")
    assert cells(data) == lines[1:]


def test_separators_inside_quotes_and_values_do_not_mislead():
    data = read(b'name;"a, b, c";x\n"Doe, J.";1,5;u\n"Roe, R.";2,5;v\n')
    assert data.names == ("name", "a, b, c", "x")
    assert cells(data)[0] == ["Doe, J.", "1,5", "u"]
    assert read(b"x\na,b\nc,d\n").levels["x"] == ("a,b", "c,d")
    assert read(b"a b\nu v\nw v\n", separator=" ", levels={"b": ["v", "z"]}).levels["a"] == ("u", "w")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252", "latin-1"])
def test_encodings_are_found(encoding):
    text = "Größe,b\nklein,é\nmäßig,è\n"
    assert cells(read(text.encode(encoding))) == [["klein", "é"], ["mäßig", "è"]]
    assert read(text.encode(encoding)).names == ("Größe", "b")


def test_encodings_can_be_said():
    text = "a,b\nда,x\nнет,y\n"  # noqa: RUF001 - Cyrillic on purpose
    assert read(text.encode("cp1251"), encoding="cp1251").levels["a"] == ("да", "нет")
    assert read(text.encode("utf-16-le"), encoding="utf-16-le").levels["a"] == ("да", "нет")
    with pytest.raises(DataError, match="is not utf-8 text"):
        read(text.encode("cp1251"), encoding="utf8")
    with pytest.raises(ValueError, match="encoding must be one that Python knows, got 'klingon'"):
        read(text.encode(), encoding="klingon")


def test_another_encoding_far_into_the_file_is_noticed():
    text = "a,b\n" + "x,y\n" * 100_000 + "é,z\n"
    assert read(text.encode("latin-1")).levels["a"] == ("x", "é")


def test_bytes_that_windows_does_not_know_are_latin():
    assert read(b"a,b\n\x81,x\n\xe9,y\n").levels["a"] == ("\x81", "é")


def test_cells_are_kept_as_written_unless_all_are_numbers():
    data = read(b"a,b,c,d\n01,1.0, x y ,+1\n1,1.50,x y,2\n001,2,z,-1\n")
    assert data.levels["a"] == ("001", "01", "1")
    assert data.levels["b"] == ("1", "1.5", "2")
    assert data.levels["c"] == ("x y", "z")
    assert data.levels["d"] == ("-1", "1", "2")
    assert read(b"a,b\n1.0,TRUE\nold,yes\n").levels == {"a": ("1.0", "old"), "b": ("TRUE", "yes")}


@pytest.mark.parametrize("odd", ["01", "+1", " 1", "1 ", '"1"', "1.0", "300", "NA", "x", "-1", "-0", ""])
@pytest.mark.parametrize("column", [0, 1, 2])
def test_one_odd_cell_among_many_integers_is_kept(odd, column):
    rows = [["1", "2", "-1"], ["0", "10", "5000"], ["1", "255", "0"]] * 500
    rows[1400][column] = odd
    text = "a,b,c\n" + "\n".join(",".join(row) for row in rows)
    data = read(text.encode(), missing="level")
    expected = {"+1": "1", "1.0": "1", "-0": "0"}.get(odd, odd.strip().strip('"') or "NA")
    assert data.row(1400)["abc"[column]] == expected
    assert data.row(1399) == {"a": "0", "b": "10", "c": "5000"}
    assert data.n_rows == 1500


def test_a_short_line_cannot_hide_behind_a_leading_zero():
    # Together they have as many bytes as two proper lines.
    rows = ["1,2"] * 1500 + ["01", "1,2"]
    with pytest.raises(DataError, match="line 1,502: 1 field instead of the header's 2"):
        read(("a,b\n" + "\n".join(rows) + "\n").encode())


def test_blank_lines_are_no_rows():
    text = b"\n\na,b\n\n1,x\n\n   \n2,y\n\n\n"
    assert cells(read(text)) == [["1", "x"], ["2", "y"]]
    ints = b"a,b\n" + b"1,2\n3,4\n\n" * 600 + b"\n"
    assert read(ints).n_rows == 1200
    assert read(b"a,b\n,\n1,2\n3,4\n", missing="drop").n_rows == 2


def test_blank_lines_in_a_table_of_one_column_are_missing_values():
    assert read(b"a\nx\n\ny\n\n\n", missing="level").column("a").tolist() == [0, 2, 1]
    assert read(b"a\n1\n\n2\n\n", missing="drop").n_rows == 2


def test_empty_fields_at_the_end_of_a_line_are_missing_values():
    data = read(b"a,b\n1,\n2,x\n3,\n1,y\n", missing="level")
    assert data.levels["b"] == ("x", "y", "NA")
    many = ("a,b\n" + "\n".join(f"{i % 3},{'' if i % 7 == 0 else i % 2}" for i in range(3000))).encode()
    assert read(many, missing="drop").n_rows == 3000 - 429


def test_quotes():
    text = b'a, b, c\n"x, 1", "y, 2", z\n"line\nbreak", "q ""u""", w\n'
    assert cells(read(text)) == [["x, 1", "y, 2", "z"], ["line\nbreak", 'q "u"', "w"]]
    assert cells(read(b'a,b\n5\'10",x\n6",y\n')) == [["5'10\"", "x"], ['6"', "y"]]
    assert read(b'a,b\n"""x""",1\ny,2\n').levels["a"] == ('"x"', "y")
    assert read(b'a,b\n "x" ,1\ny,2\n').levels["a"] == ("x", "y")
    assert read(b'a,b\n"",1\ny,2\nz,2\n', missing="drop", levels={"b": [1, 2]}).n_rows == 2


def test_a_quoted_newline_in_the_very_last_cell():
    assert read(b'a,b\nx,"1\n2"\ny,"3\n4"\n').levels["b"] == ("1\n2", "3\n4")


def test_quoted_newlines_and_missing_ends_together():
    rows = ['"a\nb",1,', '"c,d",2,x', 'e,3,"y\n"'] * 700
    data = read(("p,q,r\n" + "\n".join(rows) + "\n\n").encode(), missing="level")
    assert data.n_rows == 2100
    assert data.levels["p"] == ("a\nb", "c,d", "e")
    assert data.levels["r"] == ("x", "y", "NA")


@pytest.mark.parametrize("block", [1, 2, 7, 64])
def test_records_are_counted_alike_in_blocks_of_any_size(monkeypatch, block):
    monkeypatch.setattr(delimited, "_BLOCK", block)
    text = b'1,"a\n,",\n\n"x""y",2\n3,4,5\n6'
    ends, fields = delimited._records(np.frombuffer(text, dtype=np.uint8), ord(","))
    assert [text[low:high] for low, high in zip([0, *(ends[:-1] + 1)], ends, strict=True)] == [
        b'1,"a\n,",',
        b"",
        b'"x""y",2',
        b"3,4,5",
        b"6",
    ]
    assert fields.tolist() == [3, 1, 2, 3, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", ["empty"]),
        (b"\n \n", ["nothing but blanks"]),
        (b"a,b\n", ["header but no rows"]),
        (b"a,b", ["header but no rows"]),
        (b"a,b\n1,2\n3\n4,5\n", ["line 3", "1 field instead of the header's 2", "','", "separator="]),
        (b"a,b\n1,2\n3,4,5\n4,5,6\n", ["line 3", "3 fields", "2 such lines"]),
        (b'a,b\n"1\n2",x\n3,4,5\n', ["line 4", "3 fields"]),
        (b"a,b\nr1,1,2\nr1,3,4\n", ["every line has 3 fields", "2 names", "row names", "'r1' is on more than one row"]),
        (b"a,b\n1,2,\n2,1,\n", ["line 2", "3 fields instead of the header's 2", "a separator at its end?"]),
        (b'a,b\n1,"open\n2,x\n', ["line 2, column 3", "quotes", "never closed"]),
        (b'"","a"\n"1","x"\n"2","y"\n', ["column 1", "no name", 'drop=[""]']),
        (b"a,b,\n1,2,\n2,1,\n", ["column 3", "no name", 'drop=[""]']),
        (b"a,b,a\n1,2,3\n2,1,4\n", ["more than one column named 'a'", "drop="]),
        (b"\x89PNG\x00\x00", ["not a text table"]),
        (b"\x01\x02\x03\n\x04\x05", ["control characters"]),
        (b"PK\x03\x04rest", ["Excel workbook", "save the table as CSV"]),
        (b"$FL2rest", ["SPSS"]),
        (b"PAR1restPAR1", ["cannot be read as parquet"]),
        (b"ARROW1\0\0rest", ["cannot be read as ipc"]),
        (b"FEA1restFEA1", ["Feather file of version 1"]),
        (b"\x1f\x8brest", ["cannot be decompressed"]),
        (b"\x28\xb5\x2f\xfdrest", ["cannot be decompressed"]),
    ],
)
def test_files_that_are_no_tables_are_refused_with_the_reason(tmp_path, text, words):
    path = tmp_path / "table.csv"
    path.write_bytes(text)
    for source in (path, text):
        with pytest.raises(DataError) as error:
            read(source)
        for word in words:
            assert word in str(error.value)
    with pytest.raises(DataError, match=r"table\.csv"):
        read(path)


def test_files_that_cannot_be_opened_are_named(tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"nowhere\.csv: no such file"):
        read(tmp_path / "nowhere.csv")
    with pytest.raises(DataError, match="is a directory"):
        read(tmp_path)
    with pytest.raises(DataError, match="passed as bytes or an open file"):
        read("a,b\n1,2\n")
    (tmp_path / "x.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"x\.parquet is not what its name says"):
        read(tmp_path / "x.parquet")
    path = tmp_path / "secret.csv"
    path.write_text("a,b\n1,2\n")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(DataError, match=r"secret\.csv: cannot be read: Permission denied"):
        read(path)


@pytest.mark.parametrize("name", ["PAR1", "FEA1", "BZh9", "RDX", "ARROW1"])
def test_names_that_look_like_other_formats_are_names(name):
    assert read(f"{name},b\n1,2\n2,1\n".encode()).names == (name, "b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipes_can_be_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"a,b\n1,x\n2,y\n",))
    writer.start()
    assert read(pipe).names == ("a", "b")
    writer.join()


@pytest.mark.parametrize("start", [b"sep=;\r\n", b'"sep=;"\r\n', b"\xef\xbb\xbfsep=;\n"])
def test_a_first_line_that_tells_excel_the_separator_is_no_header(start):
    data = read(start + b"a;b\r\n1,5;x\r\n2,5;y\r\n")
    assert data.levels == {"a": ("1,5", "2,5"), "b": ("x", "y")}


def test_the_unnamed_column_can_be_dropped():
    assert read(b'"","a"\n"1","x"\n"2","y"\n', drop="").names == ("a",)


def test_compressed_files(tmp_path):
    text = "a,b\n" + "é,x\nz,\n" * 50
    packed = {
        "t.csv.gz": gzip.compress(text.encode()),
        "t.csv.bz2": bz2.compress(text.encode()),
        "t.csv.xz": lzma.compress(text.encode("latin-1")),
    }
    expected = read(text.encode(), missing="level")
    for name, data in packed.items():
        (tmp_path / name).write_bytes(data)
        assert read(tmp_path / name, missing="level") == expected


def test_zstd_files(tmp_path):
    pa = pytest.importorskip("pyarrow")
    text = 'a,b\n"é ""u""\nv",1\nz,2\n\nw,1\n'
    (tmp_path / "t.csv.zst").write_bytes(pa.compress(text.encode(), codec="zstd", asbytes=True))
    assert read(tmp_path / "t.csv.zst") == read(text.encode())


def test_open_files_and_odd_file_names(tmp_path):
    path = tmp_path / "a[1]*.csv"
    path.write_bytes(b"a,b\n1,x\n2,y\n")
    expected = read(b"a,b\n1,x\n2,y\n")
    assert read(path) == read(str(path)) == expected
    assert read(io.BytesIO(path.read_bytes())) == expected
    assert read(io.StringIO(path.read_text())) == expected
    with path.open() as file:
        assert read(file) == expected


@pytest.mark.skipif(os.name != "posix", reason="names of files are text here")
def test_file_names_that_are_not_text_of_the_locale(tmp_path):
    code = """
import os, sys
import polars as pl
from mapdag.data import read
frame = pl.DataFrame({"a": ["1", "2"], "b": ["x", "y"]})
os.chdir(sys.argv[1])
names = {os.fsdecode(found): found for found in (b"bad\\xff.csv", b"\\xc3\\xbc.csv")}
for name, found in {**names, b"\\xc3\\xbc.csv".decode(): b"\\xc3\\xbc.csv"}.items():
    for write in (frame.write_csv, frame.write_parquet):
        with open(found, "wb") as file:
            write(file)
        assert read(name) == read(frame), name
    with open(found, "w") as file:
        file.write('{"a": [2, 1]}')
    assert read(frame, levels=name).levels["a"] == ("2", "1")
try:
    read(os.fsdecode(b"none\\xff.csv"))
except ValueError as error:
    print(str(error))
"""
    for environment in ({}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == "none\\xff.csv: no such file\n"


def test_a_file_without_a_header_is_suspected():
    with pytest.warns(MapdagWarning, match=r"names of the columns \('yes', '1'\) are values"):
        read(b"yes,1\nno,2\nyes,1\nyes,2\n")
    assert read(b"a,1\nno,2\nyes,1\nyes,2\n").names == ("a", "1")


def test_weights_and_like_work_on_text():
    train = read(b"a,b,n\nx,1,2\ny,0,3\nx,0,0\n", weights="n")
    assert train.weights.tolist() == [2, 3]
    test = read(b"b,a\n0,x\n0,x\n", like=train)
    assert test.names == ("b", "a")
    assert dict(test.levels) == dict(train.levels)


def test_headers_longer_than_the_first_look():
    names = [f"a rather long name of gene {i}" for i in range(12_000)]
    text = ",".join(names) + "\n" + ",".join(["x"] * 12_000) + "\n" + ",".join(["y"] * 12_000) + "\n"
    assert len(text) > delimited._BLOCK / 32
    assert read(text.encode(), drop=names[3:]).names == tuple(names[:3])


@pytest.mark.parametrize("seed", range(6))
def test_fast_and_slow_readers_agree(seed):
    """Random tables, written with random quoting, read by polars and by the csv module."""
    rng = random.Random(seed)
    pool = ["a", "b", "x y", "1", "02", "NA", "", "q,r", 'say ""hi""', "l1\nl2", "é"]
    width = rng.randint(2, 5)
    lines = [",".join(f"c{i}" for i in range(width))]
    for _ in range(rng.randint(1, 2000)):
        row = [rng.choice(pool) for _ in range(width)]
        lines.append(",".join(f'"{c}"' if rng.random() < 0.3 or set(c) & set(',"\n') else c for c in row))
    text = "\n".join(lines) + "\n"
    fast = read(
        text.encode(), missing="level", levels={"c0": ["a", "b", "x y", "1", "02", "q,r", 'say "hi"', "l1\nl2", "é"]}
    )
    content = Content.of("x", text.encode())
    slow = delimited._read_slowly(content, find_dialect(content, None), text)
    for name, column in zip(fast.names, slow, strict=True):
        assert [fast.levels[name][code] for code in fast.column(name)] == [
            c if c not in {"", "NA"} else "NA" for c in column
        ]


def test_continuous_numbers_in_great_variety_are_read_as_such():
    rng = np.random.default_rng(1)
    values = rng.normal(size=2000).round(6)
    frame = pl.DataFrame({"x": values, "y": ["a", "b"] * 1000, "id": [f"{i:05d}" for i in range(2000)]})
    text = frame.write_csv().encode()
    with pytest.raises(DataError) as error:
        read(text)
    assert "'x' looks continuous" in str(error.value)
    assert "'id' looks like an identifier (2,000 levels in 2,000 rows)" in str(error.value)
    data = read(text, discretize="quantile(2)", max_levels=2000)
    assert data.levels["id"][7] == "00007"
    edge = float(data.levels["x"][0].strip("[]").split(",")[1])
    assert data.column("x").tolist() == (values > edge).astype(int).tolist()
    assert data.observed("x").tolist() == pytest.approx([1000, 1000], abs=10)


def test_a_file_may_be_called_like_somebodys_home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "~nobody.csv").write_text("x,y\na,b\nb,a\n")
    assert read("~nobody.csv").n_rows == 2
    with pytest.raises(DataError, match="~nowhere"):
        read("~nowhere/table.csv")
