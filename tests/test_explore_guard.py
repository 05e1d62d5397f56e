"""The server of the explorer and those who may not ask: all are refused, and it goes on."""

import socket
from contextlib import suppress

import httpx
import numpy as np
import pytest

from explorer_client import served
from mapdag.explorer.guard import Guard, Refused
from mapdag.explorer.limits import Limits
from mapdag.explorer.settings import Settings


@pytest.fixture(scope="module")
def client():
    with served() as found:
        yield found


@pytest.fixture(scope="module")
def asia(client):
    return client.sample("asia", 500, 1)


def test_nothing_is_answered_without_the_token(client, asia):
    for path in ("/api/vocabulary", "/api/data", "/api/session"):
        for headers in ({}, {"X-Mapdag-Token": "wrong"}, {"X-Mapdag-Token": b"\xff"}):
            answer = httpx.get(client.base + path, headers=headers, trust_env=False)
            assert answer.status_code == 403
    assert httpx.post(f"{client.base}/api/learn", json={"data": asia}, trust_env=False).status_code == 403
    cookie = {"cookie": f"mapdag-explore-{client.server.port}={client.explorer.token}"}
    assert httpx.get(f"{client.base}/api/data", headers=cookie, trust_env=False).status_code == 403  # not by itself
    assert httpx.get(f"{client.base}/", trust_env=False).status_code == 403
    assert httpx.get(f"{client.base}/?token=wrong", trust_env=False).status_code == 403
    assert httpx.get(f"{client.base}/", headers=cookie, trust_env=False).status_code == 200
    both = {"cookie": f"mapdag-explore-1=of-another-explorer; {cookie['cookie']}"}  # cookies know no ports
    assert httpx.get(f"{client.base}/", headers=both, trust_env=False).status_code == 200


def test_the_page_is_given_to_who_has_the_address(client):
    answer = httpx.get(client.server.url, trust_env=False)
    assert answer.status_code == 200
    assert client.explorer.token in answer.text
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=Strict" in answer.headers["set-cookie"]
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "http" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_pages_from_elsewhere_are_refused(client):
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{client.server.port + 1}", "https://127.0.0.1"):
        assert client.get("/api/data", headers={"Origin": origin}).status_code == 403
    assert client.get("/api/data", headers={"Origin": client.base}).status_code == 200
    assert client.get("/api/data", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403


def test_names_that_point_here_by_trickery_are_refused(client):
    port = client.server.port
    for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", "127.0.0.1", f":{port}", ""):
        assert client.get("/api/data", headers={"Host": host}).status_code in (400, 421), host
    for host in (f"localhost:{port}", f"127.0.0.1:{port}"):
        assert client.get("/api/data", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../guard.py",
        "/assets/..%2fguard.py",
        "/assets/%2e%2e/%2e%2e/guard.py",
        "/assets//etc/passwd",
        "/assets/..\\guard.py",
        "/assets/index.html",
        "/assets/",
        "/assets/nothing.js",
        "/../../etc/passwd",
        "/api/../assets/../../x",
        "/%00",
        "//evil.example/",
    ],
)
def test_paths_lead_nowhere_else(client, path):
    token = client.explorer.token
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{client.server.port}\r\nX-Mapdag-Token: {token}\r\n\r\n"
    status = int(client.raw(request.encode()).split()[1])
    assert status in (400, 403, 404, 405)
    assert client.get("/api/vocabulary").status_code == 200


