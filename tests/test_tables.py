"""What results show: text, HTML, frames; short for large results, safe for any name."""

import json
import pickle
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mapdag as md
from mapdag.tables import SHOWN, Column, Table, Tabular
from mapdag.wording import cells, plural, shortened

HOSTILE = ["<b>bold</b> & $x_1$", "probability", "line\nbreak", "年齢", "x" * 200]


@pytest.fixture(scope="module")
def data():
    return md.network("asia").sample(300, seed=1)


@pytest.fixture(scope="module")
def results(data):
    result = md.learn(data)
    return {
        "distribution": md.network("asia").query(["lung", "xray"]),
        "bootstrap": md.bootstrap(data, R=5),
        "cross-validation": md.cross_validate(data, ["BDeu(1)", "BIC"], folds=3),
        "posteriors": md.arc_posteriors(data),
        "comparison": md.compare(md.network("asia").dag, result.dag),
        "network": md.network("asia"),
        "table": md.network("asia").table("dysp"),
        "diagnosis": md.diagnose(result, data),
        "result": result,
        "dataset": data,
        "check": md.check(data.to_pandas()),
        "marginals": md.network("asia").marginals({"xray": "yes"}),
        "explanation": md.network("asia").most_probable({"xray": "yes"}),
        "metrics": md.evaluate(md.network("asia"), data, "dysp"),
    }


NAMES = [
    "distribution",
    "bootstrap",
    "cross-validation",
    "posteriors",
    "comparison",
    "network",
    "table",
    "diagnosis",
    "result",
    "dataset",
    "check",
    "marginals",
    "explanation",
    "metrics",
]


class Tags(HTMLParser):
    """The elements and the text of a page, each opened element closed."""

    def __init__(self, page):
        super().__init__()
        self.seen, self.open, self.text = [], [], ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_text_html_and_two_frames(results, name):
    value = results[name]
    assert len(str(value).splitlines()) <= 2 * SHOWN + 8
    page = Tags(value._repr_html_())
    assert {"table", "svg"} & set(page.seen)
    assert not {"script", "style"} & set(page.seen)
    frames = value.to_pandas(), value.to_polars()
    assert isinstance(frames[0], pd.DataFrame)
    assert isinstance(frames[1], pl.DataFrame)
    assert len(frames[0])
    assert pickle.loads(pickle.dumps(value)) is not None


def test_frames_hold_what_the_result_does(results, data):
    posterior = results["distribution"]
    frame = posterior.to_pandas()["probability"]
    assert frame["yes", "no"] == posterior.probability(lung="yes", xray="no")
    assert frame.index.names == ["lung", "xray"]
    assert posterior.to_polars()["probability"].sum() == pytest.approx(1)
    assert posterior.to_polars().schema["lung"] == pl.Enum(["yes", "no"])
    arcs = results["posteriors"].to_polars()
    assert len(arcs) == 8 * 7
    assert arcs["probability"].is_sorted(descending=True)
    strengths = results["bootstrap"]
    assert list(strengths.to_polars().iter_rows()) == [tuple(arc) for arc in strengths.arcs()]
    folds = results["cross-validation"].to_pandas()
    assert folds["log_likelihood_per_row"].tolist() == results["cross-validation"].per_row.tolist()
    compared = results["comparison"].to_pandas()
    assert compared.loc["skeleton", "recall"] == results["comparison"].skeleton_recall
    result = results["result"]
    assert list(zip(*(result.to_pandas()[end] for end in ("start", "end")), strict=True)) == list(result.dag.arcs)
    assert (result.to_polars()["direction"] == "reversible").sum() == len(result.reversible)
    found = results["diagnosis"]
    assert found.to_pandas()["log_odds"].tolist() == [arc.log_odds for arc in found.arcs]
    assert set(found.to_polars(of="families")["node"]) == set(data.names)
    with pytest.raises(md.errors.ParameterError, match="of must be 'arcs' or 'families', got 'nodes'"):
        found.to_table(of="nodes")
    nodes = results["network"].to_polars()
    assert nodes["parameters"].sum() == results["network"].n_parameters
    assert nodes["parents"].to_list() == [list(results["network"].parents(node)) for node in nodes["node"]]


