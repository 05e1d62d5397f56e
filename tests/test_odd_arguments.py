"""Arguments that make no sense are refused by errors of mapdag that name them; those that do, taken in every form."""

import numpy as np
import pandas as pd
import pytest

import mapdag as md
from mapdag.errors import CapacityError, DataError, GraphError, NetworkError, ParameterError
from mapdag.predictions import Metrics
from mapdag.resamples import Bootstrap
from mapdag.search import ArcPosteriors
from mapdag.sklearn import BayesianNetworkClassifier, Imputer, StructureLearner
from mapdag.study.design import Design
from mapdag.theory.factors import EXAMPLE_1

HUGE = 10**400


def test_theory_takes_its_parameters_by_name():
    with_arc, without = EXAMPLE_1.tables
    by_name = md.theory.log_bdeu_factor(alpha=[0.5, 2], without=without, with_arc=with_arc)
    assert by_name.tolist() == md.theory.log_bdeu_factor(with_arc, without, [0.5, 2]).tolist()
    assert md.theory.log_bdeu(table=with_arc, alpha=1.0) == md.theory.log_bdeu(with_arc, np.array(1.0))


@pytest.mark.parametrize("alpha", [["a"], [[1], [1, 2]], "a", None, HUGE, [HUGE], {}, [None], 0])
def test_theory_refuses_alphas_that_are_no_numbers(alpha):
    with pytest.raises(ParameterError, match="alpha must be"):
        md.theory.log_bdeu(EXAMPLE_1.with_arc, alpha)


@pytest.mark.parametrize("alpha", [[], [0.5], "a"])
def test_a_verdict_on_an_arc_needs_one_alpha(alpha):
    with pytest.raises(ParameterError, match="alpha must be"):
        md.theory.favours_arc(*EXAMPLE_1.tables, alpha)


def _frame():
    return pd.DataFrame({"a": list("xyxyxyxy"), "b": [1.5, 2, 3, 4, 5, 6, 7, 8.25], "c": list("uuvvuuvv")})


@pytest.mark.filterwarnings("ignore:X does not have valid feature names", "ignore::mapdag.errors.MapdagWarning")
@pytest.mark.parametrize("form", [np.asarray, lambda table: table.to_numpy().tolist()])
def test_tables_without_names_have_those_of_the_table_that_was_fitted(form):
    table, y = _frame(), list("stststst")
    model = BayesianNetworkClassifier(structure="naive").fit(table, y)
    assert model.predict_proba(form(table)).tolist() == model.predict_proba(table).tolist()
    texts = table[["a", "c"]]
    learner = StructureLearner().fit(texts)
    assert learner.score(form(texts)) == learner.score(texts)
    imputer = Imputer().fit(texts)
    assert imputer.transform(form(texts)).tolist() == texts.to_numpy().tolist()


@pytest.mark.parametrize("table", [[], {"a": ["x", "y", "x"]}, 3, None])
def test_a_classifier_refuses_what_is_no_table(table):
    with pytest.raises(ValueError):  # noqa: PT011 - scikit-learn's words
        BayesianNetworkClassifier().fit(table, [0, 1, 0])


@pytest.mark.parametrize(
    "options",
    [
        {"required": None},
        {"forbidden": 3},
        {"tiers": None},
        {"discretize": "nonsense"},
        {"structure": np.array(["free"])},
    ],
)
def test_a_classifier_refuses_options_that_make_no_sense(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        BayesianNetworkClassifier(**options).fit([["a"], ["b"], ["a"], ["b"]], [0, 1, 0, 1])


PDAG = md.CPDAG(["A", "B", "C"], arcs=[("A", "C"), ("B", "C")])
ASIA = md.network("asia")


@pytest.mark.parametrize("ending", ["csv", "txt", "json"])
def test_edges_are_not_dropped_from_files(tmp_path, ending):
    path = tmp_path / f"graph.{ending}"
    with pytest.raises(GraphError, match=r"CPDAG can be written as 'dot'.*to_dag\(\)"):
        md.write_graph(PDAG, path)
    assert not path.exists()
    md.write_graph(PDAG.to_dag(), path)
    assert md.read_graph(path) == PDAG.to_dag()


def test_a_cpdag_is_written_as_dot(tmp_path):
    md.write_graph(PDAG, tmp_path / "graph.dot")
    assert md.CPDAG.from_dot((tmp_path / "graph.dot").read_text()) == PDAG


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (lambda path: md.write_graph(ASIA, path / "x.json"), r"BayesianNetwork; its graph is \.dag"),
        (lambda path: md.write_graph(None, path / "x.json"), "dag must be a DAG or a CPDAG, got NoneType"),
        (lambda path: md.write_network(ASIA.dag, path / "x.json"), "network must be .* got DAG; write_graph"),
        (lambda _: md.write_network(ASIA, None), "path must be a path, got None"),
        (lambda _: md.write_graph(ASIA.dag, 3), "path must be a path, got 3"),
        (lambda path: md.write_graph(ASIA.dag, path / "x", format=np.array(["csv", "dot"])), "can be written as"),
        (lambda path: md.write_network(ASIA, path / "x", format=[]), "can be written as"),
        (lambda _: md.read_network(b"network", format=[]), "format must be one of"),
        (lambda _: md.read_graph(b"[A]", format=np.array(["csv", "dot"])), "format must be one of"),
    ],
)
def test_files_refuse_what_they_cannot_hold(tmp_path, write, told):
    with pytest.raises(ParameterError, match=told):
        write(tmp_path)


