"""The HTML reports: their figures against oracles, escaping, what stands in them. In a browser: test_report_browser."""

import base64
import hashlib
import json
import math
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import mapdag as md
from mapdag.report.charts import line_chart, ticks
from mapdag.report.comparison import pairs
from mapdag.report.facts import families, losses
from mapdag.report.html import Html, join, script_json, tag
from mapdag.report.page import Section, page
from mapdag.report.parts import figure_text, how_it_was_made

NASTY = {
    "<script>alert(1)</script>": ["</script><script>alert(2)</script>", 'it\'s "fine"'],
    "</title><img src=x onerror=alert(3)>": ["&amp;", "<!--"],
    "a\u2028b": ["]]>", "\\"],
    "plain": ["yes", "no"],
}


class Reader(HTMLParser):
    """Collects elements, and checks that they nest."""

    VOID = frozenset({"meta", "link", "input", "br", "img", "hr"})

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.text = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def count(self, name):
        return sum(tag == name for tag, _ in self.elements)


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="page-data">(.*?)</script>', text, re.DOTALL)[1])


@pytest.fixture(scope="module")
def result():
    return md.learn(md.network("asia").sample(1500, seed=2), "MU(c=1)+BDs(alpha=1)")


@pytest.fixture(scope="module")
def nasty():
    rng = np.random.default_rng(3)
    base = rng.integers(0, 2, 300)
    columns = {
        name: [levels[i] for i in np.where(rng.random(300) < 0.9, base, 1 - base)] for name, levels in NASTY.items()
    }
    return md.learn(md.read(columns), "BDeu(1)")


# Figures -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "objective",
    [
        "MU(c=1)+BDs(alpha=1)",
        "BIC",
        md.CS({"smoke->lung": 0.8}) + md.BDeu(1),
        md.LogLinear(["v_structures"], weights=[-0.5]) + md.BDeu(1),
    ],
    ids=str,
)
def test_the_score_lost_without_an_arc_is_what_scoring_says(objective):
    found = md.learn(md.network("asia").sample(800, seed=3), objective)
    lost = losses(found)
    assert set(lost) == set(found.dag.arcs)
    for arc, loss in lost.items():
        without = md.score(found.dag.without_arc(*arc), found.data, found.objective)
        assert loss == pytest.approx(found.score - without, abs=1e-6)


def test_an_arc_that_the_prior_demands_costs_everything():
    prior = md.CS({"asia->smoke": 1.0})
    found = md.learn(md.network("asia").sample(300, seed=3), prior + md.BDeu(1))
    assert losses(found)["asia", "smoke"] == math.inf


def test_family_scores_add_up_to_the_likelihood(result):
    assert sum(family.score for family in families(result)) == pytest.approx(result.log_likelihood)


def test_a_node_with_thousands_of_levels_does_not_swell_the_page():
    rng = np.random.default_rng(2)
    data = md.Dataset.from_codes(
        rng.integers(0, 2, (500, 2)), levels=[2, [f"a level with number {i}" for i in range(9000)]]
    )
    graph = md.DAG(data.names, [("X2", "X1")])  # given: for so many levels, the kernels of a search are others
    text = md.report.result_page(md.Result.given(graph, data, "BDeu(1)"))
    assert len(text) < 150_000  # of which scripts and styles are 85,000
    assert "8,998 declared levels in 1 column never observed: X2" in text


def test_sparse_families_and_levels_never_observed_are_named():
    data = md.network("asia").sample(60, seed=1).with_levels({"smoke": ["yes", "no", "<sometimes>"]})
    found = md.learn(data, "K2", required=[("smoke", "dysp"), ("xray", "dysp"), ("either", "dysp")])
    assert any(family.is_half_empty for family in families(found))
    text = md.report.result_page(found)
    assert re.search("never observed: [^.]*smoke", text)
    assert "&lt;sometimes&gt;" in text
    assert "configurations observed: dysp" in text


def test_weighted_rows_are_reported():
    data = md.network("asia").sample(500, seed=1)
    found = md.learn(data.aggregated(), "BDeu(1)")
    text = md.report.result_page(found)
    assert "total weight 500" in text
    plain = {family.node: family.score for family in families(md.learn(data, "BDeu(1)"))}
    assert {family.node: pytest.approx(family.score) for family in families(found)} == plain


# Pages ---------------------------------------------------------------------------------------------------------------