def test_assets_are_sent_with_their_types(client):
    answer = client.get("/assets/graph.js")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b'{"data": NaN}',
        b"[" * 100_000,
        b'{"a":' * 5000,
        b"\xff\xfe",
        b'{"data": "' + b"9" * 1000 + b'"}',
        b'{"data": "t1", "tab": 7}',
        b'{"data": {"$ne": 1}}',
        b'{"data": "t1", "sequence": 1e999}',
        b'{"data": "t1", "sequence": -1}',
        b'{"data": "\\ud800"}',
    ],
)
@pytest.mark.parametrize("path", ["learn", "why", "data", "strength", "export", "session", "cancel"])
def test_malformed_requests_are_refused_with_a_sentence(client, asia, body, path):
    answer = client.http.post(f"/api/{path}", content=body)
    if path == "cancel" and answer.status_code == 200:  # it may say nothing of the tab
        return
    assert answer.status_code in (400, 409, 422), answer.text
    assert answer.json()["error"]


def test_a_gigabyte_is_refused_before_it_is_read(client):
    port, token = client.server.port, client.explorer.token
    head = f"POST /api/data?name=x.csv HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Mapdag-Token: {token}\r\n"
    assert client.raw(f"{head}Content-Length: {10**9}\r\n\r\n".encode()).split()[1] == b"413"
    assert client.raw(f"{head}Content-Length: -1\r\n\r\n".encode()).split()[1] in (b"400", b"413")
    assert client.get("/api/vocabulary").status_code == 200


def test_a_body_without_a_length_is_read_as_far_as_the_limit():
    with served(Limits(body=1_000_000)) as client:

        def endless():
            for _ in range(400):
                yield b"a,b\n" * 2500

        with suppress(httpx.TransportError):  # the connection may be closed on who goes on
            answer = client.http.post("/api/data", params={"name": "x.csv"}, content=endless())
            assert answer.status_code == 413
        assert client.get("/api/vocabulary").status_code == 200


def test_slow_clients_are_let_go_and_others_do_not_wait():
    with served(Limits(patience=0.5)) as client:
        port, token = client.server.port, client.explorer.token
        head = f"POST /api/learn HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Mapdag-Token: {token}\r\n"
        slow = []
        for _ in range(20):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
            slow.append(connection)
        assert client.get("/api/vocabulary").status_code == 200
        for connection in slow:
            connection.settimeout(20)
            assert connection.recv(4096).split()[1] == b"408"
            connection.close()


def test_who_does_not_come_to_the_point_is_let_go(monkeypatch):
    from mapdag.explorer import server

    monkeypatch.setattr(server, "_HEADERS", 0.3)
    with served() as client, socket.create_connection(("127.0.0.1", client.server.port)) as connection:
        connection.sendall(b"GET / HT")
        connection.settimeout(20)
        assert connection.recv(4096) == b""
        assert client.get("/api/vocabulary").status_code == 200


def test_too_much_at_a_time_is_refused():
    with served(Limits(waiting=2)) as client:
        data = client.sample("alarm", 2000, 1)
        bodies = [{"data": data, "tab": f"t{i}", "settings": {}, "resamples": 2000} for i in range(3)]
        streams = [client.http.stream("POST", "/api/strength", json=body) for body in bodies]
        answers = [stream.__enter__() for stream in streams]
        try:
            assert [answer.status_code for answer in answers] == [200, 200, 429]
        finally:
            for body in bodies:
                client.explorer.desk.cancel(body["tab"])
            for stream in streams:
                stream.__exit__(None, None, None)


def test_other_methods_are_refused(client):
    for method, path in (
        ("PUT", "/api/data"),
        ("GET", "/api/learn"),
        ("POST", "/"),
        ("TRACE", "/"),
        ("OPTIONS", "/api/data"),
    ):
        assert client.http.request(method, path).status_code in (400, 403, 404, 405)


