"""The page of the explorer in a real browser: every view, against what Python finds, and what is kept."""

import json
from contextlib import contextmanager

import numpy as np
import pytest

import explorer_page
import mapdag as md
from explorer_client import served
from explorer_page import DATA, Follows, arcs, eventually, node, set_dial
from mapdag.explorer.library import Source
from mapdag.theory.factors import log_arc_odds

explore, client, andes = explorer_page.explore, explorer_page.client, explorer_page.andes  # fixtures

# Views ---------------------------------------------------------------------------------------------------------------


def test_arcs_stand_out_that_came_went_or_turned_since_the_pin(explore):
    page = explore()
    before = arcs(page)
    page.locator("#pin").click()
    with Follows(page):
        set_dial(page, "alpha", 300)
    now = arcs(page)
    turned = {(a, b) for a, b in now if (b, a) in before}
    gone = {(a, b) for a, b in before if (a, b) not in now and (b, a) not in now}
    assert page.locator(".arcs .since-new:not(.leaving)").count() == len(now - before - turned) > 0
    assert page.locator(".arcs .since-turned:not(.leaving)").count() == len(turned)
    assert page.locator(".ghosts .gone").count() == len(gone)
    assert f"+{len(now - before - turned)} " in page.locator("#pin").inner_text()
    page.locator("#pin").click()
    assert page.locator(".arcs .since-new:not(.leaving)").count() == 0


def test_the_class_is_shown_on_request(explore):
    page, result = explore(), md.learn(DATA)
    heads = page.locator(".arcs .reversible .head")
    assert heads.count() == len(result.reversible) > 0
    page.get_by_text("CPDAG", exact=True).click()
    assert not any(head.is_visible() for head in heads.all())
    page.get_by_text("DAG", exact=True).click()
    assert all(head.is_visible() for head in heads.all())


def test_strengths_are_filled_in_and_have_a_threshold(explore):
    page = explore()
    page.locator("#tab-strength").click()
    page.locator("#resamples").select_option("50")
    page.locator("#resample").click()
    page.wait_for_selector("#strengths li")
    eventually(lambda: page.locator("#strength-told").inner_text() == "50 resamples.")
    shares = [float(text) for text in page.locator("#strengths .share").all_inner_texts()]
    assert shares == sorted(shares, reverse=True)
    widths = page.locator(".arcs .arc").evaluate_all("all => all.map((e) => +e.getAttribute('stroke-width'))")
    assert max(widths) > 3
    set_dial(page, "threshold", 0)
    assert page.locator(".arcs .weak").count() == 0
    set_dial(page, "threshold", 1.01)
    assert page.locator(".arcs .weak").count() == page.locator(".arcs .arc").count()
    page.locator("#strength-clear").click()
    assert page.locator(".arcs .weak").count() == 0


def test_strips_tell_where_an_arc_lives(explore):
    page = explore(address="search=hc")  # as the strips are
    page.locator("#tab-life").click()
    page.locator("#life-arcs").select_option("all")
    page.wait_for_selector(".life-row.here")
    eventually(lambda: page.locator("#life-progress").is_hidden())
    assert page.locator(".life-row.here").count() == len(arcs(page))
    for strip in page.locator(".life-row.here .strip").all():
        pieces = strip.locator("i").evaluate_all(
            "all => all.map((e) => [parseFloat(e.style.left), parseFloat(e.style.width)])"
        )
        now = strip.locator("u").evaluate("e => parseFloat(e.style.left)")
        assert any(left - 1 <= now <= left + width + 1 for left, width in pieces)
    assert page.locator(".strip i.born").count() > 0
    strip = page.locator(".life-row .strip[data-parameter=alpha]").first
    box = strip.bounding_box()
    with Follows(page):
        page.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + 5)
    assert float(page.locator("#alpha-value").input_value()) > 100


def test_a_map_shows_arcs_by_alpha_and_prior(explore):
    page = explore(address="search=hc")
    page.locator("#tab-map").click()
    page.wait_for_selector("#heat [role=gridcell]")
    eventually(lambda: page.locator("#map-progress").is_hidden() and page.locator("#heat button:disabled").count() == 0)
    cells = page.locator("#heat [role=gridcell]")
    counts = cells.evaluate_all("all => all.map((e) => +e.dataset.count)")
    assert max(counts) > min(counts)
    corner = page.locator('#heat [data-cell="0,0"]')
    with Follows(page):
        corner.click()
    assert page.locator(".arcs .arc:not(.leaving)").count() == int(corner.get_attribute("data-count"))
    assert "here" in corner.get_attribute("class")
    corner.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.cell") == "1,0"
    page.locator("#map-shows").select_option(index=1)
    assert "the arc" in page.locator('#heat [data-cell="0,0"]').get_attribute("title")


