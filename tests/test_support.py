"""`Support`: no family is spread more thinly than its rows allow, whatever searches; noise gets no arcs."""

import itertools
import json
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from mapdag.errors import GraphError, MapdagWarning, ParameterError
from mapdag.objective import limits_of, thin_families
from mapdag.objective.constraints import Constraints, make_rules
from naive_exact import arc_probabilities, scored
from strategies import as_dataset, small_data

SEARCHES = (
    {},
    {"effort": 0.1},
    {"search": "hc"},
    {"search": "hc", "restarts": 3},
    {"search": "tabu"},
    {"search": "exact"},
)
OBJECTIVES = ("U+BDeu(1)", "MU(1/2)+BDs(1)", "MU(1/2)+K2", "U+qNML", "BIC", "LogLik", "CS({'X0->X1': 0.9})+BDs(1)")


def observed(data, parents):
    """Configurations of some columns that occur: slowly, and plainly."""
    columns = [data.names.index(name) for name in parents]
    return len({tuple(row) for row in data.codes[columns].T.tolist()})


def is_supported(dag, data, m, exempt=()):
    total = data.total
    return all(
        not dag.parents(node) or observed(data, dag.parents(node)) <= max(total / m, 1)
        for node in dag.nodes
        if node not in exempt
    )


def noise(r, rows, columns, seed=0):
    return md.read(np.random.default_rng(seed).integers(0, r, (rows, columns)), max_levels=256)


# --- what it is


def test_it_composes_like_any_prior():
    objective = md.Support(2) + md.MU(c=1) + md.BDs(1)
    assert objective == md.parse("Support(2)+MU(c=1)+BDs(1)") == md.parse(str(objective))
    assert str(objective) == "Support(m=2)+MU(c=1)+BDs(alpha=1)"
    assert md.parse("support(5) + Support(2) + BIC").prior.support == 5  # the tightest wins
    assert md.parse("MU(c=1)+BDs(1)").prior.support is None
    assert md.Support() == md.Support(3)
    assert not objective.score_equivalent
    assert not (md.Support(2) + md.BDeu(1)).score_equivalent  # the two directions of an arc have different parents


@pytest.mark.parametrize("m", [0, -1, math.inf, math.nan, "many", None, True])
def test_it_needs_a_positive_number(m):
    with pytest.raises(ParameterError, match="m must be a positive number"):
        md.Support(m)


@given(
    data=small_data(min_columns=2, max_columns=4), m=st.sampled_from([1, 1.5, 2, 3, 5, 100]), seed=st.integers(0, 99)
)
def test_a_graph_is_ruled_out_where_a_family_is_thin(data, m, seed):
    table = as_dataset(*data)
    dag = md.random_dag(table.names, seed=seed)
    with_limit, without = md.score(dag, table, [f"Support({m})+MU(1/2)+BDs(1)", "MU(1/2)+BDs(1)"])
    if is_supported(dag, table, m):
        assert with_limit == without
        assert thin_families(dag, table, m) == ()
    else:
        assert with_limit == with_limit.log_prior == -math.inf
        assert with_limit.by_node == without.by_node
        thin = thin_families(dag, table, m)
        assert {family.node for family in thin} == {
            node
            for node in dag.nodes
            if dag.parents(node) and observed(table, dag.parents(node)) > max(len(data[0]) / m, 1)
        }
        for family in thin:
            assert family.configurations == observed(table, family.parents)
            assert family.rows == pytest.approx(table.n_rows / family.configurations)


# --- every search obeys it


@given(
    data=small_data(min_columns=3, max_columns=5, max_levels=4),
    m=st.sampled_from([1.5, 2, 3, 7]),
    objective=st.sampled_from(OBJECTIVES),
    options=st.sampled_from(SEARCHES),
    weight=st.sampled_from([None, "whole", "fractions"]),
)
@settings(max_examples=120)
def test_no_search_returns_a_thin_family(data, m, objective, options, weight):
    rows, cards = data
    rng = np.random.default_rng(len(rows))
    weights = {"whole": rng.integers(1, 4, len(rows)), "fractions": rng.random(len(rows)) + 0.1}.get(weight)
    if weight == "fractions" and "qNML" in objective:
        return
    table = as_dataset(rows, cards, weights)
    result = md.learn(table, f"Support({m})+{objective}", **options)
    assert is_supported(result.dag, table, m)
    assert math.isfinite(result.score)
    assert md.score(result.dag, table, result.objective) == pytest.approx(result.score, rel=1e-12)
    assert result.thin == ()


