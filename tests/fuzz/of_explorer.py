"""The explorer: whoever knows its token may send anything, and is answered; who does not is not."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import sys
import threading
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parents[1]))

import inputs
from target import folder

import mapdag as md
from mapdag.explorer.doors import Explorer
from mapdag.explorer.guard import Guard
from mapdag.explorer.library import Source
from mapdag.explorer.limits import Limits
from mapdag.explorer.server import Server
from mapdag.explorer.session import Session

_PORT = 4567
_LIMITS = Limits(body=100_000, rows=5000, tables=8, search=20.0, background=0.05, patience=5.0, memory=10_000_000)
_EXPECTED = {200, 400, 403, 404, 405, 408, 409, 413, 414, 421, 422}
_TABLES = ("asia", "hostile", "gaps", "two")
_POSTS = (
    "data", "learn", "learn", "learn", "layout", "why", "why", "constraint-cost", "cpts", "evidence", "strength",
    "life", "map", "certify", "export", "export", "session", "cancel",
)  # fmt: skip


class Asked(NamedTuple):
    """A request; its table has a name, whose key is put in when it is asked."""

    method: str
    path: str
    query: bytes
    headers: list[tuple[bytes, bytes]]
    body: Any  # bytes, or an object
    pieces: int  # that the body comes in


# What is asked --------------------------------------------------------------------------------------------------------


def request(rng: random.Random) -> Asked:
    """Make a request: one that the page might send, with something changed, or anything else."""
    kind = rng.random()
    if kind < 0.2:
        return _upload(rng)
    if kind < 0.3:
        return _nonsense(rng)
    name = rng.choice(_POSTS)
    body: Any = _body(rng, name)
    if rng.random() < 0.1:
        body = inputs.damaged(rng, json.dumps(body).encode())
    return Asked("POST", f"/api/{name}", b"", _headers(rng), body, rng.choice([1, 1, 2, 5]))


def _upload(rng: random.Random) -> Asked:
    """Send a file, with options."""
    values = ["quantile", "a=quantile", "a=1,2", "drop", "level", "keep", "error", "2", "true", ",", ";", "utf-8", "a"]
    query = f"name={quote(rng.choice(inputs.HOSTILE))}"
    names = ["drop", "missing_values", "missing", "separator", "sep", "encoding", "max_levels", "codes", "discretize"]
    for name in rng.sample(names, rng.choice([0, 0, 1, 2])):
        value = rng.choice(values) if rng.random() < 0.7 else rng.choice(inputs.HOSTILE)
        query += f"&{name}={quote(value)}"
    data = inputs.packed(rng) if rng.random() < 0.1 else inputs.table(rng)
    return Asked("POST", "/api/data", query.encode(), _headers(rng), data, rng.choice([1, 1, 3]))


def _nonsense(rng: random.Random) -> Asked:
    """Ask for anything, anyhow."""
    pieces = [
        "/",
        "/api/",
        "api",
        "assets/",
        "data",
        "..",
        "%2e%2e/",
        "learn",
        "t1",
        "main.js",
        "é",
        "\0",
        "x" * 99,
        "?",
    ]
    path = "/" + inputs.nonsense(rng, pieces, 5) if rng.random() < 0.6 else rng.choice(
        ["/", "/api/data", "/api/vocabulary", "/api/session", "/assets/main.js", "/api/data/t99", "/assets/../app.py"]
    )  # fmt: skip
    query = inputs.nonsense(rng, ["a=", "token=", "&", "x", ";", "%ff", "=", "name=", "x" * 9000], 5).encode()
    method = rng.choice(["GET", "GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS", "TRACE", "x"])
    body = rng.choice([b"", b"{}", b"[]", b"null", b"[" * 5000, b"9" * 5000, b"\xff\x00", b"x" * 150_000])
    return Asked(method, path, query, _headers(rng), body, rng.choice([1, 2]))


def _headers(rng: random.Random) -> list[tuple[bytes, bytes]]:
    """Head of a request: as a rule what the page sends, sometimes anything."""
    host = f"127.0.0.1:{_PORT}".encode()
    found = [(b"host", host), (b"x-mapdag-token", b"TOKEN")]
    if rng.random() < 0.8:
        return found
    odd = [
        b"",
        b"x",
        b"\xff",
        b"null",
        b"-1",
        b"1e9",
        b"9" * 5000,
        b"http://127.0.0.1",
        host,
        b"TOKEN",
        b"a=b; c",
        b"\t",
    ]
    names = [b"host", b"origin", b"content-length", b"cookie", b"x-mapdag-token", b"sec-fetch-site", b"content-type"]
    for _ in range(rng.randint(1, 3)):
        name, value = rng.choice(names), rng.choice(odd)
        found.append((name, b"x" if name == b"host" and value == b"TOKEN" else value))  # which is named in the refusal
    if rng.random() < 0.3:
        found.pop(rng.randrange(2))
    return found


def _body(rng: random.Random, name: str) -> dict[str, Any]:
    """Make what a path takes, with values of other kinds at some places."""
    table = rng.choice(_TABLES)
    nodes = _nodes(table)
    arcs = [list(pair) for pair in pairwise(nodes) if rng.random() < 0.5]
    if rng.random() < 0.2:
        arcs.append([rng.choice(nodes), rng.choice([*nodes, "nobody"])])
    body: dict[str, Any] = {
        "tab": "a",
        "sequence": rng.choice([0, 1, 2]),
        "data": f"TABLE {table}",
        "settings": _settings(rng, nodes),
        "arcs": arcs,
        "arc": [rng.choice(nodes), rng.choice(nodes)],
        "evidence": {rng.choice(nodes): rng.choice(["yes", "no", "x", 0]) for _ in range(rng.choice([0, 1, 3]))},
        "format": rng.choice(["bif", "svg", "report", "command", "python", "dot", "graphml", "exe"]),
        "resamples": rng.choice([1, 2, 3, 0, 10**9]) if name != "strength" else rng.choice([1, 2, 0]),
        "search": "hc",
        "layout": rng.random() < 0.5,
        "then_default": rng.random() < 0.3,
        "format_version": 1,
    }
    if name == "session":
        body = {"format": "mapdag-explore", "version": 1, "source": inputs.value(rng), "x": inputs.value(rng)}
    if name == "data":
        body = {"network": rng.choice(["asia", "ASIA ", "nosuch"]), "rows": rng.choice([1, 50, 0]), "seed": 1}
    for _ in range(rng.choice([0, 0, 1, 2])):
        body[rng.choice(list(body))] = inputs.value(rng)
    if rng.random() < 0.1:
        body.pop(rng.choice(list(body)))
    return body


def _settings(rng: random.Random, nodes: tuple[str, ...]) -> dict[str, Any]:
    pairs = [[a, b] for a, b in pairwise(nodes)] or [["a", "b"]]
    ways: dict[str, list[Any]] = {
        "likelihood": ["BDs", "BDeu", "K2", "BDJ", "BIC", "AIC", "eBIC", "fNML", "qNML", "PNAL"],
        "alpha": [1, 10, 0.01, 5e-324, 1e100, 1e101, 1e308],
        "prior": ["MU", "U", "VSP", "CS"],
        "beta": [None, 0.5, 1e-300, 1.0, 0.9999999999999999],
        "c": [1, 0.05, 10, 5e-324, 1e300],
        "support": [None, 3, 0, 1e9, 1e300],
        "search": ["orders", "hc", "tabu", "exact", "certified"],
        "max_parents": [None, 0, 1, 3, 2**52],
        "required": [[], pairs[:1], pairs],
        "forbidden": [[], pairs[:1], pairs],
        "tiers": [[], [list(nodes[:1]), list(nodes[1:])], [["nobody"]]],
        "elicited": [[], [[*pairs[0], 0.9]], [[*pairs[0], 0]], [[*pairs[0], 1]], [["nobody", "x", 0.5]]],
        "seed": [0, 1, 2**52],
    }
    found = {name: rng.choice(ways[name]) for name in rng.sample(list(ways), rng.choice([0, 1, 2, 4]))}
    if rng.random() < 0.1:
        found[rng.choice([*ways, "nonsense"])] = inputs.value(rng)
    return found


# Who is asked ---------------------------------------------------------------------------------------------------------


@cache
def _data(name: str) -> Any:
    if name == "asia":
        return md.network("asia").sample(100, seed=1)
    if name == "gaps":
        return md.read({"a": ["x", None, "y"] * 9, "b": ["u", "v", None] * 9, "c": ["0", "1", "0"] * 9}, missing="keep")
    if name == "two":
        return md.read(b"a,b\nx,u\ny,v\nx,u\n")
    names = [each for each in inputs.HOSTILE if each.strip() and len(each) < 100 and "\0" not in each][::12]
    rng = random.Random(1)
    codes = [[rng.randrange(2) for _ in names] for _ in range(40)]
    return md.Dataset.from_codes(codes, names=names, levels=[[name, f"not {name}"] for name in names])


@cache
def _nodes(name: str) -> tuple[str, ...]:
    return tuple(_data(name).names)


class _Here:
    """An explorer in this process, without a server."""

    def __init__(self) -> None:
        self.session = folder() / "session.json"
        self.explorer = Explorer(_LIMITS, session=self.session)
        from mapdag.explorer.app import Application

        options = {"host": "127.0.0.1", "port": _PORT, "body": _LIMITS.body, "patience": _LIMITS.patience}
        self.app = Guard(Application(self.explorer).routes(), token=self.explorer.token, **options)
        self.loop = asyncio.new_event_loop()
        self.notes: list[BaseException] = []
        self.explorer.note = self.notes.append  # type: ignore[method-assign]

    def keys(self) -> dict[str, str]:
        """Hold the tables that are asked about, and no others."""
        library = self.explorer.library
        found = {name: library.add(_data(name), Source(name)).key for name in _TABLES}
        for each in library.tables():
            if each.key not in found.values():
                library.drop(each.key)
        return {name: library.add(_data(name), Source(name)).key for name in _TABLES}

    def ask(self, asked: Asked) -> tuple[int, bytes, str]:
        """Ask; returns the status, the answer and what kind it is."""
        keys = self.keys()
        body = asked.body if isinstance(asked.body, bytes) else json.dumps(_with_keys(asked.body, keys)).encode()
        size = max(1, len(body) // asked.pieces)
        pieces = [body[i : i + size] for i in range(0, len(body), size)] or [b""]
        token = self.explorer.token.encode()
        scope = {
            "type": "http", "http_version": "1.1", "method": asked.method, "path": asked.path, "root_path": "",
            "raw_path": asked.path.encode("utf-8", "replace"), "query_string": asked.query, "scheme": "http",
            "headers": [(name, token if value == b"TOKEN" else value) for name, value in asked.headers],
            "server": ("127.0.0.1", _PORT), "client": ("127.0.0.1", 1),
        }  # fmt: skip
        return self.loop.run_until_complete(self._ask(scope, pieces))

    async def _ask(self, scope: dict[str, Any], pieces: list[bytes]) -> tuple[int, bytes, str]:
        left, told, found = list(pieces), [], {}

        async def receive() -> dict[str, Any]:
            if left:
                return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}
            await asyncio.sleep(60)  # the client waits
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                assert not found, "two answers"
                found.update(message)
            else:
                told.append(message.get("body", b""))

        await asyncio.wait_for(self.app(scope, receive, send), 60)
        kind = dict(found["headers"]).get(b"content-type", b"").decode()
        return found["status"], b"".join(told), kind


@cache
def _here() -> _Here:
    return _Here()


def _with_keys(value: Any, keys: dict[str, str]) -> Any:
    if isinstance(value, dict) and isinstance(value.get("data"), str):
        return {**value, "data": keys.get(value["data"].removeprefix("TABLE "), value["data"])}
    return value


def ask(asked: Asked) -> bool:
    """Ask: an answer or a refusal that is a sentence, never an internal error; nothing without the token."""
    here = _here()
    here.notes.clear()
    status, told, kind = here.ask(asked)
    if here.notes:
        raise here.notes[0]
    assert status in _EXPECTED, (status, told[:300])
    if kind.startswith(("application/json", "application/x-ndjson")) and asked.method != "HEAD":
        lines = [json.loads(line) for line in told.splitlines()]
        assert all("internal error" not in str(line.get("error", "")) for line in lines), lines
        assert all(len(str(line.get("error", ""))) < 6000 for line in lines)
    if asked.path != "/":
        assert here.explorer.token.encode() not in told
    if asked.path.startswith("/api/") and (b"x-mapdag-token", b"TOKEN") not in asked.headers:
        assert status != 200
    if here.session.exists():
        Session(here.session).read()
        here.session.unlink()
    return status == 200


# What is kept, and given away -----------------------------------------------------------------------------------------


def kept_session(rng: random.Random) -> dict[str, Any]:
    """Make a session whose table is anywhere, to be read anyhow."""
    source: dict[str, Any] = {"path": "TABLE", "options": {}}
    if rng.random() < 0.2:
        source = {"network": "asia", "rows": 50, "seed": 1}
    names = [
        "drop",
        "levels",
        "discretize",
        "missing",
        "missing_values",
        "max_levels",
        "codes",
        "separator",
        "encoding",
    ]
    for _ in range(rng.choice([0, 1, 2])):
        source["options"] = {**source.get("options", {}), rng.choice([*names, "weights", "data"]): inputs.value(rng)}
    if rng.random() < 0.3:
        source[rng.choice([*source, "path", "network"])] = inputs.value(rng)
    return {"format": "mapdag-explore", "source": source, "fingerprint": inputs.value(rng)}


def reopen_session(state: dict[str, Any]) -> None:
    """Go on with a session."""
    path = folder() / "kept.json"
    text = json.dumps(state).replace('"TABLE"', json.dumps(str(folder() / "cancer.csv")))
    path.write_text(text, encoding="utf-8")
    explorer = Explorer(_LIMITS, session=path)
    try:
        explorer.go_on()
    finally:
        explorer.close()


# By wire --------------------------------------------------------------------------------------------------------------


def on_the_wire(rng: random.Random) -> bytes:
    """Write a request as bytes, damaged as a rule."""
    body = json.dumps(_body(rng, "why")).encode()
    length = rng.choice([str(len(body))] * 5 + ["0", "-1", "99999999999", "x", "1e3", "9" * 400, "9" * 5000])
    method, path = rng.choice(["GET", "POST", "POST", "x", ""]), rng.choice(["/", "/api/why", "/api/data", "*", ""])
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: 127.0.0.1:PORT",
        "X-Mapdag-Token: TOKEN",
        f"Content-Length: {length}",
        rng.choice(["Transfer-Encoding: chunked", "Connection: close", "Expect: 100-continue", "Upgrade: websocket"]),
        rng.choice(["X: " + "y" * 70_000, "Cookie: a=b", "X : y", "", ": x", "X: \x00", "Connection: upgrade"]),
    ]  # fmt: skip
    data = "\r\n".join(lines).encode("utf-8") + b"\r\n\r\n" + body
    return inputs.damaged(rng, data) if rng.random() < 0.7 else data


@cache
def _server() -> Server:
    server = Server(Explorer(Limits(body=100_000, rows=5000, patience=1.0)))
    server.start()
    return server


def send_bytes(data: bytes) -> bool:
    """Send bytes: an answer that is none of an internal error, or none, and the server goes on."""
    server = _server()
    token = server.explorer.token.encode()
    data = data.replace(b"PORT", str(server.port).encode()).replace(b"TOKEN", token)
    first = _exchange(server.port, data)
    assert not first or first.split()[1][:1] in b"12345", first[:100]
    assert b" 500 " not in first[:20], first[:500]
    probe = f"GET /api/vocabulary HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX-Mapdag-Token: {token.decode()}\r\n\r\n"
    assert _exchange(server.port, probe.encode()).startswith(b"HTTP/1.1 200"), "the server is gone"
    assert threading.active_count() < 100
    return first.startswith(b"HTTP/1.1 2")


def _exchange(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return connection.recv(65536)
        except (ConnectionError, BrokenPipeError):
            return b""
