"""Packed files are whole or not used: interruptions, changes, damage, full disks, company."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import mapdag as md
from mapdag.data.packed import packing, sealed, store
from mapdag.data.packed.blocks import Block
from mapdag.data.packed.sealed import Broken, read_sealed, write_sealed
from mapdag.errors import DataError
from scanning import blocks_of, same


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "table.csv"
    pl.DataFrame({f"c{i}": rng.choice(["x", "y", "z"], 1000) for i in range(4)}).write_csv(path)
    return path


def reading(monkeypatch):
    """Note which pieces are parsed."""
    seen, block = [], packing.TextReader._block

    def noted(self, piece):
        seen.append(piece.start)
        return block(self, piece)

    monkeypatch.setattr(packing.TextReader, "_block", noted)
    return seen


def test_what_was_packed_is_used_again(table, tmp_path, monkeypatch):
    seen = reading(monkeypatch)
    with blocks_of(100):
        first = md.scan(table, cache=tmp_path / "cache")
        assert len(seen) == 10
        assert md.scan(table, cache=tmp_path / "cache") == first
        other = md.scan(table, cache=tmp_path / "cache", levels={"c0": ["z", "y", "x", "w"]}, drop="c3")
        assert len(seen) == 10  # other options do not read the file again
        monkeypatch.chdir(tmp_path)
        assert md.scan("table.csv", cache="cache") == first
        assert len(seen) == 10  # nor does another way to call it
    assert same(other, md.read(table, levels={"c0": ["z", "y", "x", "w"]}, drop="c3"))
    assert sum(1 for _ in (tmp_path / "cache" / "tables").iterdir()) == 2


def test_a_file_that_changed_is_read_again(table, tmp_path):
    md.scan(table, cache=tmp_path)
    table.write_text(table.read_text().replace("x", "w"))
    assert same(md.scan(table, cache=tmp_path), md.read(table))
    changed = table.stat().st_mtime_ns
    table.write_text(table.read_text().replace("w", "v"))
    os.utime(table, ns=(changed, changed))  # the same size and time: the ends tell
    assert same(md.scan(table, cache=tmp_path), md.read(table))


def test_a_file_that_changes_while_it_is_read_is_an_error(table, tmp_path, monkeypatch):
    block, text = packing.TextReader._block, table.read_text().replace("z", "w")

    def meddled(self, piece):
        if piece.before == 501:
            table.write_text(text)
        return block(self, piece)

    monkeypatch.setattr(packing.TextReader, "_block", meddled)
    with blocks_of(100), pytest.raises(DataError, match=r"table.csv changed while it was read: scan it again"):
        md.scan(table, cache=tmp_path / "cache")
    monkeypatch.undo()
    with blocks_of(100):
        assert same(md.scan(table, cache=tmp_path / "cache"), md.read(table))


def test_only_new_files_of_a_folder_are_read(table, tmp_path, monkeypatch):
    seen = reading(monkeypatch)
    folder = tmp_path / "data"
    folder.mkdir()
    for i in range(3):
        (folder / f"{i}.csv").write_bytes(table.read_bytes())
        assert md.scan(folder, cache=tmp_path / "cache").n_rows == 1000 * (i + 1)
    assert len(seen) == 3


@pytest.mark.parametrize("stop", [1, 4, 9])
@pytest.mark.parametrize("fails", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_pass_goes_on_where_it_ended(table, tmp_path, monkeypatch, stop, fails):
    write, written = Block.write, []

    def stopped(self, path):
        if len(written) == stop:
            raise fails
        written.append(path)
        write(self, path)

    monkeypatch.setattr(Block, "write", stopped)
    with blocks_of(100), pytest.raises(fails):
        md.scan(table, cache=tmp_path / "cache")
    monkeypatch.undo()
    seen = reading(monkeypatch)
    with blocks_of(100):
        data = md.scan(table, cache=tmp_path / "cache")
    assert len(seen) == 10 - stop
    assert same(data, md.read(table))


def test_an_interrupted_second_pass_goes_on_where_it_ended(table, tmp_path, monkeypatch):
    write, written = store.write_sealed, []

    def stopped(path, facts, parts=()):
        if len(written) == 4:
            raise KeyboardInterrupt
        written.append(path.name)
        write(path, facts, parts)

    monkeypatch.setattr(store, "in_order", lambda makers, _: (make() for make in makers))
    monkeypatch.setattr(store, "write_sealed", stopped)
    with blocks_of(100, whole=False), pytest.raises(KeyboardInterrupt):
        md.scan(table, cache=tmp_path / "cache")
    again = []
    monkeypatch.setattr(store, "write_sealed", lambda path, *rest: (again.append(path.name), write(path, *rest)))
    with blocks_of(100, whole=False):
        assert same(md.scan(table, cache=tmp_path / "cache"), md.read(table))
    assert not set(written) & set(again)
    assert len(again) == 6 + 1


def test_a_cache_in_the_folder_is_no_part_of_the_table(table, tmp_path):
    for _ in range(2):
        assert md.scan(tmp_path, cache=tmp_path / "cache").n_rows == 1000
        assert md.scan(tmp_path / "**" / "*", cache=tmp_path / "cache").n_rows == 1000


@pytest.mark.parametrize("compress", [None, "gzip"])
def test_a_compressed_or_columnar_file_goes_on_where_it_ended(table, tmp_path, monkeypatch, compress):
    import gzip

    if compress:
        path = tmp_path / "table.csv.gz"
        path.write_bytes(gzip.compress(table.read_bytes()))
    else:
        path = tmp_path / "table.parquet"
        pl.read_csv(table).write_parquet(path, row_group_size=90)
    write, written = Block.write, []

    def stopped(self, path):
        if len(written) == 5:
            raise KeyboardInterrupt
        written.append(path)
        write(self, path)

    monkeypatch.setattr(Block, "write", stopped)
    with blocks_of(100), pytest.raises(KeyboardInterrupt):
        md.scan(path, cache=tmp_path / "cache")
    monkeypatch.undo()
    with blocks_of(100):
        assert same(md.scan(path, cache=tmp_path / "cache"), md.read(path))


@pytest.mark.parametrize("damage", ["cut", "flip", "gone", "empty"])
@pytest.mark.parametrize("what", ["sources", "tables"])
def test_damaged_files_are_noticed_and_mended(table, tmp_path, damage, what):
    with blocks_of(100, whole=False):
        md.scan(table, cache=tmp_path / "cache")
        suffix = "block" if what == "sources" else "codes"
        (victim,) = (tmp_path / "cache" / what).glob(f"*/00000004.{suffix}")
        content = victim.read_bytes()
        half = len(content) // 2
        flipped = content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :]
        {
            "cut": lambda: victim.write_bytes(content[:-5]),
            "flip": lambda: victim.write_bytes(flipped),
            "gone": victim.unlink,
            "empty": lambda: victim.write_bytes(b""),
        }[damage]()
        if what == "tables" and damage == "flip":  # which only shows when it is used
            with pytest.raises(DataError, match=r"a packed file is damaged .* scan the table again, which mends it"):
                md.scan(table, cache=tmp_path / "cache").to_dataset()
        assert same(md.scan(table, cache=tmp_path / "cache"), md.read(table))
        assert victim.read_bytes() == content


def test_a_full_disk_is_said_and_leaves_nothing_that_looks_whole(table, tmp_path, monkeypatch):
    fsync, calls = os.fsync, []

    def full(file):
        calls.append(file)
        if len(calls) > 6:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(file)

    monkeypatch.setattr(sealed.os, "fsync", full)
    with blocks_of(100), pytest.raises(DataError, match="the disk is full: make room there, or pass cache="):
        md.scan(table, cache=tmp_path / "cache")
    assert not list((tmp_path / "cache").rglob("*.part"))
    monkeypatch.undo()
    seen = reading(monkeypatch)
    with blocks_of(100):
        assert same(md.scan(table, cache=tmp_path / "cache"), md.read(table))
    assert len(seen) == 5  # what was whole is used


def test_a_folder_that_cannot_be_made_is_said(table, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"cache: .* cannot be written to"):
        md.scan(table, cache=tmp_path / "file" / "cache")


def test_sealed_files_are_whole_or_broken(tmp_path):
    path = tmp_path / "file"
    write_sealed(path, {"a": 1}, [b"bytes", b"", b"more"])
    facts, content = read_sealed(path)
    assert (facts, content.tobytes()) == ({"a": 1}, b"bytesmore")
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(Broken):
            read_sealed(path)
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(Broken):
            read_sealed(path)


def test_a_lazy_frame_leaves_nothing_behind(tmp_path):
    frame = pl.LazyFrame({"a": ["x", "y"] * 50, "b": ["u", "v", "v", "u"] * 25})
    data = md.scan(frame, cache=tmp_path)
    assert same(data, md.read(frame))
    assert len(list(tmp_path.rglob("*.codes"))) == 1
    some = data.select(["b"])
    del data
    assert some.observed("b").tolist() == [50, 50]
    del some
    assert not list(tmp_path.rglob("*.codes")) + list(tmp_path.rglob("*.block"))


def test_the_environment_says_where_the_cache_is(table, tmp_path, monkeypatch):
    monkeypatch.setenv("MAPDAG_CACHE", str(tmp_path / "there"))
    data = md.scan(table)
    assert (tmp_path / "there") in data.blocks.folder.parents
    monkeypatch.delenv("MAPDAG_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    from mapdag.data.packed.sealed import cache_folder

    assert cache_folder() == tmp_path / "xdg" / "mapdag" or sys.platform != "linux"


# Real processes --------------------------------------------------------------------------------------------------

SCAN = """
import sys
sys.path.insert(0, sys.argv[3])
from scanning import blocks_of
import mapdag as md
with blocks_of(500):
    md.scan(sys.argv[1], cache=sys.argv[2])