def test_the_page_holds_every_node_arc_and_move(result):
    text = md.report.result_page(result)
    data = data_of(text)
    assert [node["name"] for node in data["nodes"]] == list(result.dag.nodes)
    assert [(arc["start"], arc["end"]) for arc in data["arcs"]] == list(result.dag.arcs)
    assert {(arc["start"], arc["end"]) for arc in data["arcs"] if arc["reversible"]} == set(result.reversible)
    assert [move["kind"] for move in data["trace"]] == [move.kind for move in result.trace]
    page = Reader(text)
    assert sum("data-node" in attributes for _, attributes in page.elements) == len(result.dag.nodes)
    assert sum("data-arc" in attributes for _, attributes in page.elements) == result.dag.n_arcs
    identifiers = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))


def test_bootstrap_strengths_are_in_the_page(result):
    strengths = md.bootstrap(result.data, result.objective, R=8, seed=1)
    data = data_of(md.report.result_page(result, bootstrap=strengths))
    index = strengths.nodes.index
    for arc in data["arcs"]:
        at = index(arc["start"]), index(arc["end"])
        assert arc["strength"] == pytest.approx(strengths.strength[at])
        assert arc["direction"] == pytest.approx(strengths.direction[at])


def test_names_and_levels_stay_text(nasty):
    other = md.DAG(nasty.dag.nodes)
    pages = [
        md.report.result_page(nasty, command="mapdag learn '</script><b>'", title="</title><b>"),
        md.report.comparison_page(nasty.dag, other, names=("<i>", "</script>")),
        nasty._repr_html_(),
    ]
    for text in pages:
        page = Reader(text)
        assert page.count("script") in {0, 2}
        assert not page.count("img")
        assert not page.count("b")
        assert not page.count("i") - text.count('<i style="width')
        assert "alert(1)" in "".join(page.text)
    assert [node["name"] for node in data_of(pages[0])["nodes"]] == list(NASTY)


def test_a_page_asks_the_network_for_nothing(result):
    for text in (md.report.result_page(result), md.report.comparison_page(result.dag, result.dag)):
        page = Reader(text)
        for _, attributes in page.elements:
            for key in ("src", "href"):
                assert attributes.get(key, "#").startswith(("#", "data:"))
        assert set(re.findall(r"https?://[^\"'\s<>]+", text)) == {"http://www.w3.org/2000/svg"}
        assert "@import" not in text
        assert "url(" not in text
        policy = next(a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
        program = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)[0]
        digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()
        assert policy.startswith("default-src 'none'")
        assert f"script-src 'sha256-{digest}'" in policy


def test_the_title_names_the_data(result):
    size = f"8 nodes, {result.dag.n_arcs} arcs"
    assert f"<title>{size}</title>" in md.report.result_page(result)
    named = md.report.result_page(result, name="<patients>.csv")
    assert f"<title>&lt;patients&gt;.csv: {size}</title>" in named
    assert f"<h1>&lt;patients&gt;.csv: {size}</h1>" in named
    assert "<title>Mine</title>" in md.report.result_page(result, name="x", title="Mine")


def test_a_graph_without_arcs_has_a_page():
    data = md.read({"a": ["x", "y"] * 30, "b": ["u", "u", "v", "v"] * 15})
    text = md.report.result_page(md.learn(data, "BIC"))
    assert "no arcs" in text
    assert "made no move" in text
    assert "Neither graph has an arc" in md.report.comparison_page(md.DAG(["a"]), md.DAG(["a"]))


def test_constraints_change_what_is_called_a_class():
    data = md.network("asia").sample(1500, seed=2)
    found = md.learn(data, tiers=[["asia", "smoke"], ["tub", "lung", "bronc", "either", "xray", "dysp"]])
    assert found.knowledge
    assert "What the data and the constraints tell" in md.report.result_page(found)


def test_an_interrupted_search_says_so(result):
    early = md.learn(result.data, max_iter=2)
    assert "best graph it had found" in md.report.result_page(early)
    assert "best graph it had found" not in md.report.result_page(result)


def test_the_page_of_a_large_network_stays_small():
    network = md.network("pigs")
    dag = network.dag
    data = network.sample(300, seed=1)
    found = md.learn(data, "BIC", start=dag, max_iter=1)
    assert len(md.report.result_page(found)) < 2_000_000


# Comparisons ---------------------------------------------------------------------------------------------------------


def test_pairs_agree_with_the_comparison():
    target = md.network("alarm").dag
    learned = md.learn(md.network("alarm").sample(500, seed=1), "BIC").dag
    found, counts = pairs(target, learned), md.compare(target, learned)
    arcs, classes = [pair.arcs.status for pair in found], [pair.classes.status for pair in found]
    assert arcs.count("agreeing") == counts.true_positives
    assert arcs.count("reversed") == counts.reversed
    assert arcs.count("missing") == counts.false_negatives - counts.reversed
    assert arcs.count("extra") == counts.false_positives - counts.reversed
    assert sum(status != "agreeing" for status in classes) == counts.shd
    Reader(md.report.comparison_page(target, learned))


