"""The HTML reports in a real browser: they render, react, log no error and ask for nothing."""

import re
from itertools import combinations

import numpy as np
import pytest

import mapdag as md
from mapdag.report.study import write_study
from mapdag.study import Design, run


@pytest.fixture(scope="module")
def result():
    return md.learn(md.network("asia").sample(2000, seed=1))


@pytest.fixture(scope="module")
def report(result, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    result.report(path, bootstrap=md.bootstrap(result.data, R=6, seed=1), command="mapdag learn asia.csv")
    return path


def node(page, name):
    return page.locator(f'.node[aria-label="{name}"]')


def scale(page):
    return float(page.locator("#frame").get_attribute("data-scale"))


def test_the_whole_graph_is_in_view(visit, report, result):
    page = visit(report)
    frame = page.locator("#frame").bounding_box()
    assert page.locator(".node").count() == len(result.dag.nodes)
    assert page.locator(".arcs .arc").count() == result.dag.n_arcs
    for name in result.dag.nodes:
        box = node(page, name).bounding_box()
        assert frame["x"] <= box["x"] <= box["x"] + box["width"] <= frame["x"] + frame["width"]
        assert frame["y"] <= box["y"] <= box["y"] + box["height"] <= frame["y"] + frame["height"]
        text = node(page, name).locator("text").bounding_box()
        assert text["width"] <= box["width"]


def test_pointing_at_a_node_shows_its_probabilities_and_score(visit, report, result):
    page = visit(report)
    card = page.locator("#card")
    assert card.is_hidden()
    node(page, "lung").hover()
    assert card.is_visible()
    assert card.locator("h3").inner_text() == "lung"
    score = md.score(result.dag, result.data, result.objective).by_node["lung"]
    assert f"{score:,.2f}".replace("-", "\N{MINUS SIGN}") in card.inner_text()
    cpt = result.fit(alpha=1).cpt("lung")
    shown = card.locator("td.chance").all_inner_texts()
    assert sorted(shown) == sorted(f"{p:.3f}" for p in cpt.ravel())
    page.mouse.move(5, 5)
    assert card.is_hidden()


def card_of_arc(page, selector):
    """Point at the middle of an arc, and return what the card tells."""
    x, y = page.locator(f"{selector} .line").evaluate(
        "e => { const p = e.getPointAtLength(e.getTotalLength() / 2), m = e.getScreenCTM();"
        "return [m.a * p.x + m.e, m.d * p.y + m.f]; }"
    )
    page.mouse.move(x, y)
    return page.locator("#card").inner_text()


def test_pointing_at_an_arc_tells_what_it_is_worth(visit, report):
    page = visit(report)
    row = page.locator("#arc-table tbody tr").first
    cells = row.locator("td").all_inner_texts()
    told = card_of_arc(page, f'.arc[data-arc="{row.get_attribute("data-row")}"]')
    assert cells[0] in told
    assert cells[3] in told
    assert "strength" in told


def test_clicking_a_node_shows_its_markov_blanket(visit, report, result):
    page = visit(report)
    node(page, "either").click()
    with_role = page.locator(".node[data-role]:not([data-role=chosen])")
    names = [each.get_attribute("aria-label") for each in with_role.all()]
    assert set(names) == set(result.dag.markov_blanket("either"))
    parents = page.locator(".node[data-role=parent]")
    assert {each.get_attribute("aria-label") for each in parents.all()} == set(result.dag.parents("either"))
    panel = page.locator("#details")
    assert "Markov blanket" in panel.inner_text()
    panel.locator(".chip.parent").first.click()
    assert page.locator(".node[data-role=chosen]").get_attribute("aria-label") in result.dag.parents("either")
    page.locator("#details .close").click()
    assert panel.is_hidden()
    assert page.locator(".node[data-role]").count() == 0


def test_the_class_is_shown_on_request(visit, report, result):
    page = visit(report)
    heads = page.locator(".arcs .reversible .head")
    assert heads.count() == len(result.reversible) > 0
    assert all(head.is_visible() for head in heads.all())
    page.get_by_text("CPDAG", exact=True).click()
    assert not any(head.is_visible() for head in heads.all())
    assert page.locator(".arcs .compelled .head").first.is_visible()
    page.get_by_text("DAG", exact=True).click()
    assert all(head.is_visible() for head in heads.all())


def test_the_graph_can_be_zoomed_and_moved(visit, report):
    page = visit(report)
    first = scale(page)
    page.locator("[data-zoom=in]").click()
    assert scale(page) > first
    page.locator("[data-zoom=fit]").click()
    assert scale(page) == first
    frame = page.locator("#frame").bounding_box()
    page.mouse.move(frame["x"] + 15, frame["y"] + 15)
    page.mouse.wheel(0, -300)
    page.wait_for_function(f"+document.getElementById('frame').dataset.scale > {first}")
    before = node(page, "lung").bounding_box()
    page.mouse.down()
    page.mouse.move(frame["x"] + 75, frame["y"] + 55, steps=4)
    page.mouse.up()
    after = node(page, "lung").bounding_box()
    assert after["x"] - before["x"] == pytest.approx(60, abs=1)
    assert after["y"] - before["y"] == pytest.approx(40, abs=1)


def test_everything_can_be_done_with_the_keyboard(visit, report):
    page = visit(report)
    page.locator("#find").focus()
    for _ in range(6):  # the radius, the four buttons, then the first node
        page.keyboard.press("Tab")
    name = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert page.locator("#card h3").inner_text() == name
    page.keyboard.press("Enter")
    assert page.locator("#details h3").inner_text() == name
    first = scale(page)
    page.keyboard.press("+")
    assert scale(page) > first
    page.keyboard.press("Escape")
    assert page.locator("#details").is_hidden()


def test_nodes_are_found_while_their_names_are_typed(visit, report):
    page = visit(report)
    field, matches = page.locator("#find"), page.locator("#matches [role=option]")
    field.type("S")
    assert matches.all_inner_texts() == ["smoke", "asia", "dysp"]  # beginnings first
    assert page.locator("#details").is_hidden()
    field.press("ArrowDown")
    assert page.locator("#matches [aria-selected=true]").inner_text() == "asia"
    field.press("Enter")
    assert page.locator("#details h3").inner_text() == "asia"
    assert page.locator("#matches").is_hidden()
    field.fill("YSP")
    matches.first.click()
    assert page.locator("#details h3").inner_text() == "dysp"
    field.fill("nothing")
    assert field.get_attribute("aria-invalid") == "true"
    assert "no such node" in page.locator("#matches").inner_text()
    assert page.locator("#said").inner_text() == "no such node"
    field.press("Enter")
    assert page.locator("#details h3").inner_text() == "dysp"
    field.fill("")
    assert page.locator("#matches").is_hidden()


def test_tables_are_sorted_filtered_and_linked(visit, report, result):
    page = visit(report)
    heading = page.locator("#arc-table th", has_text="score lost")
    lost = lambda: page.locator("#arc-table tbody tr td:nth-child(4)").all_inner_texts()  # noqa: E731
    numbers = lambda: [float(text.replace(",", "").replace("\N{MINUS SIGN}", "-")) for text in lost()]  # noqa: E731
    assert numbers() == sorted(numbers(), reverse=True)
    heading.get_by_role("button").click()
    assert numbers() == sorted(numbers())
    heading.get_by_role("button").click()
    assert numbers() == sorted(numbers(), reverse=True)
    page.locator("#arc-table th", has_text="from").get_by_role("button").click()
    assert page.locator("#arc-table th[aria-sort]").inner_text() == "from"
    page.locator("#node-table tbody tr", has_text="bronc").first.click()
    assert page.locator("#details h3").inner_text() == "bronc"
    page.locator("#arc-table tbody tr").first.click()
    assert page.locator(".arcs .arc.hot").count() == 1


def test_the_trace_tells_every_move(visit, report, result):
    page = visit(report)
    told = page.locator("#move")
    assert told.inner_text().startswith(f"Move {len(result.trace)}: {result.trace[-1].kind}")
    chart = page.locator(".chart")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + 90 / 960 * box["width"], box["y"] + 50)
    assert told.inner_text().startswith("Start")


