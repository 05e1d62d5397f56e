"""Opening and writing files: one clear sentence when it fails, and never half a file."""

import os
import stat
import sys
from pathlib import Path

import pytest

from mapdag.errors import FileError, MapdagError, ParameterError
from mapdag.io import (
    GRAPH_SUFFIXES,
    NETWORK_SUFFIXES,
    check_writable,
    files,
    formats,
    read_graph,
    read_network,
    write_graph,
    write_network,
)
from mapdag.io.files import write_text
from mapdag.reference import network

POSIX = pytest.mark.skipif(os.name != "posix", reason="permissions and devices of POSIX systems")


@pytest.mark.parametrize("read", [read_network, read_graph])
def test_a_missing_file_is_named(read, tmp_path):
    with pytest.raises(FileError, match=r"net\.bif: there is no such file$"):
        read(tmp_path / "net.bif")
    with pytest.raises(FileError, match=r"alarm: there is no such file; if you meant .* mapdag\.network\('alarm'\)"):
        read("alarm")


@pytest.mark.parametrize("read", [read_network, read_graph])
def test_a_folder_named_like_a_bundled_network_is_told_apart(read, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "alarm").mkdir()
    with pytest.raises(FileError, match=r"alarm is a directory, not a file; .* mapdag\.network\('alarm'\)"):
        read("alarm")


def test_errors_about_files_are_also_os_errors(tmp_path):
    with pytest.raises(OSError, match="no such file"):
        read_network(tmp_path / "net.bif")
    assert issubclass(FileError, MapdagError)


def test_a_directory_is_no_file(tmp_path):
    with pytest.raises(FileError, match=f"{tmp_path.name} is a directory, not a file"):
        read_network(tmp_path)
    with pytest.raises(FileError, match=r"cannot be written: .*irectory"):
        write_network(network("asia"), tmp_path, format="bif")


def test_a_path_that_makes_no_sense_is_an_error_of_ours():
    with pytest.raises(FileError, match="cannot be read"):
        read_network("a\0b.bif")
    with pytest.raises(FileError, match="cannot be written"):
        write_text("a\0b.bif", "x")


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileError, match=r"net\.bif cannot be written: there is no folder .*nowhere"):
        write_network(network("asia"), tmp_path / "nowhere" / "net.bif")


@POSIX
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="nothing is forbidden to root")
def test_permissions_are_named(tmp_path):
    path = tmp_path / "net.bif"
    write_network(network("asia"), path)
    path.chmod(0)
    with pytest.raises(FileError, match="cannot be read: Permission denied"):
        read_network(path)


