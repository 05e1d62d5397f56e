"""A client of the explorer for tests: a server in a thread, and somebody who knows its token."""

import json
import socket
from contextlib import contextmanager

import httpx

from mapdag.explorer.doors import Explorer
from mapdag.explorer.server import Server


class Client:
    """Asks one explorer."""

    def __init__(self, server):
        self.server = server
        self.explorer = server.explorer
        self.base = f"http://127.0.0.1:{server.port}"
        self.http = httpx.Client(
            base_url=self.base, headers={"X-Mapdag-Token": server.explorer.token}, timeout=120, trust_env=False
        )

    def get(self, path, **options):
        return self.http.get(path, **options)

    def post(self, path, **body):
        return self.http.post(f"/api/{path}", content=json.dumps(body).encode())

    def ask(self, path, **body):
        """Ask, and return what was answered; it must be an answer."""
        answer = self.post(path, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def lines(self, path, **body):
        """Ask for JSON lines, and return them all."""
        answer = self.post(path, **{"tab": "tab", **body})
        assert answer.status_code == 200, answer.text
        return [json.loads(line) for line in answer.text.splitlines()]

    def learn(self, data, sequence=1, **settings):
        """Learn by hill climbing and the search of the settings; returns the graphs."""
        found = self.lines("learn", data=data, sequence=sequence, settings=settings)
        assert not [each for each in found if each["kind"] == "error"], found
        return [each for each in found if each["kind"] == "graph"]

    def sample(self, network="asia", rows=500, seed=1):
        """Open a sample of a bundled network."""
        return self.ask("data", network=network, rows=rows, seed=seed)["data"]

    def raw(self, text, timeout=20):
        """Send bytes as they are, and return the status line."""
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=timeout) as connection:
            connection.sendall(text)
            return connection.recv(65536).split(b"\r\n")[0]


@contextmanager
def served(limits=None, **options):
    """Serve an explorer as long as this lasts."""
    server = Server(Explorer(limits, **options))
    server.start()
    client = Client(server)
    try:
        yield client
    finally:
        client.http.close()
        server.stop()
