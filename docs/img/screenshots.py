"""Make the screenshots in this folder and the picture of the tutorial: ``python docs/img/screenshots.py``.

Needs playwright, Chromium and pillow; learning DIABETES takes two minutes. With names of pictures, only these are made.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import mapdag as md

HERE = Path(__file__).parent
SCROLL = "e => e.scrollIntoView({behavior: 'instant'})"
COLOURS = 256  # of a picture: enough for flat areas, and a third of the size


def alarm(folder: Path) -> None:
    """Write the report of a network with 37 nodes, and a comparison with the truth."""
    truth = md.network("alarm")
    data = truth.sample(5000, seed=1)
    result = md.learn(data)
    command = "mapdag learn alarm.csv --like alarm --bootstrap 100 --report report.html"
    strengths = md.bootstrap(data, R=100, seed=1)
    result.report(folder / "alarm.html", bootstrap=strengths, name="alarm.csv", command=command)
    names = ("alarm", "learned from 5,000 rows")
    md.report.write_comparison(truth.dag, result.dag, folder / "comparison.html", names=names)


def large(folder: Path, name: str, rows: int) -> None:
    """Write the report of a network with hundreds of nodes."""
    result = md.learn(md.network(name).sample(rows, seed=1))
    result.report(folder / f"{name}.html", name=f"{name}.csv")


def tutorial(folder: Path) -> None:
    """Draw the graph of the tutorial, and write its report."""
    examples = HERE.parent.parent / "examples"
    data = md.read(
        examples / "patients.csv",
        drop="patient",
        missing="drop",
        discretize={"age": [40, 60], "bmi": [25, 30], "visits": [0.5, 2.5]},
        levels=examples / "patients-levels.json",
    )
    result = md.learn(data)
    result.plot(HERE / "patients.svg")
    strengths = md.bootstrap(data, R=50, seed=1)
    result.report(folder / "patients.html", bootstrap=strengths, name="patients.csv")


def visit(browser: Browser, path: Path, width: int = 1280, height: int = 1000, *, to: str = "#graph") -> Page:
    """Open a page, and scroll to a part of it."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(path.as_uri())
    page.wait_for_selector(".frame.ready")
    if page.locator("#whatif").count():
        page.wait_for_selector("#monitors[data-ready]")
    page.locator(to).evaluate(SCROLL)
    return page


def shoot(page: Page, name: str) -> None:
    """Save what is in view, in few colours."""
    page.wait_for_timeout(400)
    path = HERE / name
    page.screenshot(path=path)
    Image.open(path).convert("RGB").quantize(COLOURS, kmeans=1, dither=Image.Dither.NONE).save(path, optimize=True)
    page.close()


def observe(page: Page, node: str, level: str, *, inside: str = "#monitors") -> None:
    """Click a level of a node."""
    page.locator(f"{inside} .monitor:has(.link:text-is('{node}')) button[title='{level}']").click()


def shoot_alarm(browser: Browser, folder: Path) -> None:
    """Show a node's probabilities, evidence, a comparison, and a narrow window."""
    page = visit(browser, folder / "alarm.html")
    observe(page, "HRBP", "LOW")
    observe(page, "BP", "LOW")
    page.locator("#graph").evaluate(SCROLL)
    page.locator('.node[aria-label="LVEDVOLUME"]').click()
    shoot(page, "report.png")
    page = visit(browser, folder / "alarm.html", to="#whatif")
    observe(page, "HRBP", "LOW")
    observe(page, "BP", "LOW")
    page.locator("#monitor-order").select_option("change")
    page.mouse.move(5, 5)
    page.locator("#whatif").evaluate(SCROLL)
    shoot(page, "whatif.png")
    page = visit(browser, folder / "alarm.html", 420, 860)
    page.locator('.node[aria-label="CATECHOL"]').click()
    shoot(page, "narrow.png")
    page = visit(browser, folder / "comparison.html", to="header")
    page.mouse.wheel(0, 120)
    shoot(page, "comparison.png")


def shoot_andes(browser: Browser, folder: Path) -> None:
    """Show 223 nodes, and the neighbourhood of one."""
    shoot(visit(browser, folder / "andes.html"), "andes.png")
    page = visit(browser, folder / "andes.html")
    page.fill("#find", "GOAL_98")
    page.press("#find", "Enter")
    page.locator("#radius").select_option("2")
    shoot(page, "neighbourhood.png")


def shoot_diabetes(browser: Browser, folder: Path) -> None:
    """Show 413 nodes, and a part of them with the small map."""
    shoot(visit(browser, folder / "diabetes.html"), "diabetes.png")
    page = visit(browser, folder / "diabetes.html")
    page.fill("#find", "bg_12")
    page.press("#find", "Enter")
    page.locator("#details .monitor .levels button").nth(2).click()
    shoot(page, "minimap.png")


def shoot_patients(browser: Browser, folder: Path) -> None:
    """Show the report of the tutorial."""
    page = visit(browser, folder / "patients.html", to="header")
    page.mouse.wheel(0, 120)
    page.locator('.node[aria-label="heart_disease"]').hover()
    shoot(page, "tutorial.png")


PICTURES: dict[str, tuple[Callable[[Path], None], Callable[[Browser, Path], None]]] = {
    "alarm": (alarm, shoot_alarm),
    "andes": (lambda folder: large(folder, "andes", 5000), shoot_andes),
    "diabetes": (lambda folder: large(folder, "diabetes", 1000), shoot_diabetes),
    "patients": (tutorial, shoot_patients),
}


def main(wanted: list[str]) -> None:
    """Drive the browser."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name in wanted or PICTURES:
            make, show = PICTURES[name]
            make(Path(folder))
            show(browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
