"""Networks whose tables hold the observed configurations alone say the same as those that hold all."""

import json
import pickle

import numpy as np
import pytest

import mapdag as md
from mapdag.networks import estimation
from mapdag.networks.sparse_tables import MixedTables, SparseTable, equal_tables, held_tables


@pytest.fixture
def pair(monkeypatch):
    """The same network, its tables whole and sparse; the rows are those that it was fitted to."""

    def make(seed=1, **options):
        data = md.network("alarm").sample(60, seed=seed)
        dag = md.network("alarm").dag
        whole = md.fit(dag, data, **options)
        with monkeypatch.context() as patch:
            patch.setattr(estimation, "DENSE_ENTRIES", 4)
            patch.setattr(estimation, "SPARSE_SHARE", 1.0)
            sparse = md.fit(dag, data, **options)
        assert isinstance(sparse.cpts, MixedTables)
        return whole, sparse, data

    return make


@pytest.mark.parametrize(
    "options", [{}, {"method": "bds"}, {"method": "mle", "unobserved": "nan"}, {"alpha": 7.0}], ids=str
)
def test_all_that_a_network_tells_is_the_same(pair, options):
    whole, sparse, data = pair(**options)
    assert sparse == whole
    assert whole == sparse
    assert (sparse.n_parameters, sparse.n_undefined, str(sparse)) == (
        whole.n_parameters,
        whole.n_undefined,
        str(whole),
    )
    fresh = md.network("alarm").sample(500, seed=2)
    for rows in (data, fresh):
        np.testing.assert_array_equal(sparse.log_likelihood(rows, by_row=True), whole.log_likelihood(rows, by_row=True))
    turned = list(reversed(whole.nodes))
    assert sparse.reordered(turned) == whole.reordered(turned)
    assert pickle.loads(pickle.dumps(sparse)) == whole
    assert isinstance(pickle.loads(pickle.dumps(sparse)).cpts, MixedTables)
    for node in whole.nodes:
        np.testing.assert_array_equal(sparse.cpt(node), whole.cpt(node))
        given = {parent: whole.levels[parent][-1] for parent in whole.parents(node)}
        level = whole.levels[node][0]
        np.testing.assert_array_equal(sparse.probability(node, level, given), whole.probability(node, level, given))
    text = md.io.schema.network_to_json(sparse)
    assert json.loads(text)["version"] == 2
    again = md.io.schema.network_from_json(text)
    assert again == whole
    assert md.io.schema.network_to_json(again) == text


def test_samples_predictions_and_answers_are_the_same(pair):
    whole, sparse, data = pair()
    assert (sparse.sample(777, seed=5).codes == whole.sample(777, seed=5).codes).all()
    blocks = list(sparse.sample_blocks(777, seed=5, block=100))
    assert (np.hstack([block.codes for block in blocks]) == whole.sample(777, seed=5).codes).all()
    known = {"HISTORY": "TRUE", "CVP": "LOW", "SAO2": "LOW"}
    for node in ("LVFAILURE", "CATECHOL", "BP", "INTUBATION"):
        np.testing.assert_allclose(sparse.predict_proba(data, node), whole.predict_proba(data, node), rtol=1e-12)
        np.testing.assert_allclose(sparse.query(node, known).values, whole.query(node, known).values, rtol=1e-12)


def test_rows_in_which_a_node_was_set_do_not_count(monkeypatch):
    alarm = md.network("alarm")
    data = alarm.sample(200, seed=3, do=[{}, {"CATECHOL": "HIGH"}])
    whole = md.fit(alarm.dag, data)
    monkeypatch.setattr(estimation, "DENSE_ENTRIES", 4)
    monkeypatch.setattr(estimation, "SPARSE_SHARE", 1.0)
    sparse = md.fit(alarm.dag, data)
    assert sparse == whole
    np.testing.assert_array_equal(sparse.log_likelihood(data, by_row=True), whole.log_likelihood(data, by_row=True))


