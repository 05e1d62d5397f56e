"""The page of the explorer in a real browser: the graph, every control, rules, opening tables; on any screen."""

import re

import numpy as np
import pytest

import explorer_page
import mapdag as md
from explorer_client import served
from explorer_page import (
    DATA,
    Follows,
    address_of,
    arcs,
    drag,
    eventually,
    learned,
    node,
    set_dial,
)
from mapdag.explorer.library import Source
from mapdag.objective import parse

explore, client, andes = explorer_page.explore, explorer_page.client, explorer_page.andes  # fixtures

# The graph and its controls ------------------------------------------------------------------------------------------


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
    page = explore(reduced_motion="no-preference")
    before = {name: node(page, name).bounding_box() for name in DATA.names}
    slider = page.locator("#alpha")
    with Follows(page):
        slider.focus()
        page.keyboard.press("PageUp")
    alpha = float(page.locator("#alpha-value").input_value())
    assert alpha > 2
    assert arcs(page) == learned(f"Support(3)+MU(c=1)+BDs({alpha})")
    assert slider.get_attribute("aria-valuetext") == str(alpha).removesuffix(".0")
    eventually(lambda: f"alpha={alpha:g}" in address_of(page))
    assert {name: node(page, name).bounding_box() for name in DATA.names} == before
    page.locator("#tidy").click()
    page.wait_for_selector("#frame.settling")  # it moves there
    page.wait_for_selector("#frame:not(.settling)")
    boxes = [node(page, name).bounding_box() for name in DATA.names]
    assert len({(box["x"], box["y"]) for box in boxes}) == len(boxes)


def test_a_slider_that_does_not_rest_ends_where_it_was_left(explore):
    page = explore()
    with Follows(page):
        page.locator("#alpha").evaluate(
            "(slider) => { for (let k = 0; k < 40; k += 1) { slider.value = 420 + 5 * k;"
            "slider.dispatchEvent(new Event('input', {bubbles: true})); }"
            "slider.dispatchEvent(new Event('change', {bubbles: true})); }"
        )
    alpha = page.locator("#alpha-value").input_value()
    eventually(lambda: page.locator("#objective").inner_text() == str(parse(f"Support(3)+MU(c=1)+BDs({alpha})")))
    page.wait_for_selector("#frame[data-final=true]")
    assert arcs(page) == learned(f"Support(3)+MU(c=1)+BDs({alpha})")
    with Follows(page):  # all of it was one step
        page.locator("#undo").click()
    assert page.locator("#alpha-value").input_value() == "1"


def test_hill_climbing_answers_at_once_and_the_search_follows(explore):
    page = explore()
    page.evaluate(
        "() => { window.seen = []; const look = () => window.seen.push(document.getElementById('found').className);"
        "new MutationObserver(look).observe(document.getElementById('score-card'), {childList: true}); }"
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


# Rules ---------------------------------------------------------------------------------------------------------------


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


# Opening -------------------------------------------------------------------------------------------------------------

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


# Anywhere ------------------------------------------------------------------------------------------------------------


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
