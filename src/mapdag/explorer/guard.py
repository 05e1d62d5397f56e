"""Who may ask: a token, the right host and origin, and limits on what a request may send.

A layer around the application, before anything of a request is looked at. Static files need no token: they are the same
for everybody, and say nothing.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "mapdag-explore"
HEADER = b"x-mapdag-token"

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'"
)
_LONGEST = 16_384  # letters of a path with its query
_DIGITS = 20  # of the length of a body


class Refused(Exception):  # noqa: N818 - what is said to a client
    """A request that is not answered, and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class Guard:
    """Lets requests through that may ask, and limits what they send.

    Parameters
    ----------
    app : ASGI application
    token : str
    host, port
        Where the server listens.
    body : int
        Most bytes of a request.
    patience : float
        Seconds that a client may take to send it.
    framed : bool
        Whether pages of others, such as notebooks, may show the page in a frame.
    """

    def __init__(
        self, app: App, *, token: str, host: str, port: int, body: int, patience: float, framed: bool = False
    ) -> None:
        self._app, self._token = app, token
        self._host, self._port = host, port
        self._body, self._patience = body, patience
        self._framed = framed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        limited = _Limited(receive, self._body, self._patience)
        answered = False

        async def guarded(message: MutableMapping[str, Any]) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                answered = True
                message["headers"] = [*message.get("headers", ()), *self._added(scope, headers)]
            await send(message)

        try:
            self._check(scope, headers)
            await self._app(scope, limited, guarded)
        except Refused as refused:
            if not answered:
                await _refuse(refused, guarded)

    def _check(self, scope: Scope, headers: MutableMapping[bytes, bytes]) -> None:
        if len(scope["path"]) + len(scope.get("query_string", b"")) > _LONGEST:
            raise Refused(414, "the address is too long")
        host = headers.get(b"host", b"").decode("latin-1")
        if not self._is_ours(host):
            raise Refused(
                421, f"this is not {host[:100] or 'a host without a name'}: open the address that was printed"
            )
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").lower() != f"http://{host}".lower():
            raise Refused(403, "a page from elsewhere may not ask here")
        if headers.get(b"sec-fetch-site", b"none") == b"cross-site" and scope["path"].startswith("/api/"):
            raise Refused(403, "a page from elsewhere may not ask here")
        length = headers.get(b"content-length")
        if length is not None and (not length.isdigit() or len(length) > _DIGITS or int(length) > self._body):
            raise Refused(413, f"more than {self._body:,} bytes: start the explorer with a higher --max-body")
        if scope["path"].startswith("/api/") and not self._knows(headers.get(HEADER, b"").decode("latin-1")):
            raise Refused(403, "the token is missing or wrong: open the address that was printed")
        if scope["path"] == "/" and not (self._is_invited(scope) or self._knows(self._cookie(headers))):
            raise Refused(403, "the token is missing or wrong: open the address that was printed")

    def _knows(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode())

    def _cookie(self, headers: MutableMapping[bytes, bytes]) -> str:
        """Token that the browser keeps for this port: explorers on others are sent theirs, too."""
        jar: SimpleCookie = SimpleCookie()
        try:
            jar.load(headers.get(b"cookie", b"").decode("latin-1"))
        except CookieError:
            return ""
        found = jar.get(f"{COOKIE}-{self._port}")
        return "" if found is None else found.value

    def _is_invited(self, scope: Scope) -> bool:
        given = parse_qs(scope.get("query_string", b"").decode("latin-1"), max_num_fields=20).get("token", [""])
        return self._knows(given[0])

    def _is_ours(self, host: str) -> bool:
        """Whether a request means this server, not a name that somebody lets point to it."""
        name, _, port = host.rpartition(":") if host.count(":") == 1 or host.startswith("[") else (host, "", "")
        if port != str(self._port):
            return False
        name = name.strip("[]").lower()
        if name in ("localhost", self._host.lower(), socket.gethostname().lower()):
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        # Nobody can make the name of another page an address; which of ours it is does not matter.
        return address.is_loopback or not ipaddress.ip_address(_address(self._host)).is_loopback

    def _added(self, scope: Scope, headers: MutableMapping[bytes, bytes]) -> list[tuple[bytes, bytes]]:
        del headers
        policy = _POLICY if self._framed else f"{_POLICY}; frame-ancestors 'self'"
        found = [
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"cross-origin" if self._framed else b"same-origin"),
            (b"cache-control", b"no-cache" if scope["path"].startswith("/assets/") else b"no-store"),
        ]
        if scope["path"] == "/" and self._is_invited(scope):
            cookie = f"{COOKIE}-{self._port}={self._token}; Path=/; HttpOnly; SameSite=Strict"
            found.append((b"set-cookie", cookie.encode()))
        return found


class _Limited:
    """What a client sends, as long as it is not too much and does not take too long."""

    def __init__(self, receive: Receive, most: int, patience: float) -> None:
        self._receive, self._most, self._patience = receive, most, patience
        self._size, self._done = 0, False

    async def __call__(self) -> MutableMapping[str, Any]:
        if self._done:
            return await self._receive()
        began = asyncio.get_running_loop().time()
        try:
            message = await asyncio.wait_for(self._receive(), max(self._patience, 0.001))
        except asyncio.TimeoutError:
            raise Refused(408, "the request took too long to arrive") from None
        self._patience -= asyncio.get_running_loop().time() - began
        self._size += len(message.get("body", b""))
        if self._size > self._most:
            raise Refused(413, f"more than {self._most:,} bytes: start the explorer with a higher --max-body")
        self._done = not message.get("more_body", False)
        return message


def _address(host: str) -> str:
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return "127.0.0.1" if host == "localhost" else "0.0.0.0"  # noqa: S104 - compared, not bound


async def _refuse(refused: Refused, send: Send) -> None:
    body = json.dumps({"error": refused.why}, ensure_ascii=False).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refused.status in (408, 413):  # what is still on its way is not read
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