@pytest.fixture(scope="module")
def wide():
    """A node with 24 parents of three levels: 3**25 entries."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, (300, 25))
    data = md.Dataset.from_codes(codes, names=[f"X{i}" for i in range(25)], levels=[3] * 25)
    dag = md.DAG(data.names, [(f"X{i}", "X24") for i in range(24)])
    return md.fit(dag, data), data


def test_tables_beyond_all_memory_are_fitted_written_read_and_used(wide, tmp_path):
    network, data = wide
    path = tmp_path / "wide.json"
    md.write_network(network, path)
    assert path.stat().st_size < 100_000
    again = md.read_network(path)
    assert again == network
    assert np.isfinite(again.log_likelihood(data))
    assert again.sample(50, seed=1).n_rows == 50
    table = held_tables(network.cpts)["X24"]
    assert isinstance(table, SparseTable)
    assert table.size == 3**25
    first = tuple(int(code) for code in data.codes[:-1, 0])
    np.testing.assert_allclose(table[first].sum(), 1)
    assert network.predict_proba(data, "X24").shape == (300, 3)
    gaps = {name: [data.levels[name][code] for code in data.codes[i, :5]] for i, name in enumerate(data.names[:22])}
    assert network.predict_proba(gaps, "X24").shape == (5, 3)  # two parents are not known


@pytest.mark.parametrize("ending", ["bif", "net", "xmlbif", "uai", "xdsl"])
def test_formats_for_whole_tables_refuse_and_say_what_helps(wide, ending, tmp_path):
    with pytest.raises(md.errors.CapacityError, match=r"847,288,609,5\d\d entries.*\.json.*max_parents=4"):
        md.write_network(wide[0], tmp_path / f"wide.{ending}")
    assert not list(tmp_path.iterdir())


def test_questions_that_need_the_whole_table_are_refused(wide):
    with pytest.raises(md.errors.CapacityError):
        wide[0].cpt("X24")
    with pytest.raises(md.errors.CapacityError):
        wide[0].query("X24")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"configurations": [[0, 0, 3]]}, "levels of its parents"),
        ({"configurations": [[0, 0]]}, "levels of its parents"),
        ({"configurations": [[0, 0, 0], [0, 0, 0]], "probabilities": [[0.5, 0.5]] * 2}, "once each"),
        ({"others": [0.5, 0.6]}, "sum to 1.1"),
        ({"others": "x"}, "must be 2 numbers"),
        ({"probabilities": []}, "must have 1 rows"),
    ],
)
def test_files_with_wrong_sparse_tables_are_refused(change, message):
    node = {
        "name": "D",
        "levels": ["n", "y"],
        "parents": ["C", "B", "A"],
        "configurations": [[0, 1, 2]],
        "probabilities": [[0.25, 0.75]],
        "others": [0.5, 0.5],
    }
    roots = [
        {"name": name, "levels": ["a", "b", "c"], "parents": [], "probabilities": [[0.2, 0.3, 0.5]]} for name in "ABC"
    ]

    def text(node):
        return json.dumps({"format": "mapdag-network", "version": 2, "nodes": [*roots, node]})

    right = md.io.schema.network_from_json(text(node))
    assert right.probability("D", "y", A="c", B="b", C="a") == 0.75
    assert right.probability("D", "y", A="a", B="b", C="c") == 0.5
    with pytest.raises(md.errors.FormatError, match=message):
        md.io.schema.network_from_json(text(node | change))


def test_equal_tables_need_not_be_held_alike():
    rows, rest = np.array([[0.5, 0.5]]), np.array([0.5, 0.5])
    one = SparseTable((2, 3, 2), np.array([4]), rows, rest)
    other = SparseTable((2, 3, 2), np.array([], dtype=np.int64), np.zeros((0, 2)), rest)
    assert equal_tables(one, other)
    assert equal_tables(one, np.full((2, 3, 2), 0.5))
    assert not equal_tables(one, np.full((3, 2, 2), 0.5))
