"""Opening and writing files: one clear sentence when it fails, and never half a file."""

import os
import stat
import sys
from pathlib import Path

import pytest

from mapdag.errors import FileError, MapdagError
from mapdag.io import files, read_graph, read_network, write_network
from mapdag.io.files import write_text
from mapdag.reference import network

POSIX = pytest.mark.skipif(os.name != "posix", reason="permissions and devices of POSIX systems")


@pytest.mark.parametrize("read", [read_network, read_graph])
def test_a_missing_file_is_named(read, tmp_path):
    with pytest.raises(FileError, match=r"net\.bif: there is no such file$"):
        read(tmp_path / "net.bif")
    with pytest.raises(FileError, match=r"alarm: there is no such file; if you meant .* mapdag\.network\('alarm'\)"):
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
    with pytest.raises(FileError, match=r"net\.bif cannot be written: No such file or directory"):
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
    with pytest.raises(FileError, match="/dev/full cannot be written: No space left on device"):
        write_network(network("asia"), "/dev/full", format="bif")


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "net.bif"
    path.write_text("old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(FileError, match=r"net\.bif cannot be written: No space left on device"):
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
