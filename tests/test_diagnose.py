"""The diagnosis of sparse data: families, arcs, and how far each is from vanishing."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mapdag as md
from mapdag import theory
from mapdag.errors import GraphError, ParameterError
from strategies import as_dataset, small_data


@pytest.fixture(scope="module")
def learned():
    data = md.network("insurance").sample(300, seed=1)
    return md.learn(data, "U+BDeu(10)", search="hc", order="columns")


@given(case=small_data(min_columns=2), data=st.data())
def test_families_and_arcs_are_those_of_the_scores(case, data):
    rows, cards = case
    table = as_dataset(rows, cards)
    arcs = [(a, b) for i, b in enumerate(table.names) for a in table.names[:i] if data.draw(st.booleans())]
    dag = md.DAG(table.names, arcs)
    found = md.diagnose(dag, table, "MU(1/2)+BDs(2)")
    assert [family.node for family in found.families] == list(dag.nodes)
    for family in found.families:
        codes = {tuple(row[table.names.index(p)] for p in family.parents) for row in rows}
        assert family.observed == len(codes)
        assert family.configurations == math.prod(cards[table.names.index(p)] for p in family.parents)
        assert family.effective_alpha == pytest.approx(2 * family.observed / family.configurations)
    assert {(arc.start, arc.end) for arc in found.arcs} == set(dag.arcs)
    for arc in found.arcs:
        smaller = dag.without_arc(arc.start, arc.end)
        for objective, value in (
            ("MU(1/2)+BDs(2)", arc.log_odds),
            ("BDeu(2)", arc.log_bdeu),
            ("BDs(2)", arc.log_bds),
        ):
            expected = md.score(dag, table, objective) - md.score(smaller, table, objective)
            assert value == pytest.approx(expected, abs=1e-9)


def test_arcs_come_weakest_first_and_each_is_judged_by_four_scores(learned):
    found = md.diagnose(learned, learned.data, "U+BDeu(10)")
    odds = [arc.log_odds for arc in found.arcs]
    assert odds == sorted(odds)
    assert not found.unsupported
    for arc in found.arcs:
        assert set(arc.supported_by) | set(arc.lost_by) == {"U+BDeu", "U+BDs", "MU+BDeu", "MU+BDs"}
        expected = theory.log_bayes_factor(learned.dag, learned.data, arc.start, arc.end, "MU(c=1)+BDs(10)")
        assert ("MU+BDs" in arc.supported_by) == (expected > 0)
        assert arc.log_bds + arc.log_mu == pytest.approx(expected, abs=1e-9)


def test_an_arc_vanishes_where_the_diagnosis_says(learned):
    found = md.diagnose(learned, learned.data, "U+BDeu(10)")
    assert found.sensitive_to_alpha
    for arc in found.arcs:
        low, high = arc.alpha_range
        assert low <= 10 <= high

        def odds(alpha, arc=arc):
            return theory.log_bayes_factor(learned.dag, learned.data, arc.start, arc.end, f"BDeu({alpha!r})")

        if low > 0:
            assert odds(low * 1.001) > 0 >= odds(low * 0.999)
        if math.isfinite(high):
            assert odds(high * 0.999) > 0 >= odds(high * 1.001)
    for arc in found.arcs[:10]:
        for beta, kept in ((arc.beta_needed * 0.99, False), (min(arc.beta_needed * 1.01, 0.9999), True)):
            objective = md.MU(beta) + md.BDeu(10)
            odds = theory.log_bayes_factor(learned.dag, learned.data, arc.start, arc.end, objective)
            assert (odds > 0) == kept


def test_a_constant_parent_is_a_tie_under_bds(learned):
    found = md.diagnose(learned, learned.data, "U+BDeu(10)")
    constant = [arc for arc in found.arcs if arc.start == "Theft"]
    assert len(constant) == 9
    assert all(arc.log_bds == 0 and arc.log_bdeu > 0 for arc in constant)
    assert {(arc.start, arc.end) for arc in constant} <= {(arc.start, arc.end) for arc in found.lost("U+BDs")}


def test_objectives_without_an_alpha_are_diagnosed_at_one_that_is_given(learned):
    found = md.diagnose(learned.dag, learned.data, "BIC", alpha=5)
    assert found.alpha == 5
    assert all(math.isnan(arc.alpha_range[0]) for arc in found.arcs)
    assert found.sensitive_to_alpha == ()
    assert md.diagnose(learned.dag, learned.data, "BIC").alpha == 1
    assert md.diagnose(learned.dag, learned.data, "BDs(3)", alpha=5).alpha == 3
    assert md.diagnose(learned.fit(), learned.data).objective == md.parse("Support(3)+MU(c=1)+BDs(1)")


def test_arcs_without_support_are_named():
    data = as_dataset(np.random.default_rng(1).integers(0, 2, (200, 3)), [2, 2, 2])
    found = md.diagnose(md.DAG(data.names, [("X0", "X1")]), data, "MU(1/2)+BDs(1)")
    assert [(arc.start, arc.end) for arc in found.unsupported] == [("X0", "X1")]
    assert found.arcs[0].alpha_range == (1, 1)
    assert found.sparse_families == ()
    with pytest.raises(GraphError, match="the graph lacks"):
        md.diagnose(md.DAG(["X0"]), data)


def test_a_result_is_diagnosed_with_its_own_data_and_objective(learned):
    found = md.diagnose(learned)
    assert found == md.diagnose(learned.dag, learned.data, learned.objective)
    assert found.objective == learned.objective
    with pytest.raises(ParameterError, match="data must be given, unless the graph is the result of a search"):
        md.diagnose(learned.dag)


def test_a_table_that_comes_back_to_a_network_is_cut_where_its_own_was():
    rng = np.random.default_rng(1)
    table = {"dose": rng.normal(size=300).tolist(), "ill": rng.choice(["no", "yes"], 300).tolist()}
    learned = md.learn(table, "BDeu(1)", discretize="quantile(4)", required=[("dose", "ill")])
    again = md.diagnose(learned.fit(), table, "BDeu(1)")
    assert again == md.diagnose(learned)
    half = {name: values[:150] for name, values in table.items()}
    assert md.diagnose(learned.fit(), half, "BDeu(1)").families[1].configurations == 4


def test_a_diagnosis_reads_the_same_in_python_and_on_the_command_line(learned, run, tmp_path):
    found = md.diagnose(learned.fit(), learned.data, "U+BDeu(10)")
    md.write_network(learned.fit(), tmp_path / "net.bif")
    md.write_table(learned.data, tmp_path / "rows.csv")
    code, out, err = run("diagnose", tmp_path / "net.bif", tmp_path / "rows.csv", "--score", "U+BDeu(10)")
    assert code == 0, err
    assert out.strip() == str(found)
    assert str(found).splitlines()[0].startswith("U+BDeu(alpha=10): ")
    rows = [line.split()[:2] for line in out.splitlines()]
    for arc in found.arcs[:20]:
        assert [arc.start, arc.end] in rows
    from mapdag.theory.summary import summary

    assert len(summary(found, most=1)) < len(summary(found)) <= len(summary(found, most=None))


def test_one_arc_and_one_row_are_counted_as_such():
    data = md.Dataset.from_codes([[0, 1]], names=["X", "Y"], levels=[2, 2])
    text = str(md.diagnose(md.DAG(["X", "Y"], [("X", "Y")]), data, "BDeu(1)"))
    assert text.splitlines()[0] == "U+BDeu(alpha=1): 2 nodes, 1 arc, 1 row"
    alone = str(md.diagnose(md.DAG(["X"]), data.select(["X"]), "BIC"))
    assert alone.splitlines()[0] == "U+BIC: 1 node, 0 arcs, 1 row"


def test_notebooks_are_told_what_print_tells(learned):
    found = md.diagnose(learned)
    html = found._repr_html_()
    for line in str(found).splitlines():
        if line.startswith("families with") or " arcs " in line.partition(":")[0]:
            assert line.partition(":")[0] in html
    assert len(repr(found)) < 80


def test_arcs_of_thin_families_have_no_support():
    rng = np.random.default_rng(0)
    data = md.read(rng.integers(0, 5, (100, 4)), max_levels=5)
    parents, child = data.names[:3], data.names[3]
    dag = md.DAG(data.names, [(parent, child) for parent in parents])
    for parent in parents:
        assert theory.log_bayes_factor(dag, data, parent, child) == -math.inf
        assert theory.log_bayes_factor(dag, data, parent, child, "MU(c=1)+BDs(1)") > -math.inf
    assert {arc.end for arc in md.diagnose(dag, data).unsupported} == {child}
    assert len(md.diagnose(dag, data).unsupported) == 3
    assert all(arc.log_odds == -math.inf for arc in md.diagnose(dag, data).arcs)
    with pytest.warns(md.errors.MapdagWarning, match="win"):
        found = md.learn(data, required=dag.arcs)
    assert all(math.isfinite(arc.log_odds) for arc in md.diagnose(found).arcs)  # what was required wins


@given(case=small_data(min_columns=3, max_columns=4), m=st.sampled_from([1.5, 2, 4]), seed=st.integers(0, 99))
def test_log_odds_of_an_arc_are_those_of_the_two_graphs_under_a_limit(case, m, seed):
    table = as_dataset(*case)
    dag = md.random_dag(table.names, seed=seed)
    objective = f"Support({m})+MU(1/2)+BDs(1)"
    told = {(arc.start, arc.end): arc.log_odds for arc in md.diagnose(dag, table, objective).arcs}
    for start, end in dag.arcs:
        odds = theory.log_bayes_factor(dag, table, start, end, objective)
        with_arc, without = (md.score(each, table, objective) for each in (dag, dag.without_arc(start, end)))
        thin = {family.node for family in md.objective.thin_families(dag, table, m)}
        assert told[start, end] == pytest.approx(odds)
        if end in thin:
            assert odds == -math.inf
        elif not thin:
            assert odds == pytest.approx(with_arc - without, abs=1e-9)


def test_with_gaps_an_arc_may_be_all_that_makes_a_graph_possible():
    rows = [[0, 0, 0], [1, 1, 0], [2, 0, -1], [3, 1, -1], [-1, 0, 1], [-1, 1, 1]]
    data = md.Dataset.from_codes(rows, names=list("ABC"), levels=[4, 2, 2], gap=-1)
    dag, objective = md.DAG(data.names, [("A", "B"), ("C", "B")]), "Support(2)+U+PNAL"
    assert theory.log_bayes_factor(dag, data, "C", "B", objective) == math.inf  # without C, A has 4 levels in 6 rows
    assert {arc.start: arc.log_odds for arc in md.diagnose(dag, data, objective).arcs}["C"] == math.inf


@pytest.mark.parametrize("objective", ["PNAL", "PNAL(0.003)", "MU(0.2)+NAL", "Support(2)+U+PNAL"])
def test_with_gaps_log_odds_are_differences_of_scores_that_take_gaps(objective):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 3, (15, 3))
        codes[rng.random(codes.shape) < 0.3] = -1
        data = md.Dataset.from_codes(codes, names=list("ABC"), levels=[3, 3, 3], gap=-1)
        dag = md.DAG(data.names, [("A", "B"), ("A", "C"), ("B", "C")])
        found = md.diagnose(dag, data, objective)
        for arc in found.arcs:
            less = dag.without_arc(arc.start, arc.end)
            assert arc.log_odds == theory.log_bayes_factor(dag, data, arc.start, arc.end, objective)
            if "Support" not in objective:
                assert arc.log_odds == pytest.approx(md.score(dag, data, objective) - md.score(less, data, objective))
        assert found.thin_families == md.Result.given(dag, data, objective).thin


def test_an_arc_that_no_row_has_is_impossible_whatever_else_is():
    data = md.Dataset.from_codes([[0, -1, 0], [-1, 0, 1], [1, -1, 1]], names=list("ABC"), levels=[2, 2, 2], gap=-1)
    dag = md.DAG(data.names, [("A", "B"), ("C", "B")])
    assert theory.log_bayes_factor(dag, data, "C", "B", "NAL") == -math.inf  # without it the graph is impossible, too
    assert {arc.log_odds for arc in md.diagnose(dag, data, "NAL").arcs} == {-math.inf}
