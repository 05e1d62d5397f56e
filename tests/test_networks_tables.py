"""Networks take tables of any kind: what they need is read with their levels, the rest is not looked at."""

import io
import os
import threading

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import mapdag as md
from mapdag.errors import CapacityError, DataError, GraphError, MapdagWarning, ParameterError
from mapdag.io import write_table
from mapdag.networks import BayesianNetwork, fit
from mapdag.reference import network

ASIA = network("asia")
ROWS = ASIA.sample(60, seed=4)


def labels(data):
    return {name: [data.levels[name][code] for code in data.column(name)] for name in data.names}


def written(data, path):
    write_table(data, path)
    return path


KINDS = {
    "dataset": lambda data, folder: data,
    "pandas": lambda data, folder: data.to_pandas().astype(str),
    "pandas categories": lambda data, folder: data.to_pandas(),
    "polars": lambda data, folder: pl.DataFrame(labels(data)),
    "polars lazily": lambda data, folder: pl.LazyFrame(labels(data)),
    "arrow": lambda data, folder: pa.table(labels(data)),
    "arrow stream": lambda data, folder: pa.table(labels(data)).to_reader(),
    "arrow dictionaries": lambda data, folder: data.to_polars().to_arrow().to_reader(),
    "dict": lambda data, folder: labels(data),
    "list of dicts": lambda data, folder: [data.row(i) for i in range(data.n_rows)],
    "structured array": lambda data, folder: data.to_pandas().astype(str).to_records(index=False),
    "path": lambda data, folder: written(data, folder / "rows.csv"),
    "path in text": lambda data, folder: str(written(data, folder / "rows.parquet")),
    "gzipped path": lambda data, folder: written(data, folder / "rows.csv.gz"),
    "bytes": lambda data, folder: written(data, folder / "rows.csv").read_bytes(),
    "open file": lambda data, folder: io.BytesIO(written(data, folder / "rows.arrow").read_bytes()),
    "open text": lambda data, folder: io.StringIO(written(data, folder / "rows.csv").read_text()),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_means_the_same(kind, tmp_path):
    def table():
        return KINDS[kind](ROWS, tmp_path)

    assert ASIA.log_likelihood(table()) == ASIA.log_likelihood(ROWS)
    assert ASIA.log_likelihood(table(), by_row=True).tolist() == ASIA.log_likelihood(ROWS, by_row=True).tolist()
    assert ASIA.predict(table(), "lung").tolist() == ASIA.predict(ROWS, "lung").tolist()
    assert ASIA.predict_proba(table(), "bronc").tolist() == ASIA.predict_proba(ROWS, "bronc").tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_a_network_is_fitted_to_every_kind_of_table(kind, tmp_path):
    dag = md.DAG(["smoke", "bronc"], [("smoke", "bronc")])
    fitted = fit(dag, KINDS[kind](ROWS, tmp_path))
    expected = fit(dag, ROWS)
    for node in dag.nodes:
        for label in ROWS.levels[node]:
            for given in [{"smoke": level} for level in ROWS.levels["smoke"]] if node == "bronc" else [{}]:
                assert fitted.probability(node, label, given) == expected.probability(node, label, given)


@pytest.mark.skipif(os.name != "posix", reason="named pipes of POSIX systems")
def test_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = written(ROWS, tmp_path / "rows.csv").read_bytes()
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    assert ASIA.log_likelihood(pipe) == ASIA.log_likelihood(ROWS)
    writer.join()


@pytest.mark.parametrize("row", [0, 7])
def test_a_single_row_is_enough(row):
    table = {name: [label] for name, label in ROWS.row(row).items()}
    assert ASIA.log_likelihood(table) == ASIA.log_likelihood(ROWS, by_row=True)[row]
    assert ASIA.predict(table, "lung") == ASIA.predict(ROWS, "lung")[row]
    assert ASIA.predict_proba(table, "lung").tolist() == [ASIA.predict_proba(ROWS, "lung")[row].tolist()]


def test_levels_are_those_of_the_network_whatever_is_observed():
    # Alone, this column would have the levels "no", "yes" in this order, or one of them only.
    assert ASIA.levels["smoke"] == ("yes", "no")
    for values in (["no"], ["no", "no"], ["yes", "no"]):
        table = {"smoke": values, "either": ["no"] * len(values), "dysp": ["yes"] * len(values)}
        rows = md.Dataset.from_codes(
            [[ASIA.levels["smoke"].index(value), 1, 0] for value in values],
            names=["smoke", "either", "dysp"],
            levels=[["yes", "no"]] * 3,
        )
        assert ASIA.predict_proba(table, "bronc").tolist() == ASIA.predict_proba(rows, "bronc").tolist()


def test_a_node_with_a_single_level_can_be_read():
    net = BayesianNetwork(
        md.DAG(["a", "b"], [("a", "b")]), {"a": ["x"], "b": ["u", "v"]}, {"a": [1], "b": [[0.25, 0.75]]}
    )
    assert net.predict({"a": ["x", "x"]}, "b").tolist() == ["v", "v"]
    assert net.log_likelihood({"a": ["x"], "b": ["u"]}) == pytest.approx(np.log(0.25))
    for other in ("y", "not x"):
        with pytest.raises(DataError, match=f"'a'.*'{other}'"):
            net.predict({"a": ["x", other]}, "b", unseen="error")


def test_other_columns_are_ignored_whatever_they_hold():
    table = labels(ROWS)
    strange = {
        "id": [f"patient {i}" for i in range(60)],
        "weight": np.linspace(50, 90, 60),
        "notes": [None] * 60,
        "": range(60),
        "visits": [[1, 2]] * 60,
    }
    assert ASIA.log_likelihood({**strange, **table}) == ASIA.log_likelihood(ROWS)
    assert ASIA.predict({**strange, **table}, "lung").tolist() == ASIA.predict(ROWS, "lung").tolist()
    assert fit(md.DAG(["smoke"]), {**strange, **table}).nodes == ("smoke",)


def test_the_column_to_predict_may_be_absent_empty_or_wrong():
    table = labels(ROWS)
    expected = ASIA.predict(ROWS, "lung").tolist()
    del table["lung"]
    assert ASIA.predict(table, "lung").tolist() == expected
    assert ASIA.predict({**table, "lung": [None] * 60}, "lung").tolist() == expected
    assert ASIA.predict({**table, "lung": ["?"] * 60}, "lung").tolist() == expected
    # Beyond the Markov blanket, nothing is asked of a column either.
    assert ASIA.predict({**table, "dysp": [None] * 60}, "lung").tolist() == expected


def test_a_node_without_neighbours_is_predicted_from_any_table():
    net = BayesianNetwork(md.DAG(["a", "b"]), {"a": ["x", "y"], "b": ["u", "v"]}, {"a": [0.3, 0.7], "b": [0.6, 0.4]})
    assert net.predict({"whatever": [1, 2, 3]}, "a").tolist() == ["y"] * 3
    assert net.predict_proba({"b": ["u"]}, "a").tolist() == [[0.3, 0.7]]


def test_columns_that_are_needed_but_missing_are_named():
    table = labels(ROWS)
    del table["either"]
    for act in (lambda: ASIA.log_likelihood(table), lambda: fit(ASIA.dag, table)):
        with pytest.raises(
            DataError, match=r"no column 'either', which the network needs; the columns are 'asia', 'tub'"
        ):
            act()


def test_an_unknown_node_is_named_before_the_table_is_read(tmp_path):
    with pytest.raises(GraphError, match="unknown node 'lungs'"):
        ASIA.predict(tmp_path / "nowhere.csv", "lungs")


def test_levels_that_the_network_does_not_know_are_named_with_the_way_out():
    table = {"smoke": ["yes", "sometimes"], "tub": ["no", "no"], "either": ["no", "no"]}
    with pytest.raises(DataError, match=r"'smoke' has the value 'sometimes' in 1 of 2 rows \(row 2\)") as caught:
        ASIA.predict(table, "lung", unseen="error")
    # The levels of the network are what they are: another network is to be learned.
    assert 'read that table, and learn, with levels={"smoke": ["yes", "no", "sometimes"]}' in str(caught.value)
    assert "missing_values" not in str(caught.value)


def test_missing_values_are_named_with_the_way_out():
    table = {**labels(ROWS), "smoke": ["yes", None] * 30}
    with pytest.raises(DataError, match=r"(?s)'smoke' has missing values.*missing=\"drop\".*options of mapdag\.read"):
        ASIA.log_likelihood(table)


def test_positions_instead_of_labels_are_noticed():
    codes = {name: ROWS.column(name) for name in ROWS.names}
    with pytest.warns(MapdagWarning, match="read as codes"):
        assert ASIA.log_likelihood(codes) == ASIA.log_likelihood(ROWS)
    assert ASIA.log_likelihood(md.read(codes, like=ASIA, codes=True)) == ASIA.log_likelihood(ROWS)


def test_what_is_no_table_is_refused(tmp_path):
    with pytest.raises(DataError, match="a table must be"):
        ASIA.log_likelihood(3)
    with pytest.raises(DataError, match="a table must be"):
        ASIA.log_likelihood(pl.Series("smoke", ["yes"]))
    with pytest.raises(DataError, match="no such file"):
        ASIA.log_likelihood(tmp_path / "nowhere.csv")
    with pytest.raises(DataError, match="no rows"):
        ASIA.predict({name: [] for name in ASIA.nodes}, "lung")


def test_options_are_checked_before_the_table_is_read():
    with pytest.raises(ParameterError, match="alpha"):
        fit(ASIA.dag, 3, alpha=-1)


def test_a_graph_too_dense_for_tables_can_be_written_all_the_same(tmp_path):
    names = [f"n{i}" for i in range(70)]
    data = md.Dataset.from_codes(np.zeros((2, 70), dtype=int), names=names, levels=[2] * 70)
    for n_parents, message in ((62, "62 parents, more than the 31"), (69, "69 parents, more than the 31")):
        dag = md.DAG(names, [(name, "n0") for name in names[1 : n_parents + 1]])
        with pytest.raises(CapacityError, match=rf"{message}.*graph alone .*\.csv, \.dot, \.txt or \.json"):
            fit(dag, data)
        for suffix in ("csv", "dot", "txt", "json"):
            md.write_graph(dag, tmp_path / f"graph.{suffix}")
            assert md.read_graph(tmp_path / f"graph.{suffix}") == dag
