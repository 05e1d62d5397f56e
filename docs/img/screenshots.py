"""Make the screenshots in this folder and the picture of the tutorial: ``python docs/img/screenshots.py``.

Needs playwright and Chromium.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

import mapdag as md

HERE = Path(__file__).parent


def pages(folder: Path) -> None:
    """Write the three reports that are shown."""
    alarm = md.network("alarm")
    data = alarm.sample(5000, seed=1)
    result = md.learn(data)
    command = "mapdag learn alarm.csv --like alarm --bootstrap 100 --report report.html"
    result.report(folder / "alarm.html", bootstrap=md.bootstrap(data, R=100, seed=1), command=command)
    md.learn(md.network("andes").sample(5000, seed=1)).report(folder / "andes.html")
    md.report.write_comparison(
        alarm.dag, result.dag, folder / "compare.html", names=("alarm", "learned from 5,000 rows")
    )


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
    result.report(folder / "patients.html", bootstrap=md.bootstrap(data, R=50, seed=1))


def shoot(page: Page, name: str) -> None:
    """Save what is in view."""
    page.wait_for_timeout(300)
    page.screenshot(path=HERE / name)


def main() -> None:
    """Drive the browser."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        pages(Path(folder))
        tutorial(Path(folder))
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto((Path(folder) / "alarm.html").as_uri())
        page.mouse.wheel(0, 130)
        page.wait_for_timeout(600)
        page.hover('.node[aria-label="LVEDVOLUME"]')
        shoot(page, "report.png")
        page.goto((Path(folder) / "andes.html").as_uri())
        page.locator("#graph").evaluate("e => e.scrollIntoView({behavior: 'instant'})")
        page.fill("#find", "GOAL_98")
        page.press("#find", "Enter")
        page.click("[data-zoom=out]")
        shoot(page, "blanket.png")
        page.goto((Path(folder) / "compare.html").as_uri())
        page.mouse.wheel(0, 130)
        page.wait_for_timeout(600)
        shoot(page, "comparison.png")
        page.goto((Path(folder) / "patients.html").as_uri())
        page.mouse.wheel(0, 130)
        page.wait_for_timeout(600)
        page.hover('.node[aria-label="heart_disease"]')
        shoot(page, "tutorial.png")
        browser.close()


if __name__ == "__main__":
    main()