def test_a_labelled_table_has_the_probabilities_of_the_network():
    net = md.network("child")
    for node in net.nodes:
        table = net.table(node)
        wide = table.to_pandas()
        assert np.array_equal(wide.to_numpy().reshape(net.cpt(node).shape), net.cpt(node))
        assert wide.columns.tolist() == list(net.levels[node])
        assert wide.index.names == list(table.parents or [None])
        long = table.to_polars()
        assert long.columns == [*net.parents(node), node, "probability"]
        for row in long.sample(min(5, len(long)), seed=1).iter_rows(named=True):
            probability, level = row.pop("probability"), row.pop(node)
            assert net.probability(node, level, row) == probability
    with pytest.raises(md.errors.GraphError, match="Agee"):
        net.table("Agee")


def test_undefined_probabilities_are_shown_as_such():
    data = md.read({"A": ["x", "x"], "B": ["u", "v"]}, levels={"A": ["x", "y"]})
    net = md.fit(md.DAG(["A", "B"], [("A", "B")]), data, method="mle", unobserved="nan")
    assert str(net.table("B")).splitlines()[-1].split() == ["y", "nan", "nan"]
    assert net.table("B").to_polars()["probability"].is_nan().sum() == 2


def test_hostile_names_and_levels_are_shown_and_kept_apart():
    levels = dict.fromkeys(HOSTILE, ("<i>", "$a$", "<i>\n"))
    one, last = HOSTILE[0], HOSTILE[1]
    dag = md.DAG(HOSTILE, [(name, last) for name in HOSTILE if name != last])
    net = md.BayesianNetwork(dag, levels, {n: np.full([3] * (len(dag.parents(n)) + 1), 1 / 3) for n in HOSTILE})
    for value in (net.query([one, last]), net.table(last), net.table(one), net.sample(3, seed=1)):
        page = Tags(value._repr_html_())
        assert not {"b", "i"} & set(page.seen)
        assert "$a$" in page.text
        assert "mathjax_ignore" in value._repr_html_()
        lines = str(value).splitlines()
        assert max(map(cells, lines)) <= 400
        assert not any(line == "break" or line.startswith("break ") for line in lines)
    assert net.query([last, one]).to_polars().columns == [last, one, "probability_"]
    assert net.table(last).to_polars().columns == [*dag.parents(last), last, "probability_"]
    assert list(net.query([last]).to_pandas().columns) == ["probability_"]
    assert "<b>" not in md.learn(net.sample(50, seed=1))._repr_html_()


def test_columns_are_aligned_in_terminals_whatever_the_script():
    table = Table([Column("naïve", ["年齢", "age"]), Column("n", np.array([1, 1234]), ",", right=True)])
    first, second, third = str(table).splitlines()
    assert cells(first) == cells(second) == cells(third)
    assert third.endswith("1,234")


@given(st.lists(st.tuples(st.text(), st.integers(-5, 5) | st.none()), max_size=6), st.text())
def test_any_text_makes_one_line_a_row(rows, name):
    table = Table([Column(name, [a for a, _ in rows]), Column("b", [b for _, b in rows])], left=7)
    lines = str(table).split("\n")
    assert len(lines) == len(rows) + 2
    assert lines[-1] == "... and 7 more"
    assert Tags(table._repr_html_()).seen.count("tr") == len(rows) + 1


