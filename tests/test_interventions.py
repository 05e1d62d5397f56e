"""Experiments: a family leaves out the rows in which its child was set."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive
from tests.strategies import data_with_gaps, small_data

import mapdag as md
from mapdag.errors import DataError, MapdagError, ParameterError
from mapdag.families import FamilyScores
from mapdag.graphs import all_dags

WHOLE = ["K2", "BDJ", "BDeu(alpha=2)", "BDs(alpha=2)", "LogLik", "AIC", "BIC", "eBIC", "fNML", "qNML"]


def likelihood(text):
    return md.parse(text).likelihood


@st.composite
def experiments(draw, rows, cards):
    """Which columns were set in each row: few different sets, often none."""
    nodes = st.sets(st.integers(0, len(cards) - 1), max_size=2)
    some = [set(), *draw(st.lists(nodes, min_size=1, max_size=3))]
    return [some[draw(st.integers(0, len(some) - 1))] for _ in rows]


@st.composite
def experimental_data(draw, gaps=False, **options):
    rows, cards = draw(data_with_gaps(**options) if gaps else small_data(**options))
    weights = draw(st.none() | st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    return rows, cards, draw(experiments(rows, cards)), weights


def as_dataset(rows, cards, was_set, weights=None):
    names = [f"X{i}" for i in range(len(cards))]
    codes = [[-1 if code is None else code for code in row] for row in rows]
    told = [[names[i] for i in each] for each in was_set]
    return md.Dataset.from_codes(codes, names=names, levels=cards, weights=weights, gap=-1, interventions=told)


def expected(name, data, child, parents, cards, alpha=1.0):
    """The score of one family by the literal formula, from the rows in which the child was not set."""
    rows, was_set, weights = data
    left = [t for t in range(len(rows)) if child not in was_set[t]]
    mine = [rows[t] for t in left]
    kept = None if weights is None else [weights[t] for t in left]
    total = len(rows) if weights is None else sum(weights)
    short, _, number = name.removesuffix(")").partition("(")
    if short == "PNAL":
        k, n = float(number), len(mine) if kept is None else sum(kept)
        if not n:
            return -total * k * (cards[child] - 1) * naive.declared(parents, cards)
        fit = n * naive.node_average(mine, child, parents, cards, 0.0, kept)
        return fit - total * k * (cards[child] - 1) * naive.declared(parents, cards)
    if not mine:
        return 0.0
    if short in ("BIC", "eBIC"):  # a parameter costs the same in every family
        fit = naive.score("LogLik", mine, child, parents, cards, weights=kept)
        fit -= (cards[child] - 1) * naive.declared(parents, cards) * math.log(total) / 2
        return fit - (2 * len(parents) * math.log(len(cards)) if short == "eBIC" else 0.0)
    return naive.score(short, mine, child, parents, cards, alpha, kept, len(cards))


def families_of(n):
    for child in range(n):
        others = [i for i in range(n) if i != child]
        for parents in ([], others[:1], others[-1:], others[:2], others):
            yield child, sorted(set(parents))


@pytest.mark.parametrize("engine", ["cores", "blocks"])
@given(drawn=experimental_data(min_columns=2))
@settings(max_examples=40, deadline=None)
def test_every_likelihood_leaves_out_the_rows_in_which_the_child_was_set(engine, drawn):
    rows, cards, was_set, weights = drawn
    weights = weights if engine == "cores" else None
    data = as_dataset(rows, cards, was_set, weights)
    scores = FamilyScores(data, [likelihood(each) for each in WHOLE], engine=engine)
    for child, parents in families_of(len(cards)):
        found = scores.family(child, parents)
        for name, score in zip(WHOLE, found, strict=True):
            told = expected(name.partition("(")[0], (rows, was_set, weights), child, parents, cards, 2.0)
            assert score == pytest.approx(told, rel=1e-11, abs=1e-9), (name, child, parents)


@pytest.mark.parametrize("backend", ["auto", "bitsets", "tables", "sorted"])
@given(drawn=experimental_data(gaps=True, min_columns=2))
@settings(max_examples=30, deadline=None)
def test_gaps_and_experiments_go_together_in_every_backend(backend, drawn):
    rows, cards, was_set, weights = drawn
    weights = weights if backend in ("auto", "sorted") else None
    data = as_dataset(rows, cards, was_set, weights)
    scores = FamilyScores(data, [md.PNAL(0.1), md.NAL()], backend=backend)
    for child, parents in families_of(len(cards)):
        found = scores.family(child, parents)
        for k, score in zip((0.1, 0.0), found, strict=True):
            told = expected(f"PNAL({k})", (rows, was_set, weights), child, parents, cards)
            assert score == pytest.approx(told, rel=1e-11, abs=1e-9)
        if parents:
            more = scores.extensions(child, parents[:-1], parents[-1:])
            assert (more[:, 0] == found).all()


def mixed(n_columns, n_rows, seed, gaps=0.0):
    """Columns that depend on each other, some set in some rows."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (n_rows, n_columns))
    names = [f"X{i}" for i in range(n_columns)]
    targets = [(), (names[1],), (names[2], names[0]), (names[-1],)]
    which = rng.integers(0, len(targets), n_rows)
    for child in range(1, n_columns):
        told = rng.random(n_rows) < 0.6
        free = np.array([names[child] not in targets[each] for each in which])
        codes[told & free, child] = codes[told & free, child - 1]
    codes[rng.random(codes.shape) < gaps] = -1
    levels = [3] * n_columns
    return md.Dataset.from_codes(
        codes, names=names, levels=levels, gap=-1, interventions=[targets[each] for each in which]
    )


