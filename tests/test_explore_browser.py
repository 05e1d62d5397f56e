"""The page of the explorer in a real browser: every control and every view, against what Python finds."""

import json
import re
import time

import numpy as np
import pytest

import mapdag as md

pytest.importorskip("starlette", reason="the extra explore is not installed")
from explorer_client import served  # noqa: E402

from mapdag.explorer.library import Source  # noqa: E402
from mapdag.objective import parse  # noqa: E402
from mapdag.theory.factors import log_arc_odds  # noqa: E402

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

    def open_page(table=None, *, address="", ready="#frame[data-final=true]", **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 720}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(f"{client.server.url}#data={table or client.table}&{address}")
        page.wait_for_selector(ready)
        return page

    open_page.complaints = complaints
    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith((client.base, "data:", "blob:"))] == []


def eventually(check, seconds=15):
    """Wait until something holds, and return it."""
    end = time.monotonic() + seconds
    while not (found := check()) and time.monotonic() < end:
        time.sleep(0.02)
    assert found
    return found


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


# The graph and its controls --------------------------------------------------------------------------------------------


def test_the_graph_is_the_one_that_learn_finds(explore):
    page, result = explore(), md.learn(DATA)
    assert arcs(page) == set(result.dag.arcs)
    assert page.locator(".arcs .reversible").count() == len(result.reversible)
    assert page.locator("#score").inner_text() == f"{result.score:,.2f}".replace("-", "\N{MINUS SIGN}")
    assert page.locator("#objective").inner_text() == str(result.objective)
    assert page.locator("#data-size").inner_text() == "500 rows · 8 columns"
    frame = page.locator("#frame").bounding_box()
    for name in DATA.names:
        box = node(page, name).bounding_box()
        assert frame["x"] <= box["x"] <= box["x"] + box["width"] <= frame["x"] + frame["width"]
        assert frame["y"] <= box["y"] <= box["y"] + box["height"] <= frame["y"] + frame["height"]


def test_the_graph_follows_the_slider_and_nodes_stay(explore):
    page = explore()
    before = {name: node(page, name).bounding_box() for name in DATA.names}
    slider = page.locator("#alpha")
    with Follows(page):
        slider.focus()
        for _ in range(2):
            page.keyboard.press("PageUp")
    alpha = float(page.locator("#alpha-value").input_value())
    assert alpha > 5
    assert arcs(page) == learned(f"Support(3)+MU(c=1)+BDs({alpha})")
    assert slider.get_attribute("aria-valuetext") == str(alpha).removesuffix(".0")
    eventually(lambda: f"alpha={alpha:g}" in address_of(page))
    assert {name: node(page, name).bounding_box() for name in DATA.names} == before


def test_hill_climbing_answers_at_once_and_the_search_follows(explore):
    page = explore()
    page.evaluate(
        "() => { window.seen = []; new MutationObserver(() => window.seen.push(document.getElementById('found').className))"
        ".observe(document.getElementById('score-card'), {childList: true}); }"
    )
    with Follows(page):
        set_dial(page, "alpha", 7)
    assert page.evaluate("window.seen") == ["found first", "found final"]
    assert "search over orders" in page.locator("#found").inner_text()


def test_every_control_is_part_of_the_objective(explore):
    page = explore()
    told = lambda: page.locator("#objective").inner_text()  # noqa: E731
    with Follows(page):
        page.locator("#likelihood").select_option("BDeu")
    with Follows(page):
        set_dial(page, "c", 2)
    assert told() == str(parse("Support(3)+MU(c=2)+BDeu(1)"))
    with Follows(page):
        page.locator("#prior-number").select_option("beta")
    with Follows(page):
        set_dial(page, "beta", 0.25)
    assert page.locator("#c").is_hidden()
    assert told() == str(parse("Support(3)+MU(beta=0.25)+BDeu(1)"))
    with Follows(page):
        set_dial(page, "support", 0)
    with Follows(page):
        page.locator("#prior").select_option("U")
    with Follows(page):
        page.locator("#likelihood").select_option("BIC")
    assert told() == str(parse("U+BIC"))
    assert page.locator("#alpha").is_hidden()
    with Follows(page):
        page.locator("#search").select_option("hc")
    with Follows(page):
        page.locator("#max-parents").fill("1")
        page.locator("#max-parents").press("Enter")
    assert arcs(page) == learned("U+BIC", search="hc", max_parents=1)


