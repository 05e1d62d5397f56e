"""The page of the explorer in a browser, for tests: opening it, waiting for it, looking at it."""

import time

import pytest

pytest.importorskip("starlette", reason="the extra explore is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")

import mapdag as md
from explorer_client import served
from mapdag.explorer.library import Source

DATA = md.network("asia").sample(500, seed=1)


@pytest.fixture(scope="module")
def client():
    with served() as found:
        found.table = found.explorer.hold(DATA, Source("asia.csv", network="asia", rows=500, seed=1)).key
        yield found


@pytest.fixture
def explore(browser, client):
    """Open the page of a table; at the end, it must have logged nothing and asked nobody else."""
    contexts, complaints, requests = [], [], []

    def open_page(table=None, *, address="", ready="#frame[data-final=true]:not(.settling)", **options):
        usual = {"viewport": {"width": 1280, "height": 720}, "reduced_motion": "reduce"}
        context = browser.new_context(**{**usual, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(f"{client.server.url}#data={table or client.table}&{address}")
        page.wait_for_selector(ready)
        nothing_leaves(page)
        return page

    open_page.complaints = complaints
    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith((client.base, "data:", "blob:"))] == []


def eventually(check, seconds=60):
    """Wait until something holds, and return it."""
    end = time.monotonic() + seconds
    while not (found := check()) and time.monotonic() < end:
        time.sleep(0.02)
    assert found
    return found


def nothing_leaves(page):
    """Wait until arcs that go are gone."""
    eventually(lambda: page.locator(".leaving").count() == 0)


class Follows:
    """Within, something is done to the page; at the end the graph has followed."""

    def __init__(self, page):
        self.page = page

    def _now(self):
        frame = self.page.locator("#frame")
        return int(frame.get_attribute("data-sequence")), frame.get_attribute("data-final")

    def __enter__(self):
        self.before = self._now()[0]

    def __exit__(self, kind, *_):
        if kind is None:
            eventually(lambda: self._now()[0] > self.before and self._now()[1] == "true")
            self.page.wait_for_selector("#frame:not(.settling)")
            nothing_leaves(self.page)


def arcs(page):
    """The arcs that are drawn, by names."""
    drawn = page.locator(".arcs .arc:not(.leaving)")
    return {tuple(arc) for arc in drawn.evaluate_all("all => all.map((e) => [e.dataset.from, e.dataset.to])")}


def learned(*objective, **options):
    return set(md.learn(DATA, *objective, **options).dag.arcs)


def address_of(page):
    return page.evaluate("location.href")


def node(page, name):
    return page.locator(f'.nodes .node[aria-label="{name}"]')


def middle(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, start, end, *, key=None):
    """Drag from the middle of one element to that of another."""
    if key:
        page.keyboard.down(key)
    page.mouse.move(*middle(start))
    page.mouse.down()
    page.mouse.move(*middle(end), steps=5)
    page.mouse.up()
    if key:
        page.keyboard.up(key)


def set_dial(page, name, value):
    field = page.locator(f"#{name}-value")
    field.fill(str(value))
    field.press("Enter")
    field.blur()


@pytest.fixture(scope="module")
def andes(client):
    data = md.network("andes").sample(200, seed=1)
    return client.explorer.hold(data, Source("andes.csv", network="andes", rows=200, seed=1)).key
