"""What asking a network takes: rows with gaps, all marginals, single questions; and pages that answer in a browser.

Rows with gaps: 30 % of all values missing at random, the probabilities of one node in every row, for every node. Pages
are opened in Chromium where playwright and it are installed.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from harness.samples import SEED
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target
from harness.timing import Rounds, best_of, timed

ROWS, GAPS = 10_000, 0.3
WITH_GAPS = ("alarm", "insurance", "child", "hailfinder", "hepar2", "win95pts")
LARGE = ("andes", "pigs")  # some nodes only, fewer rows
FEW_NODES, FEW_ROWS = 8, 1_000
MARGINALS = ("alarm", "hailfinder", "andes", "pigs", "diabetes", "munin", "barley", "link")
PAGES = (("alarm", 5_000), ("andes", 5_000), ("diabetes", 1_000), ("munin", 1_000))
#: Milliseconds that the page is busy after a click.
CLICK = "level => { const start = performance.now(); level.click(); return performance.now() - start; }"
SECONDS = 5.0  # for the rows of ALARM, any node


def with_gaps(name: str, rows: int) -> Any:
    """A sample with values missing at random."""
    import mapdag as md

    frame = md.network(name).sample(rows, seed=SEED).to_pandas().astype(object)
    return frame.mask(np.random.default_rng(SEED).random(frame.shape) < GAPS)


def rows_with_gaps(settings: Settings) -> tuple[Table, list[Target]]:
    import mapdag as md

    lines, worst_of_alarm = [], 0.0
    for name in WITH_GAPS[:1] if settings.quick else (*WITH_GAPS, *LARGE):
        progress(f"inference: {name}, rows with gaps")
        network, rows = md.network(name), FEW_ROWS if name in LARGE else ROWS
        table = with_gaps(name, rows)
        step = len(network.nodes) // FEW_NODES if name in LARGE else 1
        seconds = [timed(partial(network.predict_proba, table, node))[0] for node in network.nodes[::step]]
        lines.append((name, rows, len(seconds), median(seconds), max(seconds), 1e3 * max(seconds) / rows))
        worst_of_alarm = max(seconds) if name == "alarm" else worst_of_alarm
    columns = ("network", "rows", "nodes asked", "median, s", "worst, s", "worst, ms per row")
    note = "Reading the table, as a DataFrame, is part of each."
    target = Target("10,000 rows of ALARM with 30 % gaps, any node", "<=", SECONDS, worst_of_alarm, "s")
    return Table("Rows with gaps", columns, tuple(lines), note), [target]


def questions(settings: Settings) -> Table:
    import mapdag as md

    rounds = Rounds(least=2, most=8, budget=2.0)
    lines = []
    for name in MARGINALS[:1] if settings.quick else MARGINALS:
        network = md.network(name)
        one = best_of(partial(network.query, network.nodes[len(network.nodes) // 2]), rounds).best
        every = best_of(network.marginals, rounds).best
        explanation = best_of(network.most_probable, rounds).best
        lines.append((name, len(network.nodes), 1e3 * one, 1e3 * every, 1e3 * explanation))
    columns = ("network", "nodes", "one node, ms", "all marginals, ms", "most probable explanation, ms")
    return Table("Questions without evidence, best of all rounds", columns, tuple(lines))


def pages(settings: Settings) -> Table:
    import mapdag as md

    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in PAGES[:1] if settings.quick else PAGES:
            progress(f"inference: the page of {name}")
            path = Path(folder) / f"{name}.html"
            result = md.hill_climb(md.network(name).sample(rows, seed=SEED))
            result.report(path)  # loads what drawing needs
            start = time.process_time()
            result.report(path)
            wrote = time.process_time() - start
            lines.append((name, rows, len(result.dag.nodes), path.stat().st_size / 1e6, wrote, *opened(path)))
    columns = ("network", "rows", "nodes", "page, MB", "written, CPU s", "opened, s", "one piece of evidence, s")
    note = "Opened: until the page can answer, the better of two; evidence: until all marginals have followed."
    return Table("Pages of reports", columns, tuple(lines), note)


def opened(path: Path) -> tuple[float | str, float | str]:
    """Seconds until a page is ready, and until it has followed a click on a level; blanks without a browser."""
    browser_path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser_path is None or find_spec("playwright") is None:
        return "", ""
    from playwright.sync_api import sync_playwright

    ready, followed = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for _ in range(2):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            start = time.perf_counter()
            page.goto(path.as_uri())
            page.wait_for_selector("#monitors[data-ready]")
            ready.append(time.perf_counter() - start)
            followed.append(page.locator("#monitors .monitor [data-level]").first.evaluate(CLICK) / 1e3)
            page.close()
        browser.close()
    return min(ready), min(followed)


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    gaps, targets = rows_with_gaps(settings)
    return [gaps, questions(settings), pages(settings)], targets, None


if __name__ == "__main__":
    Script("inference", "Asking a network", __doc__ or "", measure).main()
