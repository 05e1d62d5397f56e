"""The front doors: `explore` serves the page until it is stopped, `show` shows it in a notebook."""

from __future__ import annotations

import os
import secrets
import sys
import traceback
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mapdag.checks import check_whole
from mapdag.data import ReadingOptions, as_dataset
from mapdag.explorer.jobs import Desk
from mapdag.explorer.library import Library, Source
from mapdag.explorer.limits import Limits
from mapdag.explorer.session import Session, reopen
from mapdag.explorer.settings import Settings
from mapdag.graphs.drawable import Drawable
from mapdag.public import public

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mapdag.data import Dataset
    from mapdag.explorer.library import Table
    from mapdag.search import Result


class Explorer:
    """All that one explorer has: its tables, the work in flight, its token, and where its session is kept.

    Parameters
    ----------
    limits : Limits, optional
    session : path, optional
        The only file that is ever written.
    framed : bool
        Whether a notebook may show the page in a frame.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        session: str | os.PathLike[str] | None = None,
        framed: bool = False,
    ) -> None:
        self.limits = limits or Limits()
        self.library = Library(self.limits)
        self.desk = Desk(self.limits.waiting)
        self.token = secrets.token_urlsafe(24)
        self.session = None if session is None else Session(session)
        self.framed = framed

    def hold(self, data: Dataset, source: Source) -> Table:
        """Hold a table that was read elsewhere."""
        return self.library.add(data, source)

    def go_on(self) -> Table | None:
        """Open the table that the session was about, if there is one and it is known where it is."""
        kept = None if self.session is None else self.session.read()
        return None if kept is None else reopen(kept, self.library)

    def note(self, error: BaseException) -> None:
        """Say where something went wrong that should not, for those who asked for it."""
        if os.environ.get("MAPDAG_TRACEBACK"):
            traceback.print_exception(error, file=sys.stderr)

    def close(self) -> None:
        """End all work."""
        self.desk.close()


@public(ReadingOptions)
def explore(
    data: Any = None,
    *,
    session: str | os.PathLike[str] | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    open_browser: bool = True,
    **reading: Unpack[ReadingOptions],
) -> None:
    """Serve a page on which the graph follows the prior, until Ctrl-C.

    Needs the extra ``explore``.

    Parameters
    ----------
    data : Dataset, or anything that `mapdag.read` takes, optional
        What to begin with; other tables can be opened on the page.
    session : path, optional
        Where the page keeps its state; a file that is there is gone on with.
    host, port
        Where to listen: on this machine only unless told otherwise, at any port that is free.
    open_browser : bool
        Whether to show the page in a browser.
    **reading
        Options of `mapdag.read`, where `data` is no `Dataset` yet.
    """
    from mapdag.explorer.server import Server

    explorer = Explorer(session=session)
    if data is not None:
        explorer.hold(as_dataset(data, **reading), source_of(data, dict(reading)))
    else:
        explorer.go_on()
    Server(explorer, host=host, port=port).run(_say, open_browser=open_browser)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Frame:
    """The page in a notebook: a frame that the notebook shows, and the graph as it was, for where the frame is empty.

    Attributes
    ----------
    url : str
        Where the page is.
    height : int
        Of the frame, in pixels.
    drawable : Drawable, optional
        The result, whose picture remains where the page does not run, as in what nbconvert writes.
    """

    def __init__(self, url: str, height: int, drawable: Drawable | None = None) -> None:
        self.url, self.height, self.drawable = url, height, drawable

    def _repr_html_(self) -> str:
        attributes = f'width="100%" height="{self.height}" style="border:0" title="mapdag explorer" allow="fullscreen"'
        frame = f'<iframe src="{escape(self.url)}" {attributes}></iframe>'
        picture = None if self.drawable is None else Drawable._repr_html_(self.drawable)
        if picture is None:
            return frame
        told = "The graph as it was learned (the page above is there only as long as Python runs)"
        return f"{frame}<details><summary>{told}</summary>{picture}</details>"

    def _repr_svg_(self) -> str | None:
        """Return the picture of the graph, for paper."""
        return None if self.drawable is None else self.drawable._repr_svg_()

    def __repr__(self) -> str:
        return f"mapdag explorer: {self.url}"


_in_notebook: list[Any] = []  # the server of this process, once somebody has asked for it


def show(result: Result, *, height: int = 720) -> Frame:
    """Show the explorer of a result's data in a notebook; `mapdag.Result.explore` is the front door.

    All results share one server, which ends with Python.
    """
    from mapdag.explorer.server import Server
    from mapdag.plots import check_installed

    check_installed()
    check_whole("height", height, least=100)
    if not _in_notebook:
        server = Server(Explorer(framed=True))
        server.start()
        _in_notebook.append(server)
    server = _in_notebook[0]
    table = server.explorer.library.add(result.data, Source("data"), settings=Settings.of(result.objective))
    return Frame(f"{server.url}&data={table.key}", height, result.dag)


def source_of(data: Any, reading: dict[str, Any]) -> Source:
    """Say where a table comes from that was given in Python."""
    if isinstance(data, (str, os.PathLike)):
        path = Path(data)
        return Source(path.name, path=str(path), options=reading)
    return Source("data", options=reading)