"""


def start(table, cache):
    command = [sys.executable, "-c", SCAN, str(table), str(cache), str(Path(__file__).parent)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


@pytest.fixture
def long_table(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "long.csv"
    pl.DataFrame({f"c{i}": rng.choice(["x", "y", "z"], 100_000) for i in range(4)}).write_csv(path)
    return path


@pytest.mark.slow
def test_killed_processes_lose_nothing_that_was_whole(long_table, tmp_path):
    cache = tmp_path / "cache"
    done = 0
    for _ in range(6):
        process = start(long_table, cache)
        while process.poll() is None and len(list(cache.rglob("*.block"))) < min(done + 25, 200):
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        now = len(list(cache.rglob("*.block")))
        assert now >= done
        done = now
    with blocks_of(500):
        assert same(md.scan(long_table, cache=cache), md.read(long_table))
    assert not list(cache.rglob("*.part"))


@pytest.mark.slow
def test_processes_may_scan_the_same_file_at_once(long_table, tmp_path):
    processes = [start(long_table, tmp_path / "cache") for _ in range(3)]
    for process in processes:
        output, _ = process.communicate()
        assert process.returncode == 0, output.decode()
    with blocks_of(500):
        assert same(md.scan(long_table, cache=tmp_path / "cache"), md.read(long_table))


def test_the_cache_is_shown_and_cleared(table, tmp_path, monkeypatch, run):
    import json

    monkeypatch.setenv("MAPDAG_CACHE", str(tmp_path / "cache"))
    assert run("cache")[1].endswith("cache: 0.0 MB\n")
    md.scan([table, table])
    found = json.loads(run("cache", "--json")[1])
    assert [(each["what"], each["of"]) for each in found["entries"]] == [
        ("rows", str(table)),
        ("codes", f"{table} and 1 more"),
    ]
    assert found["bytes"] == sum(path.stat().st_size for path in (tmp_path / "cache").rglob("*") if path.is_file())
    code, out, _ = run("cache", "--clear")
    assert (code, out) == (0, f"{tmp_path / 'cache'}: 0.0 MB\n")
    assert same(md.scan(table), md.read(table))


def test_progress_is_told_in_megabytes(tmp_path):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({f"c{i}": rng.choice(["x" * 9, "y" * 9], 40_000) for i in range(4)})
    frame.write_csv(tmp_path / "1.csv")
    frame.write_parquet(tmp_path / "2.parquet")
    told = []
    with blocks_of(10_000):
        md.scan(
            [tmp_path / "1.csv", tmp_path / "2.parquet"], cache=tmp_path / "c", progress=lambda *at: told.append(at)
        )
    assert told == sorted(told)
    assert len(told) == 10
    assert told[0][0] < told[-1][0] == told[-1][1] == 2
