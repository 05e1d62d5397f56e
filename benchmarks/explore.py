"""The explorer in a browser: from a slider's move to the redrawn graph, and ten minutes of random changes in two tabs.

The server is `mapdag explore` in a process of its own; the page is in Chromium, driven by playwright. Times are taken
in the page, from the event of the slider to the task after the frame in which the graph was drawn. `BENCH_MINUTES` is
how long the second part takes (0: not at all); `BENCH_CASES=alarm,andes` names cases of the first.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

from harness.samples import SEED
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target
from harness.timing import timed


class Case(NamedTuple):
    """A sample of a network, and the milliseconds in which its graph must follow."""

    network: str
    rows: int
    limit: float


CASES = (Case("alarm", 5_000, 120), Case("hailfinder", 13_280, 200), Case("andes", 5_785, 500))
MOVES = 40  # of each slider
FINAL = 4  # moves after which the default search is waited for
TWICE = 2.0
MINUTES = 10.0
GROWTH = 1.15  # memory of the last fifth of the time, in that of the second fifth

#: Move a slider; the milliseconds until the graph of the new value is on the screen.
MOVE = """async ([id, value]) => {
  const slider = document.getElementById(id), frame = document.getElementById("frame");
  const before = Number(frame.dataset.sequence || 0), start = performance.now();
  slider.value = value;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  await new Promise((resolve) => {
    const seen = new MutationObserver(() => {
      if (Number(frame.dataset.sequence) > before) { seen.disconnect(); resolve(); }
    });
    seen.observe(frame, { attributes: true, attributeFilter: ["data-sequence"] });
  });
  await new Promise((resolve) => setTimeout(resolve));
  return performance.now() - start;
}"""
#: The milliseconds until the default search's graph is there, too.
WAIT = """async (start) => {
  const frame = document.getElementById("frame");
  while (frame.dataset.final !== "true") await new Promise((resolve) => setTimeout(resolve, 5));
  return performance.now() - start;
}"""


class Served(NamedTuple):
    """A server in a process of its own."""

    url: str
    process: subprocess.Popen[str]

    @property
    def memory(self) -> float:
        """MiB that it takes."""
        return memory_of(self.process.pid)


@contextmanager
def served(case: Case) -> Iterator[Served]:
    command = [sys.executable, "-m", "mapdag", "explore", "--network", case.network, "--rows", str(case.rows)]
    command += ["--seed", str(SEED), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "MAPDAG_TRACEBACK": "1"})
    assert process.stdout is not None
    found = re.search(r"http://\S+", process.stdout.readline())
    assert found, "the server did not start"
    try:
        yield Served(found[0], process)
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = os.environ.get("MAPDAG_CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    assert path, "there is no Chromium"
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--enable-precise-memory-info", "--js-flags=--expose-gc"]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


def open_page(browser: Any, url: str, said: list[str]) -> Any:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("response", lambda answer: said.append(f"{answer.status} {answer.url}") if answer.status >= 500 else None)
    page.goto(url)
    page.wait_for_selector("#frame[data-sequence]", timeout=180_000)
    return page


def follow(case: Case, settings: Settings, browser: Any) -> tuple[list[tuple[Any, ...]], list[Target]]:
    """Move the sliders of alpha and c, hill climbing alone and with the default search behind it."""
    import mapdag as md

    said: list[str] = []
    lines, targets = [], []
    moves = 8 if settings.quick else MOVES
    data = md.network(case.network).sample(case.rows, seed=SEED)
    md.hill_climb(data)  # compiled
    with served(case) as server:
        page = open_page(browser, server.url, said)
        for search in ("hc", "orders"):
            page.select_option("#search", search)
            page.wait_for_selector('#frame[data-final="true"]', timeout=180_000)
            for slider in ("alpha", "c"):
                rng = random.Random(SEED)
                times, alone = [], []
                for value in rng.sample(range(250, 760), moves):
                    times.append(page.evaluate(MOVE, [slider, value]))
                    alone.append(1e3 * timed(partial(md.hill_climb, data))[0])  # from scratch, in another process
                worst = quantiles(times, n=20)[-1]
                lines.append((case.network, case.rows, slider, search, median(times), worst, max(times), median(alone)))
                page.wait_for_timeout(300)
                if search == "hc":
                    what = f"{case.network.upper()} {case.rows:,}: slider of {slider} to redrawn graph, median"
                    targets.append(Target(what, "<=", case.limit, median(times), "ms"))
        targets.append(Target(f"{case.network.upper()}: complaints of the page", "<=", 0, len(said), "tables"))
        page.close()
    return lines, targets


def finals(case: Case, settings: Settings, browser: Any) -> tuple[tuple[Any, ...], Target]:
    """Wait for the default search, and let it search alone on the same data."""
    import mapdag as md

    said: list[str] = []
    data = md.network(case.network).sample(case.rows, seed=SEED)
    values, shares, rows = (300, 420, 560, 700), [], []
    with served(case) as server:
        page = open_page(browser, server.url, said)
        page.wait_for_selector('#frame[data-final="true"]', timeout=180_000)
        md.learn(data)  # compiled
        for value in values[: 2 if settings.quick else FINAL]:
            start = page.evaluate("performance.now()")
            page.evaluate(MOVE, ["alpha", value])
            waited = page.evaluate(WAIT, start) / 1e3
            alpha = float(page.input_value("#alpha-value"))
            began = time.perf_counter()
            md.learn(data, f"Support()+MU(c=1)+BDs({alpha})")
            own = time.perf_counter() - began
            shares.append(waited / own)
            rows.append((waited, own))
        page.close()
    seconds, alone = median([row[0] for row in rows]), median([row[1] for row in rows])
    target = Target(
        f"{case.network.upper()}: the default search's answer, in its own time", "<=", TWICE, median(shares)
    )
    return (case.network, case.rows, seconds, alone, median(shares)), target


# Ten minutes ---------------------------------------------------------------------------------------------------------


class Monkey:
    """Somebody who changes whatever can be changed, without a thought."""

    def __init__(self, page: Any, seed: int) -> None:
        self._page, self._rng = page, random.Random(seed)
        self.done = 0

    def act(self) -> None:
        """Do something."""
        acts = (self._slide, self._slide, self._slide, self._choose, self._press, self._look, self._point)
        self._rng.choice(acts)()
        self.done += 1
        trouble = self._page.text_content("#trouble") or ""
        if "internal error" in trouble:
            raise RuntimeError(trouble)

    def _slide(self) -> None:
        slider = self._rng.choice(("alpha", "alpha", "c", "beta", "support"))
        self._page.evaluate(
            """([id, values]) => {
              const slider = document.getElementById(id);
              if (!slider || !slider.offsetParent) return;
              for (const value of values) {
                slider.value = value;
                slider.dispatchEvent(new Event("input", { bubbles: true }));
              }
              slider.dispatchEvent(new Event("change", { bubbles: true }));
            }""",
            [slider, [self._rng.randrange(100, 900) for _ in range(self._rng.randrange(1, 6))]],
        )

    def _choose(self) -> None:
        choices = {
            "likelihood": ("BDs", "BDeu", "BIC", "qNML", "K2"),
            "prior": ("MU", "U", "VSP", "MU"),
            "search": ("orders", "hc", "tabu", "hc"),
        }
        select = self._rng.choice(list(choices))
        self._page.select_option(f"#{select}", self._rng.choice(choices[select]))

    def _press(self) -> None:
        self._click(self._rng.choice(("undo", "undo", "redo", "pin", "tidy", "show-bars")))

    def _look(self) -> None:
        self._click(f"tab-{self._rng.choice(('chosen', 'evidence', 'strength', 'life', 'map', 'rules', 'kept'))}")

    def _point(self) -> None:
        nodes = self._page.locator("#frame .node")
        count = nodes.count()
        if count:
            nodes.nth(self._rng.randrange(count)).dispatch_event("click")

    def _click(self, key: str) -> None:
        self._page.evaluate("id => { const e = document.getElementById(id); if (e && !e.disabled) e.click(); }", key)


def soak(settings: Settings, browser: Any) -> tuple[Table, list[Target]]:
    """Change controls at random in two tabs with two tables; errors, and memory of server and page."""
    minutes = 0.5 if settings.quick else float(os.environ.get("BENCH_MINUTES", MINUTES))
    said: list[str] = []
    seen: list[tuple[float, float, float]] = []
    with served(CASES[0]) as server:
        pages = [open_page(browser, server.url, said) for _ in range(2)]
        pages[1].evaluate(OTHER, {"network": "child", "rows": 5000, "seed": SEED})
        pages[1].goto(server.url + "&data=t2")
        pages[1].wait_for_selector("#frame[data-sequence]", timeout=180_000)
        monkeys = [Monkey(page, seed) for seed, page in enumerate(pages)]
        began = last = time.monotonic()
        while (now := time.monotonic()) - began < 60 * minutes:
            for monkey, page in zip(monkeys, pages, strict=True):
                monkey.act()
                page.wait_for_timeout(120)
            if now - last > 60 * minutes / 60:
                last = now
                heaps = [page.evaluate("gc(), performance.memory.usedJSHeapSize / 2 ** 20") for page in pages]
                seen.append((now - began, server.memory, max(heaps)))
                progress(f"explore: {now - began:.0f} s, server {server.memory:.0f} MiB, page {max(heaps):.0f} MiB")
        for page in pages:  # it still answers
            page.select_option("#search", "hc")
            page.wait_for_timeout(3000)
            page.evaluate(MOVE, ["alpha", 333])
        alive = server.process.poll() is None
    fifth = max(len(seen) // 5, 1)
    early, late = seen[fifth : 2 * fifth] or seen, seen[-fifth:]
    growth = [median(row[k] for row in late) / median(row[k] for row in early) for k in (1, 2)]
    rows = (
        ("server, MiB", *(median(row[1] for row in part) for part in (early, late)), max(row[1] for row in seen)),
        ("page, heap, MiB", *(median(row[2] for row in part) for part in (early, late)), max(row[2] for row in seen)),
    )
    done = sum(monkey.done for monkey in monkeys)
    note = (
        f"{done:,} changes in {minutes:g} minutes; {len(said)} complaints{': ' + '; '.join(said[:5]) if said else ''}."
    )
    table = Table("Two tabs, two tables, random changes", ("memory", "second fifth", "last fifth", "most"), rows, note)
    return table, [
        Target("errors in two tabs", "<=", 0, len(said) + (not alive), "tables"),
        Target("memory of the server, last fifth of the time in the second", "<=", GROWTH, growth[0]),
        Target("memory of a page, last fifth of the time in the second", "<=", GROWTH, growth[1]),
    ]


#: Open another table from the page.
OTHER = """async (body) => {
  const token = document.querySelector("meta[name=mapdag-token]").content;
  await fetch("/api/data", { method: "POST", headers: { "X-Mapdag-Token": token }, body: JSON.stringify(body) });
}"""


def memory_of(pid: int) -> float:
    """MiB that a process takes."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return float(next(line.split()[1] for line in text.splitlines() if line.startswith("VmRSS"))) / 1024


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    wanted = os.environ.get("BENCH_CASES", "").split(",") if os.environ.get("BENCH_CASES") else None
    cases = [case for case in CASES if wanted is None or case.network in wanted]
    followed, answered, targets = [], [], []
    tables = []
    with chromium() as browser:
        for case in cases[:1] if settings.quick else cases:
            progress(f"explore: {case.network}")
            lines, found = follow(case, settings, browser)
            followed += lines
            line, target = finals(case, settings, browser)
            answered.append(line)
            targets += [*found, target]
        columns = ("network", "rows", "slider", "search", "median, ms", "95 %, ms", "worst, ms", "hill_climb alone, ms")
        if followed:
            note = (
                "From the event of the slider to the graph on the screen; with the default search, its first answer. "
                "Beside it, `mapdag.hill_climb` from scratch in another process, in turns: what the machine gives."
            )
            tables.append(Table("A slider moves", columns, tuple(followed), note))
            columns = ("network", "rows", "page, s", "mapdag.learn alone, s", "ratio")
            tables.append(Table("The default search's answer to a new alpha", columns, tuple(answered)))
        if os.environ.get("BENCH_MINUTES") != "0":
            table, found = soak(settings, browser)
            tables.append(table)
            targets += found
    return tables, targets, None


if __name__ == "__main__":
    Script("explore", "The explorer", __doc__ or "", measure).main()