def test_names_from_the_data_stay_text(visit, tmp_path):
    names = ["<script>alert(1)</script>", "<img src=x onerror=alert(2)>", "&lt;b&gt;", '"quoted" \\ it\'s']
    levels = [["</script><script>alert(3)</script>", "<!--"], ["<b>", "</b>"], ["&amp;", "x\u2028y"], ["'", '"']]
    rng = np.random.default_rng(1)
    base = rng.integers(0, 2, 200)
    columns = {
        n: [each[i] for i in np.where(rng.random(200) < 0.9, base, 1 - base)]
        for n, each in zip(names, levels, strict=True)
    }
    found = md.learn(md.read(columns), "BDeu(1)")
    found.report(
        tmp_path / "nasty.html", name="</title><b>", command="mapdag learn '</script><script>alert(4)</script>'"
    )
    md.report.write_comparison(
        found.dag, md.DAG(names), tmp_path / "other.html", names=("<script>alert(5)</script>", "B")
    )
    for file in ("nasty.html", "other.html"):
        page = visit(tmp_path / file)
        for i, name in enumerate(names):
            element = page.locator(f'.node[data-node="{i}"]')
            element.hover()
            assert page.locator("#card h3").inner_text() == name
            element.click()
            assert page.locator("#details h3").inner_text() == name
            if file == "nasty.html":
                page.locator("#radius").select_option("1")
                page.locator("#details .monitor button").nth(1).click()
                chip = page.locator(".graph .evidence .chip").last.inner_text()
                assert chip.startswith(f"{name} = ")
                assert found.data.levels[name][1].split("\u2028")[0] in chip
                page.locator("#find").fill(name)
                assert page.locator("#matches").inner_text() == name
                page.locator("#radius").select_option("0")
            page.locator("#details .close").click()
        assert page.locator("script").count() == 2
        assert page.locator("img, main b").count() == 0
    assert names[0] in page.locator("#arc-table").inner_text()


