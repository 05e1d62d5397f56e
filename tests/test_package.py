"""The public surface, and what importing it costs."""

import pickle
import subprocess
import sys

import pytest

import mapdag


def test_the_public_surface_is_sorted_complete_and_loadable():
    assert mapdag.__all__ == sorted(mapdag.__all__, key=mapdag.__all__.index)
    for name in mapdag.__all__:
        assert getattr(mapdag, name) is not None
    assert set(mapdag._WHERE) | set(mapdag._MODULES) == set(mapdag.__all__)
    assert set(mapdag.__all__) <= set(dir(mapdag))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        mapdag.nonsense  # noqa: B018 - looking is the test


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import mapdag, sys; mapdag.MU(c=1) + mapdag.BDs(); mapdag.DAG(['A', 'B']);"
        "print([m for m in ('numba', 'polars', 'pandas', 'scipy', 'rich', 'typer') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


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
