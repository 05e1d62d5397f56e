"""Data sets in files: every format comes back, and a failure leaves what was there."""

import gzip
from pathlib import Path

import polars as pl
import pytest

import mapdag as md
from mapdag.errors import FileError, ParameterError
from mapdag.io import TABLE_SUFFIXES, datasets, files, write_table
from mapdag.reference import network

ROWS = network("asia").sample(200, seed=1)
LOSSY = {".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"}  # labels only


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
def test_data_sets_come_back_from_every_format(suffix, tmp_path):
    path = tmp_path / f"rows{suffix}"
    write_table(ROWS, path)
    assert md.read(path, like=ROWS) == ROWS
    assert suffix in LOSSY or md.read(str(path)) == ROWS
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_the_ending_may_be_in_capitals(tmp_path):
    write_table(ROWS, str(tmp_path / "ROWS.CSV.GZ"))
    assert gzip.decompress((tmp_path / "ROWS.CSV.GZ").read_bytes()).startswith(b"asia,tub,smoke,")


def test_text_is_separated_as_the_ending_says(tmp_path):
    for suffix, separator in ((".csv", ","), (".tsv", "\t"), (".txt", "\t")):
        write_table(ROWS, tmp_path / f"rows{suffix}")
        first = (tmp_path / f"rows{suffix}").read_text().splitlines()[0]
        assert first == separator.join(ROWS.names)


def test_labels_with_separators_and_quotes_come_back(tmp_path):
    odd = [["a,b", 'say "x"', "c\td", "ü"], ["no", "yes"]]
    data = md.Dataset.from_codes([[0, 0], [1, 1], [2, 0], [3, 1]], names=["x", "y"], levels=odd)
    for suffix in TABLE_SUFFIXES:
        write_table(data, tmp_path / f"rows{suffix}")
        assert md.read(tmp_path / f"rows{suffix}", like=data) == data


@pytest.mark.parametrize("weights", [[2, 3], [0.5, 1.25]])
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_weights_are_a_column_of_their_own(weights, suffix, tmp_path):
    data = md.Dataset.from_codes([[0, 1], [1, 0]], weights=weights)
    write_table(data, tmp_path / f"rows{suffix}")
    assert md.read(tmp_path / f"rows{suffix}", weights="weight") == data


def test_blocks_of_rows_leave_no_trace(tmp_path, monkeypatch):
    write_table(ROWS, tmp_path / "whole.csv")
    monkeypatch.setattr(datasets, "_ROWS", 7)
    write_table(ROWS, tmp_path / "blocks.csv")
    assert (tmp_path / "blocks.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert (tmp_path / "whole.csv").read_bytes() == ROWS.to_polars().write_csv().encode()


def test_no_rows_leave_the_names(tmp_path):
    write_table(network("cancer").sample(0, seed=1), tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == "Pollution,Smoker,Cancer,Xray,Dyspnoea\n"


def test_equal_data_make_equal_gzipped_files(tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        write_table(ROWS, tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


@pytest.mark.parametrize("name", ["rows", "rows.xls", "rows.parquet.gz", "rows.gz"])
def test_the_known_endings_are_named(name, tmp_path):
    with pytest.raises(
        ParameterError,
        match=r"does not tell the format.* \.csv, \.tsv, .*\.parquet, .*\(the text formats also with \.gz\)",
    ):
        write_table(ROWS, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_only_data_sets_are_written(tmp_path):
    with pytest.raises(ParameterError, match=r"data must be a Dataset, got DataFrame; mapdag\.read makes one"):
        write_table(ROWS.to_polars(), tmp_path / "rows.csv")


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileError, match=r"rows\.parquet cannot be written: there is no folder .*nowhere"):
        write_table(ROWS, tmp_path / "nowhere" / "rows.parquet")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
def test_a_full_device_is_named(suffix, tmp_path):
    path = tmp_path / f"full{suffix}"
    path.symlink_to("/dev/full")
    with pytest.raises(FileError, match=rf"full{suffix} cannot be written: no space left on the disk$"):
        write_table(ROWS, path)


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
def test_a_full_disk_leaves_the_old_file_and_nothing_else(suffix, tmp_path, monkeypatch):
    path = tmp_path / f"rows{suffix}"
    path.write_text("old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(FileError, match="cannot be written: no space left on the disk"):
        write_table(ROWS, path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (pl.exceptions.ComputeError("parquet: No space left on device (os error 28)"), "no space left on the disk"),
        (pl.exceptions.ComputeError("parquet: something else"), "parquet: something else"),
    ],
)
def test_errors_of_polars_do_not_leak(error, message, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(pl.DataFrame, "write_parquet", fail)
    with pytest.raises(FileError, match=rf"rows\.parquet cannot be written: {message}"):
        write_table(ROWS, tmp_path / "rows.parquet")
    assert not list(tmp_path.iterdir())