@pytest.mark.parametrize("options", SEARCHES[:-1], ids=str)
def test_ones_own_scores_and_priors_of_whole_graphs_obey_it_too(options):
    data = md.network("asia").sample(25, seed=3)

    def likelihood(table):
        return float(table.total * math.log(table.q_obs))  # the thinner the better

    assert not is_supported(md.learn(data, md.U() + md.Custom(likelihood), **options).dag, data, 3)
    result = md.learn(data, md.Support(3) + md.Custom(likelihood), **options)
    assert result.dag.n_arcs > 0
    assert is_supported(result.dag, data, 3)
    whole = md.Support(3) + md.LogLinear(["v_structures"]) + md.BDeu(10)
    assert is_supported(md.learn(data, whole, **options).dag, data, 3)
    rule = md.Support(3) + md.BD(lambda r, q, q_obs: 1 / (r * q_obs))
    assert md.learn(data, rule, **options).score == md.learn(data, "Support(3)+BDs(1)", **options).score


@given(
    data=small_data(min_columns=3, max_columns=4, max_rows=40, max_levels=3),
    m=st.sampled_from([1.5, 2, 4]),
    objective=st.sampled_from(OBJECTIVES),
)
@settings(max_examples=60)
def test_exact_searches_agree_with_going_through_all_graphs(data, m, objective):
    table = as_dataset(*data)
    goal = f"Support({m})+{objective}"
    graphs = list(scored(table, objective, lambda dag: is_supported(dag, table, m)))
    best = sorted((score for _, score in graphs), reverse=True)
    assert md.learn(table, goal, search="exact").score == pytest.approx(best[0], rel=1e-9, abs=1e-6)
    found = md.best_dags(table, goal, k=5)
    assert [result.score for result in found] == pytest.approx(best[: len(found)], rel=1e-9, abs=1e-6)
    assert len(found) == min(5, len(graphs))
    expected, evidence = arc_probabilities(graphs, table.names)
    got = md.arc_posteriors(table, goal, over="dags")
    assert got.log_evidence == pytest.approx(evidence, rel=1e-9, abs=1e-6)
    for arc in itertools.permutations(table.names, 2):
        assert got[arc] == pytest.approx(expected[arc], abs=1e-6)


def test_a_limit_that_never_binds_changes_nothing():
    data = md.network("insurance").sample(300, seed=1)
    for options in ({"effort": 0.2}, {"search": "hc", "order": "columns"}, {"search": "tabu"}):
        free, limited = (md.learn(data, f"{part}MU(c=1)+BDs(1)", **options) for part in ("", "Support(1)+"))
        assert (limited.dag, limited.score, limited.trace) == (free.dag, free.score, free.trace)


def test_rows_count_by_their_weights():
    rows = [[i % 4, i % 3, i % 2] for i in range(12)]
    light, heavy = (as_dataset(rows, [4, 3, 2], [weight] * 12) for weight in (1, 3))
    dag = md.DAG(light.names, [("X0", "X2"), ("X1", "X2")])  # twelve configurations
    assert md.score(dag, light, "Support(3)+BDeu(1)") == -math.inf
    assert md.score(dag, heavy, "Support(3)+BDeu(1)") > -math.inf


# --- what is required wins


def test_required_arcs_win_with_a_warning():
    data = noise(5, 100, 6)
    required = [(parent, data.names[5]) for parent in data.names[:3]]
    free = md.score(md.DAG(data.names, required), data, "MU(c=1)+BDs(1)")
    for options in SEARCHES:
        with pytest.warns(MapdagWarning, match=r"required arcs .* Support\(3\) .* win: X6 \(1\."):
            result = md.learn(data, required=required, **options)
        assert set(required) <= set(result.dag.arcs)
        assert result.score >= free
        assert math.isfinite(result.score)
        assert is_supported(result.dag, data, 3, exempt=[data.names[5]])
        assert observed(data, result.dag.parents("X6")) == observed(data, data.names[:3])
        assert [family.node for family in result.thin] == ["X6"]
        assert "only required arcs lead to it" in str(result)


