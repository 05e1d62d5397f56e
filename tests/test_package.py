"""The public surface, and what importing it costs."""

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mapdag
from mapdag import kernels
from mapdag.search import warmup


def test_the_public_surface_is_complete_and_loadable():
    assert len(set(mapdag.__all__)) == len(mapdag.__all__)
    for name in mapdag.__all__:
        assert getattr(mapdag, name) is not None
    assert set(mapdag._WHERE) | set(mapdag._MODULES) == set(mapdag.__all__)
    assert set(mapdag.__all__) <= set(dir(mapdag))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        mapdag.nonsense  # noqa: B018 - looking is the test


def test_importing_the_package_loads_nothing_heavy():
    heavy = ("numba", "polars", "pandas", "scipy", "rich", "typer", "igraph", "matplotlib", "sklearn", "dask")
    code = (
        "import mapdag, sys; mapdag.MU(c=1) + mapdag.BDs(); mapdag.DAG(['A', 'B']);"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("asked", [["--version"], ["--help"], ["learn", "--help"], ["study", "--help"]])
def test_help_loads_nothing_heavy(asked):
    heavy = ("numpy", "numba", "polars", "rich", "matplotlib")
    code = f"import sys; sys.argv[1:] = {asked}\nfrom mapdag.cli import main\ntry:\n  main()\nexcept SystemExit:\n"
    code += f"  print('heavy:', [m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("heavy: []\n")


@pytest.mark.parametrize(
    "error",
    [
        mapdag.errors.CycleError(["A", "B", "A"]),
        mapdag.errors.NotationError("no", "BDx", 2),
        mapdag.errors.FormatError("bad", "x.bif", 3, 4),
        mapdag.errors.DataError("bad column"),
        mapdag.errors.FileError("x.csv: no such file"),
    ],
)
def test_errors_cross_process_boundaries(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_every_file_with_kernels_is_found():
    root = Path(mapdag.__file__).parent
    using = {
        path
        for path in root.rglob("*.py")
        if re.search(r"^@(entry|inner|part)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert using <= set(kernels._kernel_files(root))


def test_only_one_module_compiles():
    """What it compiles survives damaged caches and Ctrl-C; what anybody else did would not."""
    root = Path(mapdag.__file__).parent
    direct = re.compile(
        r"^from numba import .*jit|numba\.n?jit|^import numba|^from numba import .*(cfunc|vectorize)", re.MULTILINE
    )
    assert {path.name for path in root.rglob("*.py") if direct.search(path.read_text(encoding="utf-8"))} == {
        "kernels.py"
    }


@pytest.fixture
def package(tmp_path):
    for name in ("counts/rows.py", "search/climbing/climb.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text("from mapdag.kernels import entry\n")
    return tmp_path


def test_a_changed_kernel_drops_the_caches_of_all(package):
    cached = package / "search" / "climbing" / "__pycache__" / "climb.nbi"
    cached.parent.mkdir()

    def survives():
        cached.write_text("")
        kernels._drop_stale_caches(package)
        return cached.exists()

    assert not survives()
    assert survives()
    os.utime(package / "counts" / "rows.py", ns=(1, 1))
    assert not survives()
    assert survives()
    new = package / "counts" / "more.py"  # whose functions a file that changes begins to call
    new.write_text("from mapdag.kernels import inner\n")
    os.utime(package / "counts" / "rows.py", ns=(2, 2))
    assert not survives()
    assert survives()
    os.utime(new, ns=(3, 3))
    assert not survives()
    new.unlink()
    assert not survives()
    assert survives()


def test_caches_survive_the_first_run_where_python_writes_no_bytecode(package):
    kernels._drop_stale_caches(package)  # at the first import, before numba has made the folders
    cached = package / "search" / "climbing" / "__pycache__" / "climb.nbi"
    cached.parent.mkdir()
    cached.write_text("")
    kernels._drop_stale_caches(package)
    assert cached.exists()


def test_a_second_process_compiles_only_where_nothing_is_compiled(monkeypatch, tmp_path):
    started = []
    monkeypatch.setattr(warmup.subprocess, "Popen", lambda command, **options: started.append((command, options)))
    monkeypatch.setattr(warmup, "_FOLDER", tmp_path)
    monkeypatch.setattr(warmup, "_second", [])
    monkeypatch.setattr(warmup.os, "cpu_count", lambda: 2)
    assert not warmup.warm_up()  # the tests switch it off
    monkeypatch.delenv("MAPDAG_WARM_UP")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert warmup.warm_up()
    assert "compile_kernels" in started[0][0][-1]
    assert started[0][1]["env"]["MAPDAG_WARM_UP"] == "0"
    (tmp_path / "climbing" / "__pycache__").mkdir(parents=True)
    (tmp_path / "climbing" / "__pycache__" / "climb.climb-97.py311.1.nbc").touch()
    assert not warmup.warm_up()
    assert len(started) == 1


class Process:
    """A second process that takes some looks to finish."""

    def __init__(self, looks):
        self.looks = looks

    def poll(self):
        self.looks -= 1
        return None if self.looks >= 0 else 0


def test_what_the_second_process_has_begun_is_waited_for(monkeypatch, tmp_path):
    slept = []
    monkeypatch.setattr(warmup, "_FOLDER", tmp_path)
    monkeypatch.setattr(warmup.time, "sleep", slept.append)
    monkeypatch.setattr(warmup, "_second", [])
    warmup.wait_for("orders", "sweep")
    assert not slept
    monkeypatch.setattr(warmup, "_second", [Process(3)])  # which dies without having compiled anything
    warmup.wait_for("orders", "sweep")
    assert len(slept) == 3
    (tmp_path / "orders" / "__pycache__").mkdir(parents=True)
    (tmp_path / "orders" / "__pycache__" / "sweep.sweep-1.py311.1.nbc").touch()
    monkeypatch.setattr(warmup, "_second", [Process(10**6)])
    warmup.wait_for("orders", "sweep")
    assert len(slept) == 3
