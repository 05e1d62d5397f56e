"""The data sets of the benchmarks: from a folder of files, or drawn from the bundled networks.

A folder has `<name>_<n>.csv.gz`, one column of codes per node, and `<name>_levels.json.gz`, the declared levels.
Without one, the same networks are sampled at the same n with a fixed seed: anybody can repeat the measurements.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mapdag import Dataset

SEED = 1


@dataclass(frozen=True)
class Sample:
    """A network and a number of rows."""

    network: str
    n: int

    @property
    def key(self) -> str:
        return f"{self.network}_{self.n}"

    def __str__(self) -> str:
        return f"{self.network} {self.n}"


ALARM = Sample("alarm", 5_000)
DIABETES = Sample("diabetes", 5_000)
#: The sets on which every peer has figures.
PEERS = (
    ALARM,
    Sample("alarm", 50_000),
    Sample("hailfinder", 13_280),
    Sample("hepar2", 7_265),
    Sample("win95pts", 5_740),
    Sample("pathfinder", 7_208),
    Sample("andes", 5_785),
    Sample("pigs", 5_618),
)
EVERY = (*PEERS, DIABETES)


def load(sample: Sample, folder: Path | None) -> Dataset:
    """A data set, from its files where the folder has them."""
    import mapdag as md

    path = folder / f"{sample.key}.csv.gz" if folder else None
    if folder is None or path is None or not path.exists():
        return md.network(sample.network).sample(sample.n, seed=SEED)
    levels = json.loads(gzip.decompress((folder / f"{sample.network}_levels.json.gz").read_bytes()))
    with gzip.open(path, "rt", encoding="utf-8") as file:
        names = [name.strip('"') for name in file.readline().rstrip("\n").split(",")]
        codes = np.loadtxt(file, delimiter=",", dtype=np.uint16, ndmin=2)
    return md.Dataset.from_codes(codes, names=names, levels={name: levels[name] for name in names})


def save(data: Dataset, folder: Path, *, text: bool = True) -> None:
    """Leave a data set where contenders in other processes find it: codes and levels; the codes as text, too, for R."""
    np.save(folder / "codes.npy", data.codes)
    described = {"names": list(data.names), "levels": {name: list(data.levels[name]) for name in data.names}}
    (folder / "levels.json").write_text(json.dumps(described), encoding="utf-8")
    if not text:
        return
    header = ",".join(data.names)
    cards = ",".join(str(len(data.levels[name])) for name in data.names)  # for readers without JSON
    np.savetxt(folder / "codes.csv", data.codes.T, fmt="%d", delimiter=",", header=f"{header}\n{cards}", comments="")


def reload(folder: Path) -> tuple[list[str], dict[str, list[str]], Any]:
    """Names, levels and codes (one row per variable) that `save` left."""
    described = json.loads((folder / "levels.json").read_text(encoding="utf-8"))
    return described["names"], described["levels"], np.load(folder / "codes.npy")