def test_arcs_that_a_prior_demands_win_too():
    data = noise(15, 30, 3)
    objective = md.Support(3) + md.CS({"X1->X2": (0.5, 0.5, 0.0), "X1->X3": (0.5, 0.5, 0.0)}) + md.BDs(1)
    for options in SEARCHES:
        with pytest.warns(MapdagWarning, match="win"):
            result = md.learn(data, objective, **options)
        assert math.isfinite(result.score)
        assert all(result.dag.has_arc("X1", x) or result.dag.has_arc(x, "X1") for x in ("X2", "X3"))


FORCED = 'CS({"V1->V0": [0.9, 0.1, 0]})+Support(3)+BDeu(1)'


def one_way_only(columns=2):
    """Two columns, of which only the first may be a parent of the second under `Support(3)`; and some more."""
    rest = np.random.default_rng(0).integers(0, 2, (10, columns - 2)).tolist()
    rows = [[0, i % 4, *rest[i]] for i in range(10)]
    return md.Dataset.from_codes(rows, names=[f"V{i}" for i in range(columns)], levels=[1, 4, *[2] * (columns - 2)])


@pytest.mark.parametrize("options", [*SEARCHES, {"search": "certified"}], ids=str)
@pytest.mark.parametrize("columns", [2, 14, 25])
def test_a_pair_that_must_be_joined_is_joined_in_the_direction_that_is_allowed(options, columns):
    if options.get("search") in ("exact", "certified") and columns > 14:
        return
    if options.get("search") == "certified":
        pytest.importorskip("highspy")
        options = {**options, "max_parents": 2}
    data = one_way_only(columns)
    result = md.learn(data, FORCED, **options)
    assert result.dag.has_arc("V0", "V1")
    assert all(math.isfinite(move.score) for move in result.trace)
    assert result.score == md.score(result.dag, data, FORCED) > -math.inf
    assert result.thin == ()


def test_the_direction_that_is_not_allowed_has_no_probability():
    data = one_way_only()
    for over in ("orders", "dags"):
        assert md.arc_posteriors(data, FORCED, over=over)["V0", "V1"] == pytest.approx(1)
    assert [result.dag.arcs for result in md.best_dags(data, FORCED, k=3)] == [(("V0", "V1"),)]
    assert md.score(md.DAG(data.names, [("V1", "V0")]), data, FORCED) == -math.inf


@pytest.mark.parametrize("options", [{"search": "hc"}, {"search": "tabu"}, {"effort": 0}], ids=str)
def test_a_start_graph_with_the_other_direction_is_left_out(options):
    data = one_way_only(14)
    start = md.DAG(data.names, [("V1", "V0"), ("V2", "V3")])
    with pytest.warns(MapdagWarning, match="start graph .* may go the other way: it is left out"):
        result = md.learn(data, FORCED, start=start, **options)
    assert result.dag.has_arc("V0", "V1")
    assert math.isfinite(result.score)


def can_be_directed(data, pairs, m):
    """Whether arcs between some pairs have directions that leave no family too thin, or without any complete row."""
    rows = data.codes.T.tolist()
    for tails in itertools.product((0, 1), repeat=len(pairs)):
        arcs = [(pair[tail], pair[1 - tail]) for pair, tail in zip(pairs, tails, strict=True)]
        if not nx.is_directed_acyclic_graph(nx.DiGraph(arcs)):
            continue
        sizes = []
        for node in range(data.n_columns):
            parents = [a for a, b in arcs if b == node]
            whole = [row for row in rows if all(row[i] < data.cards[i] for i in (node, *parents))]
            sizes += [len({tuple(row[p] for p in parents) for row in whole})] if parents else []
        if all(0 < size <= max(data.total / m, 1) for size in sizes):
            return True
    return False