def test_changes_can_be_undone_and_done_again(explore):
    page = explore()
    first = arcs(page)
    assert page.locator("#undo").is_disabled()
    with Follows(page):
        set_dial(page, "alpha", 100)
    changed = arcs(page)
    assert changed != first
    with Follows(page):
        page.locator("#undo").click()
    assert arcs(page) == first
    assert page.locator("#alpha-value").input_value() == "1"
    with Follows(page):
        page.keyboard.press("Control+Shift+Z")
    assert arcs(page) == changed
    assert page.locator("#redo").is_disabled()


def test_the_address_brings_everything_back(explore):
    page = explore()
    with Follows(page):
        set_dial(page, "alpha", 20)
    with Follows(page):
        page.locator("#prior").select_option("VSP")
    page.locator("#pin").click()
    with Follows(page):
        set_dial(page, "beta", 0.4)
    page.locator("#arc-list button").first.click()
    chosen = page.locator("#arc-panel h3").inner_text()
    page.locator("#tab-rules").click()
    eventually(lambda: "view=rules" in address_of(page) and "beta=0.4" in address_of(page))
    assert "token" not in address_of(page)
    other = explore(address=address_of(page).split("#")[1])
    assert arcs(other) == arcs(page)
    assert other.locator("#panel-rules").is_visible()
    assert other.locator("#pin").inner_text() == page.locator("#pin").inner_text()
    other.locator("#tab-chosen").click()
    assert other.locator("#arc-panel h3").inner_text() == chosen


def test_impossible_wishes_are_answered_in_a_sentence(explore):
    page = explore(address='required=[["asia","tub"],["tub","asia"]]', ready="#trouble:not([hidden])")
    assert "both required" in page.locator("#trouble").inner_text()
    page.locator("#undo").is_disabled()
    page.locator("#trouble .close").click()
    page.locator("#tab-rules").click()
    page.locator("#rules button").first.click()
    page.wait_for_selector("#frame[data-final=true]")
    assert ("tub", "asia") in arcs(page)


# Rules -------------------------------------------------------------------------------------------------------------------


def test_arcs_are_required_and_forbidden_by_dragging(explore):
    page = explore()
    first = arcs(page)
    page.locator("#tools").get_by_text("Forbid").click()
    with Follows(page):
        drag(page, node(page, "smoke"), node(page, "bronc"))
    page.locator("#tools").get_by_text("Look").click()
    with Follows(page):
        drag(page, node(page, "asia"), node(page, "xray"), key="Shift")
    assert arcs(page) == learned(forbidden=[("smoke", "bronc")], required=[("asia", "xray")]) != first
    assert page.locator(".arcs .required").count() == 1
    assert page.locator(".ghosts .forbidden").count() == 1
    page.locator("#tab-rules").click()
    assert re.search(r"required\s+asia → xray", page.locator("#rules").inner_text())
    constrained = md.learn(DATA, forbidden=[("smoke", "bronc")], required=[("asia", "xray")]).score
    cost = eventually(lambda: re.search(r"costs ([\d.]+) nats", page.locator("#cost-total").inner_text()))
    assert float(cost[1]) == pytest.approx(md.learn(DATA).score - constrained, abs=0.006)
    assert "costs" in page.locator("#rules .required .cost").inner_text()
    with Follows(page):
        page.locator("#rules .required button").click()
    assert page.locator(".arcs .required").count() == 0


def test_rules_are_made_without_a_mouse(explore):
    page = explore()
    page.locator("#tab-rules").click()
    page.get_by_label("From").select_option(label="dysp")
    page.get_by_label("To", exact=True).select_option(label="asia")
    with Follows(page):
        page.locator("#add-rule").press("Enter")
    assert ("dysp", "asia") in arcs(page)


def test_tiers_are_made_by_dragging_nodes_between_lanes(explore):
    page = explore()
    page.locator("#show-lanes").click()
    chip = lambda name: page.locator(f'.lane-node[data-name="{name}"]')  # noqa: E731
    lane = lambda number: page.locator(f'.lane[data-lane="{number}"] .lane-nodes')  # noqa: E731
    with Follows(page):
        drag(page, chip("dysp"), lane(0))
    with Follows(page):
        drag(page, chip("bronc"), lane(1))
    with Follows(page):
        chip("smoke").press("ArrowUp")  # from none to a new one, the latest
    tiers = [["dysp"], ["bronc"], ["smoke"]]
    assert [lane(k).inner_text() for k in range(3)] == ["dysp", "bronc", "smoke"]
    constrained = md.learn(DATA, tiers=tiers)
    assert arcs(page) == set(constrained.dag.arcs)
    lost = md.learn(DATA).score - constrained.score
    eventually(lambda: page.locator("#lane-cost").inner_text())
    found = re.search(r"costs ([\d.]+) nats", page.locator("#lane-cost").inner_text())
    assert (float(found[1]) if found else 0.0) == pytest.approx(lost, abs=0.006)
    page.get_by_role("button", name="Done").click()
    assert page.locator("#lanes").is_hidden()