def test_why_an_arc_is_there(explore):
    page, result = explore(), md.learn(DATA)
    odds = log_arc_odds(result.dag, DATA, result.objective)
    for (a, b), factor in list(odds.items())[:2]:
        page.locator("#arc-list button", has_text=f"{a} → {b}").click()
        page.wait_for_selector("#factor")
        assert page.locator("#arc-panel h3").inner_text() == f"{a} → {b}"
        assert float(page.locator("#factor").get_attribute("data-nats")) == pytest.approx(factor)
        table = page.locator("#arc-panel .counts td").all_inner_texts()
        assert sum(int(text.replace(",", "")) for text in table) == 500
        assert page.locator("#cost-remove").inner_text().startswith("+")
        assert page.locator(".arcs .picked").count() == 1
        page.keyboard.press("Escape")
    page.locator("#arc-list button").first.click()
    page.wait_for_selector("#act-forbid")
    with Follows(page):
        page.locator("#act-forbid").click()
    eventually(lambda: "not in the graph" in page.locator("#arc-panel").inner_text())


def test_evidence_is_followed_by_all_distributions(explore):
    page, network = explore(), md.learn(DATA).fit()
    page.locator("#tab-evidence").click()
    page.wait_for_selector("#monitors[data-ready]")
    level = lambda name, value: page.locator(  # noqa: E731
        f"#monitors .monitor:has(.link:text-is('{name}')) button[title='{value}']"
    )
    level("smoke", "yes").click()
    for name in ("lung", "bronc"):
        expected = network.query(name, {"smoke": "yes"}).probability(**{name: "yes"})
        assert float(level(name, "yes").get_attribute("data-p")) == pytest.approx(expected, abs=1e-9)
    assert "smoke = yes" in page.locator("#stage .evidence").inner_text()
    page.locator("#show-bars").click()
    bar = node(page, "smoke").locator(".level.observed")
    assert bar.get_attribute("aria-label") == "yes"
    node(page, "xray").locator(".level").nth(1).locator("rect").first.click()
    assert "xray = " in page.locator("#stage .evidence").inner_text()
    with Follows(page):
        set_dial(page, "alpha", 50)  # evidence stays when the graph changes
    assert "smoke = yes" in page.locator("#stage .evidence").inner_text()
    page.locator("#stage .evidence .clear").click()
    assert page.locator(".level.observed").count() == 0


def test_a_node_shows_its_blanket_and_its_table(explore):
    page, result = explore(), md.learn(DATA)
    node(page, "either").click()
    page.wait_for_selector("#node-panel .monitor")
    roles = page.locator(".node[data-role]:not([data-role=chosen])")
    assert {each.get_attribute("aria-label") for each in roles.all()} == set(result.dag.markov_blanket("either"))
    observed = set(zip(*(DATA.column(name).tolist() for name in result.dag.parents("either")), strict=True))
    assert page.locator("#node-panel .probabilities td.chance").count() == 2 * len(observed)
    page.keyboard.press("Escape")
    assert page.locator("#node-panel").is_hidden()


def test_thin_families_are_marked(explore, client):
    rng = np.random.default_rng(1)
    wide = {f"v{k}": [f"{x}" for x in rng.integers(0, 8, 60)] for k in range(5)}
    table = client.explorer.hold(md.read(wide), Source("wide.csv")).key
    page = explore(table, address="support=null&prior=U&alpha=60")
    assert page.locator("#thin").is_visible()
    assert page.locator(".node.thin").count() > 0


def test_hundreds_of_nodes_have_a_neighbourhood_and_a_small_map(explore, andes):
    page = explore(andes, address="search=hc")
    assert page.locator(".node").count() == 223
    small = page.locator("#minimap")
    assert small.is_hidden()
    for _ in range(4):
        page.locator("[data-zoom=in]").click()
    assert small.is_visible()
    page.locator("[data-zoom=fit]").click()
    page.locator("#find").fill("GOAL_98")
    page.locator("#find").press("Enter")
    page.locator("#radius").select_option("1")
    found = arcs(page)
    near = {"GOAL_98"} | {a for a, b in found if b == "GOAL_98"} | {b for a, b in found if a == "GOAL_98"}
    shown = page.locator(".node:not(.away)")
    assert {each.get_attribute("aria-label") for each in shown.all()} == near
    with Follows(page):
        set_dial(page, "alpha", 5)
    found = arcs(page)
    near = {"GOAL_98"} | {a for a, b in found if b == "GOAL_98"} | {b for a, b in found if a == "GOAL_98"}
    assert {each.get_attribute("aria-label") for each in shown.all()} == near
    page.locator("#radius").select_option("0")
    assert shown.count() == 223