@pytest.mark.parametrize(
    ("objective", "gaps"),
    [("MU+BDs", 0.0), ("Support(3)+MU+BDeu(5)", 0.0), ("U+BIC", 0.0), ("U+fNML", 0.0), ("U+PNAL(0.01)", 0.1)],
)
def test_every_search_finds_the_best_of_all_graphs(objective, gaps):
    data = mixed(4, 150, seed=1, gaps=gaps)
    best = max(md.score(dag, data, objective) for dag in all_dags(data.names))
    for search in ("orders", "exact", "certified"):
        found = md.learn(data, objective, search=search)
        assert found.score == pytest.approx(best, abs=1e-9)
        assert md.score(found.dag, data, objective) == pytest.approx(found.score, abs=1e-9)
    for search in ("hc", "tabu"):
        found = md.learn(data, objective, search=search)
        assert md.score(found.dag, data, objective) == pytest.approx(found.score, abs=1e-9)


def test_the_answer_depends_on_neither_columns_nor_threads_nor_engine_nor_weights():
    data = mixed(7, 400, seed=3)
    usual = md.learn(data, "MU+BDs")
    shuffled = data.select([data.names[i] for i in (4, 2, 6, 0, 1, 5, 3)]).take(
        np.random.default_rng(0).permutation(400)
    )
    others = [
        md.learn(data, "MU+BDs", threads=2),
        md.learn(data, "MU+BDs", engine="blocks"),
        md.learn(shuffled, "MU+BDs"),
        md.learn(data.aggregated(), "MU+BDs"),
    ]
    for found in others:
        assert (found.dag, found.log_likelihood) == (usual.dag, usual.log_likelihood)


def test_columns_that_were_set_in_different_rows_are_told_apart():
    rng = np.random.default_rng(0)
    column = rng.integers(0, 2, 60)
    was_set = ["a" if i % 3 == 0 else None for i in range(60)]
    data = md.Dataset.from_codes(np.stack([column, column], axis=1), names=["a", "b"], interventions=was_set)
    assert md.learn(data, "U+BDeu(1)").alike == ()
    assert md.learn(data.select(["b", "a"]), "U+BDeu(1)").dag == md.learn(data, "U+BDeu(1)").dag


def test_many_rows_are_searched_by_a_sample_of_every_experiment():
    from mapdag.search.orders.sample import draw

    data = mixed(4, 20_000, seed=5)
    drawn = draw(data, 0.2)
    shares = drawn.interventions.counts() / data.interventions.counts()
    assert drawn.interventions.targets == data.interventions.targets
    assert (abs(shares - 0.2) < 0.03).all()


# Equivalence ---------------------------------------------------------------------------------------------------------


