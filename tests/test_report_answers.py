"""What-if questions to a report in a real browser: its answers against the library's, and how they are given."""

import functools
import math

import numpy as np
import pytest

import mapdag as md
from mapdag.report import learned
from mapdag.report.whatif import make_plan

READY = "#monitors[data-ready]"
TAKE_BACK = "\N{MULTIPLICATION SIGN}"

#: Click levels of nodes, by their places; return all probabilities, and the log of that of the evidence.
ASK = """evidence => {
  document.querySelector("#whatif .clear")?.click();
  const level = (i, k) => document.querySelector(`#monitors [data-node="${i}"] [data-level="${k}"]`);
  for (const [i, k] of evidence) level(i, k).click();
  const values = [...document.querySelectorAll("#monitors .monitor")].map(
    each => [+each.dataset.node, [...each.querySelectorAll("[data-level]")].map(button => +button.dataset.p)]);
  const told = document.querySelector("#whatif .evidence .probability");
  return [values, told ? +told.dataset.log : 0, told ? told.textContent : ""];
}"""


def random_network(seed):
    rng = np.random.default_rng(seed)
    names = [f"X{i}" for i in range(12)]
    cards = rng.integers(2, 6, 12)
    arcs = [(i, j) for j in range(12) for i in range(j) if rng.random() < 0.3]
    dag = md.DAG(names, [(names[i], names[j]) for i, j in arcs])
    cpts = {}
    for j, name in enumerate(names):
        shape = [cards[names.index(parent)] for parent in dag.parents(name)]
        cpts[name] = rng.dirichlet(np.ones(cards[j]) * 0.4, size=shape).reshape(*shape, -1)
    return md.BayesianNetwork(dag, {name: int(r) for name, r in zip(names, cards, strict=True)}, cpts)


def learn(name):
    network = random_network(3) if name == "random" else md.network(name)
    arcs = network.dag.arcs if name == "random" else ()
    return md.hill_climb(network.sample(400, seed=5), "BDeu(1)", required=arcs)


def log_probability(network, evidence):
    """By the chain rule, from queries."""
    total, known = 0.0, {}
    for node, level in evidence.items():
        total += math.log(float(network.query(node, known).values[network.levels[node].index(level)]))
        known[node] = level
    return total


@pytest.mark.parametrize(
    ("name", "method"), [("asia", "bayes"), ("asia", "mle"), ("alarm", "bayes"), ("child", "mle"), ("random", "bayes")]
)
def test_answers_are_those_of_the_library(visit, tmp_path, name, method):
    found = learn(name)
    network = found.fit(method=method)
    found.report(tmp_path / "page.html", network=None if method == "bayes" else network)
    page = visit(tmp_path / "page.html", ready=READY)
    rng = np.random.default_rng(7)
    impossible = 0
    for size in (0, 1, 1, 2, 3, 4):
        places = rng.choice(len(network.nodes), size, replace=False).tolist()
        levels = [int(rng.integers(len(network.levels[network.nodes[i]]))) for i in places]
        evidence = {network.nodes[i]: network.levels[network.nodes[i]][k] for i, k in zip(places, levels, strict=True)}
        values, log, told = page.evaluate(ASK, [list(pair) for pair in zip(places, levels, strict=True)])
        assert len(values) == len(network.nodes)
        try:
            expected = log_probability(network, evidence)
        except (md.errors.NetworkError, ValueError):  # of probability zero
            impossible += 1
            assert "impossible" in told
            assert all(p is None or math.isnan(p) for _, row in values for p in row)
            continue
        assert log == pytest.approx(expected, abs=1e-9)
        for place, row in values:
            node = network.nodes[place]
            if node in evidence:
                assert row == [float(level == evidence[node]) for level in network.levels[node]]
            else:
                assert row == pytest.approx(network.query(node, evidence).values.tolist(), abs=1e-9)
    assert impossible < 6


@pytest.fixture(scope="module")
def asia(tmp_path_factory):
    found = md.learn(md.network("asia").sample(2000, seed=1))
    path = tmp_path_factory.mktemp("asia") / "asia.html"
    found.report(path, network=found.fit(method="mle"), name="asia.csv")
    return path, found