def test_graphs_with_other_nodes_cannot_be_compared():
    with pytest.raises(md.errors.GraphError, match="same nodes"):
        md.report.comparison_page(md.DAG(["a"]), md.DAG(["b"]))


# Pieces --------------------------------------------------------------------------------------------------------------


def test_what_is_not_html_is_escaped():
    assert tag("p", "<b>", Html("<b>"), [1, None, 2.5], title='"') == '<p title="&quot;">&lt;b&gt;<b>12.5</p>'
    assert join(["&", ["<"]]) == "&amp;&lt;"
    assert tag("input", checked=True, hidden=False, value=None) == "<input checked>"


def test_json_cannot_close_its_script():
    value = {"</script>": ["<!--", "\u2028", float("nan"), -float("inf"), 1.5]}
    text = script_json(value)
    assert "<" not in text
    assert "\u2028" not in text
    assert json.loads(text) == {"</script>": ["<!--", "\u2028", None, None, 1.5]}


def test_other_pages_can_be_made_from_the_pieces():
    text = page("Study", [Section("one", "Table", tag("p", "x")), how_it_was_made("mapdag study report --html", [])])
    assert "mapdag study report --html" in "".join(Reader(text).text)


def test_numbers_are_written_for_people():
    assert figure_text(-0.0) == "0.00"
    assert figure_text(-12345) == "\N{MINUS SIGN}12,345"
    assert ticks(-103.2, -50.1, 5) == [-100.0, -80.0, -60.0]
    assert "<svg" in line_chart([3.0], x_title="x", y_title="y", label="one value")


# The command line ----------------------------------------------------------------------------------------------------


@pytest.fixture
def asia(tmp_path):
    path = tmp_path / "asia data.csv"
    md.network("asia").sample(500, seed=3).to_polars().write_csv(path)
    return path


def test_learn_writes_a_report_with_its_command(run, asia, tmp_path):
    path = tmp_path / "report.html"
    code, out, _ = run("learn", asia, "--score", "BDeu(1)", "--bootstrap", 4, "--report", path)
    assert code == 0
    assert f"written to {path}" in out
    assert "strengths from 4 resamples" in out
    text = path.read_text(encoding="utf-8")
    shown = re.search(r'<code id="command">(.*?)</code>', text)[1]
    assert shown == f"mapdag learn &#x27;{asia}&#x27; --score &#x27;BDeu(1)&#x27; --bootstrap 4 --report {path}"
    assert "<title>asia data.csv: 8 nodes, " in text
    assert f"mapdag {md.__version__}, python {sys.version.split()[0]}" in text
    assert all(arc["strength"] is not None for arc in data_of(text)["arcs"])


def test_bootstrap_strengths_without_a_report(run, asia):
    _, out, _ = run("learn", asia, "--bootstrap", 4, "--seed", 7, "--json")
    expected = md.bootstrap(md.read(asia), R=4, seed=7)
    assert json.loads(out)["strengths"] == [arc._asdict() for arc in expected.arcs()]


def test_compare_writes_a_report(run, asia, tmp_path):
    path = tmp_path / "comparison.html"
    md.write_graph(md.learn(md.read(asia)).dag, tmp_path / "learned.csv")
    code, out, _ = run("compare", "asia", tmp_path / "learned.csv", "--report", path)
    assert code == 0
    assert "SHD" in out
    assert f"written to {path}" in out
    assert "learned.csv" in path.read_text(encoding="utf-8")


def test_a_report_that_cannot_be_written_is_refused_before_the_work_begins(run, tmp_path, monkeypatch):
    code, _, err = run("learn", tmp_path / "not read.csv", "--report", tmp_path / "report.pdf")
    assert code == 2
    assert ".html" in err
    code, _, err = run("compare", "asia", "asia", "--report", tmp_path / "no" / "folder.html")
    assert code == 2
    code, _, err = run("learn", "x.csv", "--score", "BIC", "--score", "AIC", "--report", tmp_path / "r.html")
    assert "--report takes the result of one --score" in err
    monkeypatch.setitem(sys.modules, "igraph", None)
    code, _, err = run("learn", tmp_path / "not read.csv", "--report", tmp_path / "report.html")
    assert code == 2
    assert err == "mapdag: drawing graphs needs igraph: pip install 'mapdag[plots]'\n"