def signature(dag, targets):
    """What tells interventional classes apart: skeleton, v-structures, and the skeleton in every experiment."""
    parents = {node: set(dag.parents(node)) for node in dag.nodes}
    skeleton = frozenset(frozenset(arc) for arc in dag.arcs)
    colliders = frozenset(
        (min(a, b), c, max(a, b))
        for c in dag.nodes
        for a in parents[c]
        for b in parents[c]
        if a < b and frozenset((a, b)) not in skeleton
    )
    mutilated = tuple(frozenset(frozenset((a, b)) for a, b in dag.arcs if b not in target) for target in targets)
    return skeleton, colliders, mutilated


@pytest.mark.parametrize(
    "targets", [[], [[]], [["A"]], [[], ["A", "B"]], [["A"], ["B"]], [["A", "C"], ["D"]], [[], ["B", "C", "D"]]]
)
def test_classes_are_those_of_all_graphs_of_four_nodes(targets):
    check_classes("ABCD", targets)


@pytest.mark.slow
@pytest.mark.parametrize("targets", [[["A"]], [[], ["A", "B"], ["D"]], [["A", "C"], ["B", "E"]]])
def test_classes_are_those_of_all_graphs_of_five_nodes(targets):
    check_classes("ABCDE", targets)


def check_classes(nodes, targets):
    by_class = {}
    for dag in all_dags(list(nodes)):
        by_class.setdefault(signature(dag, targets), []).append(dag)
    for members in by_class.values():
        found = {dag.to_cpdag(targets) for dag in members}
        assert len(found) == 1
        (cpdag,) = found
        everywhere = set.intersection(*(set(dag.arcs) for dag in members))
        assert set(cpdag.arcs) == everywhere
        assert cpdag.to_dag() in members


@pytest.mark.parametrize("score", ["U+BDeu(2)", "U+BIC", "U+qNML", "U+AIC"])
def test_scores_that_are_equivalent_agree_within_a_class_and_not_beyond(score):
    data = mixed(4, 90, seed=2)
    by_class = {}
    for dag in all_dags(data.names):
        by_class.setdefault(dag.to_cpdag(data.interventions.targets), []).append(md.score(dag, data, score))
    for scores in by_class.values():
        assert np.ptp(scores) < 1e-9
    assert len({round(scores[0], 6) for scores in by_class.values()}) > 0.9 * len(by_class)


# Reading -------------------------------------------------------------------------------------------------------------

TABLE = {"a": [0, 1, 0, 1], "b": [0, 1, 1, 1], "set": ["", "a", "a;b", None]}
MEANT = md.Dataset.from_codes(
    [[0, 0], [1, 1], [0, 1], [1, 1]], names=["a", "b"], levels=[2, 2], interventions=[[], "a", ["a", "b"], None]
)


@pytest.mark.parametrize(
    "given",
    [
        {"a": [False, True, True, False], "b": [0, 0, 1, 0]},
        [None, ["a"], {"b", "a"}, ""],
        np.array([[0, 0], [1, 0], [1, 1], [0, 0]], dtype=bool),
        MEANT.interventions,
    ],
)
def test_what_was_set_can_be_told_in_many_ways(given):
    plain = {name: TABLE[name] for name in "ab"}
    assert md.read(plain, interventions=given) == MEANT
    assert md.read(TABLE, interventions="set") == MEANT


def test_values_of_a_column_may_stand_for_what_was_set():
    told = {"drug": {"none": [], "x": "a", "y": ["a", "b"]}}
    table = {"drug": ["none", "x", "y", "none"], "a": TABLE["a"], "b": TABLE["b"]}
    assert md.read(table, interventions=told) == MEANT
    with pytest.raises(DataError, match="does not say what was set"):
        md.read({**table, "drug": ["none", "x", "z", "none"]}, interventions=told)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("nowhere", "nowhere"),
        (["a", "a"], "for every row"),
        (["a", "c", "", ""], "'c'"),
        ({"c": [0, 0, 0, 1]}, "'c'"),
        ({"a": [0, 0, 0, 2]}, "truth values"),
        ({"a": [0, 0, 0]}, "one truth value per row"),
        (np.zeros((4, 3)), "shape"),
        (3, "must be a column"),
    ],
)
def test_what_makes_no_sense_is_refused(given, told):
    with pytest.raises(MapdagError, match=told):
        md.read({name: TABLE[name] for name in "ab"}, interventions=given)