def test_the_certificate_tells_bound_and_gap(explore):
    pytest.importorskip("highspy")
    page = explore()
    page.locator("#certify").click()
    eventually(lambda: page.locator("#bound.proved").count())
    assert float(page.locator("#bound").get_attribute("data-gap")) == pytest.approx(0, abs=1e-6)
    with Follows(page):
        set_dial(page, "alpha", 2)
    assert page.locator("#bound").inner_text() == ""


def test_learned_values_move_the_dials_and_show_their_profile(explore):
    page = explore()
    page.locator("#learn-values").click()
    eventually(lambda: page.locator("#learned .curve-of-alpha circle").count())
    assert page.locator("#learned .note").inner_text().startswith("Learned: c = ")
    alpha = float(page.locator("#alpha-value").input_value())
    assert f"alpha = {alpha:.2g}" in page.locator("#learned .note").inner_text()
    with Follows(page):
        set_dial(page, "alpha", 2)
    assert page.locator("#learned .curve-of-alpha").count() == 0


# Keeping -------------------------------------------------------------------------------------------------------------


def keep(page, name):
    page.locator("#keep").click()
    page.locator("#keep-name").fill(name)
    page.locator("#keep-do").click()


def test_graphs_and_notes_are_kept_shown_side_by_side_and_reopened(explore, tmp_path):
    page = explore()
    keep(page, "as it is")
    first = arcs(page)
    with Follows(page):
        set_dial(page, "alpha", 300)
    keep(page, "<b>flat</b>")
    page.locator("#tab-kept").click()
    assert [each.inner_text() for each in page.locator("#kept strong").all()] == ["as it is", "<b>flat</b>"]
    page.locator("#notes").fill("much depends on alpha")
    page.locator("#side-by-side").click()
    pictures = page.locator("#gallery figure")
    assert pictures.count() == 3
    assert pictures.nth(1).locator(".arc:not(.ghost)").count() == len(first)
    assert pictures.nth(1).locator(".ghost").count() > 0
    page.keyboard.press("Escape")
    page.locator("#session").click()
    with page.expect_download() as saved:
        page.get_by_role("menuitem", name="Save to a file").click()
    saved.value.save_as(tmp_path / "asia.session.json")
    other = explore()
    other.set_input_files("#file", tmp_path / "asia.session.json")
    eventually(lambda: other.locator("#alpha-value").input_value() == "300")
    eventually(lambda: arcs(other) == arcs(page))
    other.locator("#tab-kept").click()
    assert other.locator("#notes").input_value() == "much depends on alpha"
    with Follows(other):
        other.get_by_role("button", name="Go back to it").first.click()
    assert arcs(other) == first
    with Follows(other):
        other.locator("#undo").click()


def test_the_session_file_is_written_and_reopens(browser, tmp_path):
    path = tmp_path / "my.session.json"
    with session_page(browser, path) as page:
        with Follows(page):
            set_dial(page, "alpha", 42)
        page.keyboard.press("Control+s")
        eventually(lambda: path.exists() and json.loads(path.read_text())["settings"]["alpha"] == 42)
    with session_page(browser, path) as page:
        eventually(lambda: page.locator("#alpha-value").input_value() == "42")


@contextmanager
def session_page(browser, path):
    """Serve with a session file, and open the page."""
    with served(session=path) as found:
        found.explorer.hold(DATA, Source("asia.csv", network="asia", rows=500, seed=1))
        page = browser.new_page()
        page.goto(found.server.url)
        page.wait_for_selector("#frame[data-final=true]")
        yield page
        page.close()


def test_what_is_seen_is_exported(explore, tmp_path):
    page = explore()
    kinds = {"BIF": ".bif", "SVG": ".svg", "PNG": ".png", "Report": ".html", "DOT": ".dot", "GraphML": ".graphml"}
    for item, ending in kinds.items():
        page.locator("#export").click()
        with page.expect_download() as saved:
            page.get_by_role("menuitem", name=item).click()
        assert saved.value.suggested_filename.endswith(ending)
        saved.value.save_as(tmp_path / f"graph{ending}")
        assert (tmp_path / f"graph{ending}").stat().st_size > 100
    assert set(md.read_network(tmp_path / "graph.bif").dag.arcs) == arcs(page)


def test_the_lines_that_make_the_graph_again_are_shown(explore):
    page = explore()
    with Follows(page):
        set_dial(page, "alpha", 12)
    page.locator("#export").click()
    page.get_by_role("menuitem", name="Command").click()
    page.wait_for_selector("#lines")
    assert page.locator("#lines").inner_text().startswith("mapdag ")
    assert "12" in page.locator("#lines").inner_text()
    page.locator("#dialog .close").click()
    page.locator("#export").click()
    page.get_by_role("menuitem", name="Python").click()
    eventually(lambda: "import mapdag" in page.locator("#lines").inner_text())
