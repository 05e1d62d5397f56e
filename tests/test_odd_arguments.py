"""Arguments that make no sense are refused by errors of mapdag that name them; those that do, taken in every form."""

import numpy as np
import pandas as pd
import pytest

import mapdag as md
from mapdag.errors import CapacityError, GraphError, ParameterError
from mapdag.sklearn import BayesianNetworkClassifier, Imputer, StructureLearner
from mapdag.theory.examples import EXAMPLE_1

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
