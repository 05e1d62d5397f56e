"""scan() gives what read() gives, whatever the table, however many blocks it makes."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import lzma
import shlex
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from mapdag.errors import DataError, MapdagWarning, ParameterError
from scanning import blocks_of, same

CENSUS = Path(__file__).parent / "data" / "census.csv"

CELLS = [
    "a",
    "b",
    "",
    " b",
    "NA",
    "1",
    "2",
    "1.0",
    "01",
    "-3",
    "0.5",
    "300",
    "70000",
    "True",
    "é",
    '"q"',
    '"x,\ny"',
    '"a ""b"""',
    "?",
]


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def outcome(function):
    """Return what a function returns, or what it refuses with; and its warnings."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            found = function()
        except (DataError, ParameterError) as error:
            found = str(error)
    return found, [str(each.message) for each in heard]


@st.composite
def text_tables(draw):
    """Text that may be a table."""
    width = draw(st.integers(1, 4))
    pools = [draw(st.lists(st.sampled_from(CELLS), min_size=1, max_size=4)) for _ in range(width)]
    rows = draw(st.lists(st.tuples(*(st.sampled_from(pool) for pool in pools)), min_size=1, max_size=14))
    separator = draw(st.sampled_from([",", ";", "\t"]))
    lines = [separator.join(f"col{i}" for i in range(width)), *(separator.join(row) for row in rows)]
    if draw(st.booleans()):
        lines.insert(draw(st.integers(1, len(lines))), "")
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return (newline.join(lines) + draw(st.sampled_from(["", newline, newline * 3]))).encode()


@settings(max_examples=80)
@given(
    text_tables(),
    st.integers(1, 5),
    st.integers(3, 30),
    st.fixed_dictionaries(
        {},
        optional={
            "missing": st.sampled_from(["drop", "level", "keep"]),
            "missing_values": st.sampled_from([["a"], ["1"], {"col0": ["a"]}, {"*": "a", "col0": [1]}]),
            "discretize": st.sampled_from(["quantile", "interval(2)"]),
            "max_levels": st.integers(2, 5),
            "levels": st.just({"col0": ["a", "b", "1", "2"]}),
        },
    ),
)
def test_a_text_reads_the_same_in_blocks(tmp_path_factory, text, rows, read, options):
    folder = tmp_path_factory.mktemp("scan")
    path = folder / "table.csv"
    path.write_bytes(text)
    expected, said = outcome(lambda: md.read(path, **options))
    with blocks_of(rows, read=read):
        found, heard = outcome(lambda: md.scan(path, cache=folder / "a", **options))
    assert (found if isinstance(found, str) else found.to_dataset()) == expected
    assert heard == said
    with blocks_of(rows, read=read, whole=False):
        by_counts, _ = outcome(lambda: md.scan(path, cache=folder / "b", **options))
    assert isinstance(by_counts, str) == isinstance(expected, str)
    assert isinstance(expected, str) or (same(found, expected) and same(by_counts, expected))


VALUES = [
    st.sampled_from(["x", "y", None, "NA"]),
    st.sampled_from([1, 2, 300, None]),
    st.sampled_from([0.5, -0.0, 0.0, 2.0, None, float("nan")]),
    st.booleans(),
    st.sampled_from([dt.date(2020, 1, 1), dt.date(2021, 5, 5), None]),
]


MISSING = st.sampled_from(["drop", "level", "keep"])


@settings(max_examples=50)
@given(st.data(), st.integers(1, 5), st.sampled_from(["parquet", "arrow", "lazy"]), MISSING)
def test_columns_of_any_type_read_the_same_in_blocks(tmp_path_factory, data, rows, form, missing):
    n = data.draw(st.integers(1, 15))
    chosen = data.draw(st.lists(st.sampled_from(range(len(VALUES))), min_size=1, max_size=4))
    columns = {f"c{i}": data.draw(st.lists(VALUES[kind], min_size=n, max_size=n)) for i, kind in enumerate(chosen)}
    frame = pl.DataFrame(columns, strict=False)
    if data.draw(st.booleans()):
        frame = frame.with_columns(pl.lit("u").alias("e").cast(pl.Enum(["t", "u"])))
    folder = tmp_path_factory.mktemp("scan")
    path = folder / f"table.{form}"
    frame.write_parquet(path) if form == "parquet" else frame.write_ipc(path)
    source = pl.scan_ipc(path) if form == "lazy" else path
    expected, _ = outcome(lambda: md.read(path if form != "lazy" else frame, missing=missing))
    for whole in (True, False):
        with blocks_of(rows, whole=whole):
            found, _ = outcome(lambda: md.scan(source, cache=folder / f"{whole}", missing=missing))  # noqa: B023
        assert isinstance(found, str) == isinstance(expected, str)
        if not isinstance(expected, str):
            assert same(found, expected)
        elif whole:
            assert found == expected.replace(str(path), "the table") if form == "lazy" else expected


@pytest.mark.parametrize("whole", [True, False])
def test_a_table_as_a_census_office_writes_it(cache, whole):
    options = {"drop": ["Person ID", "Note"], "missing": "level"}
    with blocks_of(2, read=11, whole=whole):
        assert same(md.scan(CENSUS, cache=cache, **options), md.read(CENSUS, **options))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252", "latin-1"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_encodings_and_newlines_are_found(tmp_path, cache, encoding, newline):
    path = tmp_path / "table.csv"
    path.write_bytes(newline.join(["Größe,b", "klein,é", "mäßig,è", "klein,é", "mäßig,é", ""]).encode(encoding))
    with blocks_of(2, read=5):
        assert same(md.scan(path, cache=cache), md.read(path))


def test_another_encoding_far_into_the_file_is_noticed(tmp_path, cache):
    for end in ("é,z\n".encode("cp1252"), b"\x81,z\n"):
        path = tmp_path / f"{len(end)}.csv"
        path.write_bytes(b"a,b\n" + b"x,y\n" * 100_000 + end)
        with blocks_of(40_000, read=2**16):
            data = md.scan(path, cache=cache)
        assert data.levels == md.read(path).levels
        assert same(data, md.read(path))
        with blocks_of(40_000, read=2**16), pytest.raises(DataError, match="is not utf-8 text"):
            md.scan(path, cache=cache, encoding="utf-8")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_text_is_read_piece_by_piece(tmp_path, cache, compress):
    text = "".join(f"{i % 3},{'xyz'[i % 2]}\n" for i in range(50))
    path = tmp_path / "table.csv.compressed"
    path.write_bytes(compress(f"a,b\n{text}".encode()))
    with blocks_of(7, read=13):
        assert same(md.scan(path, cache=cache), md.read(path))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="cannot be decompressed"):
        md.scan(path, cache=cache)


def test_one_odd_cell_makes_all_integers_text(tmp_path, cache):
    path = tmp_path / "table.csv"
    for cell in ("2", "02", "400", "+1", "x"):
        path.write_text("a,b\n" + "1,2\n2,1\n" * 700 + f"1,{cell}\n" + "1,1\n" * 9)
        with blocks_of(500, whole=False):
            assert same(md.scan(path, cache=cache), md.read(path))


def test_continuous_columns_are_cut_where_read_cuts_them(tmp_path, cache):
    rng = np.random.default_rng(1)
    table = pl.DataFrame({"x": rng.normal(size=3000), "n": rng.poisson(30, 3000), "c": rng.choice(["u", "v"], 3000)})
    table = table.with_columns(x=pl.when(pl.col("x") > 2).then(None).otherwise(pl.col("x")))
    for path, write in ((tmp_path / "t.csv", table.write_csv), (tmp_path / "t.parquet", table.write_parquet)):
        write(path)
        for ways in ("quantile", "interval(4)", {"*": 4, "n": [20, 30]}):
            for missing in ("drop", "level"):
                with blocks_of(700, whole=False):
                    data = md.scan(path, cache=cache, discretize=ways, missing=missing)
                assert same(data, md.read(path, discretize=ways, missing=missing))
                assert same(data, md.read(path, like=data, missing=missing))
                with blocks_of(700, whole=False):
                    assert same(md.scan(path, cache=cache, like=data, missing=missing), data.to_dataset())
    with blocks_of(700, whole=False), pytest.raises(ParameterError, match="hartemink needs all rows in memory"):
        md.scan(path, cache=cache, discretize="hartemink", missing="drop")


def test_codes_are_found_as_read_finds_them(tmp_path, cache):
    path = tmp_path / "codes.csv"
    path.write_text("a,b\n" + "0,1\n1,0\n2,1\n" * 5)
    levels = {"a": ["u", "v", "w"], "b": ["no", "yes"]}
    with blocks_of(4, whole=False), pytest.warns(MapdagWarning, match="read as codes"):
        data = md.scan(path, cache=cache, levels=levels)
    assert same(data, md.read(path, levels=levels, codes=True))


def test_rows_that_only_labels_would_leave_out_stay(tmp_path, cache):
    path = tmp_path / "codes.csv"
    path.write_text("a,b\n" + "0,1\n1,0\n1,1\n" * 5)
    options = {"levels": {"a": ["u", "v"], "b": ["no", "yes"]}, "missing": "drop", "missing_values": ["0"]}
    with blocks_of(4, whole=False):
        found, _ = outcome(lambda: md.scan(path, cache=cache, **options))
    expected, _ = outcome(lambda: md.read(path, **options))
    assert same(found, expected) if not isinstance(expected, str) else isinstance(found, str)


@pytest.mark.parametrize("text", [b"a\nx\n\n\n\n\ny\n\nx\n\n\n", b"a\n\n\n\n1\n2\n\n\n\n1", b"a\n\n\n\n\n"])
def test_blank_lines_of_one_column_are_values_in_any_block(tmp_path, cache, text):
    path = tmp_path / "table.csv"
    path.write_bytes(text)
    expected, _ = outcome(lambda: md.read(path, missing="level"))
    for rows in (1, 2, 3):
        with blocks_of(rows, read=2):
            found, _ = outcome(partial(md.scan, path, cache=cache / str(rows), missing="level"))
        assert found == expected if isinstance(expected, str) else same(found, expected)


def test_blank_lines_before_the_header_and_the_rows_change_nothing(tmp_path, cache):
    path = tmp_path / "table.csv"
    path.write_bytes(b"\n\r\na,b\n\n\n1,2\n2,1\n\n1,1\n")
    with blocks_of(1, read=1):
        found = md.scan(path, cache=cache)
    assert same(found, md.read(path))
    assert found.codings["a"].type == "integer"


def test_names_that_are_not_in_the_encoding_asked_for_are_refused(tmp_path, cache):
    path = tmp_path / "table.csv"
    path.write_bytes(b"a,b\xa7c\nx,1\ny,2\n")
    for read in (md.read, lambda path, **options: md.scan(path, cache=cache, **options)):
        with pytest.raises(DataError, match="is not utf-8 text"):
            read(path, encoding="utf-8")


def test_utf_16_without_a_mark_is_read_as_this_machine_writes_it(tmp_path, cache):
    path = tmp_path / "table.csv"
    path.write_bytes("a,b\nx,1\ny,2\n".encode(f"utf-16-{sys.byteorder[0]}e"))
    assert same(md.scan(path, cache=cache, encoding="utf-16"), md.read(path, encoding="utf-16"))


def test_compressed_columns_are_unpacked(tmp_path, cache):
    path = tmp_path / "table.parquet.gz"
    frame = pl.DataFrame({"a": ["x", "y"] * 5, "b": [1, 2] * 5})
    frame.write_parquet(tmp_path / "table.parquet")
    path.write_bytes(gzip.compress((tmp_path / "table.parquet").read_bytes()))
    assert same(md.scan(path, cache=cache), md.read(path))


def test_row_names_of_r_are_left_out(tmp_path, cache):
    path = tmp_path / "r.txt"
    path.write_text('"a" "b"\n' + "".join(f'"{i}" "{"xy"[i % 2]}" "{"uvw"[i % 3]}"\n' for i in range(1, 31)))
    with pytest.warns(MapdagWarning, match="row names"):
        expected = md.read(path)
    with blocks_of(7, read=9), pytest.warns(MapdagWarning, match="row names"):
        assert same(md.scan(path, cache=cache), expected)
    path.write_text(path.read_text().replace('"30" ', '"29" '))
    with pytest.raises(DataError, match="'29' is on more than one row"):
        md.scan(path, cache=cache)


# Several files ---------------------------------------------------------------------------------------------------


def parts(folder, data, size, write):
    folder.mkdir()
    frame = data.to_polars().with_columns(pl.all().cast(pl.String))
    for i in range(0, data.n_rows, size):
        write(frame.slice(i, size), folder / f"part-{i // size:03d}")
    return folder


@pytest.mark.parametrize(
    "write",
    [
        lambda frame, path: frame.write_csv(path.with_suffix(".csv")),
        lambda frame, path: frame.select(reversed(frame.columns)).write_parquet(path.with_suffix(".parquet")),
        lambda frame, path: frame.write_ipc(path.with_suffix(".arrow"), compression="zstd"),
    ],
)
def test_folders_patterns_and_lists_are_one_table(tmp_path, cache, write, monkeypatch):
    monkeypatch.setenv("MAPDAG_CACHE", str(cache))
    asia = md.network("asia").sample(1000, seed=1)
    folder = parts(tmp_path / "data", asia, 300, write)
    (folder / "_SUCCESS").touch()
    (folder / ".hidden").write_text("x")
    files = sorted(folder.glob("part*"))
    for source in (folder, str(folder / "part-*"), files, [str(folder / "part-000*"), *files[1:]]):
        data = md.scan(source, cache=cache)
        assert data.select(asia.names).to_dataset() == md.read(asia.to_polars()).with_levels(data.levels)
    assert md.learn(str(folder / "*"), search="hc", order="columns").dag.n_arcs > 3


def test_files_must_agree(tmp_path, cache):
    (tmp_path / "1.csv").write_text("a,b\nx,y\nz,w\n")
    (tmp_path / "2.csv").write_text("a,c\nx,y\n")
    with pytest.raises(
        DataError, match=r"2.csv does not have the columns of .*1.csv: it lacks 'b' and has 'c' besides"
    ):
        md.scan(tmp_path / "*.csv", cache=cache)
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"a": ["x", "y"]}).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(DataError, match=r"2.parquet: column 'a' holds String, but Int64 in the files before"):
        md.scan(tmp_path / "*.parquet", cache=cache)
    pl.DataFrame({"a": pl.Series([None, None])}).write_parquet(tmp_path / "2.parquet")
    assert md.scan(tmp_path / "*.parquet", cache=cache, missing="level").levels["a"] == ("1", "2", "NA")


def test_files_without_rows_may_be_among_others(tmp_path, cache):
    (tmp_path / "1.csv").write_text("a,b\nx,y\nz,w\n")
    (tmp_path / "2.csv").write_text("b,a\n")
    pl.DataFrame({"a": [], "b": []}, schema={"a": pl.String, "b": pl.String}).write_parquet(tmp_path / "3.parquet")
    (tmp_path / "4.csv").write_text("a,c\n")
    expected = md.scan(tmp_path / "1.csv", cache=cache).to_dataset()
    for files in (["1.csv", "2.csv"], ["2.csv", "3.parquet", "1.csv"]):
        assert md.scan([tmp_path / file for file in files], cache=cache).to_dataset() == expected
    assert md.check([tmp_path / "2.csv", tmp_path / "1.csv"]).rows == 2
    for files, told in (
        (["2.csv"], "2.csv has a header but no rows"),
        (["3.parquet"], "3.parquet has no rows"),
        (["2.csv", "3.parquet"], "2.csv has a header but no rows"),
        (["4.csv", "1.csv"], "4.csv does not have the columns of .*1.csv: it lacks 'b' and has 'c' besides"),
    ):
        with pytest.raises(DataError, match=told):
            md.scan([tmp_path / file for file in files], cache=cache)


def test_files_with_row_names_may_be_beside_one_without_rows(tmp_path, cache):
    (tmp_path / "1.csv").write_text("a,b\n1,x,y\n2,z,w\n")
    (tmp_path / "2.csv").write_text("a,b\n")
    with pytest.warns(md.errors.MapdagWarning, match="row names"):
        assert md.scan([tmp_path / "1.csv", tmp_path / "2.csv"], cache=cache).n_rows == 2


def test_what_is_no_file_is_refused(tmp_path, cache):
    with pytest.raises(DataError, match="no file matches"):
        md.scan(tmp_path / "*.csv", cache=cache)
    with pytest.raises(DataError, match="no such file"):
        md.scan(tmp_path / "table.csv", cache=cache)
    with pytest.raises(DataError, match="has no files"):
        md.scan(tmp_path, cache=cache)
    with pytest.raises(DataError, match=r"scan takes a path.*mapdag.read takes tables in memory"):
        md.scan({"a": [1, 2]}, cache=cache)
    with pytest.raises(ParameterError, match="weights cannot be given for a table that is scanned"):
        md.scan(CENSUS, weights="n")


# The value -------------------------------------------------------------------------------------------------------


@pytest.fixture
def scanned(tmp_path, cache):
    asia = md.network("asia").sample(1000, seed=1)
    md.write_table(asia, tmp_path / "asia.csv")
    with blocks_of(130):
        yield md.scan(tmp_path / "asia.csv", cache=cache, levels=asia.levels), asia


def test_rows_come_back_in_order(scanned):
    data, asia = scanned
    assert len(data.blocks) == 8
    assert data.n_rows == len(data) == data.total == 1000
    assert data.to_dataset() == asia
    assert data.row(777) == asia.row(777)
    assert data.head(3) == asia.take([0, 1, 2])
    rows = [999, 0, -1, 500, 500]
    assert data.take(rows) == asia.take(rows)
    assert data.take(np.arange(1000) % 7 == 0) == asia.take(np.arange(1000) % 7 == 0)
    assert data.sample(50, seed=3) == data.sample(50, seed=3) != data.sample(50, seed=4)
    for name in asia.names:
        assert data.observed(name).tolist() == asia.observed(name).tolist()
        assert np.array_equal(data.column(name), asia.column(name))
    assert data.select(["xray", "asia"]).to_dataset() == asia.select(["xray", "asia"])


def test_it_is_a_value(scanned, tmp_path, cache):
    import pickle

    data, asia = scanned
    assert repr(data) == "ScannedDataset(1,000 rows, 8 columns, 2 levels each, 8 blocks)"
    assert "995 more rows" in str(data)
    assert data == md.scan(tmp_path / "asia.csv", cache=cache, levels=asia.levels) == pickle.loads(pickle.dumps(data))
    assert data != data.select(data.names[:2])
    assert len({data, data.select(data.names)}) == 1


def test_what_needs_all_rows_says_what_to_do(scanned):
    data, _ = scanned
    for ask in (lambda: data.codes, data.aggregated):
        with pytest.raises(DataError, match=r"data.to_dataset\(\) if they fit \(0 MiB\), or data.sample"):
            ask()
    with pytest.raises(DataError, match=r"pass levels= to mapdag.scan"):
        data.with_levels({})
    with pytest.raises(ParameterError, match="n must be between 1 and"):
        data.sample(1001)


# Looking at it, and learning from it -------------------------------------------------------------------------------


@pytest.fixture
def messy(tmp_path, monkeypatch):
    """A table with columns of many kinds."""
    monkeypatch.setenv("MAPDAG_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(1)
    n = 3000
    sex = rng.choice(["f", "m"], n)
    frame = pl.DataFrame(
        {
            "id": [f"p{i:05d}" for i in range(n)],
            "sex": sex,
            "gender": np.where(sex == "f", "female", "male"),
            "age": rng.normal(50, 10, n).round(2),
            "smoker": rng.choice(["yes", "no", "?"], n, p=[0.3, 0.6, 0.1]),
            "day": [str(dt.date(2020, 1, 1) + dt.timedelta(days=i % 400)) for i in range(n)],
            "country": ["X"] * n,
        }
    )
    frame.write_csv(tmp_path / "messy.csv")
    return tmp_path / "messy.csv"


def test_check_judges_by_counts_as_it_judges_rows(messy):
    expected = md.check(messy)
    assert md.check([messy]).written("") == expected.written("")
    assert md.check([messy]).code.startswith(f'md.learn(["{messy}"], missing=')
    with blocks_of(500, whole=False):
        found = md.check(str(messy.parent / "*.csv"))
    assert found.columns == expected.columns
    assert found.options == expected.options
    assert found.notes[-1] == expected.notes[-1] == "'gender' says the same as 'sex': one of the two is enough"
    with blocks_of(500, whole=False):
        assert same(md.scan(messy, **found.options), md.read(messy, **expected.options))


def test_check_writes_what_scans_a_single_file(messy, run):
    found = md.check(messy, scan=True)
    assert found.code.startswith(f'md.learn(md.scan("{messy}", missing=')
    code, out, _ = run("check", messy, "--scan")
    assert code == 0
    command = out.splitlines()[-1]
    assert command.startswith("mapdag learn")
    assert command.endswith(" --scan")
    code, out, err = run(*shlex.split(command)[1:], "--search", "hc")
    assert (code, err) == (0, "")


def test_what_is_wrong_is_said_by_counts_as_by_rows(messy):
    with pytest.raises(DataError) as expected:
        md.read(messy)
    with blocks_of(500, whole=False), pytest.raises(DataError) as found:
        md.scan(messy)
    for line, other in zip(str(expected.value).splitlines(), str(found.value).splitlines(), strict=True):
        assert line.split(" (")[0] == other.split(" (")[0]


def test_columns_with_too_many_values_have_to_go(messy):
    from unittest.mock import patch

    from mapdag.data.packed import tallies

    with blocks_of(500, whole=False), patch.object(tallies, "MOST_VALUES", 450):
        with pytest.raises(DataError, match="'id' holds at least 3,000 distinct values, which cannot be categories"):
            md.scan(messy, missing="level", drop=["day", "country", "age"])
        with pytest.raises(DataError, match="distinct numbers, more than can be cut here"):
            md.scan(messy, missing="level", drop=["day", "country", "id"], discretize="quantile")
        kinds = {column.name: column.kind for column in md.check([messy]).columns}
        assert kinds["id"] == "text"
        assert md.scan(messy, missing="drop", drop=["day", "country", "id", "age"]).n_columns == 3


@pytest.fixture
def alarm(tmp_path, cache):
    data = md.network("alarm").sample(2000, seed=1)
    data.to_polars().write_parquet(tmp_path / "alarm.parquet")
    with blocks_of(300):
        yield md.scan(tmp_path / "alarm.parquet", cache=cache), md.read(tmp_path / "alarm.parquet")


@pytest.mark.parametrize("options", [{"search": "hc"}, {"search": "tabu"}, {"effort": 0.1}])
def test_the_same_graph_is_learned_to_the_last_bit(alarm, options):
    scanned, data = alarm
    found, expected = md.learn(scanned, **options), md.learn(data, **options)
    assert found.dag == expected.dag
    assert found.score == expected.score
    assert found.alike == expected.alike


def test_what_goes_by_counts_is_the_same(alarm, tmp_path):
    scanned, data = alarm
    dag = md.learn(data, search="hc").dag
    assert md.score(dag, scanned) == md.score(dag, data)
    network = md.fit(dag, data)
    assert md.fit(dag, scanned) == network
    assert str(md.diagnose(dag, scanned)) == str(md.diagnose(dag, data))
    assert str(md.check(scanned)) == str(md.check(data))
    assert network.log_likelihood(scanned) == pytest.approx(network.log_likelihood(data), rel=1e-12)
    for each, name in ((scanned, "a.html"), (data, "b.html")):
        md.learn(each, search="hc").report(tmp_path / name)
    assert (tmp_path / "a.html").stat().st_size == pytest.approx((tmp_path / "b.html").stat().st_size, rel=0.01)


def test_commands_take_folders_and_patterns(tmp_path, monkeypatch, run):
    monkeypatch.setenv("MAPDAG_CACHE", str(tmp_path / "cache"))
    asia = md.network("asia").sample(1000, seed=1)
    folder = parts(tmp_path / "data", asia, 300, lambda frame, path: frame.write_csv(path.with_suffix(".csv")))
    md.write_table(asia, tmp_path / "asia.csv")
    _, expected, _ = run("learn", tmp_path / "asia.csv", "--search", "hc", "--json")
    for source in (folder, str(folder / "*.csv"), (tmp_path / "asia.csv", "--scan")):
        code, out, err = run("learn", *(source if isinstance(source, tuple) else [source]), "--search", "hc", "--json")
        assert (code, err) == (0, "")
        assert out.split('"arcs"')[1][:200] == expected.split('"arcs"')[1][:200]
    code, out, _ = run("check", folder)
    assert code == 0
    assert out.startswith("1,000 rows, 8 columns")
