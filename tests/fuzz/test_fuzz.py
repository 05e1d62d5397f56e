"""A short campaign over all that takes inputs, the same each time; `make fuzz` runs a long one."""

from __future__ import annotations

import os
from dataclasses import replace

import campaign
import pytest
from targets import TARGETS

from mapdag.data.panics import without_reports

#: How many inputs of each kind: together some seconds.
SHORT = {
    "cells of tables": 2000,
    "values of cells": 300,
    "columns in memory": 200,
    "tables with options": 500,
    "compressed and columnar": 150,
    "scans of tables": 100,
    "checks of tables": 100,
    "files of levels": 30,
    "files of tiers": 60,
    "networks": 1000,
    "graphs": 1000,
    "large files": 20,
    "hostile names": 2,
    "objectives": 200,
    "designs": 800,
    "results of studies": 60,
    "requests to the explorer": 100,
    "sessions of the explorer": 60,
    "bytes to the explorer": 30,
    "command lines": 20,
    "searches": 8,
    "proofs": 5,
    "rows with gaps": 15,
    "devices": 10,
}

#: Inputs that once led to something else than a result or an error of ours, by their numbers.
KEPT = {
    "cells of tables": [2703, 3275, 8152, 11870, 14195, 20973, 22573, 100005, 1185841, 20033471],
    "tables with options": [8, 13, 247, 1351, 100047],
    "compressed and columnar": [249, 309, 862],
    "scans of tables": [26, 81, 386, 846, 1196, 1241, 1359, 1654, 2139, 2241, 20000483, 20001002, 20001946],
    "checks of tables": [425],
    "large files": [7, 548, 1777, 2433, 7514],
    "results of studies": [27, 5000019, 5000034, 5000042, 5000064, 5000097, 5000164, 5000226, 5000285, 5000539],
    "requests to the explorer": [93, 5000209, 5000657],
    "searches": [1110, 1430, 2212],
    "proofs": [34, 5000093, 6000297],
}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_nothing_hurts(target):
    if target.name == "large files":  # whose time depends on the machine: the campaign looks at it
        target = replace(target, seconds=None)
    numbers = [*range(SHORT[target.name]), *KEPT.get(target.name, [])]
    assert campaign.run(target, numbers).failures == []


def test_panics_of_polars_are_errors_of_ours_and_nothing_else(capfd):
    """Some of these made it panic, with a report of many lines on standard error."""
    (target,) = (each for each in TARGETS if each.name == "compressed and columnar")
    tally = campaign.run(target, iter([727, 862, 1504, 2424, 2947, 3353, 3837]))
    assert tally.failures == []
    assert capfd.readouterr().err == ""


def test_what_others_write_to_standard_error_meanwhile_is_kept(capfd):
    with without_reports(), without_reports():
        os.write(2, b"before\n")
        os.write(
            2, b"\nthread '<unnamed>' (7) panicked at src/x.rs:1:1:\nindex out of bounds\nstack backtrace:\n  0: x\n"
        )
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "before\nafter\n"