def test_pairs_are_directed_within_the_limit_wherever_that_is_possible():
    possible = waived = 0
    for seed in range(800):
        rng = np.random.default_rng([31, seed])
        n_nodes, n_rows = int(rng.integers(3, 6)), int(rng.integers(6, 25))
        cards = rng.integers(1, 6, n_nodes)
        codes = rng.integers(0, cards, (n_rows, n_nodes))
        codes[rng.random(codes.shape) < rng.random(n_nodes) * rng.choice([0, 0.5, 0.9])] = -1
        data = md.Dataset.from_codes(codes, names=list("ABCDE")[:n_nodes], levels=cards.tolist(), gap=-1)
        every = list(itertools.combinations(range(n_nodes), 2))
        pairs = [every[i] for i in rng.permutation(len(every))[: rng.integers(1, 5)]]
        prior = md.CS({(data.names[a], data.names[b]): (0.5, 0.5, 0.0) for a, b in pairs})
        limits = limits_of(data, (m := float(rng.choice([1.5, 2, 3, 5]))), make_rules(Constraints(), prior, data.names))
        directed = can_be_directed(data, pairs, m)
        assert directed == (limits.waived == () and sum(map(int.bit_count, limits.parents)) == len(pairs))
        possible, waived = possible + directed, waived + (not directed)
    assert min(possible, waived) > 100


@pytest.mark.parametrize("options", [*SEARCHES, {"search": "certified"}], ids=str)
def test_pairs_are_directed_so_that_rows_are_complete_in_every_family(options):
    if options.get("search") == "certified":
        pytest.importorskip("highspy")
    rows = [[0, -1, 0], [1, -1, 1], [-1, 0, 0], [-1, 1, 1]] * 5  # no row has all three
    data = md.Dataset.from_codes(rows, names=list("ABC"), levels=[2, 2, 2], gap=-1)
    result = md.learn(data, md.CS({"A->C": (0.5, 0.5, 0.0), "B->C": (0.5, 0.5, 0.0)}) + md.PNAL(), **options)
    assert math.isfinite(result.score)
    with pytest.raises(GraphError, match=r"directions|no graph obeys"):
        md.learn(data, md.CS({"A->B": (0.5, 0.5, 0.0)}) + md.PNAL(), **options)


def test_a_graph_has_the_same_score_everywhere_whatever_is_required():
    data = noise(5, 100, 6)
    limits = {"required": [(parent, "X6") for parent in data.names[:3]], "forbidden": [("X1", "X2")], "max_parents": 4}
    with pytest.warns(MapdagWarning, match="win"):
        result = md.learn(data, search="hc", **limits)
    assert md.score(result.dag, data, **limits) == result.score > -math.inf
    assert md.score(result.dag, data) == -math.inf
    assert md.Result.given(result.dag, data, **limits).score == result.score
    assert md.Result.given(result.dag, data, **limits).constraints == result.constraints
    arc = ("X1", "X2")
    assert md.score(result.dag.with_arc(*arc), data, "BDeu(1)", forbidden=[arc]) == -math.inf
    assert md.score(result.dag, data, "BDeu(1)", required=[arc]) == -math.inf
    assert md.score(result.dag, data, "BDeu(1)", max_parents=2) == -math.inf
    assert md.score(result.dag, data, "BDeu(1)", tiers=[["X6"], ["X1"]]) == -math.inf
    with pytest.raises(GraphError, match="not a column"):
        md.score(result.dag, data, required=[("X1", "nobody")])


def test_commands_take_the_constraints_that_a_graph_was_learned_under(run, tmp_path):
    path, graph, required = tmp_path / "noise.csv", tmp_path / "noise.json", tmp_path / "required.csv"
    noise(5, 60, 3).to_polars().write_csv(path)
    required.write_text("from,to\nX1,X3\nX2,X3\n", encoding="utf-8")
    _, learned, _ = run("learn", path, "--require", required, "--out", graph, "--json")
    score = ["--score", "Support(3)+MU(c=1)+BDs(1)", "--json"]
    _, without, _ = run("score", graph, path, *score)
    _, found, _ = run("score", graph, path, "--require", required, *score)
    _, shown, _ = run("report", graph, path, "--require", required, "--out", tmp_path / "page.html", *score)
    assert json.loads(found)["score"] == json.loads(shown)["score"] == json.loads(learned)["score"]
    assert json.loads(without)["score"] in (None, -math.inf)


def test_a_given_graph_has_the_directions_that_constraints_tell():
    data = md.network("asia").sample(500, seed=1)
    limits = {"tiers": [["asia", "smoke"], ["tub", "lung", "bronc"]], "forbidden": [("dysp", "bronc")]}
    result = md.learn(data, "BDeu(1)", **limits)
    given = md.Result.given(result.dag, data, "BDeu(1)", **limits)
    assert set(given.knowledge) == set(result.knowledge) != set()
    assert given.identified == result.identified != result.cpdag


