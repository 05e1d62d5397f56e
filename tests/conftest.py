"""Settings and fixtures shared by all tests."""

import atexit
import os
import shutil
import signal
import sys
import tempfile
import warnings

import pytest
from hypothesis import HealthCheck, settings

signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background, shells have it ignored
os.environ["MAPDAG_WARM_UP"] = "0"  # workers compile what they need themselves
os.environ["MAPDAG_QUIET"] = "1"  # and do so silently
os.environ["MAPDAG_CACHE"] = tempfile.mkdtemp(prefix="mapdag-cache-")  # not the user's own
atexit.register(shutil.rmtree, os.environ["MAPDAG_CACHE"], ignore_errors=True)

# Numba compiles on first use, so the first example of a test can take seconds: no deadline. Examples are derandomised:
# a failure must be the same on every machine.
settings.register_profile(
    "mapdag", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("mapdag")


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command in this process; returns exit code, standard output and standard error."""
    from mapdag.cli import main

    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # the command replaces it

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["mapdag", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture(scope="session")
def browser():
    """Chromium, for pages; tests that need it are skipped where it or playwright is not installed."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser tests")
    found = map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
    chromium = os.environ.get("MAPDAG_CHROMIUM") or next(filter(None, found), None)
    if chromium is None:
        pytest.skip("Chromium is not installed: no browser tests")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Open a page; at the end, it must have logged nothing and asked for nothing but itself."""
    pages, complaints, requests = [], [], []

    def open_page(path, *, ready=".frame.ready", **options):
        page = browser.new_page(**{"viewport": {"width": 1300, "height": 950}, **options})
        pages.append(page)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector(ready)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert len([url for url in requests if url.startswith("file:")]) == len(pages)
