"""Inputs of all kinds, at random: well-formed ones, almost well-formed ones, nonsense; each a function of a seed."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
from functools import cache

import mapdag as md

#: Names and labels that other programs stumble over.
HOSTILE = [
    "a", "A", "a b", " a", "a ", "", "x,y", 'say "hi"', "'", "\\", "a\\", "\\n", "line\nbreak", "tab\there", "é",
    "日本",
    "🙂", "\u202e", "\u0301", "\ufeff", "<script>alert(1)</script>", "</script>", "<!--", "-->", "]]>",
    "&amp;", "{{7*7}}",
    "${7*7}", "=1+1", "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "%s", "{}", "{0}", "NA", "nan", "None", "true", "0",
    "01", "1.0", "1e5", "-0", "__proto__", "constructor", "toString", "table", "default", "variable", "network", "node",
    "net", "[x]", "a|b", "a:b", "(x)", "{x}", "x;y", "//", "/*", "*/", "#", "%", "..", "../x", "~", "CON", "a" * 300,
    "\x7f", "\x85", "\u2028", "'; DROP TABLE x; --", "`id`", "$(id)",
]  # fmt: skip

TEXT = [
    '"', '"', '""', '""""', ",", ",", "\n", "\n", "\r\n", "\r", " ", "  ", "\t", ";", "|", "a", "b", "c",
    "1", "0", "01",
    "-1", "1.5", "NA", "", "é", "\\", '\\"', "'", 'x"y', '"a,b"', '"a\nb"', '"x" ', "\ufeff", "\x00",
    "x" * 50, "9" * 40,
    "1e400", "9" * 5000, "sep=;\n", "#", "2020-01-01", "True",
]  # fmt: skip


def nonsense(rng: random.Random, pieces: list[str], most: int = 40) -> str:
    """Put pieces together at random."""
    return "".join(rng.choice(pieces) for _ in range(rng.randint(0, most)))


