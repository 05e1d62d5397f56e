"""The server: listens on this machine, says where, and stops gracefully."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from mapdag.errors import FileError, MissingExtraError
from mapdag.explorer.guard import Guard
from mapdag.explorer.learning import load_kernels

if TYPE_CHECKING:
    from mapdag.explorer.doors import Explorer

_GRACE = 2  # seconds that answers get when the server stops
_HEADERS = 15.0  # seconds that the head of a request may take
_BACKLOG = 128


def check_installed() -> None:
    """Raise `MissingExtraError` now rather than later."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtraError("the explorer needs Starlette and uvicorn: pip install 'mapdag[explore]'") from None


class Server:
    """Serves the page of an explorer.

    Parameters
    ----------
    explorer : Explorer
    host, port
        Where to listen; port 0 takes one that is free.
    """

    def __init__(self, explorer: Explorer, *, host: str = "127.0.0.1", port: int = 0) -> None:
        check_installed()
        import uvicorn

        from mapdag.explorer.app import Application

        self.explorer = explorer
        self._socket = _listen(host, port)
        self.port = int(self._socket.getsockname()[1])
        self._name = f"[{host}]" if ":" in host else host
        self._is_open = not ip_address(self._socket.getsockname()[0]).is_loopback
        limits = explorer.limits
        app = Guard(
            Application(explorer).routes(),
            token=explorer.token,
            host=host,
            port=self.port,
            body=limits.body,
            patience=limits.patience,
            framed=explorer.framed,
        )
        config = uvicorn.Config(
            app,
            log_level="critical",
            access_log=False,
            server_header=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=_GRACE,
            http=_protocol(),
            ws="none",
            lifespan="off",
            h11_max_incomplete_event_size=32_768,
        )
        self._server = uvicorn.Server(config)

    @property
    def url(self) -> str:
        """Where the page is, with the token."""
        name = "localhost" if self._name in ("0.0.0.0", "[::]") else self._name  # noqa: S104 - only read
        return f"http://{name}:{self.port}/?token={self.explorer.token}"

    def run(self, tell: Callable[[str], object], *, open_browser: bool = True) -> None:
        """Say where the page is, and serve it until Ctrl-C."""
        tell(f"mapdag explorer: {self.url}\nCtrl-C stops it.")
        if self._is_open:
            tell("Others can reach it, and whoever has this address can use it.")
        self._prepare()
        if open_browser:
            threading.Timer(0.3, webbrowser.open, [self.url]).start()
        try:
            self._server.run(sockets=[self._socket])
        except KeyboardInterrupt:
            pass
        finally:
            self._close()

    def start(self) -> None:
        """Serve in a thread of its own, as long as Python runs or until `stop`."""
        self._server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]  # not in this thread
        self._prepare()
        self._thread = threading.Thread(target=self._serve, name="mapdag-explorer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop what `start` has started."""
        self._server.should_exit = True
        self.explorer.close()
        self._thread.join()
        self._close()

    def _serve(self) -> None:
        import asyncio

        asyncio.run(self._server.serve(sockets=[self._socket]))

    def _prepare(self) -> None:
        """Load the kernels of a search, or compile them, before the first one is wanted."""
        threading.Thread(target=load_kernels, name="mapdag-kernels", daemon=True).start()

    def _close(self) -> None:
        self.explorer.close()
        self._socket.close()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except (OSError, OverflowError) as error:
        made.close()
        why = getattr(error, "strerror", None) or str(error)
        raise FileError(f"cannot listen at {host}:{port}: {why}") from None
    made.listen(_BACKLOG)
    return made


def _protocol() -> Any:
    """Make HTTP as uvicorn speaks it, with an end to waiting for the head of a request."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Impatient(H11Protocol):
        """Closes connections that do not come to the point."""

        _timer: Any = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._timer = self.loop.call_later(_HEADERS, self._give_up)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._waits():
                self._timer = self._timer or self.loop.call_later(_HEADERS, self._give_up)
            elif self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def connection_lost(self, exc: Exception | None) -> None:
            if self._timer is not None:
                self._timer.cancel()
            super().connection_lost(exc)

        def _waits(self) -> bool:
            return self.cycle is None or self.cycle.response_complete

        def _give_up(self) -> None:
            self._timer = None
            if self._waits() and not self.transport.is_closing():
                self.transport.close()

    return Impatient