@pytest.mark.parametrize("nodes", [-1, True, 0.5, None, HUGE, float("nan")])
def test_expected_arcs_need_a_number_of_nodes(nodes):
    with pytest.raises(ParameterError, match="nodes must be a whole number"):
        md.theory.expected_arcs(md.U(), nodes)


def test_expected_arcs_of_too_many_nodes_are_refused():
    with pytest.raises(CapacityError, match="nodes must be at most 10,000"):
        md.theory.expected_arcs(md.U(), 2**62)


@pytest.mark.parametrize(
    "options",
    [
        {"seed": -1},
        {"seed": "x"},
        {"seed": 0.5},
        *({"max_parents": value} for value in (1.5, True, "2", float("nan"), -1)),
        *({"probability": value} for value in ("0.5", True, float("nan"), 1.5, -1)),
        *({"expected_parents": value} for value in ("0.5", [], HUGE)),
    ],
)
def test_random_graphs_refuse_odd_options(options):
    (name,) = options
    with pytest.raises(ParameterError, match=f"{name} must"):
        md.random_dag(["A", "B", "C"], **options)
    if name == "seed":
        with pytest.raises(ParameterError, match="seed must"):
            md.uniform_dag(["A", "B", "C"], **options)


def test_seeds_may_be_whole_numbers_of_any_type():
    data = ASIA.sample(200, seed=1)
    options = {"search": "hc", "max_parents": 1}
    found = [md.bootstrap(data, "BIC", R=2, seed=seed, **options) for seed in (3, 3.0)]
    assert found[0].arcs(0) == found[1].arcs(0)
    held = [md.cross_validate(data, "BIC", folds=2, seed=seed, **options) for seed in (3, np.int8(3), 3.0)]
    assert held[0].log_likelihood.tolist() == held[1].log_likelihood.tolist() == held[2].log_likelihood.tolist()


@pytest.mark.parametrize("n", [2**62, 2**63, HUGE])
@pytest.mark.parametrize("evidence", [{}, {"xray": "yes"}])
def test_samples_beyond_all_memory_are_refused(n, evidence):
    with pytest.raises(CapacityError):
        ASIA.sample(n, seed=1, evidence=evidence)


XRAY = {"xray": "yes"}
NAN = float("nan")
WORDS = np.array(["a", "b"])
MANY_WORDS = ("device", "order", "engine")
TWO = md.DAG(["a", "b"], [("a", "b")])
BOOTSTRAP = Bootstrap(("a", "b"), md.parse("BIC"), 2, np.array([[0, 2], [1, 0]]))
POSTERIORS = ArcPosteriors(("a", "b"), md.parse("BIC"), "dags", np.array([[0, 0.5], [0.25, 0]]), -1.0)
DESIGN = {"name": "x", "sizes": ("n=10",), "replicates": 1, "objectives": ("BIC",)}


def test_evidence_may_be_a_pandas_series():
    series = pd.Series(XRAY)
    assert ASIA.query("lung", series).to_dict() == ASIA.query("lung", XRAY).to_dict()
    assert ASIA.query("lung", do=series).to_dict() == ASIA.query("lung", do=XRAY).to_dict()
    assert ASIA.marginals(series).evidence == ASIA.marginals(XRAY).evidence
    assert ASIA.most_probable(series).levels == ASIA.most_probable(XRAY).levels
    assert ASIA.log_probability(series) == ASIA.log_probability(XRAY)
    assert ASIA.sample(9, seed=1, evidence=series) == ASIA.sample(9, seed=1, evidence=XRAY)
    assert ASIA.probability("tub", "yes", pd.Series({"asia": "yes"})) == 0.05


