"""Loading of the golden figures (see tests/golden/README.md)."""

import functools
import gzip
import json
from pathlib import Path

import mapdag as md

GOLDEN = Path(__file__).parent / "golden"
SETS = ["alarm_509", "asia_1000", "child_115", "child_1150", "insurance_1000", "sachs_500", "water_1000"]


@functools.cache
def figures(name):
    return json.loads(gzip.decompress((GOLDEN / f"{name}.json.gz").read_bytes()))


@functools.cache
def dataset(name):
    """Return a golden data set with its declared levels; files hold codes."""
    levels = figures(f"{name.split('_')[0]}.levels")
    lines = gzip.decompress((GOLDEN / f"{name}.csv.gz").read_bytes()).decode().split()
    names = lines[0].split(",")
    codes = [[int(code) for code in line.split(",")] for line in lines[1:]]
    return md.Dataset.from_codes(codes, names=names, levels=[levels[n] for n in names])
