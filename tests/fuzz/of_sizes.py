"""Large inputs: something repeated in the middle of a file, so often that squares of its size would show.

``python tests/fuzz/of_sizes.py`` prints what each doubling of such files takes, for those that once took too long.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))

import inputs
from of_tables import read_levels, read_tiers
from target import Target, folder

import mapdag as md
from mapdag.objective.notation import parse
from mapdag.study.design import read_design as design_of

LARGEST = 900_000  # bytes


def read_design_file(data: bytes) -> None:
    """Read the design of a study from its file."""
    path = folder() / "large.toml"
    path.write_bytes(data)
    design_of(path)


def read_objective(data: bytes) -> None:
    """Read the text of an objective."""
    parse(data.decode("utf-8", "replace"))


#: Who reads, and files that are as they should be.
READERS: dict[str, tuple[Callable[[Any], object], list[str]]] = {
    "network": (md.read_network, [*inputs.FORMATS]),
    "graph": (md.read_graph, [*inputs.GRAPHS]),
    "table": (md.read, ["a,b\nx,1\ny,2\n", 'a;b\n"x";"1"\n"y";2\n', "a b\nx 1\ny 2\n", "a\tb\nx\t1\n"]),
    "check": (md.check, ["a,b\nx,1\ny,2\n"]),
    "levels": (read_levels, ['{"a": ["x", "y"], "b": [1, 2]}']),
    "tiers": (read_tiers, ["a,b\nc\n", '[["a", "b"], ["c"]]']),
    "design": (read_design_file, ['networks = ["asia"]\nsizes = ["n=50"]\nobjectives = ["BIC"]\nreplicates = 1\n']),
    "objective": (read_objective, ["MU(c=1)+BDs(alpha=1)", 'CS({"a->b": 0.5})+BIC(k=1)']),
}


class Large(NamedTuple):
    """A file with something repeated in it; pieces with a number have another one each time."""

    reader: str
    before: str
    pieces: tuple[str, ...]  # "#" stands for a number
    after: str
    size: int

    def content(self) -> bytes:
        """Return the bytes of the file."""
        once = "".join(self.pieces).replace("#", "123456")
        times = self.size // max(len(once.encode("utf-8", "surrogatepass")), 1)
        piece = "".join(self.pieces)
        middle = "".join(piece.replace("#", str(i)) for i in range(times)) if "#" in piece else piece * times
        return f"{self.before}{middle}{self.after}".encode("utf-8", "surrogatepass")[:LARGEST]


def large(rng: random.Random) -> Large:
    """Repeat something, most often in the middle of a file that is as it should be."""
    reader = rng.choice(list(READERS))
    whole = rng.choice(READERS[reader][1])
    whole = inputs.written(whole).decode() if whole in (*inputs.FORMATS, *inputs.GRAPHS) else whole
    place = rng.randrange(len(whole) + 1)
    words = [*inputs.SYNTAX, *inputs.TEXT, *whole.split(), *"abc"]
    pieces = [each for each in rng.choices(words, k=rng.choice([1, 1, 2, 3, 5])) if 0 < len(each) < 60]
    if rng.random() < 0.4:  # a part of the file itself
        start = rng.randrange(len(whole))
        pieces.insert(rng.randrange(len(pieces) + 1), whole[start : start + rng.choice([1, 3, 10, 40])])
    if rng.random() < 0.4:
        pieces.insert(rng.randrange(len(pieces) + 1), rng.choice(["#", "a#", '"a#"', "#,", " #"]))
    after = rng.choice(["", whole[place:], rng.choice(words)])
    return Large(reader, whole[:place], tuple(pieces) or ("x",), after, rng.choice([LARGEST // 4, LARGEST]))


def read_large(given: Large) -> None:
    """Read it: in less than a second, as all that has less than a megabyte."""
    READERS[given.reader][0](given.content())


#: What once took squares of its size, or a second for a megabyte.
ONCE_SLOW = {
    "BIF, blanks": Large("network", "variable a { type discrete [1] { x }; }\nprobability ( a ) { ( )", (" ",), "", 0),
    "BIF, escapes": Large("network", 'network x { property "', ('\\"',), "\n", 0),
    "BIF, labels": Large("network", "variable a { type discrete [ 9 ] { ", ("l#,",), "l0 }; }\n", 0),
    "BIF, parents": Large("network", "variable a { type discrete [ 1 ] { x }; }\nprobability ( a | ", ("a, ",), ")", 0),
    "NET, braces": Large("network", "net\n{\n}\n", ("{}",), "", 0),
    "DOT, brackets": Large("graph", "digraph {", ("[]",), "}", 0),
    "DOT, subgraphs": Large("graph", "digraph {", ("a {} ",), "}", 0),
    "arcs, one again and again": Large("graph", "from,to\n", ("a,b\n",), "", 0),
    "arcs": Large("graph", "from,to\n", ("a#,b\n",), "", 0),
    "designs, dots": Large("design", 'networks = ["asia"]\nx', ("0.5",), "=1\n", 0),
    "tables, quotes": Large("table", "a,b\n", ('"x""y",1\n',), "", 0),
    "tables, identifiers": Large("check", "a,b\n", ("a#,b#\n",), "", 0),
}  # fmt: skip


def main() -> None:
    """Print what each doubling takes."""
    sizes = [LARGEST // 8, LARGEST // 4, LARGEST // 2, LARGEST]
    print(" | ".join([f"{'seconds of the processor':28}", *(f"{size // 1000:>5} kB" for size in sizes)]))  # noqa: T201
    for name, given in ONCE_SLOW.items():
        target = Target(name, inputs.table, read_large, 0)
        seconds = []
        for size in sizes:
            took = []
            for _ in range(3):
                began = time.process_time()
                target.check(given._replace(size=size))
                took.append(time.process_time() - began)
            seconds.append(min(took))
        print(" | ".join([f"{name:28}", *(f"{each:8.3f}" for each in seconds)]), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