def damaged(rng: random.Random, data: bytes, pieces: list[str] | None = None) -> bytes:
    """Change some bytes: cut, copy, delete, flip, insert."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5, 20])):
        if not data:
            break
        place = rng.randrange(len(data))
        end = min(place + rng.choice([1, 1, 2, 5, 50]), len(data))
        kind = rng.randrange(6)
        if kind == 0:
            del data[place:end]
        elif kind == 1:
            data[place] = rng.randrange(256)
        elif kind == 2:
            data[place:place] = data[rng.randrange(len(data)) :][: rng.choice([1, 5, 50])]
        elif kind == 3:
            data[place:place] = rng.choice(pieces or TEXT).encode("utf-8", "surrogatepass")
        elif kind == 4:
            data = data[:place] if rng.random() < 0.5 else data[place:]
        else:
            data[place:end] = bytes(rng.randrange(256) for _ in range(end - place))
    return bytes(data)


def table(rng: random.Random) -> bytes:
    """Make a text table."""
    kind = rng.randrange(4)
    if kind == 0:
        return (rng.choice(["a,b\n", "a\n", "a,b,c\n", "a,b\r\n", ""]) + nonsense(rng, TEXT[:30], 25)).encode()
    if kind == 1:
        return damaged(rng, _regular(rng))
    if kind == 2:
        return _regular(rng)
    return nonsense(rng, TEXT).encode("utf-8", "surrogatepass")


def _regular(rng: random.Random) -> bytes:
    """Make a table that is mostly as it should be: cells that are quoted or not, line ends of one kind or two."""
    width, rows = rng.randint(1, 4), rng.choice([1, 2, 5, 20])
    end = rng.choice([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"], ["\n"] * 9 + ["\n\n"]])
    plain = rng.choice([["0", "1", "2"], ["a", "b"], ["-1", "10", "300"], ["x", "NA", ""], ["1.5", "2.25"]])
    odd = ["01", "+1", " 1", "1 ", '"1"', '"a,b"', '"q""r"', '5"', '"x\ny"', '"x" ', ' "x"', "é", "", '"', '""']
    cells = [[rng.choice(plain) for _ in range(width)] for _ in range(rows)]
    for _ in range(rng.choice([0, 0, 1, 3])):
        cells[rng.randrange(rows)][rng.randrange(width)] = rng.choice(odd)
    if rng.random() < 0.05:
        cells[rng.randrange(rows)].append("x")
    separator = rng.choice([",", ",", ",", ";", "\t", "|", " "])
    lines = [separator.join("abcd"[:width]), *(separator.join(row) for row in cells)]
    text = "".join(line + rng.choice(end) for line in lines)
    if rng.random() < 0.3:
        text = text.rstrip("\r\n")
    return text.encode(rng.choice(["utf-8"] * 8 + ["latin-1", "utf-16", "utf-8-sig"]))


def packed(rng: random.Random) -> bytes:
    """Make a compressed table, or one in columns, damaged as a rule."""
    kind = rng.randrange(5)
    text = b"a,b\n" + b"x,1\ny,2\n" * rng.choice([1, 50])
    if kind < 3:
        data = (gzip.compress(text, mtime=0), bz2.compress(text), lzma.compress(text))[kind]
    else:
        data = _columnar()[kind - 3]
    return damaged(rng, data) if rng.random() < 0.9 else data


@cache
def _columnar() -> tuple[bytes, bytes]:
    import io

    import polars as pl

    frame = pl.DataFrame({"a": ["x", "y"] * 5, "b": [1, 2] * 5})
    parquet, arrow = io.BytesIO(), io.BytesIO()
    frame.write_parquet(parquet)
    frame.write_ipc(arrow)
    return parquet.getvalue(), arrow.getvalue()


FORMATS = ("bif", "json", "xmlbif", "net", "xdsl", "uai")
GRAPHS = ("json", "dot", "modelstring", "csv")
SYNTAX = [
    "{", "}", "(", ")", "[", "]", ";", ",", "|", '"', '\\"', "\\", "\n", " ", "/*", "*/", "//", "<", ">",
    "</", "/>", "&",
    "network", "variable", "probability", "type discrete", "property", "table", "default", "node",
    "potential", "states",
    "data", "BAYES", "digraph", "->", "--", "subgraph", "1", "0.5", "nan", "inf", "-1", "1e999", "9" * 5000,
    "null", ":",
    "true", "=", "%", "#", "é", "🙂", "from,to", "<!ENTITY a 'b'>", "<![CDATA[", "]]>", " " * 200, "[" * 200,
]  # fmt: skip


@cache
def written(kind: str) -> bytes:
    """Return a network or graph in a format, as we write it."""
    import tempfile
    from pathlib import Path

    net = md.network("cancer")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.txt")
        if kind in FORMATS:
            md.write_network(net, path, format=kind)
        else:
            md.write_graph(net.dag, path, format=kind)
        return path.read_bytes()


def network(rng: random.Random) -> bytes:
    """Make the file of a network, damaged as a rule."""
    if rng.random() < 0.15:
        return nonsense(rng, SYNTAX).encode()
    return damaged(rng, written(rng.choice(FORMATS)), SYNTAX)


def graph(rng: random.Random) -> bytes:
    """Make the file of a graph, damaged as a rule."""
    if rng.random() < 0.3:
        return rng.choice([b"digraph {", b"from,to\n", b"[a][b|a]", b""]) + nonsense(rng, SYNTAX).encode()
    return damaged(rng, written(rng.choice(GRAPHS)), SYNTAX)


def value(rng: random.Random, depth: int = 0) -> object:
    """Make any value that JSON or TOML has."""
    kind = rng.randrange(9 if depth < 3 else 6)
    if kind == 0:
        return rng.choice(HOSTILE)
    if kind == 1:
        return rng.choice([0, 1, 2, 3, -1, 10**9, 10**18, 10**400, 2**63])
    if kind == 2:
        return rng.choice([0.5, 1.0, -1.5, 1e308, 5e-324, float("inf"), float("nan")])
    if kind == 3:
        return rng.choice([True, False, None])
    if kind < 6:
        return rng.choice(["a", "b", "quantile", "interval(3)", "x", "asia", "BIC", "hc", "file", "n=50"])
    if kind < 8:
        return [value(rng, depth + 1) for _ in range(rng.randint(0, 4))]
    return {str(rng.choice(HOSTILE[:40])): value(rng, depth + 1) for _ in range(rng.randint(0, 4))}


def document(rng: random.Random) -> bytes:
    """Make a JSON document, or something like one."""
    kind = rng.random()
    if kind < 0.4:
        text = json.dumps(value(rng))
    elif kind < 0.8:  # levels, or tiers, that might be meant
        names = ["x", "y", "1", "2", 1, 2, "", " x", "X", "é", None, True]
        some = [rng.sample(names, rng.randint(0, 4)) for _ in range(2)]
        text = json.dumps(rng.choice([{"a": some[0], "b": some[1]}, {"a": ["x", "y"]}, {"b": 2}, {"b": [1, 2]}, some]))
    else:
        text = rng.choice(["[" * 5000, '{"a":' * 3000, "9" * 5000])
    data = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.2:
        data = gzip.compress(data, mtime=0)
    return damaged(rng, data) if rng.random() < 0.4 else data


def design(rng: random.Random) -> dict[str, object]:
    """Make the design of a study, with values of other kinds than expected."""
    found: dict[str, object] = {"networks": ["asia"], "sizes": ["n=50"], "objectives": ["BIC"], "replicates": 1}
    keys = [
        "networks",
        "sizes",
        "ratios",
        "objectives",
        "arms",
        "searches",
        "columns",
        "replicates",
        "seed",
        "test_rows",
    ]
    for key in rng.sample(keys, rng.randint(1, 3)):
        found[key] = value(rng)
    if rng.random() < 0.4:
        arm = {"columns": "file", "search": "hc", "objectives": ["BIC"]}
        arm[rng.choice(list(arm))] = value(rng)  # type: ignore[assignment]
        found["arms"] = [arm]
    return found


def number(rng: random.Random) -> str:
    """Write a number, sensible or not."""
    return rng.choice(
        ["1", "0.5", "0", "-1", "1e308", "5e-324", "1e-300", "1e100", "nan", "inf", "1/3", "1/0", "1e999", "9" * 400,
         "2**3", "1,2", '"x"', "[1]", "{}", "", "1e-17", "0.9999999999999999", "3"]
    )  # fmt: skip


def objective(rng: random.Random) -> str:
    """Write an objective, or something like one."""
    if rng.random() < 0.2:
        return nonsense(rng, ["MU", "BDs", "BIC", "+", "(", ")", "=", "c", "1", ",", '"', "{", "}", " ", "#", "é"], 12)
    priors = ["MU(c={})", "MU(beta={})", "MU({})", "U", "MaxParents({})", "Support({})", "VSP({})", 'CS({{"a": {}}})']
    scores = ["BDs({})", "BDeu({})", "BD({})", "BIC(k={})", "eBIC({})", "K2", "BDJ", "AIC", "fNML", "qNML", "LogLik"]
    parts = [*rng.sample(priors, rng.choice([0, 0, 1, 2])), rng.choice(scores)]
    return "+".join(part.format(number(rng)) for part in parts)