def test_names_that_are_no_column_are_named_with_the_way_out():
    table = {**TABLE, "set": ["", "a", "control", ""]}
    with pytest.raises(DataError, match="'control' is not a column") as refused:
        md.read(table, interventions="set")
    assert 'missing_values={"set": ["control"]}' in str(refused.value)
    found = md.read(table, interventions="set", missing_values={"set": ["control"]})
    assert found.interventions.counts().tolist() == [3, 1]


def test_the_arm_of_a_trial_is_no_column_of_targets_and_the_error_says_what_to_do():
    with pytest.raises(DataError, match=r"'drug' is not a column.*randomised trial.*tiers with 'arm' alone"):
        md.read({**TABLE, "arm": ["drug", "none", "drug", "none"]}, interventions="arm")


def test_rows_that_are_left_out_take_what_was_set_with_them():
    table = {"a": [0, 1, 0, 1, 1], "b": [0, None, 1, 1, 0], "set": ["", "a", "a;b", None, "b"], "n": [1, 1, 2, 0, 1]}
    found = md.read(table, interventions="set", missing="drop", weights="n")
    assert found.interventions.targets == ((), ("b",), ("a", "b"))
    assert found.interventions.codes.tolist() == [0, 2, 1]
    assert md.read(table, interventions="set", drop=["b", "n"]).interventions.targets == ((), ("a",))


