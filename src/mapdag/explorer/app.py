"""The application: what one may ask for over HTTP, and how it is answered.

Every answer is JSON, or JSON lines where there is more than one; what is wrong is a sentence with a status of 4xx.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from mapdag.errors import MapdagError, ParameterError
from mapdag.explorer.advice import Unreadable, options_of
from mapdag.explorer.answers import lay_out
from mapdag.explorer.background import certify, strengths
from mapdag.explorer.constraints import constraint_costs
from mapdag.explorer.export import export, marginals, probability_tables
from mapdag.explorer.guard import Refused
from mapdag.explorer.jobs import Cancelled, Job
from mapdag.explorer.learning import learn, learn_values
from mapdag.explorer.lives import fill_map, lives
from mapdag.explorer.messages import LINES, NAME, internal, read_json, refusal, status_of, tab_of, to_text, whole_of
from mapdag.explorer.settings import Settings, read_arcs, vocabulary
from mapdag.explorer.why import explain

if TYPE_CHECKING:
    from starlette.requests import Request

    from mapdag.explorer.doors import Explorer
    from mapdag.explorer.library import Table
    from mapdag.explorer.settings import Arc

_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
_PLACES = ("mapdag.report", "mapdag.explorer")


class Application:
    """Answers requests for one explorer.

    Parameters
    ----------
    explorer : Explorer
    """

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer
        self._assets = _find_assets()

    def routes(self) -> Starlette:
        """Return the application as the server takes it."""
        posts: dict[str, Callable[[Request], Any]] = {
            "data": self.open,
            "learn": self.learn,
            "values": self.values,
            "layout": self.lay_out,
            "why": self.why,
            "constraint-cost": self.constraint_cost,
            "cpts": self.cpts,
            "evidence": self.evidence,
            "strength": self.strength,
            "life": self.life,
            "map": self.map,
            "certify": self.certify,
            "export": self.export,
            "session": self.save,
            "cancel": self.cancel,
        }
        gets: dict[str, Callable[[Request], Any]] = {
            "vocabulary": self.vocabulary,
            "data": self.tables,
            "session": self.session,
        }
        found = Starlette(
            routes=[
                Route("/", self._answered(self.page), methods=["GET"]),
                Route("/assets/{name}", self._answered(self.asset), methods=["GET"]),
                Route("/api/data/{key}", self._answered(self.close), methods=["DELETE"]),
                *(Route(f"/api/{name}", self._answered(answer), methods=["GET"]) for name, answer in gets.items()),
                *(Route(f"/api/{name}", self._answered(answer), methods=["POST"]) for name, answer in posts.items()),
            ]
        )
        found.router.redirect_slashes = False  # an address has one spelling
        return found

    # Pages and files -------------------------------------------------------------------------------------------

    async def page(self, request: Request) -> Response:
        """Send the page, with the token that it shows when it asks."""
        del request
        if "index.html" not in self._assets:
            return Response("the page is missing", 404)
        text = self._assets["index.html"].read_text(encoding="utf-8").replace("__TOKEN__", self._explorer.token)
        return Response(text, media_type="text/html")

    async def asset(self, request: Request) -> Response:
        """Send a file of the page."""
        name = request.path_params["name"]
        if name not in self._assets or name == "index.html":
            raise Refused(404, "there is no such file")
        ending = name[name.rindex(".") :]
        return Response(self._assets[name].read_bytes(), media_type=_TYPES[ending])

    # Tables ----------------------------------------------------------------------------------------------------

    async def vocabulary(self, request: Request) -> Any:
        """Say what there is to choose from."""
        del request
        return vocabulary(self._explorer.limits)

    async def tables(self, request: Request) -> Any:
        """List the tables that are held."""
        del request
        return await self._do(lambda: {"tables": [each.to_json() for each in self._explorer.library.tables()]})

    async def open(self, request: Request) -> Any:
        """Open a table: a file in the body, or a sample of a bundled network."""
        library, query = self._explorer.library, request.query_params
        if "name" not in query:
            asked = await read_json(request)
            name = asked.get("network")
            if not isinstance(name, str):
                raise ParameterError("network must be the name of a bundled network")
            rows, seed = (whole_of(asked, each, usual) for each, usual in (("rows", 5000), ("seed", 1)))
            return await self._do(lambda: library.sample(name, rows, seed).to_json())
        called = "".join(c for c in query["name"].replace("\\", "/").rpartition("/")[2] if c.isprintable())[:NAME]
        options = options_of({key: query.getlist(key) for key in query})
        content = await request.body()
        return await self._do(lambda: library.read(called or "table", content, options).to_json())

    async def close(self, request: Request) -> Any:
        """Let go of a table."""
        self._explorer.library.drop(request.path_params["key"])
        return {}

    # Graphs ----------------------------------------------------------------------------------------------------

    async def learn(self, request: Request) -> Any:
        """Learn: JSON lines with the graph of hill climbing, then that of the search that was asked for."""
        asked = await read_json(request)
        table, settings = self._table(asked), Settings.read(asked.get("settings", {}))
        options = {"then_default": bool(asked.get("then_default", True)), "layout": bool(asked.get("layout", False))}
        limits = self._explorer.limits
        return self._stream(asked, "learn", lambda job: learn(job, table, settings, limits, **options))

    async def values(self, request: Request) -> Any:
        """Learn alpha, and c or beta: JSON lines."""
        return await self._behind(request, "values", learn_values)

    async def lay_out(self, request: Request) -> Any:
        """Say where the nodes and arcs of a graph are drawn."""
        asked = await read_json(request)
        table, arcs = self._table(asked), read_arcs("arcs", asked.get("arcs"))
        return await self._do(lambda: lay_out(table.data.names, arcs))

    async def why(self, request: Request) -> Any:
        """Say why an arc is there, or not."""
        asked = await read_json(request)
        table, settings, arcs = self._graph(asked)
        arc = read_arcs("arc", [asked.get("arc")])[0]
        return await self._do(lambda: explain(table, settings, arcs, arc))

    async def constraint_cost(self, request: Request) -> Any:
        """Say what each constraint costs."""
        asked = await read_json(request)
        table, settings = self._table(asked), Settings.read(asked.get("settings", {}))
        return await self._do_as(asked, "constraint-cost", lambda job: constraint_costs(job, table, settings))

    async def cpts(self, request: Request) -> Any:
        """Return the probability tables of a graph, as the scripts of the report take them."""
        graph = self._graph(await read_json(request))
        return await self._do(lambda: probability_tables(*graph))

    async def evidence(self, request: Request) -> Any:
        """Return the distribution of every node, given levels of some."""
        asked = await read_json(request)
        graph = self._graph(asked)
        return await self._do(lambda: marginals(*graph, asked.get("evidence", {})))

    # What is filled in behind ------------------------------------------------------------------------------------

    async def strength(self, request: Request) -> Any:
        """Say how strong arcs are: JSON lines."""
        asked = await read_json(request)
        table, settings = self._table(asked), Settings.read(asked.get("settings", {}))
        search = Settings.read({"search": asked.get("search", "hc")})
        options: dict[str, Any] = {"resamples": whole_of(asked, "resamples", 100), "search": search.search}
        work = partial(strengths, table=table, settings=settings, limits=self._explorer.limits, **options)
        return self._stream(asked, "strength", work, behind=True)

    async def life(self, request: Request) -> Any:
        """Say where arcs live: JSON lines."""
        return await self._behind(request, "life", lives)

    async def map(self, request: Request) -> Any:
        """Say which graph there is at each point of a grid: JSON lines."""
        return await self._behind(request, "map", fill_map)

    async def certify(self, request: Request) -> Any:
        """Bound all graphs: JSON lines."""
        return await self._behind(request, "certify", certify)

    # What is kept ------------------------------------------------------------------------------------------------

    async def export(self, request: Request) -> Response:
        """Send a graph as a file."""
        asked = await read_json(request)
        graph, limit = self._graph(asked), self._explorer.limits.search
        found = await self._do_as(asked, "export", lambda job: export(job, *graph, asked.get("format"), limit))
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(found.name)}"}
        return Response(found.content, media_type=found.kind, headers=headers)

    async def session(self, request: Request) -> Any:
        """Return the session that was kept."""
        del request
        kept = self._explorer.session
        if kept is None:
            return {"file": None, "session": None}
        return {"file": kept.name, "session": await self._do(kept.read)}

    async def save(self, request: Request) -> Any:
        """Keep a session, where there is a file for it."""
        state, kept = await read_json(request), self._explorer.session
        if kept is None:
            raise Refused(409, "there is no session file: start the explorer with --session FILE")
        await self._do(lambda: kept.write(state))
        return {"file": kept.name}

    async def cancel(self, request: Request) -> Any:
        """End what a tab has asked for."""
        asked = await read_json(request)
        what = asked.get("what")
        return {"cancelled": self._explorer.desk.cancel(tab_of(asked), what if isinstance(what, str) else None)}

    # How ---------------------------------------------------------------------------------------------------------

    def _table(self, asked: Mapping[str, Any]) -> Table:
        return self._explorer.library.get(asked.get("data"))

    def _graph(self, asked: Mapping[str, Any]) -> tuple[Table, Settings, tuple[Arc, ...]]:
        return self._table(asked), Settings.read(asked.get("settings", {})), read_arcs("arcs", asked.get("arcs"))

    async def _behind(self, request: Request, what: str, work: Callable[..., None]) -> Response:
        asked = await read_json(request)
        table, settings = self._table(asked), Settings.read(asked.get("settings", {}))
        limits = self._explorer.limits
        return self._stream(asked, what, lambda job: work(job, table, settings, limits), behind=True)

    async def _do(self, work: Callable[[], Any]) -> Any:
        """Do something in a thread that takes a moment."""
        job = Job("", "", lambda _: None)
        self._explorer.desk.take(job, replaces=False)
        return await self._wait(self._explorer.desk.start(job, work))

    async def _wait(self, work: Future[Any]) -> Any:
        limit = self._explorer.limits.search
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(work)), limit)
        except asyncio.TimeoutError:
            raise Refused(503, f"that took longer than {limit:g} seconds") from None

    async def _do_as(self, asked: Mapping[str, Any], what: str, work: Callable[[Job], Any]) -> Any:
        """Do something in a thread that a newer request of the same tab ends."""
        job = Job(tab_of(asked), what, lambda _: None, whole_of(asked, "sequence", 0))
        try:
            self._explorer.desk.take(job)
            return await self._wait(self._explorer.desk.start(job, lambda: work(job)))
        except Cancelled:
            raise Refused(409, "something newer was asked for") from None

    def _stream(
        self, asked: Mapping[str, Any], what: str, work: Callable[[Job], None], *, behind: bool = False
    ) -> Response:
        """Do something in a thread, and send what it tells as it comes."""
        loop, lines = asyncio.get_running_loop(), asyncio.Queue[dict[str, Any] | None]()

        def put(line: dict[str, Any] | None) -> None:
            with suppress(RuntimeError):  # the server has stopped
                loop.call_soon_threadsafe(lines.put_nowait, line)

        job = Job(tab_of(asked), what, put, whole_of(asked, "sequence", 0))

        def run() -> None:
            try:
                job.check()
                work(job)
            except Cancelled:
                put({"kind": "cancelled", "sequence": job.sequence})
            except MapdagError as error:
                put({"kind": "error", "sequence": job.sequence, "error": str(error)})
            except MemoryError:
                put({"kind": "error", "sequence": job.sequence, "error": "not enough memory"})
            except Exception as error:  # noqa: BLE001 - the page says it, and the server goes on
                self._explorer.note(error)
                put({"kind": "error", "sequence": job.sequence, "error": internal(error)})
            finally:
                put(None)

        async def send() -> AsyncIterator[bytes]:
            try:
                while (line := await lines.get()) is not None:
                    yield to_text(line) + b"\n"
            finally:
                job.cancel.set()  # it has ended, or nobody listens any more

        try:
            self._explorer.desk.take(job)
            self._explorer.desk.start(job, run, behind=behind)
        except Cancelled:
            return Response(to_text({"kind": "cancelled", "sequence": job.sequence}) + b"\n", media_type=LINES)
        return StreamingResponse(send(), media_type=LINES)

    def _answered(self, answer: Callable[[Request], Any]) -> Callable[[Request], Any]:
        """Turn what goes wrong into a sentence."""

        async def run(request: Request) -> Response:
            try:
                found = await answer(request)
            except Refused as refused:
                return refusal(refused.status, refused.why)
            except MapdagError as error:
                advice = {"advice": error.advice} if isinstance(error, Unreadable) else {}
                return refusal(status_of(error), str(error), **advice)
            except MemoryError:
                return refusal(507, "not enough memory")
            except ClientDisconnect:
                return Response(status_code=400)
            except Exception as error:  # noqa: BLE001 - the page says it, and the server goes on
                self._explorer.note(error)
                return refusal(500, internal(error))
            return found if isinstance(found, Response) else Response(to_text(found), media_type="application/json")

        return run


def _find_assets() -> dict[str, Any]:
    """Find the files that may be sent, by their names: no other names exist."""
    found: dict[str, Any] = {}
    for place in _PLACES:
        folder = files(place).joinpath("assets")
        if folder.is_dir():
            found |= {each.name: each for each in folder.iterdir() if each.name[each.name.rfind(".") :] in _TYPES}
    return found