def test_what_somebody_believes_of_an_arc_becomes_the_prior(explore):
    page = explore()
    page.locator("#arc-list button").first.click()
    a, b = page.locator("#arc-panel h3").inner_text().split(" → ")
    page.wait_for_selector("#belief")
    with Follows(page):
        set_dial(page, "belief", 0.02)
    objective = md.MU(c=1) + md.BDs(1)
    assert str(objective) not in page.locator("#objective").inner_text()
    believed = md.Support(3) + md.CS([(a, b, 0.02)]) + md.BDs(1)
    assert arcs(page) == set(md.learn(DATA, believed).dag.arcs)
    assert page.locator("#prior").input_value() == "CS"
    page.wait_for_selector("#belief-clear:not([hidden])")
    with Follows(page):
        page.locator("#belief-clear").click()
    assert arcs(page) == learned()


# Views -------------------------------------------------------------------------------------------------------------------


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
    eventually(lambda: page.locator("#life-progress").is_hidden() and page.locator(".life-row.here").count())
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


@pytest.fixture(scope="module")
def andes(client):
    data = md.network("andes").sample(200, seed=1)
    return client.explorer.hold(data, Source("andes.csv", network="andes", rows=200, seed=1)).key


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


# Keeping -------------------------------------------------------------------------------------------------------------------


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
    for visit in range(2):
        with served(session=path) as found:
            found.explorer.hold(DATA, Source("asia.csv", network="asia", rows=500, seed=1))
            page = browser.new_page()
            page.goto(found.server.url)
            page.wait_for_selector("#frame[data-final=true]")
            if visit == 0:
                with Follows(page):
                    set_dial(page, "alpha", 42)
                page.keyboard.press("Control+s")
                eventually(lambda: path.exists() and json.loads(path.read_text())["settings"]["alpha"] == 42)
            else:
                eventually(lambda: page.locator("#alpha-value").input_value() == "42")
            page.close()


@pytest.mark.parametrize(("item", "ending"), [("BIF", ".bif"), ("SVG", ".svg"), ("Report", ".html"), ("DOT", ".dot")])
def test_what_is_seen_is_exported(explore, tmp_path, item, ending):
    page = explore()
    page.locator("#export").click()
    with page.expect_download() as saved:
        page.get_by_role("menuitem", name=item).click()
    assert saved.value.suggested_filename.endswith(ending)
    path = tmp_path / f"graph{ending}"
    saved.value.save_as(path)
    assert path.stat().st_size > 100
    if item == "BIF":
        assert set(md.read_network(path).dag.arcs) == arcs(page)


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


# Opening -------------------------------------------------------------------------------------------------------------------

CSV = "id,a,b,weight\n" + "".join(f"P{k},{'xy'[k % 2]},{'uv'[k % 3 == 0]},{k * 1.37 % 7:.3f}\n" for k in range(60))


def test_a_file_is_dropped_and_the_advice_is_followed_with_a_button(explore):
    page = explore()
    page.evaluate(
        "(text) => { const all = new DataTransfer(); all.items.add(new File([text], 'table.csv', {type: 'text/csv'}));"
        "window.dispatchEvent(new DragEvent('dragenter', {dataTransfer: all}));"
        "window.dispatchEvent(new DragEvent('drop', {dataTransfer: all, bubbles: true, cancelable: true})); }",
        CSV,
    )
    page.wait_for_selector("#trouble .actions button")
    assert "looks like an identifier" in page.locator("#trouble").inner_text()
    page.locator("#trouble .actions button").first.click()
    eventually(lambda: page.locator("#data-name").inner_text() == "table.csv")
    eventually(lambda: page.locator("#frame .nodes .node").count() == 3)
    explore.complaints[:] = [text for text in explore.complaints if "422" not in text]


