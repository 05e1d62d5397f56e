"""Kernels on disk: whatever a killed, starved or rival process leaves behind, the next run computes the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = """
import sys
from mapdag.kernels import entry

@entry
def double(x):
    return x + x

if __name__ == "__main__":
    print(double(int(sys.argv[1])) if sys.argv[1].isdigit() else double(float(sys.argv[1])), end=" ")
    print(sum(double.stats.cache_hits.values()))
"""


@pytest.fixture
def call(tmp_path):
    """Run a small kernel in another process; returns what it computes, and whether it was found on disk."""
    script = tmp_path / "small.py"
    script.write_text(SOURCE)

    def run(argument, **environment):
        done = subprocess.run(
            [sys.executable, str(script), argument],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        assert "Traceback" not in done.stderr
        result, hits = done.stdout.split()
        return result, int(hits)

    return run


def cached(folder: Path, ending: str) -> Path:
    return next((folder / "__pycache__").glob(f"*.{ending}"))


def test_damaged_files_are_compiled_again(call, tmp_path):
    assert call("3") == ("6", 0)
    for ending in ("nbi", "nbc"):
        path = cached(tmp_path, ending)
        path.write_bytes(path.read_bytes()[:20])
        assert call("3") == ("6", 0)
    assert call("3") == ("6", 1)


def test_what_was_compiled_for_other_types_is_not_called(call, tmp_path):
    assert call("2.5") == ("5.0", 0)
    other = cached(tmp_path, "nbc").read_bytes()
    for path in (tmp_path / "__pycache__").iterdir():
        path.unlink()
    assert call("3") == ("6", 0)
    cached(tmp_path, "nbc").write_bytes(other)  # as if two processes had named their files alike
    assert call("3") == ("6", 0)


def test_a_disk_without_room_is_no_reason_to_stop(call, tmp_path):
    (tmp_path / "__pycache__").write_text("in the way of a folder")
    assert call("3", HOME="/proc/nowhere", XDG_CACHE_HOME="/proc/nowhere") == ("6", 0)
