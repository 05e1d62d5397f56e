"""Data sets with gaps: how they are read, what they know of themselves, and what refuses them."""

import io
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from tests.strategies import data_with_gaps, with_gaps

import mapdag as md
from mapdag.errors import DataError, ParameterError

TABLE = b"sex,cough,age\nf,yes,1\n,no,\nm,,3\nm,no,NA\n"


def read(content=TABLE, **options):
    return md.read(content, missing="keep", **options)


def test_keep_keeps_gaps_and_levels_know_nothing_of_them():
    data = read()
    assert data.has_gaps
    assert dict(data.levels) == {"sex": ("f", "m"), "cough": ("no", "yes"), "age": ("1", "3")}
    assert data.codes.tolist() == [[0, 2, 1, 1], [1, 0, 2, 0], [0, 2, 1, 2]]
    assert data.row(1) == {"sex": None, "cough": "no", "age": None}
    assert data.known.tolist() == [[True, False, True, True], [True, True, False, True], [True, False, True, False]]
    assert repr(data) == "Dataset(4 rows, 3 columns, 2 levels each, 4 gaps)"
    assert data.observed("age").tolist() == [1, 1]


def test_a_table_without_gaps_is_the_same_whether_they_may_be_kept_or_not():
    content = b"a,b\nx,1\ny,2\n"
    data = read(content)
    assert not data.has_gaps
    assert data == md.read(content)
    assert data.gaps.complete == 2
    assert not data.gaps


@pytest.mark.parametrize("form", ["pandas", "polars", "dicts", "csv", "parquet"])
def test_gaps_survive_the_way_out_and_back(form, tmp_path):
    data = read()
    if form == "csv":
        md.write_table(data, tmp_path / "t.csv")
        again = read(tmp_path / "t.csv")
    elif form == "parquet":
        md.write_table(data, tmp_path / "t.parquet")
        again = read(tmp_path / "t.parquet")
    elif form == "dicts":
        again = read([data.row(i) for i in range(4)])
    else:
        frame = data.to_pandas() if form == "pandas" else data.to_polars()
        again = read(frame)
    assert again == data
    assert pickle.loads(pickle.dumps(data)) == data


@given(data_with_gaps(max_columns=4))
@settings(max_examples=60, deadline=None)
def test_other_datasets_made_from_one_with_gaps_keep_them(drawn):
    rows, cards = drawn
    data = with_gaps(rows, cards)
    labels = [data.row(i) for i in range(len(rows))]
    names = data.names[::-1]
    assert [data.select(names).row(i) for i in range(len(rows))] == [{n: row[n] for n in names} for row in labels]
    order = list(range(len(rows)))[::-1]
    assert [data.take(order).row(i) for i in order] == labels
    wider = data.with_levels({name: ["new", *reversed(data.levels[name])] for name in data.names})
    assert [wider.row(i) for i in range(len(rows))] == labels
    counted = data.aggregated()
    assert counted.total == len(rows)
    assert sorted(map(str, (counted.repeated().row(i) for i in range(len(rows))))) == sorted(map(str, labels))
    complete = [row for row in rows if None not in row]
    assert data.complete_rows().codes.T.tolist() == [list(row) for row in complete]
    assert not data.complete_rows().has_gaps
    assert data.has_gaps == any(None in row for row in rows)
    gaps = data.gaps
    assert gaps.complete == len(complete)
    assert gaps.patterns == len({tuple(value is None for value in row) for row in rows})
    for i, name in enumerate(data.names):
        assert gaps.missing.get(name, 0) == sum(row[i] is None for row in rows)


def test_a_gap_needs_a_code_of_its_own_beyond_256_levels():
    rows = [[i, 0] for i in range(256)]
    assert md.Dataset.from_codes(rows, levels=[256, 2]).codes.dtype == np.uint8
    data = md.Dataset.from_codes([*rows, [-1, 1]], levels=[256, 2], gap=-1)
    assert data.codes.dtype == np.uint16
    assert data.row(256) == {"X1": None, "X2": "1"}
    assert data.take([0, 256]).select(["X2"]).codes.tolist() == [[0, 1]]


def test_codes_that_are_no_levels_are_refused_with_gaps_and_without():
    with pytest.raises(DataError, match="code -1"):
        md.Dataset.from_codes([[0], [-1]])
    with pytest.raises(DataError, match="code -2"):
        md.Dataset.from_codes([[0], [-1], [-2]], gap=-1)
    with pytest.raises(DataError, match="code 2 "):
        md.Dataset.from_codes([[0], [-1], [2]], levels=[2], gap=-1)
    with pytest.raises(DataError, match="is not between"):
        md.Dataset(["a"], {"a": ["x", "y"]}, np.array([[0, 3]]), has_gaps=True)


def test_monotone_patterns_are_told():
    assert read(b"a,b,c\nx,1,u\ny,2,\nx,,\ny,1,v\nx,2,u\n").gaps.is_monotone
    assert not read(b"a,b,c\nx,1,u\ny,2,\nx,,v\ny,1,v\n").gaps.is_monotone