def test_a_comparison_colours_its_arcs(visit, tmp_path):
    target = md.network("asia").dag
    other = target.without_arc("smoke", "bronc").with_arc("asia", "smoke").with_reversed("asia", "tub")
    md.report.write_comparison(target, other, tmp_path / "compare.html")
    page = visit(tmp_path / "compare.html")
    colour = lambda status: page.locator(f".arcs .arcs-{status}").first.evaluate("e => getComputedStyle(e).stroke")  # noqa: E731
    assert len({colour(status) for status in ("agreeing", "missing", "extra", "reversed")}) == 4
    assert page.locator(".arcs .arcs-missing").count() == 1
    assert page.locator(".arcs .arcs-extra").count() == 1
    node(page, "tub").hover()
    assert "parents in A" in page.locator("#card").inner_text()
    reversed_before = colour("reversed")
    assert re.search(r"verdict\s+missing\s+in A\s+→\s+in B\s+not joined", card_of_arc(page, ".arcs .arcs-missing"))
    page.get_by_text("Classes", exact=True).click()
    assert page.locator("#frame").get_attribute("data-view") == "class"
    assert colour("reversed") != reversed_before  # asia -> tub is reversible
    assert re.search(r"verdict\s+agreeing\s+in A\s+—\s+in B\s+—", card_of_arc(page, ".arcs .arcs-reversed"))


@pytest.fixture(scope="module")
def andes(tmp_path_factory):
    network = md.network("andes")
    found = md.learn(network.sample(300, seed=1), "BIC", start=network.dag, max_iter=1)
    path = tmp_path_factory.mktemp("andes") / "andes.html"
    found.report(path)
    return path, found.dag


def test_a_large_graph_fills_the_window_and_can_be_read_when_zoomed(visit, andes):
    path, dag = andes
    page = visit(path)
    assert page.locator(".node").count() == 223
    frame, drawn = page.locator("#frame").bounding_box(), page.locator(".view").bounding_box()
    assert drawn["width"] > 0.6 * frame["width"] or drawn["height"] > 0.9 * frame["height"]
    assert drawn["width"] * drawn["height"] > 0.5 * frame["width"] * frame["height"]
    page.locator("#find").fill("GOAL_98")
    page.locator("#find").press("Enter")
    assert node(page, "GOAL_98").locator("text").is_visible()
    assert node(page, "GOAL_98").locator("text").bounding_box()["height"] > 9
    assert page.locator(".node[data-role]").count() == len(dag.markov_blanket("GOAL_98")) + 1


def test_a_small_map_shows_and_moves_what_is_in_view(visit, andes):
    page = visit(andes[0])
    small = page.locator("#minimap")
    assert small.is_hidden()  # all is in view
    for _ in range(4):
        page.locator("[data-zoom=in]").click()
    assert small.is_visible()
    small.scroll_into_view_if_needed()
    before, box = page.locator("#minimap span").bounding_box(), small.bounding_box()
    assert before["width"] < 0.9 * box["width"]
    page.mouse.click(box["x"] + 8, box["y"] + 8)
    after = page.locator("#minimap span").bounding_box()
    assert after["x"] < before["x"]
    assert after["y"] < before["y"]
    page.locator("[data-zoom=fit]").click()
    assert small.is_hidden()


