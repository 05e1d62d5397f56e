"""Settings and fixtures shared by all tests."""

import os
import signal
import sys
import warnings

import pytest
from hypothesis import HealthCheck, settings

signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background, shells have it ignored
os.environ["MAPDAG_WARM_UP"] = "0"  # workers compile what they need themselves
os.environ["MAPDAG_QUIET"] = "1"  # and do so silently

# Numba compiles on first use, so the first example of a test can take seconds: no deadline. Examples are derandomised:
# a failure must be the same on every machine.
settings.register_profile(
    "mapdag", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("mapdag")


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command in this process; returns exit code, standard output and standard error."""
    from mapdag.cli import main

    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # the command replaces it

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["mapdag", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    return call