def test_check_tells_the_pattern():
    assert any("monotone" in note for note in md.check(b"a,b,c\nx,1,u\ny,2,\nx,,\ny,1,v\nx,2,u\n").notes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\nx,\ny,\n", "holds no values"),
        (b"a,b\nx,1\nx,2\n,1\n", "is constant"),
    ],
)
def test_columns_that_tell_nothing_are_refused_as_ever(content, message):
    with pytest.raises(DataError, match=message):
        read(content)


@pytest.mark.parametrize("empty", [[None] * 4, [float("nan")] * 4])
def test_a_column_without_values_is_kept_if_its_levels_are_declared(empty):
    table = {"a": ["x", "y", "x", "y"], "b": empty, "c": ["u", "v", "v", "u"]}
    data = md.read(table, missing="keep", levels={"b": ["no", "yes"]})
    assert data.gaps.missing == {"b": 4}
    with pytest.raises(md.errors.DataError, match=r"'b' holds no values.*drop"):
        md.read(table, missing="keep")
    for found in (md.learn(data, "PNAL"), md.structural_em(data, "BIC")):
        assert not found.dag.parents("b")
        assert not found.dag.children("b")


def test_a_row_that_is_missing_throughout_stays_and_tells_nothing():
    data = read(b"a,b\nx,1\ny,2\n,\n")
    assert data.n_rows == 3
    assert data.gaps.complete == 2
    dag = md.DAG(["a", "b"], [("a", "b")])
    assert md.score(dag, data, "PNAL(k=1)") / 3 == md.score(dag, data.complete_rows(), "PNAL(k=1)") / 2


def test_a_text_that_is_declared_as_a_level_is_no_gap():
    data = read(b"a,b\nx,NA\ny,2\n,2\n", levels={"b": ["NA", "2"]})
    assert data.levels["b"] == ("NA", "2")
    assert data.gaps.missing == {"a": 1}


def test_gaps_in_weights_are_refused():
    with pytest.raises(DataError, match="missing values in 1 of 3 rows"):
        read(b"a,n\nx,1\ny,\nx,2\n", weights="n")


def test_numbers_are_cut_and_gaps_stay():
    numbers = [str(i / 7) for i in range(30)]
    content = "x,y\n" + "".join(f"{'' if i % 5 == 0 else v},{'ab'[i % 2]}\n" for i, v in enumerate(numbers))
    data = read(content.encode(), discretize="quantile(3)")
    assert len(data.levels["x"]) == 3
    assert data.gaps.missing == {"x": 6}


def test_like_codes_gaps_by_the_levels_of_another_table():
    other = md.read({"sex": ["m", "f"], "cough": ["yes", "no"], "age": [3, 1]}, levels={"sex": ["m", "x", "f"]})
    data = read(like=other)
    assert data.levels["sex"] == ("m", "x", "f")
    assert data.row(1)["sex"] is None


def test_a_dataset_with_gaps_can_be_read_again_without_them():
    data = read()
    assert (
        md.read(data, missing="drop", levels={"age": ["1", "3"], "cough": ["no", "yes"], "sex": ["f", "m"]}).n_rows == 1
    )
    assert md.read(data, missing="level").levels["sex"] == ("f", "m", "NA")
    with pytest.raises(DataError, match="missing values"):
        md.read(data)


def test_the_options_are_named_when_another_is_given():
    with pytest.raises(ParameterError, match='"error", "drop", "level" or "keep"'):
        md.read(io.BytesIO(TABLE), missing="gap")


def test_a_diagnosis_uses_the_rows_that_have_a_family_and_says_so():
    data = read(b"a,b\n" + b"x,1\ny,2\n" * 20 + b"x,\n,2\n" * 3)
    dag = md.DAG(["a", "b"], [("a", "b")])
    found, complete = md.diagnose(dag, data, "PNAL"), md.diagnose(dag, data.complete_rows(), "PNAL")
    assert [arc.log_bds for arc in found.arcs] == [arc.log_bds for arc in complete.arcs]
    assert "6 of 46 rows have gaps" in str(found)


@pytest.mark.parametrize("what", ["alpha_star"])
def test_what_needs_complete_rows_says_so(what):
    data = read()
    with pytest.raises(DataError, match="needs complete rows"):
        getattr(md, what)(md.DAG(data.names), data)


def test_indicators_say_where_values_are_missing():
    data = md.Dataset.from_codes([[0, -1, -1, 1], [-1, 0, 0, -1], [1, 1, 1, 0]], names=["a", "b", "c", "d"], gap=-1)
    both = data.with_indicators()
    assert both.names == ("a", "b", "c", "d", "a is missing", "b is missing")  # c is missing with b
    assert both.row(0) == {"a": "0", "b": None, "c": None, "d": "1", "a is missing": "no", "b is missing": "yes"}
    assert both.select(data.names) == data
    assert data.complete_rows().with_indicators().names == data.names