def pick(page, node, level):
    return page.locator(f"#monitors .monitor:has(.link:text-is('{node}')) button[title='{level}']")


def test_evidence_is_given_seen_everywhere_and_taken_back(visit, asia):
    path, found = asia
    page = visit(path, ready=READY)
    assert page.title().startswith("asia.csv: 8 nodes")
    bars = page.locator(".evidence")
    pick(page, "smoke", "yes").click()
    pick(page, "xray", "yes").click()
    assert bars.first.locator(".chip").all_inner_texts() == [f"smoke = yes {TAKE_BACK}", f"xray = yes {TAKE_BACK}"]
    assert bars.first.inner_text() == bars.nth(1).inner_text()
    assert page.locator(".node.given").count() == 2
    shift = page.locator('.node[aria-label="lung"]').evaluate("e => +getComputedStyle(e).getPropertyValue('--shift')")
    prior = found.fit(method="mle").query("lung").values[0]
    after = found.fit(method="mle").query("lung", {"smoke": "yes", "xray": "yes"}).values[0]
    assert shift == pytest.approx(math.sqrt(abs(after - prior)), abs=1e-3)
    assert pick(page, "smoke", "yes").get_attribute("aria-pressed") == "true"
    page.locator("#monitor-order").select_option("change")
    order = page.locator("#monitors h4").all_inner_texts()
    assert set(order[:2]) == {"smoke", "xray"}
    assert len(order) == 8
    bars.nth(1).locator(".chip").first.click()
    assert bars.first.locator(".chip").all_inner_texts() == [f"xray = yes {TAKE_BACK}"]
    bars.first.locator(".clear").click()
    assert page.locator(".node.given").count() == 0
    assert bars.nth(1).inner_text() == "No evidence yet."
    page.locator("#monitor-filter").fill("o")
    assert page.locator("#monitors h4").all_inner_texts() == ["smoke", "bronc"]
    page.locator("#monitor-filter").fill("zzz")
    assert page.locator("#monitor-rest").inner_text() == "No such node."


def test_impossible_evidence_is_said_and_can_be_taken_back(visit, asia):
    page = visit(asia[0], ready=READY)
    pick(page, "either", "no").click()
    pick(page, "lung", "yes").click()  # either is "lung or tub"
    told = page.locator("#whatif .evidence")
    assert "impossible" in told.inner_text()
    assert set(page.locator("#monitors strong").all_inner_texts()) == {"\N{EN DASH}"}
    pick(page, "lung", "yes").click()
    assert "Probability of the evidence: 0.9" in told.inner_text()


def test_levels_can_be_observed_from_the_panel_and_with_the_keyboard(visit, asia):
    page = visit(asia[0], ready=READY)
    page.locator('.node[aria-label="bronc"]').focus()
    page.keyboard.press("Enter")
    level = page.locator("#details .monitor button").first
    level.focus()
    page.keyboard.press("Enter")
    assert level.get_attribute("aria-pressed") == "true"
    assert page.locator(".graph .evidence .chip").count() == 1
    page.keyboard.press("Space")
    assert page.locator(".graph .evidence .chip").count() == 0
    page.keyboard.press("Escape")
    assert page.locator("#details").is_hidden()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "bronc"


def test_samples_answer_where_exact_probabilities_are_too_much(visit, tmp_path, monkeypatch):
    monkeypatch.setattr(learned, "make_plan", functools.partial(make_plan, most=10))
    found = md.learn(md.network("asia").sample(2000, seed=1))
    found.report(tmp_path / "page.html")
    page = visit(tmp_path / "page.html", ready=READY)
    assert "estimated from those of 20,000 samples" in page.locator("#whatif").inner_text()
    drawn = found.fit().sample(20_000, seed=1)
    names = found.dag.nodes
    chosen = drawn.column("smoke") == 1
    values, _, told = page.evaluate(ASK, [[names.index("smoke"), 1]])
    assert f"({chosen.sum():,} of 20,000 samples)" in told
    for place, row in values:
        counts = np.bincount(drawn.column(names[place])[chosen], minlength=len(row))
        assert row == pytest.approx((counts / chosen.sum()).tolist())
    rare = [[names.index(node), found.data.levels[node].index("yes")] for node in ("asia", "tub", "lung")]
    _, _, told = page.evaluate(ASK, rare)
    assert "samples agree" in told