def test_refused_permissions_are_named(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(FileError, match=r"net\.bif cannot be read: Permission denied"):
        read_network(tmp_path / "net.bif")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device_is_named():
    with pytest.raises(FileError, match="/dev/full cannot be written: no space left on the disk"):
        write_network(network("asia"), "/dev/full", format="bif")


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "net.bif"
    path.write_text("old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(FileError, match=r"net\.bif cannot be written: no space left on the disk"):
        write_network(network("asia"), path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["net.bif"]


def test_writing_leaves_no_other_files(tmp_path):
    write_network(network("asia"), tmp_path / "net.bif.gz")
    write_network(network("asia"), tmp_path / "net.bif.gz")
    assert [file.name for file in tmp_path.iterdir()] == ["net.bif.gz"]


def test_equal_networks_make_equal_files(tmp_path):
    for name in ("a.bif.gz", "b.bif.gz"):
        write_network(network("asia"), tmp_path / name)
    assert (tmp_path / "a.bif.gz").read_bytes() == (tmp_path / "b.bif.gz").read_bytes()


@POSIX
def test_links_and_permissions_of_an_existing_file_stay(tmp_path):
    target, link = tmp_path / "target.bif", tmp_path / "link.bif"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_network(network("asia"), link)
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert read_network(target) == network("asia")


@POSIX
def test_new_files_have_ordinary_permissions(tmp_path):
    before = os.umask(0o022)
    try:
        write_network(network("asia"), tmp_path / "net.bif")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "net.bif").stat().st_mode) == 0o644


def test_the_home_directory_can_be_abbreviated(tmp_path, monkeypatch):
    monkeypatch.setenv("USERPROFILE" if sys.platform == "win32" else "HOME", str(tmp_path))
    write_network(network("asia"), "~/net.bif")
    assert (tmp_path / "net.bif").exists()
    assert read_network("~/net.bif") == network("asia")


def test_an_unknown_user_has_no_home_directory():
    with pytest.raises(FileError, match="home directory"):
        read_network("~nobody-of-that-name/net.bif")


# Asking beforehand ------------------------------------------------------------------------------------------------


def test_checking_leaves_no_trace(tmp_path):
    old = tmp_path / "old.bif"
    old.write_text("old")
    check_writable(old, NETWORK_SUFFIXES)
    check_writable(tmp_path / "new.BIF.gz", NETWORK_SUFFIXES)
    check_writable(tmp_path / "anything")
    assert [file.name for file in tmp_path.iterdir()] == ["old.bif"]
    assert old.read_text() == "old"


@pytest.mark.parametrize("name", ["graph", "graph.png", "graph.gz", "graph.bif"])
def test_checking_names_the_endings_that_are_known(name, tmp_path):
    with pytest.raises(ParameterError, match=r"does not tell the format: .*one of \.json, .*\.csv \(.*also with \.gz"):
        check_writable(tmp_path / name, GRAPH_SUFFIXES)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere/net.bif", r"net\.bif cannot be written: there is no folder .*nowhere$"),
        ("file/net.bif", r"net\.bif cannot be written: there is no folder .*file$"),
        ("folder.bif", r"folder\.bif cannot be written: it is a directory"),
        ("a\0b.bif", "cannot be written"),
        ("x" * 300 + ".bif", "cannot be written: .*[Nn]ame too long"),
    ],
)
def test_checking_names_what_writing_would(name, message, tmp_path):
    (tmp_path / "folder.bif").mkdir()
    (tmp_path / "file").touch()
    for act in (check_writable, lambda path: write_network(network("asia"), path)):
        with pytest.raises(FileError, match=message):
            act(tmp_path / name)


def test_checking_notices_a_folder_that_is_closed(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FileError, match=r"net\.bif cannot be written: Permission denied"):
        check_writable(tmp_path / "net.bif", NETWORK_SUFFIXES)


@POSIX
def test_checking_does_not_touch_pipes_and_devices(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    check_writable(tmp_path / "pipe")  # opening it would wait for a reader
    check_writable(os.devnull)


@pytest.mark.parametrize(
    ("write", "value", "what"),
    [(write_network, network("asia"), "bif"), (write_graph, network("asia").dag, "json")],
    ids=["network", "graph"],
)
def test_nothing_is_computed_for_a_file_that_cannot_be_written(write, value, what, tmp_path, monkeypatch):
    def never(_):
        raise AssertionError

    monkeypatch.setattr(formats, "to_bif", never)
    monkeypatch.setattr(formats.schema, "graph_to_json", never)
    with pytest.raises(FileError, match="no folder"):
        write(value, tmp_path / "nowhere" / f"x.{what}")


def test_the_endings_are_those_that_can_be_written(tmp_path):
    net = network("cancer")
    for suffix in NETWORK_SUFFIXES:
        write_network(net, tmp_path / f"net{suffix}")
        assert read_network(tmp_path / f"net{suffix}") == net
    for suffix in GRAPH_SUFFIXES:
        write_graph(net.dag, tmp_path / f"graph{suffix}")
        assert read_graph(tmp_path / f"graph{suffix}") == net.dag
        zipped = (tmp_path / f"graph{suffix}").read_bytes().startswith(b"\x1f\x8b")
        assert zipped == suffix.endswith(".gz")