def test_two_names_are_not_written_as_the_name_of_a_third_column(tmp_path):
    table = {"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "a;b": [0, 1, 1, 1]}
    data = md.read(table, interventions=[["a", "b"], None, "a", None])
    md.write_table(data, tmp_path / "table.csv")
    assert md.read(tmp_path / "table.csv", interventions="interventions").interventions == data.interventions


def test_a_table_goes_out_and_in_again(tmp_path):
    md.write_table(MEANT, tmp_path / "table.csv")
    assert md.read(tmp_path / "table.csv", interventions="interventions") == MEANT


def test_copies_keep_what_was_set():
    import pickle

    data = mixed(4, 60, seed=1)
    assert pickle.loads(pickle.dumps(data)) == data
    assert data.aggregated().repeated().aggregated() == data.aggregated()
    assert data.select(["X0", "X1"]).interventions.targets == ((), ("X0",), ("X1",))
    assert data.take(data.experiments()[0]).interventions is None
    assert data.with_levels({"X0": ["2", "1", "0"]}).interventions == data.interventions
    assert data != md.Dataset(data.names, data.levels, data.codes)


# Beyond structure ----------------------------------------------------------------------------------------------------


def test_networks_leave_out_variables_where_they_were_set():
    data = mixed(3, 200, seed=4)
    dag = md.DAG(data.names, [("X0", "X1"), ("X1", "X2")])
    network = md.fit(dag, data, method="mle")
    total = 0.0
    for node, parents in (("X0", []), ("X1", ["X0"]), ("X2", ["X1"])):
        free = [t for t in range(200) if not data.interventions.rows_of(node)[t]]
        columns = [data.column(name) for name in (*parents, node)]
        counts = np.zeros([3] * len(columns))
        for t in free:
            counts[tuple(column[t] for column in columns)] += 1
        chances = counts / counts.sum(axis=-1, keepdims=True)
        assert network.cpt(node) == pytest.approx(chances)
        total += sum(math.log(chances[tuple(column[t] for column in columns)]) for t in free)
    assert network.log_likelihood(data) == pytest.approx(total)
    assert md.learn(data, "U+LogLik", required=dag.arcs, max_parents=1).log_likelihood == pytest.approx(total)


def test_the_likelihood_of_what_is_known_sums_over_gaps():
    data = mixed(3, 40, seed=4)
    dag = md.DAG(data.names, [("X0", "X1"), ("X1", "X2")])
    network = md.fit(dag, data)
    codes = data.codes.T.astype(int).copy()
    hidden = ~data.interventions.rows_of("X1") & (np.arange(40) % 2 == 0)
    codes[hidden, 1] = -1
    levels = dict(data.levels)
    gaps = md.Dataset.from_codes(codes, names=data.names, levels=levels, gap=-1, interventions=data.interventions)
    chances = 0.0
    for level in range(3):
        full = np.where(codes == -1, level, codes)
        each = md.Dataset.from_codes(full, names=data.names, levels=levels, interventions=data.interventions)
        chances = chances + np.exp(network.log_likelihood(each, by_row=True))
    expected = np.where(hidden, np.log(chances), np.log(chances / 3))
    assert network.log_likelihood(gaps, by_row=True) == pytest.approx(expected)


def test_resamples_and_folds_keep_every_experiment():
    from mapdag.crossvalidation import _deal
    from mapdag.resamples import resample

    data = mixed(4, 101, seed=1)
    for each in (data, data.aggregated()):
        drawn = resample(each, np.random.SeedSequence(1))
        assert drawn.interventions.targets == data.interventions.targets
    assert (drawn.interventions.counts(drawn.weights) == data.interventions.counts()).all()
    dealt = _deal(data, 5, np.random.default_rng(1))
    for rows in data.experiments():
        assert np.ptp(np.bincount(dealt[rows], minlength=5)) <= 1
    assert np.ptp(np.bincount(dealt)) <= 1
    weighted = data.aggregated()
    parts = _deal(weighted, 5, np.random.default_rng(1))
    assert (parts.sum(axis=0) == weighted.weights).all()
    assert np.ptp(parts.sum(axis=1)) <= 1
    assert md.cross_validate(data, ["MU+BDs"], folds=3, seed=1).log_likelihood.shape == (1, 3)


def test_experiments_are_drawn_as_the_network_says():
    asia = md.network("asia")
    do = [{}, {"smoke": "yes"}, {"lung": None, "tub": "no"}]
    data = asia.sample(4000, seed=1, do=do)
    assert data.interventions.targets == ((), ("smoke",), ("tub", "lung"))
    seen, smoke, both = (data.take(rows) for rows in data.experiments())
    assert seen.interventions is None
    assert smoke.observed("smoke").tolist() == [4000, 0]
    assert both.observed("tub").tolist() == [0, 4000]
    assert both.observed("lung")[0] == pytest.approx(2000, abs=150)
    chance = asia.query("dysp", do={"smoke": "yes"}).values[0]
    assert smoke.observed("dysp")[0] / 4000 == pytest.approx(chance, abs=0.03)
    assert asia.sample(10, seed=1, do={}) == asia.sample(10, seed=1)
    with pytest.raises(ParameterError, match="several experiments"):
        asia.sample(10, seed=1, do=do, evidence={"xray": "yes"})


def test_an_experiment_settles_directions_and_the_result_says_so():
    truth = md.network("asia")
    seen = truth.sample(4000, seed=1)
    result = md.learn(seen, "MU+BDs")
    assert ("smoke", "bronc") in [tuple(sorted(arc, reverse=True)) for arc in result.reversible]
    data = truth.sample(2000, seed=1, do=[{}, {"smoke": None}])
    found = md.learn(data, "MU+BDs")
    assert ("smoke", "bronc") in found.settled
    assert ("smoke", "bronc") in found.compelled
    assert "settle the direction of" in str(found)
    found.effect("smoke", "bronc")
    always = md.learn(truth.sample(500, seed=1, do={"smoke": None}), "MU+BDs")
    assert always.dag.parents("smoke") == ()
    assert "set in every row: smoke" in str(always)


@pytest.mark.parametrize(
    "call",
    [
        md.structural_em,
        lambda data: md.fit_em(md.DAG(data.names), data),
        lambda data: md.network("asia").predict(data, "lung"),
        lambda data: md.adjusted_effect(data, "smoke", "lung"),
    ],
)
def test_what_does_not_know_of_experiments_says_so(call):
    data = md.network("asia").sample(50, seed=1, do=[{}, {"smoke": "yes"}])
    codes = data.codes.T.astype(int).copy()
    codes[0, 0] = -1
    told = {"names": data.names, "levels": dict(data.levels), "gap": -1, "interventions": data.interventions}
    with pytest.raises(DataError, match="does not take into account that values were set"):
        call(md.Dataset.from_codes(codes, **told))


def naive_gains(dags, targets):
    """Directions that setting each node settles, averaged over the graphs of a class."""
    gains = {}
    for node in dags[0].nodes:
        before = [dag.to_cpdag(targets).n_edges for dag in dags]
        after = [dag.to_cpdag([*targets, [node]]).n_edges for dag in dags]
        gains[node] = sum(a - b for a, b in zip(before, after, strict=True)) / len(dags)
    return gains


@pytest.mark.parametrize("targets", [[], [["A"]], [[], ["A", "C"]]])
def test_the_next_experiment_is_an_average_over_the_class(targets):
    by_class = {}
    for dag in all_dags(list("ABCD")):
        by_class.setdefault(dag.to_cpdag(targets), []).append(dag)
    for cpdag, dags in by_class.items():
        found = md.next_experiments(cpdag)
        assert (found.graphs, found.open) == (len(dags), cpdag.n_edges)
        assert found.settled == pytest.approx(naive_gains(dags, targets))


def test_classes_with_knowledge_and_large_ones_are_counted():
    chain = md.CPDAG([f"X{i}" for i in range(60)], edges=[(f"X{i}", f"X{i + 1}") for i in range(59)])
    assert md.next_experiments(chain).graphs == 60
    whole = md.CPDAG(list("ABCDEF"), edges=[(a, b) for a in "ABCDEF" for b in "ABCDEF" if a < b])
    found = md.next_experiments(whole)
    assert found.graphs == 720
    assert set(map(str, found.settled.values())) == {str(found.settled["A"])}
    told = md.meek_closure(whole, [("A", "B"), ("C", "D")])
    assert md.next_experiments(told).graphs == 180
    assert md.next_experiments(told).best is not None
    assert md.next_experiments(md.CPDAG(["A"])).best is None


def test_the_posterior_weighs_the_next_experiment():
    data = md.network("asia").sample(300, seed=1).select(["smoke", "lung", "bronc", "dysp"])
    drawn = md.posterior(data, "MU+BDs", seed=1, draws=200)
    found = drawn.next_experiments()
    dags = [each.dag for each in drawn.graphs]
    assert found.settled == pytest.approx(naive_gains(dags, []))
    assert found.graphs == 200
    assert all(each >= 0 for each in found.information.values())
    assert "information" in str(found)


def test_rows_with_gaps_of_experiments_are_learned_under_pnal():
    codes = [[0, -1], [1, 0], [1, 1], [0, 0]] * 20
    data = md.Dataset.from_codes(codes, names=["a", "b"], gap=-1, interventions=["a", None, None, "a"] * 20)
    with pytest.warns(md.errors.MapdagWarning, match=r"takes no interventions: the graph was learned under PNAL"):
        found = md.learn(data, "BIC")
    assert found.score == md.learn(data, "PNAL").score


def test_hill_climbing_ends_where_no_single_arc_gains():
    data = mixed(6, 300, seed=8)
    for objective in ("U+BDeu(1)", "MU+BDs"):
        found = md.learn(data, objective, search="hc")
        best = md.score(found.dag, data, objective)
        dag, pairs = found.dag, [(a, b) for a in data.names for b in data.names if a != b]
        neighbours = [dag.without_arc(*arc) for arc in dag.arcs]
        neighbours += [dag.with_arc(a, b) for a, b in pairs if not dag.has_arc(a, b) and a not in dag.descendants(b)]
        assert max(md.score(each, data, objective) for each in neighbours) <= best + 1e-9


def test_the_command_line_and_reports_know_of_experiments(tmp_path):
    from typer.testing import CliRunner

    from mapdag.cli.app import app

    path, page = tmp_path / "table.csv", tmp_path / "page.html"
    md.write_table(md.network("asia").sample(500, seed=1, do=[{}, {"smoke": None}]), path)
    told = CliRunner().invoke(app, ["learn", str(path), "--interventions", "interventions", "--report", str(page)])
    assert told.exit_code == 0, told.output
    assert "settle the direction of" in told.output
    assert "Rows by experiment" in page.read_text(encoding="utf-8")