def test_a_start_graph_loses_what_is_too_thin():
    data = noise(5, 100, 6)
    start = md.DAG(data.names, [*((parent, "X6") for parent in data.names[:4]), ("X1", "X2")])
    for options in ({"search": "hc"}, {"search": "tabu"}, {"effort": 0.1}):
        with pytest.warns(MapdagWarning, match="start graph .* X6 are left out"):
            result = md.learn(data, start=start, **options)
        assert is_supported(result.dag, data, 3)
        assert math.isfinite(result.score)
    md.learn(data, start=md.DAG(data.names, [("X1", "X2")]), search="hc")  # nothing to warn of


# --- noise


@pytest.mark.parametrize(("r", "rows"), [(3, 100), (5, 100), (5, 1000), (10, 300), (10, 1000), (20, 300)])
def test_noise_gets_no_arcs_by_default(r, rows):
    for seed in range(3):
        assert md.learn(noise(r, rows, 10, seed)).dag.n_arcs == 0


def test_noise_gets_no_arcs_however_good_the_search():
    data = noise(5, 200, 12)
    assert md.learn(data, search="exact").dag.n_arcs == 0
    assert md.learn(data, search="exact", objective="MU(c=1)+BDs(1)").dag.n_arcs > 10  # what the limit is for
    assert all(result.dag.n_arcs <= 1 for result in md.best_dags(noise(5, 200, 7), k=20))


def test_one_column_with_many_levels_gets_no_parents():
    rng = np.random.default_rng(1)
    data = md.read(np.column_stack([rng.integers(0, 20, 300), rng.integers(0, 3, (300, 10))]), max_levels=20)
    assert md.learn(data).dag.n_arcs == 0
    assert len(md.learn(data, "MU(c=1)+BDs(1)").dag.parents("X1")) > 5


# --- what is said of it


def test_thin_families_are_named_where_the_objective_allows_them():
    data = noise(5, 100, 8)
    result = md.learn(data, "MU(c=1)+BDs(1)")
    assert result.thin
    first = result.thin[0]
    assert first.is_saturated
    assert first.rows == data.n_rows / first.configurations == min(family.rows for family in result.thin)
    assert f"{first.node} ({first.rows:.3g} rows" in str(result)
    assert "Support(3) in the objective rules them out" in str(result)
    assert "Support" not in str(md.learn(data, "BIC"))
    found = md.diagnose(result.dag, data, "MU(c=1)+BDs(1)")
    assert found.thin_families == result.thin


def test_the_command_names_them(run, tmp_path):
    path = tmp_path / "noise.csv"
    noise(5, 100, 8).to_polars().write_csv(path)
    code, out, _ = run("learn", path, "--score", "MU(c=1)+BDs(1)", "--out", tmp_path / "noise.bif")
    assert code == 0
    assert "Support(3) in the objective rules them out" in out
    code, out, _ = run("learn", path, "--json", "--score", "MU(c=1)+BDs(1)")
    assert '"thin": [' in out
    assert '"saturated": true' in out
    code, out, _ = run("diagnose", tmp_path / "noise.bif", path, "--score", "MU(c=1)+BDs(1)")
    assert "Support(3) in the objective rules them out" in out
    code, out, _ = run("learn", path)
    assert "0 arcs" in out
    assert "rules them out" not in out


def test_the_report_names_them_before_anything_else():
    from mapdag.report.learned import result_page

    text = result_page(md.learn(noise(5, 100, 8), "MU(c=1)+BDs(1)"))
    assert 0 < text.index("rows per configuration") < text.index("Log likelihood")


def test_one_configuration_is_allowed_however_few_rows_there_are():
    data = md.Dataset.from_codes([[0, 0], [0, 1]], names=["A", "B"], levels=[2, 2])  # 2 rows, A constant
    constant, varied = md.DAG(["A", "B"], [("A", "B")]), md.DAG(["A", "B"], [("B", "A")])
    assert math.isfinite(md.score(constant, data, "Support(3)+BDeu(1)"))
    assert md.score(varied, data, "Support(3)+BDeu(1)") == -math.inf