@pytest.mark.parametrize("evidence", [np.array(["yes", "no"]), [], "xray", 3, pd.DataFrame({"xray": ["yes"]})])
@pytest.mark.parametrize(
    "ask",
    [
        lambda known: ASIA.query("lung", known),
        lambda known: ASIA.query("lung", do=known),
        ASIA.marginals,
        ASIA.most_probable,
        ASIA.log_probability,
        lambda known: ASIA.sample(2, seed=1, evidence=known),
        lambda known: ASIA.probability("tub", "yes", known),
        ASIA.do,
    ],
)
def test_evidence_that_is_no_mapping_is_refused(ask, evidence):
    with pytest.raises(ParameterError, match="must be a mapping from nodes to levels"):
        ask(evidence)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        *((lambda x=x: ASIA.query("lung", XRAY, max_entries=x), "max_entries must") for x in (None, "x", NAN, 0.5)),
        *((lambda x=x: ASIA.marginals(max_entries=x), "max_entries must") for x in (None, "x", NAN)),
        (lambda: ASIA.query(3), "nodes must"),
        (lambda: ASIA.log_probability(None), "evidence must be a mapping"),
        (lambda: ASIA.do(None), "levels must be a mapping"),
        (lambda: md.metrics(["x", "y"], ["x", "y"]), "probabilities must be an array of numbers"),
        (lambda: md.metrics(["x", "y"], [HUGE, 1]), "probabilities must be an array of numbers"),
        (lambda: md.metrics(["x", "y"], [0, 1], weights=["x", "y"]), "weights must be an array of numbers"),
        (lambda: md.metrics(["x", "y"], [0, 1], weights=[HUGE, 1]), "weights must be an array of numbers"),
        (lambda: Metrics.pooled([]), "parts must"),
        *((lambda x=x: md.Custom(lambda _: x).score(EXAMPLE_1.without), "must return") for x in ("x", None, HUGE)),
        (lambda: md.Custom(5), "function must"),
        (lambda: md.Objective(None, None), "prior must be a Prior, got None"),
        (lambda: md.Objective(md.BDs(), md.U()), "prior must be a Prior, got BDs"),
        (lambda: md.BayesianNetwork(TWO, {"a": 2, "b": 2}, None), "cpts must be a mapping"),
        (lambda: md.learn({}, search=["hc"]), "search must"),
        *((lambda name=name: md.learn(ASIA.sample(9, 1), **{name: WORDS}), f"{name} must") for name in MANY_WORDS),
        (lambda: md.structural_em({}, impute=[]), "impute must"),
        (lambda: md.structural_em(ASIA.sample(9, 1), engine=WORDS), "engine must"),
        (lambda: md.impute(ASIA, {}, how=[]), "how must"),
        (lambda: md.impute(ASIA.dag, {}), "network must be a BayesianNetwork, got DAG"),
        (lambda: md.fit(TWO, {}, method=WORDS), "method must"),
        (lambda: md.fit_em(TWO, {}, method=WORDS), "method must"),
        (lambda: md.fit_em(TWO, {"a": [1, 2], "b": [1, 2]}, start=3), "start must be a BayesianNetwork, got int"),
        (lambda: md.network(WORDS), "there is no network"),
        (lambda: md.kl_divergence(3, ASIA), "truth must be a BayesianNetwork, got int"),
        (lambda: md.kl_divergence(ASIA, None), "other must be a BayesianNetwork, got None"),
        (lambda: md.evaluate(None, {}, "a"), "network must be a BayesianNetwork, got None"),
        (lambda: md.Result.given(None, {}), "graph must be a DAG, got None"),
        *((lambda x=x: BOOTSTRAP.arcs(x), "above must") for x in ("x", None, NAN)),
        *((lambda x=x: BOOTSTRAP.averaged(x), "threshold must") for x in ("x", NAN, 2)),
        *((lambda x=x: BOOTSTRAP.to_table(most=x), "most must") for x in (0.5, NAN, "x")),
        *((lambda x=x: POSTERIORS.arcs(x), "least must") for x in ("x", None, NAN)),
        *((lambda x=x: POSTERIORS.to_table(most=x), "most must") for x in (0.5, NAN, "x")),
        *(
            (lambda x=x: md.theory.find_alpha_star(None, None, tolerance=x), "tolerance must")
            for x in (-1, HUGE, NAN, "x")
        ),
        *((lambda x=x: Design(**DESIGN, networks=x), "networks must") for x in ([("a", "b")], [None], None, "asia")),
        (lambda: Design(**DESIGN, networks=["asia"], arms=[3]), "arms must"),
        *((lambda x=x: md.CS(x), "CS") for x in (None, [1, 2], ["abc"], {"a->b": HUGE}, [("a", "b", "x")])),
        (lambda: md.diagnose(ASIA.dag, ASIA.sample(9, 1), "BDs", alpha="nonsense"), "alpha must"),
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_named(call, told):
    with pytest.raises(ParameterError, match=told):
        call()


