"""read() on Arrow tables, and on the Parquet and Arrow files that keep them: declared levels must not get lost."""

from __future__ import annotations

import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from mapdag.data import read
from mapdag.errors import MapdagWarning
from streams import Stream, labels


def test_arrow_dictionaries_are_declarations():
    table = pa.table(
        {
            "text": pa.DictionaryArray.from_arrays(
                pa.array([2, 0, None], pa.int8()), ["lo", "mid", "a label beyond 12 bytes"]
            ),
            "ints": pa.DictionaryArray.from_arrays(pa.array([1, 1, 0], pa.int8()), pa.array([30, 20, 10])),
            "floats": pa.DictionaryArray.from_arrays(pa.array([1, 1, 0], pa.int8()), pa.array([0.5, 2.0, 10.0])),
            "bools": pa.DictionaryArray.from_arrays(pa.array([0, 0, 0], pa.int8()), pa.array([True, False])),
            "holes": pa.DictionaryArray.from_arrays(pa.array([0, 0, 2], pa.int8()), pa.array(["x", None, "y", "z"])),
            "plain": ["b", "a", "b"],
        }
    )
    for source in (table, Stream(table), table.to_reader(), table.to_batches()[0]):
        data = read(source, missing="level")
        assert data.levels["text"] == ("lo", "mid", "a label beyond 12 bytes", "NA")
        assert data.column("text").tolist() == [2, 0, 3]
        assert data.levels["ints"] == ("30", "20", "10")
        assert data.column("ints").tolist() == [1, 1, 0]
        assert data.levels["floats"] == ("0.5", "2", "10")
        assert data.levels["bools"] == ("True", "False")
        assert data.levels["holes"] == ("x", "y", "z")
        assert data.levels["plain"] == ("a", "b")


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_arrow_strings_of_every_layout(kind):
    if not hasattr(pa, kind):
        pytest.skip("this pyarrow has no such type")
    values = pa.array(["short", "é", "rather long, beyond the view", ""], getattr(pa, kind)())
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int32()), values).slice(1)
    assert read(pa.table({"x": column})).levels["x"] == ("short", "é", "rather long, beyond the view")


def test_arrow_chunks_with_dictionaries_of_their_own():
    chunks = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()]
    data = read(pa.table({"x": pa.chunked_array(chunks)}))
    assert data.levels["x"] == ("b", "a", "c")
    assert labels(data, "x") == ["b", "a", "c", "a"]


def test_categoricals_that_polars_exported_are_no_declaration():
    frame = pl.DataFrame(
        {"x": ["b", "a"], "y": ["v", "u"]}, schema={"x": pl.Categorical, "y": pl.Enum(["v", "w", "u"])}
    )
    for source in (frame, frame.to_arrow(), Stream(frame)):
        data = read(source)
        assert data.levels["x"] == ("a", "b")
        assert data.levels["y"] == ("v", "w", "u")


# Files of columns --------------------------------------------------------------------------------------------------


def write_stream(table, path):
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


WRITERS = {
    "t.parquet": parquet.write_table,
    "t.feather": feather.write_feather,
    "t.arrows": write_stream,
    "unnamed": parquet.write_table,
}


@pytest.mark.parametrize("name", WRITERS)
def test_files_of_columns_keep_declared_levels(tmp_path, name):
    path = tmp_path / name
    column = pa.DictionaryArray.from_arrays(pa.array([2, 0, 2], pa.int8()), ["lo", "mid", "hi"])
    WRITERS[name](pa.table({"x": column, "n": [2, 1, 2]}), str(path))
    for source in (path, str(path), path.read_bytes(), path.open("rb")):
        data = read(source)
        assert data.levels["x"] == ("lo", "mid", "hi")
        assert data.codes.tolist() == [[2, 0, 2], [1, 0, 1]]
        if hasattr(source, "close"):
            source.close()


def test_pandas_categories_survive_parquet(tmp_path):
    frame = pd.DataFrame({"x": pd.Categorical(["b", "a"], ["c", "b", "a"])})
    frame.to_parquet(tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet").levels["x"] == ("c", "b", "a")


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.arrows"])
def test_files_that_polars_wrote(tmp_path, name):
    frame = pl.DataFrame(
        {"c": ["b", "a"], "e": ["v", "u"], "s": ["x", "y"]},
        schema={"c": pl.Categorical, "e": pl.Enum(["v", "w", "u"]), "s": pl.String},
    )
    write = {"t.parquet": frame.write_parquet, "t.arrow": frame.write_ipc, "t.arrows": frame.write_ipc_stream}[name]
    write(tmp_path / name)
    data = read(tmp_path / name)
    assert data.levels["c"] == ("a", "b")
    assert data.levels["e"] == ("v", "w", "u")


def test_without_pyarrow_lost_levels_are_not_lost_silently(tmp_path, monkeypatch):
    path = tmp_path / "x.parquet"
    pd.DataFrame({"x": pd.Categorical(["b", "a"], ["c", "b", "a"])}).to_parquet(path)
    ours = tmp_path / "ours.parquet"
    pl.DataFrame({"x": pl.Series(["b", "a"], dtype=pl.Categorical)}).write_parquet(ours)
    for module in ("pyarrow", "pyarrow.ipc", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.warns(MapdagWarning, match=r"levels of 'x'.*install pyarrow.*or pass levels="):
        assert read(path).levels["x"] == ("a", "b")
    assert read(ours).levels["x"] == ("a", "b")


def test_without_pyarrow_streams_are_read_and_lost_levels_not_lost_silently(monkeypatch):
    source = Stream(pa.table({"x": pa.DictionaryArray.from_arrays([1, 0], ["a", "b", "c"]), "n": [1, 2]}))
    plain = Stream(pa.table({"x": ["b", "a"], "n": [1, 2]}))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.warns(MapdagWarning, match=r"levels of 'x'.*found in the Arrow table.*install pyarrow"):
        assert read(source).levels["x"] == ("a", "b")
    assert read(plain).levels["x"] == ("a", "b")


def test_dictionaries_of_single_floats_and_of_times():
    half = pa.DictionaryArray.from_arrays([1, 0], pa.array([0.1, 0.5, 0.7], pa.float32()))
    times = pa.DictionaryArray.from_arrays([1, 0], pa.array([0, 10**6, 10**7], pa.timestamp("us")))
    data = read(pa.table({"x": half, "t": times}))
    assert data.levels["x"] == ("0.1", "0.5", "0.7")
    assert len(data.levels["t"]) == 3
