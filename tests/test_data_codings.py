"""What levels stand for travels with them: from a table to a dataset, a network, a file, and back to new rows."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

import mapdag as md
from mapdag.data import Coding
from mapdag.io.schema import network_from_json, network_to_json

TABLE = pd.DataFrame(
    {
        "dose": np.linspace(0.05, 9.95, 60),
        "rating": [1, 2, 4] * 20,
        "share": [0.5, 1.0] * 30,
        "smokes": [True, False, False] * 20,
        "sex": ["f", "m"] * 30,
    }
)


@pytest.fixture
def data():
    return md.read(TABLE, discretize={"dose": [2.5, 5]})


@pytest.fixture
def net(data):
    return md.fit(md.DAG(data.names, [("dose", "smokes")]), data)


def test_read_notes_what_the_columns_held(data):
    assert data.codings == {
        "dose": Coding("float", (-np.inf, 2.5, 5.0, np.inf)),
        "rating": Coding("integer"),
        "share": Coding("float"),
        "smokes": Coding("boolean"),
    }
    assert data.cuts == md.Cuts({"dose": (-np.inf, 2.5, 5.0, np.inf)})


def test_levels_decode_to_the_type_of_the_column(data):
    decoded = {name: coding.values(data.levels[name]).tolist() for name, coding in data.codings.items()}
    assert decoded == {
        "dose": ["(-inf,2.5]", "(2.5,5]", "(5,inf)"],
        "rating": [1, 2, 4],
        "share": [0.5, 1.0],
        "smokes": [False, True],
    }
    assert Coding("integer").values(("1", "2", "NA")).tolist() == ["1", "2", "NA"]


def test_categories_keep_their_type():
    table = pd.DataFrame({"a": pd.Categorical([3, 1, 3], categories=[3, 2, 1]), "b": ["x", "y", "x"]})
    assert md.read(table).codings == {"a": Coding("integer")}


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.select(["smokes", "dose"]),
        lambda data: data.take([3, 1, 1]),
        lambda data: data.aggregated(),
        lambda data: data.with_levels({"sex": ["m", "f", "x"]}),
        lambda data: pickle.loads(pickle.dumps(data)),
        md.read,
        lambda data: md.fit(md.DAG(data.names, []), data).sample(5, seed=1),
    ],
)
def test_datasets_made_from_a_dataset_keep_codings(data, change):
    changed = change(data)
    assert changed.codings == {name: data.codings[name] for name in changed.names if name in data.codings}


@pytest.mark.parametrize(
    "change",
    [
        lambda net: net.reordered(net.nodes[::-1]),
        lambda net: pickle.loads(pickle.dumps(net)),
        lambda net: network_from_json(network_to_json(net)),
    ],
)
def test_networks_made_from_a_network_keep_codings(net, change):
    assert change(net).codings == net.codings


def test_renamed_nodes_keep_codings(net):
    assert net.renamed({"dose": "mg"}).cuts == md.Cuts({"mg": (-np.inf, 2.5, 5.0, np.inf)})


def test_a_network_cuts_tables_of_numbers_where_it_was_learned(net, data):
    assert net.log_likelihood(TABLE) == net.log_likelihood(data)
    assert np.array_equal(net.predict_proba(TABLE[["dose"]], "smokes"), net.predict_proba(data, "smokes"))
    again = md.read(TABLE, like=net)
    assert again == data
    labelled = TABLE.assign(dose=[data.row(i)["dose"] for i in range(len(data))])
    assert md.read(labelled, like=net) == data


def test_one_row_of_numbers_will_do(net):
    one = {"dose": [7], "rating": [2], "share": [1], "smokes": [True], "sex": ["f"]}
    assert net.log_likelihood(one) == pytest.approx(net.log_likelihood(md.read(TABLE, like=net).take([50])), rel=1)
    assert md.read(one, like=net).row(0) == {
        "dose": "(5,inf)", "rating": "2", "share": "1", "smokes": "True", "sex": "f",
    }  # fmt: skip


def test_levels_are_a_dict_for_json_and_pickle_that_cannot_be_changed(data, net):
    for levels in (data.levels, net.levels, net.query("dose").levels):
        assert isinstance(levels, dict)
        assert json.loads(json.dumps(levels))["dose"] == ["(-inf,2.5]", "(2.5,5]", "(5,inf)"]
        assert pickle.loads(pickle.dumps(levels)) == levels
        for change in (lambda x: x.update(a=1), lambda x: x.pop("dose"), lambda x: x.__setitem__("a", ())):
            with pytest.raises(TypeError):
                change(levels)


@pytest.mark.parametrize("coding", [[1], {"type": "date"}, {"type": "float", "edges": [1]}, {"edges": [0, "a", 2, 3]}])
def test_a_damaged_coding_in_a_file_is_an_error_that_names_the_node(net, coding):
    content = json.loads(network_to_json(net))
    content["nodes"][0]["coding"] = coding
    with pytest.raises(md.errors.FormatError, match="dose"):
        network_from_json(json.dumps(content))
