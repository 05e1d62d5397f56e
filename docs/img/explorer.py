"""Make the screenshots of the explorer in this folder: ``python docs/img/explorer.py``.

Needs the extra explore, playwright, Chromium and pillow. With names of pictures, only these are made.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import mapdag as md
from mapdag.explorer.doors import Explorer
from mapdag.explorer.library import Source
from mapdag.explorer.server import Server

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples"
COLOURS = 256


@contextmanager
def served(data: md.Dataset, name: str) -> Iterator[str]:
    """Serve an explorer with one table."""
    explorer = Explorer()
    explorer.hold(data, Source(name))
    server = Server(explorer)
    server.start()
    yield server.url
    server.stop()


def visit(browser: Browser, url: str, width: int = 1280, height: int = 720, *, scheme: str = "light") -> Page:
    """Open the page, and wait for the graph of the default search."""
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.goto(url)
    page.wait_for_selector("#frame[data-final=true]:not(.settling)", timeout=120_000)
    page.wait_for_timeout(300)
    return page


def turn(page: Page, dial: str, value: float) -> None:
    """Set a slider, and wait until the default search has answered."""
    field, frame = page.locator(f"#{dial}-value"), page.locator("#frame")
    before = frame.get_attribute("data-sequence")
    field.fill(str(value))
    field.press("Enter")
    field.blur()
    while frame.get_attribute("data-sequence") == before or frame.get_attribute("data-final") != "true":
        page.wait_for_timeout(100)
    page.wait_for_timeout(1000)


def shoot(page: Page, name: str) -> None:
    """Save what is in view, in few colours."""
    page.mouse.move(3, 3)
    page.wait_for_timeout(500)
    path = HERE / name
    page.screenshot(path=path)
    Image.open(path).convert("RGB").quantize(COLOURS, kmeans=1, dither=Image.Dither.NONE).save(path, optimize=True)


def choose_arc(page: Page, arc: str) -> None:
    """Choose an arc from the list."""
    page.locator("#tab-chosen").click()
    page.locator("#arc-list button", has_text=arc).first.click()
    page.wait_for_selector("#factor")


def workers() -> md.Dataset:
    """Read the table of the story."""
    return md.read(EXAMPLES / "workers.csv", weights="count")


def patients() -> md.Dataset:
    """Read the table of the tutorial."""
    return md.read(
        EXAMPLES / "patients.csv",
        drop="patient",
        missing="drop",
        discretize={"age": [40, 60], "bmi": [25, 30], "visits": [0.5, 2.5]},
        levels=EXAMPLES / "patients-levels.json",
    )


def alarm(browser: Browser) -> None:
    """Show the whole page, what changes with alpha, the map, and a dark screen."""
    with served(md.network("alarm").sample(5000, seed=1), "alarm.csv") as url:
        page = visit(browser, url)
        page.locator("#pin").click()
        turn(page, "alpha", 20)
        choose_arc(page, "new")
        shoot(page, "explore.png")
        page.locator("#tab-map").click()
        page.wait_for_selector("#heat button")
        page.wait_for_selector("#map-progress[hidden]", state="attached", timeout=200_000)
        shoot(page, "explore-map.png")
        page.close()
        page = visit(browser, url, scheme="dark")
        page.locator('.node[aria-label="LVEDVOLUME"]').click()
        page.wait_for_selector("#node-panel .monitor")
        shoot(page, "explore-dark.png")
        page.close()


def story(browser: Browser) -> None:
    """Show what the page of the story tells of."""
    with served(workers(), "workers.csv") as url:
        page = visit(browser, url)
        page.locator("#tab-life").click()
        page.wait_for_selector(".strip[data-parameter=c]")
        page.wait_for_selector("#life-progress[hidden]", state="attached", timeout=100_000)
        shoot(page, "explore-life.png")
        choose_arc(page, "mental → ratio")
        shoot(page, "explore-why.png")
        page.keyboard.press("Escape")
        page.locator("#show-lanes").click()
        for name, lane in (
            ("family", 0),
            ("mental", 1),
            ("physical", 1),
            ("smoking", 2),
            ("ratio", 3),
            ("pressure", 3),
        ):
            chip, target = page.locator(f'.lane-node[data-name="{name}"]'), page.locator(f'.lane[data-lane="{lane}"]')
            chip.drag_to(target, target_position={"x": 300, "y": 22})
            page.wait_for_timeout(200)
        page.wait_for_selector("#lane-cost:has-text('nats')")
        shoot(page, "explore-tiers.png")
        page.keyboard.press("Escape")
        page.locator("#keep").click()
        page.locator("#keep-name").fill("alpha 1")
        page.locator("#keep-do").click()
        for alpha in (0.5, 5):
            turn(page, "alpha", alpha)
            page.locator("#keep").click()
            page.locator("#keep-name").fill(f"alpha {alpha:g}")
            page.locator("#keep-do").click()
        turn(page, "alpha", 1)
        page.locator("#tab-kept").click()
        page.locator("#notes").fill("Smoking and the ratio: only for alpha above 0.6, c above 0.5.")
        page.locator("#side-by-side").click()
        shoot(page, "explore-side-by-side.png")
        page.close()


def tutorial(browser: Browser) -> None:
    """Show bars in the nodes, strengths, and a narrow window."""
    with served(patients(), "patients.csv") as url:
        page = visit(browser, url)
        page.locator("#show-bars").click()
        page.wait_for_selector(".bars .amount[width]:not([width='0'])")
        page.locator("#tab-evidence").click()
        page.wait_for_selector("#monitors[data-ready]")
        page.locator("#monitors .monitor:has(.link:text-is('chest_pain')) button[title='yes']").click()
        page.locator("#monitor-order").select_option("change")
        page.locator("#panel-evidence").evaluate("e => { e.scrollTop = 0; }")
        shoot(page, "explore-bars.png")
        page.close()
        page = visit(browser, url)
        page.locator("#tab-strength").click()
        page.locator("#resample").click()
        page.wait_for_selector("#strength-told:has-text('100 resamples.')", timeout=100_000)
        shoot(page, "explore-strength.png")
        page.close()
        page = visit(browser, url, 420, 860)
        shoot(page, "explore-narrow.png")
        page.close()


PICTURES: dict[str, Callable[[Browser], None]] = {"alarm": alarm, "story": story, "tutorial": tutorial}


def main(wanted: list[str]) -> None:
    """Drive the browser."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name in wanted or PICTURES:
            PICTURES[name](browser)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
