"""What inputs are given to, and what must hold: a result or an error of ours, and no changed value."""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import io
import json
import lzma
import math
import random
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import inputs
import numpy as np

import mapdag as md
from mapdag.data.content import Content
from mapdag.data.delimited import from_text
from mapdag.errors import MapdagError
from mapdag.study.design import design_from
from scanning import blocks_of, same

LONGEST = 6000  # letters of a message


@dataclass(frozen=True)
class Target:
    """Something that takes inputs: `make` makes one of a random generator, `run` is to raise nothing but our errors."""

    name: str
    make: Callable[[random.Random], Any]
    run: Callable[[Any], object]
    share: float = 1.0  # of the inputs of a campaign

    def check(self, given: Any) -> bool:
        """Give it one input; tells whether it was accepted."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.run(given)
        except MapdagError as error:
            too_long = len(str(error)) > LONGEST
        else:
            return True
        assert not too_long, "a message longer than a screen"
        return False


# Tables ---------------------------------------------------------------------------------------------------------------


def read_cells(data: bytes) -> None:
    """Read a text table; what is accepted must be what the csv module, and pyarrow, find in it, cell by cell."""
    source = from_text(Content.of("x", data), ",", None)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    parts = [part if isinstance(part, list) else part.to_list() for part in source.parts]
    found = [["" if cell is None else str(cell).strip() for cell in row] for row in zip(*parts, strict=True)]
    header, rows = _by_csv(data)
    if len(header) > 1 and all(len(row) == len(header) + 1 for row in rows):
        return  # row names, which were left out with a warning
    assert source.names == header
    assert found == rows, _difference(found, rows)
    other = _by_arrow(data, len(header))
    assert other is None or found == other, f"pyarrow: {_difference(found, other or [])}"


def _difference(found: list[list[str]], expected: list[list[str]]) -> str:
    differing = [(i, a, b) for i, (a, b) in enumerate(zip(found, expected, strict=False)) if a != b]
    return f"{len(found)} rows instead of {len(expected)}; {differing[:2]}"


def _text(data: bytes) -> str:
    for encoding in ("utf-8-sig", "cp1252"):
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode(encoding)
    return data.decode("latin-1")


def _by_csv(data: bytes) -> tuple[list[str], list[list[str]]]:
    """Read with the csv module, blanks around cells taken off; blank lines are no rows, but for those of one column."""
    text = _text(data)
    if "\n" not in text:
        text = text.replace("\r", "\n")
    text = re.sub(r'\A("?)sep=[,;\t|]\1\r?\n', "", text)
    closed = _close_up(text)
    records = list(csv.reader(io.StringIO(closed, newline="\n"), skipinitialspace=True, strict=True))
    blank = [len(record) < 2 and not "".join(record).strip() for record in records]
    first = blank.index(False)
    header, rest = [name.strip() for name in records[first]], records[first + 1 :]
    if len(header) > 1:
        rows = [record for record, empty in zip(rest, blank[first + 1 :], strict=True) if not empty]
    else:
        while rest and not rest[-1]:
            rest.pop()
        rows = [record or [""] for record in rest]
    return header, [[cell.strip() for cell in row] for row in rows]


def _close_up(text: str) -> str:
    """Take off blanks after closing quotes, going through the text letter by letter."""
    kept, inside, start = [], False, True
    place = 0
    while place < len(text):
        letter = text[place]
        if inside:
            kept.append(letter)
            if letter == '"':
                if text[place + 1 : place + 2] == '"':
                    kept.append('"')
                    place += 1
                else:
                    inside = False
                    after = place + 1
                    while text[after : after + 1] in {" ", "\t"}:
                        after += 1
                    if text[after : after + 1] in {"", ",", "\n", "\r"}:
                        place = after - 1
        else:
            kept.append(letter)
            inside = start and letter == '"'
            start = letter in ",\n" or (start and letter in " \t" and not inside)
        place += 1
    return "".join(kept)


def _by_arrow(data: bytes, width: int) -> list[list[str]] | None:
    """Read with pyarrow, where it reads in the same way: in UTF-8, no blanks around quotes, more than one column."""
    try:
        import pyarrow as pa
        from pyarrow import csv as arrow
    except ImportError:
        return None
    odd = (b'" ', b' "', b'"\t', b'\t"', b"\xef\xbb\xbf", b"sep=", b"\x00")
    if width < 2 or not data.isascii() or any(mark in data for mark in odd) or b"\r" in data.replace(b"\r\n", b""):
        return None
    if re.search(rb'[^,\n\r"]"', data) or re.search(rb"^[ \t\r]*$", data.strip(b"\r\n"), re.MULTILINE):
        return None  # quotes inside of cells, blank lines
    try:
        found = arrow.read_csv(
            io.BytesIO(data),
            read_options=arrow.ReadOptions(autogenerate_column_names=True),
            parse_options=arrow.ParseOptions(newlines_in_values=True),
            convert_options=arrow.ConvertOptions(
                column_types={f"f{i}": pa.string() for i in range(width)}, strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    rows = zip(*(column.to_pylist() for column in found.columns), strict=True)
    return [[cell.strip() for cell in row] for row in rows][1:]


def read_anything(given: tuple[bytes, dict[str, Any]]) -> None:
    """Read a table under any options."""
    data, options = given
    md.read(data, **options)


def some_options(rng: random.Random) -> tuple[bytes, dict[str, Any]]:
    """Choose a table and options, of any kind."""
    options: dict[str, Any] = {}
    for name in rng.sample(
        ["levels", "discretize", "missing", "codes", "drop", "weights", "max_levels", "encoding"], 2
    ):
        options[name] = inputs.value(rng)
    if rng.random() < 0.5:
        options["discretize"] = rng.choice(["quantile", "interval(4)", "hartemink", "quantile(99999)", {"a": [1, 2]}])
    if isinstance(options.get("levels"), str):
        options["levels"] = {"a": rng.choice([2, 10**9, ["x", "y"], -1])}
    if rng.random() < 0.1:
        return inputs.packed(rng), {}
    return inputs.table(rng), options if rng.random() < 0.8 else {}


@dataclass(frozen=True)
class Scanned:
    """A file that is to be scanned, how, and in which pieces."""

    data: bytes
    options: dict[str, Any]
    rows: int  # of a block
    read: int  # bytes at a time
    whole: bool  # whether what is decided goes by all rows, or by counts


def some_scan(rng: random.Random) -> Scanned:
    """Choose a file, options that both `read` and `scan` have, and pieces so small that few rows make many."""
    data = inputs.packed(rng) if rng.random() < 0.15 else inputs.table(rng)
    if rng.random() < 0.1:
        data = rng.choice([gzip.compress, bz2.compress, lzma.compress])(data)
    choices: dict[str, list[Any]] = {
        "missing": ["drop", "level", "error"],
        "missing_values": [["a"], ["1"], "x"],
        "discretize": ["quantile", "interval(2)", {"a": [1, 2]}, {"b": "interval(3)"}],
        "max_levels": [2, 3, 5],
        "levels": [{"a": ["a", "b", "1", "2"]}, {"b": 3}, {"a": ["x", "y"]}],
        "drop": ["a", ["b"], "nosuch"],
        "codes": [True, False],
        "separator": [",", ";", "\t", " "],
        "encoding": ["utf-8", "latin-1", "utf-16"],
    }
    options = {name: rng.choice(choices[name]) for name in rng.sample(list(choices), rng.choice([0, 0, 1, 1, 2, 3]))}
    return Scanned(data, options, rng.randint(1, 6), rng.choice([1, 2, 3, 7, 20, 100, 2**22]), rng.random() < 0.6)


def read_and_scan(given: Scanned) -> None:
    """Read a file and scan it: the same names, levels, codes and meanings, or both refuse."""
    path = _folder() / "scanned.csv"
    path.write_bytes(given.data)
    expected = _outcome(lambda: md.read(path, **given.options))
    with tempfile.TemporaryDirectory(dir=_folder()) as cache:
        with blocks_of(given.rows, read=given.read, whole=given.whole):
            found = _outcome(lambda: md.scan(path, cache=cache, **given.options))
        if isinstance(found, Exception) or isinstance(expected, Exception):
            assert isinstance(found, Exception) and isinstance(expected, Exception), f"{expected!r} {found!r}"  # noqa: PT018
            assert type(found) is type(expected), f"{expected!r} {found!r}"
            damaged = "cannot be read as" in str(expected)  # of which polars says one thing or the other
            assert damaged or not given.whole or _place(found) == _place(expected), f"{expected} {found}"
            raise expected
        assert same(found, expected), f"{expected.levels} {found.levels}"


def _place(error: Exception) -> str:
    """Return what an error tells, less what depends on the piece of a file that it was found in."""
    told = re.sub(r" \([\d,]+ such lines\)|; so has every line: a separator at its end\?", "", str(error))
    told = re.sub(r"(cannot be decompressed|cannot be read as \w+):.*", r"\1", told, flags=re.DOTALL)
    told = re.sub(r":? is not (a text table|[\w-]+ text).*", "", told, flags=re.DOTALL)
    return re.sub(r"(, line \d+).*(malformed|instead of).*", "", told)


def _outcome(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except MapdagError as error:
        return error


def check_table(data: bytes) -> None:
    """Look at a table; what is proposed must then be accepted or refused in our own words."""
    str(md.check(data))


def read_levels(data: bytes) -> None:
    """Read a file of levels."""
    path = _folder() / "levels.json"
    path.write_bytes(data)
    md.read(b"a,b\nx,1\ny,2\n", levels=path)


def read_tiers(data: bytes) -> None:
    """Read a file of tiers."""
    from mapdag.cli.inputs import load_tiers

    path = _folder() / "tiers.txt"
    path.write_bytes(data)
    load_tiers(str(path))


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="mapdag-fuzz-"))
    md.network("cancer").sample(60, seed=1).to_polars().write_csv(folder / "cancer.csv")
    (folder / "bad.csv").write_bytes(b'a,b\nx,"y\n')
    md.write_network(md.network("cancer"), folder / "cancer.bif")
    (folder / "tiers.txt").write_text("Pollution,Smoker\nCancer\n")
    return folder


# Networks and graphs --------------------------------------------------------------------------------------------------


def read_network(data: bytes) -> None:
    """Read a network; what is accepted must come back the same after it was written."""
    net = md.read_network(data)
    assert all(np.isfinite(net.cpts[node]).all() or data.lstrip()[:1] == b"{" for node in net.nodes)


def read_graph(data: bytes) -> None:
    """Read a graph."""
    md.read_graph(data)


def through_formats(names: list[str]) -> None:
    """Write a network with hostile names and levels in every format, and read it back."""
    from mapdag.io.formats import _NETWORK_READERS, _NETWORK_WRITERS  # what files hold, without the disk

    nodes = [name for name in dict.fromkeys(names) if name]
    dag = md.DAG(nodes, pairwise(nodes))
    levels = {node: tuple(dict.fromkeys([f"{node}0", *nodes])) for node in nodes}
    net = md.BayesianNetwork(dag, levels, {node: _even(net_shape(dag, levels, node)) for node in nodes})
    for kind, write in _NETWORK_WRITERS.items():
        assert _NETWORK_READERS[kind](write(net)) == net, kind
    assert md.DAG.from_dot(dag.to_dot()) == dag
    assert md.DAG.from_dot(dag.to_dot()).arcs == dag.arcs
    _check_page(net)


def _check_page(net: Any) -> None:
    """Write the page of a network: no name in it may become markup."""
    path = _folder() / "page.html"
    md.Result.given(net.dag, net.sample(20, seed=1), "BDs").report(path)
    assert "<script>alert" not in path.read_text(encoding="utf-8")


def net_shape(dag: Any, levels: Any, node: str) -> tuple[int, ...]:
    """Return the shape of a table."""
    return tuple(len(levels[each]) for each in (*dag.parents(node), node))


def _even(shape: tuple[int, ...]) -> Any:
    return np.full(shape, 1 / shape[-1])


# Objectives and searches ----------------------------------------------------------------------------------------------


@cache
def _cancer() -> tuple[Any, Any]:
    net = md.network("cancer")
    return net.dag, net.sample(60, seed=1)


def score_objective(text: str) -> None:
    """Score a graph: a number, or minus infinity."""
    dag, data = _cancer()
    found = md.score(dag, data, text)
    assert not math.isnan(found)
    assert found < math.inf


def search(rng: random.Random) -> dict[str, Any]:
    """Choose a table, an objective, constraints and a search."""
    n, rows = rng.randint(1, 6), rng.choice([1, 2, 5, 30, 100])
    names = [f"v{i}" for i in range(n)]
    columns = {name: [rng.randrange(rng.choice([2, 2, 3])) for _ in range(rows)] for name in names}
    for name in names[1:]:
        if rng.random() < 0.2:  # a copy, so that there are ties
            columns[name] = columns[names[0]]
    pairs = [(a, b) for a in names for b in names if a != b]
    weights: Any = None
    if rng.random() < 0.4:
        scale = rng.choice([1, 1e-3, 1e3, 1e6, 1e9, 1e12])
        weights = [rng.choice([0.5, 1, 2, rng.random() * 10]) * scale for _ in range(rows)]
    options: dict[str, Any] = {
        "required": rng.sample(pairs, min(len(pairs), rng.choice([0, 0, 1, 2]))),
        "forbidden": rng.sample(pairs, min(len(pairs), rng.choice([0, 0, 2, 8]))),
        "max_parents": rng.choice([None, None, 0, 1, 2]),
        "seed": rng.randrange(5),
    }
    if rng.random() < 0.2:
        options["tiers"] = [names[: n // 2], names[n // 2 :]] if n > 1 else [names]
    objective = rng.choice(
        [
            "BDs", "BIC", "MU(c=1)+BDs", "Support(2)+BDeu(10)", "K2", "MU(beta=5e-324)+BDs(1e-300)", "AIC", "BDJ",
            "VSP(0.3)+BDeu(1)", "MU(beta=0.999999)+BDs(1e100)", "MaxParents(1)+BIC(k=1e-9)", "eBIC(1)", "LogLik",
            'CS({"v0->v1": 0.9})+BDs', "Support(1e9)+BDs",
        ]
    )  # fmt: skip
    return {"columns": columns, "weights": weights, "objective": objective, "options": options}


def search_well(given: dict[str, Any]) -> None:
    """Search: the graph obeys, its score is right, the default is never below hill climbing, and all end."""
    levels = dict.fromkeys(given["columns"], 3)
    data = md.read(given["columns"], levels=levels, codes=True, weights=given["weights"])
    scores = {}
    searches = ["hc", "tabu", "orders", *(["exact"] if len(levels) < 5 else [])]
    for name in searches:
        found = md.learn(data, given["objective"], search=name, threads=1, time_limit=20, **given["options"])
        assert found.stopped == "converged"
        # Required arcs may be thin; the score that a search tells leaves that out.
        again = md.score(found.dag, data, re.sub(r"Support\([^)]*\)\+", "", given["objective"]))
        assert math.isclose(found.score, again, rel_tol=1e-9, abs_tol=1e-9)
        assert len(found.dag.topological_order()) == len(levels)
        options = given["options"]
        assert set(options["required"]) <= set(found.dag.arcs)
        assert not set(options["forbidden"]) & set(found.dag.arcs)
        most = options["max_parents"]
        assert most is None or all(len(found.dag.parents(node)) <= most for node in found.dag.nodes)
        scores[name] = found.score
    slack = 1e-9 * max(1, abs(scores["hc"])) if math.isfinite(scores["hc"]) else 0.0
    assert scores["orders"] >= scores["hc"] - slack
    assert "exact" not in scores or scores["exact"] >= max(scores.values()) - slack


# Studies and commands -------------------------------------------------------------------------------------------------


def read_design(values: dict[str, Any]) -> None:
    """Make a design."""
    assert design_from(values).n_cells > 0


def command(rng: random.Random) -> list[str]:
    """Write a command line."""
    folder = _folder()
    files = [str(folder / name) for name in ("cancer.csv", "cancer.bif", "bad.csv", "tiers.txt", "none.csv")]
    things = [*files, *files, "cancer", "asia", "nosuch", "-", "", "x" * 300, "~nouser/x", "/dev/null", str(folder)]
    verb = rng.choice(
        ["check", "score", "fit", "compare", "query", "predict", "diagnose", "sample", "networks", "learn"]
    )
    arguments = [verb, *(rng.choice(things) for _ in range(rng.choice([0, 1, 1, 2, 2, 2, 3])))]
    flags = [
        "--levels", "--like", "--missing", "--missing-value", "--drop", "--discretize", "--weights", "--max-levels",
        "--separator", "--encoding", "--score", "--json", "--out", "--alpha", "--seed", "--rows", "--tiers",
        "--require",
        "--max-parents", "--target", "--by-node", "--codes", "--search", "--effort", "--nonsense", "-n", "--help",
    ]  # fmt: skip
    values = [
        *things,
        *inputs.HOSTILE,
        "1",
        "2",
        "drop",
        "level",
        "error",
        "quantile",
        "BIC",
        "hc",
        "tabu",
        "utf-8",
        "0",
    ]
    for _ in range(rng.choice([0, 1, 2, 3])):
        flag = rng.choice(flags)
        arguments.append(flag)
        if flag == "--out":
            arguments.append(str(folder / rng.choice(["o.bif", "o.json", "o.csv", "nowhere/o.bif", "o.xyz"])))
        elif flag not in {"--json", "--by-node", "--codes", "--help"}:
            arguments.append(inputs.objective(rng) if flag == "--score" else str(rng.choice(values)))
    if verb == "learn":
        arguments += ["--time-limit", "2", "--threads", "1"]
    return [argument.replace("\0", "") for argument in arguments]


def run_command(arguments: list[str]) -> None:
    """Run a command in this process: exit code 0 to 2 and, unless 0, something to read."""
    from mapdag.cli import main

    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = (sys.argv, warnings.showwarning), ["mapdag", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
        code: Any = 0
    except SystemExit as stop:
        code = stop.code or 0
    finally:
        sys.argv, warnings.showwarning = before
    assert code in {0, 1, 2}, f"exit code {code}"
    told = err.getvalue()
    assert "internal error" not in told, told[-300:]
    assert "Traceback" not in told
    assert code == 0 or told.strip() or out.getvalue().strip()
    if "--json" in arguments and code == 0 and "--help" not in arguments:
        for line in out.getvalue().splitlines():
            json.loads(line)


TARGETS = (
    Target("cells of tables", inputs.table, read_cells, 40),
    Target("tables with options", some_options, read_anything, 8),
    Target("compressed and columnar", inputs.packed, md.read, 4),
    Target("scans of tables", some_scan, read_and_scan, 4),
    Target("checks of tables", inputs.table, check_table, 3),
    Target("files of levels", inputs.document, read_levels, 4),
    Target("files of tiers", inputs.document, read_tiers, 4),
    Target("networks", inputs.network, read_network, 15),
    Target("graphs", inputs.graph, read_graph, 10),
    Target("hostile names", lambda rng: rng.sample(inputs.HOSTILE, 3), through_formats, 1),
    Target("objectives", inputs.objective, score_objective, 5),
    Target("designs", inputs.design, read_design, 5),
    Target("command lines", command, run_command, 1),
    Target("searches", search, search_well, 0.5),
)