def test_a_sample_of_a_network_is_opened_from_the_page(explore):
    page = explore()
    page.locator("#data-name").click()
    page.locator("#dialog #network").select_option("sachs")
    page.locator("#dialog #rows").fill("200")
    page.locator("#dialog #draw").click()
    eventually(lambda: page.locator("#frame .nodes .node").count() == 11)
    eventually(lambda: page.locator("#data-size").inner_text() == "200 rows · 11 columns")


def test_without_a_table_the_page_asks_for_one(browser):
    with served() as found:
        page = browser.new_page()
        page.goto(found.server.url)
        page.wait_for_selector("#welcome #draw")
        page.locator("#welcome #network").select_option("asia")
        page.locator("#welcome #rows").fill("100")
        page.locator("#welcome #draw").click()
        page.wait_for_selector("#frame[data-final=true]")
        assert page.locator("#welcome").is_hidden()
        page.close()


# Anywhere ------------------------------------------------------------------------------------------------------------------


def test_names_from_the_data_stay_text(explore, client):
    names = ["<script>alert(1)</script>", "<img src=x onerror=alert(2)>", "&lt;b&gt;", '"quoted" \\ it\'s']
    rng = np.random.default_rng(1)
    base = rng.integers(0, 2, 200)
    values = {n: [("<b>", "</b>")[i] for i in np.where(rng.random(200) < 0.9, base, 1 - base)] for n in names}
    page = explore(client.explorer.hold(md.read(values), Source("<i>nasty</i>.csv")).key)
    assert page.locator("#data-name").inner_text() == "<i>nasty</i>.csv"
    for i, name in enumerate(names):
        page.locator(f'.nodes .node[data-node="{i}"]').click()
        assert page.locator("#node-panel h3").inner_text() == name
    page.keyboard.press("Escape")
    page.locator("#arc-list button").first.click()
    page.wait_for_selector("#factor")
    for tab in ("evidence", "rules", "kept", "life", "map"):
        page.locator(f"#tab-{tab}").click()
    page.locator("#show-lanes").click()
    assert page.locator("img, main b, main i i, main script").count() == 0


def overflow(page):
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def test_narrow_windows_are_served(explore):
    page = explore(viewport={"width": 420, "height": 860}, has_touch=True)
    assert overflow(page) <= 0
    frame, slider = page.locator("#frame").bounding_box(), page.locator("#alpha").bounding_box()
    assert slider["y"] + slider["height"] <= 860  # the slider and the graph that it moves are seen together
    assert frame["y"] + frame["height"] <= slider["y"]
    node(page, "lung").tap()
    page.wait_for_selector("#node-panel .monitor")
    for tab in ("evidence", "strength", "life", "map", "rules", "kept"):
        page.locator(f"#tab-{tab}").tap()
        assert overflow(page) <= 0


def test_everything_is_in_view_on_a_small_screen(explore):
    page = explore()
    assert overflow(page) <= 0
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    for tab in page.locator("[role=tab]").all():
        box = tab.bounding_box()
        assert box["x"] + box["width"] <= 1280


def test_dark_screens_are_served(explore):
    page = explore(color_scheme="dark")
    for element in ("body", "#controls", "#dock", "#frame"):
        colour = page.locator(element).evaluate("e => getComputedStyle(e).backgroundColor")
        assert max(map(int, re.findall(r"\d+", colour)[:3])) < 60


def test_everything_has_a_name_and_can_be_reached_with_the_keyboard(explore):
    page = explore()
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input, select, textarea, [role=button]')].filter((e) =>"
        "!(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML)"
    )
    assert unnamed == []
    page.keyboard.press("a")
    assert page.evaluate("document.activeElement.id") == "alpha"
    page.keyboard.press("/")
    page.keyboard.type("lung")
    page.keyboard.press("Enter")
    assert page.locator("#node-panel h3").inner_text() == "lung"
    page.locator("#tab-chosen").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#tab-evidence").get_attribute("aria-selected") == "true"
    page.keyboard.press("?")
    assert page.locator("#dialog").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("#dialog").is_hidden()


def test_two_tabs_work_on_two_tables_at_once(explore, andes):
    one, two = explore(), explore(andes, address="search=hc")
    with Follows(one), Follows(two):
        set_dial(two, "alpha", 9)
        set_dial(one, "alpha", 9)
    assert arcs(one) == learned("Support(3)+MU(c=1)+BDs(9)")
    assert two.locator(".node").count() == 223