@pytest.mark.parametrize("table", [HUGE, [HUGE, 1], "x", None])
def test_probabilities_must_be_numbers(table):
    with pytest.raises(NetworkError, match="'a'"):
        md.BayesianNetwork(TWO, {"a": 2, "b": 2}, {"a": table, "b": [[0.5, 0.5]] * 2}, allow_undefined=2**63)


DEEP: list = []
for _ in range(3000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        *((lambda x=x: md.DAG(x), "nodes must be a collection, got") for x in (None, TWO, 3, np.array(3), 10**5000)),
        (lambda: md.DAG(["a"], None), "arcs must be a collection, got None"),
        (lambda: md.DAG(["a"], ["ab"]), "an arc is a pair"),
        (lambda: md.DAG(["a"], [DEEP]), "an arc is a pair"),
        (lambda: md.DAG([10**5000]), "a node name must be a string, got a number of more than 30 digits"),
        (lambda: md.DAG(["\ud800"]), r"text that files can hold, got '\\ud800'"),
        (lambda: md.DAG.from_arcs(None), "arcs must be a collection"),
        (lambda: md.DAG.from_parent_indices(["a"], None), "parents must be a collection"),
        (lambda: md.DAG.from_parent_indices(["a"], [3]), "positions must be a collection"),
        (lambda: md.DAG.from_parent_indices(["a"], [["x"]]), "positions must be whole numbers"),
        (lambda: md.DAG.from_adjacency([[0]], nodes=3), "nodes must be a collection"),
        (lambda: md.CPDAG(None), "nodes must be a collection"),
        (lambda: md.CPDAG(["a"], None), "arcs must be a collection"),
        (lambda: md.CPDAG(["a"], (), None), "edges must be a collection"),
        (lambda: TWO.reordered(3), "nodes must be a collection"),
        (lambda: TWO.subgraph(3), "nodes must be a collection"),
        (lambda: TWO.d_separated(3, "a"), "nodes must be a collection"),
        (lambda: TWO.d_separated("a", "b", given=3), "nodes must be a collection"),
        (lambda: TWO.renamed(["a"]), "mapping must be one"),
        (lambda: TWO.parents(10**5000), "unknown node a number of more than 30 digits"),
        *((lambda x=x: TWO.parent_indices(x), "i must be a position from 0 to 1") for x in (2, 2**63, "x", None)),
        (lambda: md.meek_closure(PDAG, 3), "knowledge must be a collection"),
        (lambda: ASIA.renamed(["asia"]), "mapping must be one"),
        (lambda: ASIA.reordered(3), "nodes must be a collection"),
    ],
)
def test_graphs_refuse_what_they_cannot_be_made_of(call, told):
    with pytest.raises(GraphError, match=told):
        call()


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: md.DAG.from_dot(b"digraph {}"), "text must be a string, got bytes"),
        (lambda: md.CPDAG.from_dot(None), "text must be a string, got None"),
        (lambda: md.DAG.from_modelstring({"a": 1}), "text must be a string, got dict"),
        (lambda: md.DAG.from_networkx(3), "graph must be a graph of networkx, got int"),
        (lambda: md.CPDAG.from_networkx(3), "graph must be a graph of networkx, got int"),
        (lambda: md.meek_closure(3), "graph must be a DAG or a CPDAG, got int"),
        (lambda: md.shd(3, TWO), "must be a DAG or a CPDAG, got int"),
        *((lambda x=x: md.learn(ASIA.sample(9, 1), search=x), "search must") for x in (10**5000, DEEP)),
        *((lambda x=x: md.learn(ASIA.sample(9, 1), progress=x), "progress must") for x in (10**5000, DEEP)),
        *((lambda x=x: md.learn(ASIA.sample(9, 1), x), "an objective must") for x in (10**5000, {1: DEEP})),
        *((lambda x=x: md.read_graph(b"[a]", format=x), "format must") for x in (10**5000, DEEP)),
        *((lambda x=x: ASIA.query("lung", x), "evidence must") for x in (10**5000, DEEP)),
        *((lambda x=x: md.n_dags(x), "n must") for x in (-(10**5000), DEEP)),
    ],
)
def test_messages_hold_values_of_any_size(call, told):
    with pytest.raises(ParameterError, match=told):
        call()


