"""The commands that the explorer writes do what they say, and nothing that names in the data say."""

import json
import os
import shutil
import subprocess

import pytest

from mapdag.explorer.library import Source
from mapdag.explorer.recipe import command_lines, python_lines
from mapdag.explorer.settings import Settings

HOSTILE = [
    "x\nMAPDAG\ntouch canary\nMAPDAG", "MAPDAG", "x\nMAPDAG\nMAPDAG2\ntouch canary", "$(touch canary)",
    "`touch canary`", "'; touch canary; '", '"; touch canary; "', "-x", "--out", "a b", "\\", "é\u2028", "#", "*", "~",
    "x\r\ntouch canary",
]  # fmt: skip


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_never_run_by_a_shell(name, tmp_path):
    arcs = {"required": ((name, "b"),), "forbidden": (("b", name),), "elicited": ((name, "b", 0.5),)}
    settings = Settings(**arcs, tiers=((name,), ("b",)), prior="CS")
    options = {
        "drop": [name],
        "levels": {name: [name, "y"]},
        "missing_values": [name],
        "discretize": {name: "quantile"},
    }
    source = Source(name, options=options, like=name)
    stub = tmp_path / "bin" / "mapdag"
    stub.parent.mkdir()
    stub.write_text('#!/bin/sh\nfor each; do printf "%s\\0" "$each"; done\n')
    stub.chmod(0o755)
    environment = {"PATH": f"{stub.parent}:{os.environ['PATH']}"}
    found = subprocess.run(
        ["bash"], input=command_lines(source, settings, "hc").encode(), capture_output=True, cwd=tmp_path,
        env=environment, check=True,
    )  # fmt: skip
    assert found.stderr == b""
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "bin", "forbidden.csv", "levels.json", "required.csv", "tiers.json",
    ]  # fmt: skip
    given = found.stdout.decode().split("\0")
    assert given[0] == "learn"
    assert given[1] in {name, f"./{name}"}
    assert {name, f"--drop={name}"} & set(given)
    assert json.loads((tmp_path / "tiers.json").read_text()) == [[name], ["b"]]
    assert json.loads((tmp_path / "levels.json").read_text()) == {name: [name, "y"]}


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_never_run_by_python(name):
    settings = Settings(required=((name, "b"),), tiers=((name,), ("b",)))
    code = python_lines(Source(name, options={"drop": [name]}, like=name), settings, "hc")
    seen = {}

    class Stub:
        def __getattr__(self, called):
            return lambda *values, **options: seen.setdefault(called, (values, options))

    lines = code.replace("import mapdag as md\n", "").replace("print(result)\n", "")
    exec(compile(lines, "recipe", "exec"), {"md": Stub(), "__builtins__": {}})
    assert seen["read"][0] == (name,)
    assert seen["read"][1]["drop"] == [name]
    assert [list(arc) for arc in seen["learn"][1]["required"]] == [[name, "b"]]