def test_undefined_probabilities_leave_the_shares_of_the_data(visit, tmp_path):
    found = md.learn(
        md.network("asia").sample(30, seed=1), "K2", required=[(a, "dysp") for a in ("asia", "tub", "lung")]
    )
    found.report(tmp_path / "page.html", network=found.fit(method="mle", unobserved="nan"))
    page = visit(tmp_path / "page.html", ready=READY)
    assert "cannot be computed in this page" in page.locator("#whatif").inner_text()
    assert pick(page, "smoke", "yes").is_disabled()
    values, _, _ = page.evaluate(ASK, [])
    for place, row in values:
        node = found.dag.nodes[place]
        assert row == pytest.approx((found.data.observed(node) / 30).tolist())
    page.locator('.node[aria-label="dysp"]').click()
    for parent in page.locator("#details .chooser select").all():
        parent.select_option(label="yes")
    assert "\N{EN DASH}" in page.locator("#details .probabilities").inner_text()  # neither observed nor estimated


BINS = [f"({k}.5,{k + 1}.5]" for k in range(12345, 12375)]


@pytest.fixture(scope="module")
def binned(tmp_path_factory):
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 29, 900), rng.integers(0, 4, 900)
    c = (a + b + rng.integers(0, 2, 900)) % 30
    quarters = ["first quarter", "second quarter", "third quarter", "fourth quarter"]
    data = md.Dataset.from_codes(
        np.column_stack([a, b, c]), names=["A", "B", "C"], levels=[[*BINS[:-1], "never"], quarters, BINS]
    )
    found = md.hill_climb(data, "BDeu(1)", required=[("A", "C"), ("B", "C")])
    path = tmp_path_factory.mktemp("bins") / "bins.html"
    found.report(path)
    return path, found


def test_every_configuration_of_a_table_can_be_reached(visit, binned):
    path, found = binned
    network = found.fit()
    page = visit(path, ready=READY)
    page.locator('.node[aria-label="C"]').click()
    table, word = page.locator("#details .probabilities"), page.locator("#details .pager span")
    seen = set()
    forward = page.locator("#details .pager button").nth(1)
    while True:
        seen |= {tuple(row.locator("td.given").all_inner_texts()) for row in table.locator("tbody tr").all()}
        if forward.is_disabled():
            break
        forward.click()
    codes = zip(found.data.column("A"), found.data.column("B"), strict=True)
    assert seen == {(found.data.levels["A"][a], found.data.levels["B"][b]) for a, b in codes}
    first, second = page.locator("#details .chooser select").all()
    second.select_option(label="third quarter")
    assert set(table.locator("tbody td.given:nth-child(2)").all_inner_texts()) == {"third quarter"}
    first.select_option(label="never")
    assert word.inner_text() == "Never observed"
    assert table.locator("tbody td.count").inner_text() == "0"
    shown = [float(text) for text in table.locator("tbody td.chance").all_inner_texts()]
    assert shown == pytest.approx(network.cpt("C")[29, 2].tolist(), abs=5e-4)
    first.select_option(label=BINS[3])
    shown = table.locator("tbody td.chance").all_inner_texts()
    assert [float(text.strip("<>")) for text in shown] == pytest.approx(network.cpt("C")[3, 2].tolist(), abs=1.01e-3)


def test_bins_are_not_cut_to_the_same_text(visit, binned):
    page = visit(binned[0], ready=READY)
    page.locator('.node[aria-label="C"]').click()
    cut = (
        "es => es.filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible').length"
    )
    headings = page.locator("#details .probabilities th")
    assert headings.evaluate_all(cut) == 0
    assert headings.all_inner_texts()[3:] == BINS
    levels = page.locator("#details .monitor .levels span")
    assert levels.all_inner_texts() == BINS
    assert levels.evaluate_all(cut) == 0
    assert page.locator("#details .monitor button").first.get_attribute("title") == BINS[0]
