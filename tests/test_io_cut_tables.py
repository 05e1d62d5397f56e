"""A table of numbers is learned from, the network goes to a file and back, and takes the table as it was."""

import warnings

import numpy as np
import pandas as pd
import pytest

import mapdag as md
from mapdag.data import Coding

pytestmark = pytest.mark.filterwarnings("ignore:other programs cannot read some names and labels")

N = 300
RANDOM = np.random.default_rng(7)
AGE = RANDOM.integers(18, 90, N)
DOSE = np.round(RANDOM.gamma(2.0, 3.0, N), 3)
TABLE = pd.DataFrame(
    {
        "age (years)": AGE,
        "dose": DOSE,
        "ill": AGE + RANDOM.normal(0, 10, N) > 55,
        "grade": np.clip(DOSE // 4, 0, 3).astype(int),
        "größe": RANDOM.choice(["klein & fein", "groß", "50 %"], N),
    }
)
CUT = {"age (years)": [40, 60], "dose": "quantile"}
ENDINGS = ["bif", "json", "xmlbif", "net", "xdsl", "uai", "bif.gz"]


@pytest.fixture(scope="module")
def learned():
    return md.learn(md.read(TABLE, discretize=CUT), seed=1).fit()


@pytest.fixture(params=ENDINGS)
def back(request, learned, tmp_path):
    path = tmp_path / f"net.{request.param}"
    learned.write(path)
    return md.read_network(path)


def test_the_network_is_the_same(back, learned):
    assert back == learned
    assert back.nodes == learned.nodes
    assert back.codings == learned.codings
    assert back.cuts == learned.cuts
    assert set(back.cuts) == set(CUT)


def test_it_takes_the_table_of_numbers(back, learned):
    data = md.read(TABLE, discretize=CUT)
    assert back.log_likelihood(TABLE) == learned.log_likelihood(data)
    for node in TABLE.columns:
        assert back.predict(TABLE, node).tolist() == learned.predict(data, node).tolist()
        assert np.array_equal(back.predict_proba(TABLE, node), learned.predict_proba(data, node))
    assert back.predict(TABLE, "ill").dtype == bool
    assert back.predict(TABLE, "grade").dtype.kind == "i"
    assert md.read(TABLE, like=back) == data
    assert md.score(back.dag, md.read(TABLE, like=back)) == md.score(learned.dag, data)
    assert md.fit(back.dag, md.read(TABLE, like=back)) == learned


def test_it_takes_a_table_of_text_as_it_comes_from_a_file(back, learned, tmp_path):
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    assert back.log_likelihood(tmp_path / "table.csv") == pytest.approx(learned.log_likelihood(TABLE))


def test_it_takes_numbers_as_evidence(back, learned):
    for age, label in ((37, "(-inf,40]"), (40, "(-inf,40]"), (40.5, "(40,60]"), (200, "(60,inf)")):
        assert back.query("ill", {"age (years)": age}) == learned.query("ill", {"age (years)": label})
    assert back.query("dose", {"ill": True, "grade": 1}) == learned.query("dose", {"ill": "True", "grade": "1"})


def test_numbers_beyond_the_table_count_for_the_ends(back):
    with pytest.warns(md.errors.MapdagWarning, match="outside"):
        beyond = back.predict(TABLE.head(1).assign(dose=1e6), "grade")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert beyond.tolist() == back.predict(TABLE.head(1).assign(dose=DOSE.max()), "grade").tolist()


def test_rows_with_a_level_for_missing_values_travel(tmp_path):
    table = TABLE.assign(dose=TABLE["dose"].where(TABLE["dose"] > 1), grade=TABLE["grade"].astype("Int64"))
    data = md.read(table, discretize=CUT, missing="level")
    net = md.fit(md.DAG(data.names, [("dose", "ill")]), data)
    assert net.levels["dose"][-1] == "NA"
    for ending in ENDINGS:
        net.write(tmp_path / f"net.{ending}")
        back = md.read_network(tmp_path / f"net.{ending}")
        assert back == net
        assert back.codings == net.codings
        assert back.query("ill", {"dose": 2.5}) == net.query("ill", {"dose": 2.5})


def test_the_command_line_goes_all_the_way(run, tmp_path):
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    out = tmp_path / "net.xmlbif"
    options = ("--discretize", "age (years)=quantile", "--discretize", "dose=quantile")
    code, _, err = run("learn", tmp_path / "table.csv", *options, "--out", out)
    assert code == 0, err
    net = md.read_network(out)
    assert isinstance(net.codings["dose"], Coding)
    code, text, err = run("query", out, "ill", "--given", "age (years)=37", "--given", "dose=2.5")
    assert code == 0, err
    assert text.split()[0] == "ill"