def test_large_results_are_cut_and_say_so():
    large = md.network("munin1").sample(3, seed=1)
    assert str(large).splitlines()[-1] == "... and 174 more columns"
    assert "more columns" in large._repr_html_()
    assert len(str(md.network("munin")).splitlines()) == SHOWN + 3
    joint = md.network("asia").query(["lung", "xray", "dysp", "bronc", "tub"])
    lines = str(joint).splitlines()
    assert lines[-1] == f"... and {32 - SHOWN} less probable"
    shown = [float(line.split()[-1]) for line in lines[1:-1]]
    assert shown == sorted(shown, reverse=True)
    assert len(joint.to_pandas()) == 32
    wide = md.network("hailfinder").table("WindFieldPln")
    assert "more" in str(md.network("diabetes").table("bg_5"))
    assert str(wide).startswith("WindFieldPln given Scenario")


def test_bootstrap_lists_arcs_of_hundreds_of_nodes_in_their_order():
    rng = np.random.default_rng(1)
    n = 300
    halves = rng.integers(0, 3, (n, n)) * (rng.random((n, n)) < 0.01)
    np.fill_diagonal(halves, 0)
    found = md.Bootstrap(tuple(f"V{i}" for i in range(n)), md.parse("BIC"), 4, halves)
    strength, direction = found.strength, found.direction
    naive = [
        (f"V{i}", f"V{j}", strength[i, j], direction[i, j])
        for i in range(n)
        for j in range(n)
        if strength[i, j] > 0.25 and (direction[i, j] > 0.5 or (direction[i, j] == 0.5 and i < j))
    ]
    naive.sort(key=lambda arc: (-arc[2], -arc[3]))
    assert [tuple(arc) for arc in found.arcs(above=0.25)] == naive
    assert len(str(found).splitlines()) <= SHOWN + 3
    assert json.dumps(found.arcs(above=0.25)[0])


def test_one_node_and_one_arc_are_counted_as_such(recwarn):
    data = md.read({"A": ["x", "y"] * 20, "B": ["u", "v"] * 20})
    result = md.learn(data, "BIC")
    assert "2 nodes, 1 arc: 0 compelled, 1 reversible (its direction is not identified)\n" in str(result)
    assert "1 arc," in repr(result)
    alone = md.learn(data.select("A"), "BIC")
    assert "\n1 node, 0 arcs\n" in str(alone)
    assert repr(data.select("A")) == "Dataset(40 rows, 1 column, 2 levels)"
    assert str(alone.fit()).startswith("1 node, 0 arcs, 1 parameter\n")
    assert str(md.bootstrap(data, "BIC", R=1)).startswith("U+BIC, 1 replicate,")
    assert md.bootstrap(data.select("A"), "BIC", R=2).to_polars().is_empty()
    assert repr(md.DAG(["A:"]).to_cpdag()) == "<CPDAG A:>"


def test_tables_without_rows_have_columns():
    empty = Table([Column("start", []), Column("p", np.array([]), ".3f", right=True)])
    assert str(empty) == "start  p"
    assert empty.to_polars().schema == {"start": pl.String, "p": pl.Float64}
    assert empty.to_pandas().empty
    with pytest.raises(NotImplementedError):
        str(Tabular())


def test_what_a_frame_gets_can_be_changed(data):
    posterior = md.network("asia").query("lung")
    frame = posterior.to_pandas()
    frame.loc["yes"] = 0
    asia = md.network("asia")
    wide = asia.table("lung").to_pandas()
    wide.iloc[0, 0] = 5
    assert posterior.probability(lung="yes") > 0
    assert asia.cpt("lung")[0, 0] == pytest.approx(0.1)
    values = np.array([1.0, 2.0])
    values.setflags(write=False)  # as results have them
    frame = Table([Column("a", values)]).to_pandas()
    frame.loc[0, "a"] = 3.0
    assert (values.tolist(), frame["a"].tolist()) == ([1.0, 2.0], [3.0, 2.0])


@given(st.text(max_size=50), st.integers(5, 30))
def test_shortened_texts_fit_and_are_printable(text, longest):
    short = shortened(text, longest)
    assert len(short) <= longest
    assert short.isprintable()


def test_nouns_have_plurals():
    assert plural(2, "family") == "2 families"