def test_strange_heads_are_refused(client):
    port = client.server.port
    assert client.raw(b"nonsense\r\n\r\n").split()[1] == b"400"
    assert client.raw(f"GET /{'a' * 40_000} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()).split()[1][:1] == b"4"
    assert client.get("/api/vocabulary").status_code == 200


WORDS = ["t1", "asia", "tub", "dysp", "BDs", "MU", "orders", "x" * 300, "\ud800", "<b>", "", "../..", "__class__"]


def anything(rng, depth=0):
    """Some JSON value or other."""
    kind = rng.integers(9 if depth < 3 else 6)
    if kind == 0:
        return None
    if kind == 1:
        return bool(rng.integers(2))
    if kind == 2:
        return [0, -1, 1, 10**30, 2**53, -(10**400)][rng.integers(6)]
    if kind == 3:
        return [0.5, -1e-300, 1e308, 3.7][rng.integers(4)]
    if kind < 6:
        return WORDS[rng.integers(len(WORDS))]
    if kind < 8:
        return [anything(rng, depth + 1) for _ in range(rng.integers(5))]
    return {WORDS[rng.integers(len(WORDS))]: anything(rng, depth + 1) for _ in range(rng.integers(4))}


def test_whatever_is_sent_the_answer_is_one_and_the_page_still_answers(client, asia):
    rng = np.random.default_rng(5)
    good = {
        "data": asia,
        "tab": "fuzz",
        "sequence": 3,
        "settings": {"search": "hc"},
        "arcs": [["asia", "tub"], ["smoke", "lung"]],
        "arc": ["asia", "tub"],
        "evidence": {"tub": "yes"},
        "format": "dot",
        "resamples": 2,
        "network": "asia",
        "rows": 20,
        "seed": 1,
        "what": "learn",
    }
    paths = ["learn", "layout", "why", "constraint-cost", "cpts", "evidence", "strength", "export", "cancel", "data"]
    for _ in range(250):
        path, body = paths[rng.integers(len(paths))], dict(good)
        key = list(good)[rng.integers(len(good))]
        if key == "settings" and rng.random() < 0.8:
            names = list(Settings().to_json())
            body[key] = {**good[key], names[rng.integers(len(names))]: anything(rng)}
        else:
            body[key] = anything(rng)
        answer = client.post(path, **body)
        assert answer.status_code in (200, 400, 409, 413, 422), (path, body, answer.text)
        assert "internal error" not in answer.text, (path, body, answer.text)
    assert client.learn(asia, search="hc")[0]["kind"] == "graph"


@pytest.mark.parametrize(
    ("bound", "host", "ours"),
    [
        ("127.0.0.1", "127.0.0.1:80", True),
        ("127.0.0.1", "[::1]:80", True),
        ("127.0.0.1", "192.168.0.7:80", False),
        ("127.0.0.1", "localhost.evil.example:80", False),
        ("0.0.0.0", "192.168.0.7:80", True),
        ("0.0.0.0", "evil.example:80", False),
        ("::1", "[::1]:80", True),
        ("::1", "::1:80", False),
        ("192.168.0.7", "192.168.0.7:80", True),
        ("192.168.0.7", "192.168.0.7:81", False),
        ("192.168.0.7", "[::1", False),
    ],
)
def test_hosts_are_ours_or_not(bound, host, ours):
    guard = Guard(None, token="t", host=bound, port=80, body=1, patience=1)
    assert guard._is_ours(host) == ours


def test_lengths_of_thousands_of_digits_are_refused(client):
    head = f"POST /api/learn HTTP/1.1\r\nHost: 127.0.0.1:{client.server.port}\r\n"
    assert b"500" not in client.raw(f"{head}Content-Length: {'9' * 5000}\r\n\r\n".encode())
    guard = Guard(None, token="t", host="127.0.0.1", port=1, body=10, patience=1)
    headers = {b"host": b"127.0.0.1:1", b"content-length": b"9" * 5000}
    with pytest.raises(Refused, match="more than 10 bytes"):
        guard._check({"path": "/", "query_string": b""}, headers)


def test_addresses_have_one_spelling(client):
    """No answer sends a client elsewhere."""
    for path in ("/assets/main.js/", "/api/data/", "/api/vocabulary/"):
        assert client.get(path, follow_redirects=False).status_code in {404, 405}