def within(dag, name, steps):
    near = {name}
    for _ in range(steps):
        near |= {other for each in near for other in (*dag.parents(each), *dag.children(each))}
    return near


def test_the_neighbourhood_of_a_node_is_drawn_by_itself(visit, andes):
    path, dag = andes
    page = visit(path)
    before = page.locator(".arcs .line").first.get_attribute("d")
    page.locator("#radius").select_option("2")
    assert "Choose a node" in page.locator("#said").inner_text()
    page.locator("#find").fill("GOAL_98")
    page.locator("#find").press("Enter")
    shown = page.locator(".node:not(.away)")
    expected = within(dag, "GOAL_98", 2)
    assert {each.get_attribute("aria-label") for each in shown.all()} == expected
    assert f"{len(expected)} of 223 nodes" in page.locator("#said").inner_text()
    inside = [arc for arc in dag.arcs if set(arc) <= expected]
    assert page.locator(".arcs .arc:not(.away)").count() == len(inside)
    boxes = {each.get_attribute("aria-label"): each.bounding_box() for each in shown.all()}
    panel = page.locator("#details").bounding_box()
    for start, end in inside:
        assert boxes[start]["y"] + boxes[start]["height"] < boxes[end]["y"]
    for a, b in combinations(boxes.values(), 2):
        assert abs(a["x"] - b["x"]) >= (a["width"] + b["width"]) / 2 - 60 or abs(a["y"] - b["y"]) >= a["height"]
    assert all(box["x"] + box["width"] <= panel["x"] + 1 for box in boxes.values())
    page.locator("#radius").select_option("1")
    assert shown.count() == len(within(dag, "GOAL_98", 1))
    page.locator("#radius").select_option("0")
    assert shown.count() == 223
    assert page.locator(".arcs .line").first.get_attribute("d") == before


def overflow(page):
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def test_narrow_windows_are_served(visit, report):
    page = visit(report, viewport={"width": 420, "height": 800}, has_touch=True)
    assert overflow(page) <= 0
    assert page.locator(".toolbar").first.bounding_box()["width"] <= 420
    for cell in page.locator("#arc-table .chip, #arc-table td:first-child").all():
        assert cell.bounding_box()["height"] < 40  # tables are moved sideways, words are not broken
    node(page, "lung").tap()
    panel, frame = page.locator("#details").bounding_box(), page.locator("#frame").bounding_box()
    assert panel["width"] > 0.95 * frame["width"]  # below the graph, not beside it
    box = node(page, "lung").bounding_box()
    assert box["y"] + box["height"] <= panel["y"]
    page.locator("#details .monitor button").first.tap()
    assert "Probability of the evidence" in page.locator(".graph .evidence").inner_text()
    assert overflow(page) <= 0


def test_dark_screens_are_served(visit, report):
    page = visit(report, color_scheme="dark")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", background))) < 60
    node(page, "lung").click()
    text = page.locator("#details .monitor button").first.evaluate("e => getComputedStyle(e).color")
    assert min(map(int, re.findall(r"\d+", text)[:3])) > 200


def test_the_claims_of_a_study_are_sorted_and_filtered(visit, tmp_path):
    design = Design(name="tiny", networks=("asia",), sizes=("0.5", "1"), replicates=2, objectives=("BIC", "BDeu(1)"))
    run(design, tmp_path, workers=1)
    write_study(tmp_path, tmp_path / "study.html")
    page = visit(tmp_path / "study.html", ready="#claim-table")
    rows = page.locator("#claim-table tbody tr")
    assert rows.count() == 87
    assert page.locator("figure svg").first.is_visible()
    page.locator("#claim-table th", has_text="#").get_by_role("button").click()
    assert rows.first.locator("td").first.inner_text() == "87"
    page.locator("[data-filters=claim-table]").fill("BIC")
    shown = [row.inner_text() for row in rows.all() if row.is_visible()]
    assert 0 < len(shown) < 87
    assert all("bic" in text.lower() for text in shown)
    assert overflow(page) <= 0