TABLE = {"a": list("xyxyxyxy"), "b": list("uuvvuuvv"), "c": [1.5, 2, 3, 4, 5, 6, 7, 8.25]}


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: md.read(TABLE, drop={"a": True}), "drop must be a column or a list of columns, got"),
        (lambda: md.read(TABLE, drop=["c"]).select({"a": 1}), "names must be a column or a list of columns, got"),
        (lambda: md.read(TABLE, drop=["c"]).select(True), "names must be a column or a list of columns, got True"),
        (lambda: md.discretize(TABLE, columns={"c": 2}), "columns must be a column or a list of columns, got"),
        (lambda: md.discretize(TABLE, columns=True), "columns must be a column or a list of columns, got True"),
        (lambda: md.discretize(TABLE, columns=[["c"]]), r"no column \"\['c'\]\""),
        (lambda: md.discretize(TABLE, columns=[3]), "no column '3'"),
        (lambda: ASIA.query({"lung": "yes"}), "nodes must name nodes to ask for, got"),
        (lambda: ASIA.dag.is_adjustment_set("smoke", "lung", {"asia": "yes"}), "must be a collection, got a mapping"),
        (
            lambda: ASIA.dag.adjustment_set("bronc", "dysp", observed={"smoke": 1}),
            "must be a collection, got a mapping",
        ),
        (lambda: ASIA.dag.ancestors({"smoke": 1}), "must be a collection, got a mapping"),
        (lambda: ASIA.dag.d_separated("smoke", "lung", {"asia": 1}), "must be a collection, got a mapping"),
        (lambda: md.DAG({"a": ["b"], "b": []}), "nodes must be a collection, got a mapping"),
        (lambda: md.DAG(["a", "b"], {("a", "b"): 0.9}), "arcs must be a collection, got a mapping"),
        (lambda: md.Constraints(tiers=[{"a": 1}, ["b"]]), "tiers must be a sequence of groups of names, got a group"),
        (
            lambda: md.Constraints(tiers=pd.DataFrame({"a": [1]})),
            "tiers must be a sequence of groups of names, in order",
        ),
        (lambda: md.Constraints(tiers=np.array("a")), "tiers must be a sequence of groups of names, in order"),
        (lambda: md.Constraints(tiers=[[["a"]], ["b"]]), "tiers must be a sequence of groups of names, got a group"),
        (lambda: md.Constraints(required=[{"a", "b"}]), "required must be pairs"),
        (lambda: md.Constraints(forbidden={("a", "b"): False}), "forbidden must be pairs .*: pass a list of pairs"),
        (lambda: md.Constraints(forbidden=np.array("a")), "forbidden must be pairs"),
        (lambda: md.read(TABLE, missing_values=bytearray(b"x")), "missing_values must be a text or a list"),
        (
            lambda: md.read(TABLE, missing_values={"a": bytearray(b"x")}),
            "missing_values of 'a' must be a text or a list",
        ),
        (lambda: md.read(TABLE, missing_values=[bytearray(b"x")]), "missing_values must be single values"),
        (lambda: md.read(TABLE, discretize={"c": {3: 1}}), "'c' needs a method, a number of bins or cut points"),
        (
            lambda: md.read(TABLE, discretize={"c": bytearray(b"x")}),
            "'c' needs a method, a number of bins or cut points",
        ),
        (lambda: md.read(TABLE, drop="c", separator=[";"]), "separator must be a text"),
        (lambda: md.check(TABLE, encoding={}), "encoding must be a text"),
        (lambda: md.Dataset.from_codes([[0, 1]], names={"a", "b"}), "names must be a sequence of column names"),
        (lambda: md.Dataset.from_codes([[0, 1]], names={"a": 1, "b": 2}), "names must be a sequence of column names"),
        (
            lambda: md.Dataset.from_codes([[0, 1]], levels={2, 3}),
            "levels must be a mapping from column names or a list",
        ),
        (lambda: md.cross_validate(TABLE, drop="c", target=["a"]), "target must be the name of a column"),
        (lambda: md.CS(table={"a->b": True}), "CS needs one or three probabilities"),
        (lambda: ASIA.sample(3, seed=[["1"]]), "seed must be a whole number"),
        (lambda: ASIA.sample(3, seed="12"), "seed must be a whole number"),
    ],
)
def test_containers_whose_content_would_be_lost_are_refused(call, told):
    with pytest.raises((ParameterError, GraphError, DataError), match=told):
        call()
