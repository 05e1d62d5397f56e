"""The benchmarks' own parts; nothing here is timed."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"
if not FOLDER.exists():
    pytest.skip("benchmarks are not part of this copy", allow_module_level=True)
sys.path.append(str(FOLDER))

import benchpress  # noqa: E402
import column_orders  # noqa: E402
import mapdag as md  # noqa: E402
from harness import kept, machine, process, published, results, samples, synthetic, timing  # noqa: E402
from harness.objectives import study  # noqa: E402
from harness.results import Report  # noqa: E402
from harness.tables import Table, geometric_mean, ratios, show  # noqa: E402
from harness.targets import Target, summary  # noqa: E402


@pytest.fixture
def report():
    machine_now = {**machine.describe(), "busy": 0.0}
    table = Table("Some", ("data", "s"), (("alarm", 0.01234), ("andes", None)), "A note.")
    target = Target("a ratio", ">=", 8, 9.5)
    return Report("some", "Some title", "About.", (table,), (target,), machine_now, {"quick": True})


def test_a_table_is_written_as_markdown():
    table = Table("Speed", ("data", "s", "N"), (("alarm", 0.01234, 37), ("andes", None, 1234)), "Note.")
    assert table.markdown().splitlines() == [
        "### Speed",
        "",
        "| data | s | N |",
        "| --- | ---: | ---: |",
        "| alarm | 0.0123 | 37 |",
        "| andes | - | 1,234 |",
        "",
        "Note.",
    ]


def test_rows_must_fit_their_table():
    with pytest.raises(ValueError, match="2 cells"):
        Table("Speed", ("a", "b"), ((1,),))


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (1234.5678, "1,235"), (0.0, "0"), (12.345, "12.3"), (float("inf"), "inf"), (True, "yes"), ("x", "x")],
)
def test_cells_have_three_digits(value, text):
    assert show(value) == text


def test_ratios_and_their_mean_skip_what_was_not_measured():
    found = ratios([2.0, None, 8.0], [1.0, 1.0, 1.0])
    assert found == [2.0, None, 8.0]
    assert geometric_mean(found) == pytest.approx(4.0)
    with pytest.raises(ValueError, match="no value"):
        geometric_mean([None])


def test_a_target_in_doubt_is_not_counted_as_met():
    kept, missed = Target("fast", ">=", 8, 9.0), Target("small", "<=", 1, 2.0, "s")
    doubted = replace(kept, doubt="the machine was busy")
    table = summary([kept, missed, doubted])
    assert [row[3] for row in table.rows] == ["met", "MISSED", "in doubt (met): the machine was busy"]
    assert table.note == "1 of 3 met; 1 in doubt."


def test_the_machine_is_described():
    found = machine.describe()
    assert found["cpu"]
    assert found["cores"] >= 1
    assert found["versions"]["numpy"]
    assert 0 <= machine.busy(0.01) <= 1
    assert found["cpu"] in machine.sentence({**found, "busy": 0.0})
    json.dumps(found)


def test_reports_survive_the_disk_and_make_a_page(report, tmp_path):
    results.write(report, tmp_path)
    again = results.read("some", tmp_path)
    assert again == replace(report, date=again.date)
    page = results.write_page(["some", "absent"], tmp_path).read_text(encoding="utf-8")
    assert "| a ratio | >= 8 x | 9.50 x | met |" in page
    assert "not for quoting: some" in page
    assert (tmp_path / "some.md").exists()


def test_contenders_take_turns_until_their_budget_is_used():
    asked = []

    def contender(name, seconds):
        def turn():
            asked.append(name)
            return seconds, name

        return turn

    found = timing.take_turns(
        {"slow": contender("slow", 3.0), "fast": contender("fast", 0.1)}, timing.Rounds(least=2, most=4, budget=5.0)
    )
    assert asked == ["slow", "fast", "slow", "fast", "fast", "fast"]
    assert found["slow"].best == 3.0
    assert found["fast"].spread == 1.0


def test_published_figures_are_calibrated_by_the_peer_measured_here():
    factor = published.calibration({"alarm_5000": 0.098, "pigs_5618": 10.2})
    assert factor["alarm_5000"] == pytest.approx(2.0)
    assert factor["pigs_5618"] == pytest.approx(0.5)
    assert factor["diabetes_5000"] == pytest.approx(1.0)  # not measured: the mean of the others
    assert {sample.key for sample in samples.EVERY} == set(published.figures())


def test_the_study_has_31_objectives():
    assert len({str(md.parse(each)) for each in study()}) == 31


def test_samples_travel_to_other_processes(tmp_path):
    data = synthetic.sparse(6, 50, seed=1)
    samples.save(data, tmp_path)
    names, levels, codes = samples.reload(tmp_path)
    assert md.Dataset(names, levels, codes) == data
    lines = (tmp_path / "codes.csv").read_text().splitlines()
    assert lines[0] == ",".join(data.names)
    assert len(lines) == 52
    assert synthetic.sparse(6, 50, seed=1) == data


def test_samples_come_from_a_folder_where_it_has_them(tmp_path):
    import gzip

    drawn = samples.load(samples.Sample("asia", 30), tmp_path)
    rows = "\n".join(",".join(map(str, row)) for row in drawn.codes[:, :7].T.tolist())
    levels = {name: list(drawn.levels[name]) for name in drawn.names}
    (tmp_path / "asia_30.csv.gz").write_bytes(gzip.compress(f"{','.join(drawn.names)}\n{rows}\n".encode()))
    (tmp_path / "asia_levels.json.gz").write_bytes(gzip.compress(json.dumps(levels).encode()))
    assert samples.load(samples.Sample("asia", 30), tmp_path).n_rows == 7


def searched(score, shd, dag="g"):
    return {"score": score, "shd": shd, "cpu": 2.0, "seconds": 3.0, "dag": dag, "cpdag": dag}


@pytest.fixture
def shuffles():
    import search

    runs = {
        "hc": [searched(-30.0, 20, "a"), searched(-28.0, 10, "b")],
        "orders": [searched(-10.0, 3), searched(-10.0, 3)],
    }
    here = {"nodes": 37, "arrangements": 1, "true": -12.0, "topological": searched(-15.0, 5), "runs": runs}
    return {(samples.ALARM, search.MU_BDS): here}


def test_searches_are_held_against_their_targets(shuffles):
    import search

    lead, spread, distance, seconds = search.targets_of(shuffles)
    assert (lead.measured, spread.measured, distance.measured) == (2.0, 1, pytest.approx(0.2))
    assert seconds.measured == pytest.approx(2.0 / 0.45)
    assert [target.met for target in (lead, spread, distance, seconds)] == [True, True, True, False]


def test_searches_are_shown_relative_to_the_best(shuffles):
    import search

    table, _ = search.every_search(shuffles, "Some")
    assert [row[2] for row in table.rows] == ["-2.0", "-5.0", "-20.0 to -18.0", "0"]
    assert [row[4] for row in table.rows] == [None, None, "2 of 2", "1 of 2"]


def test_hits_of_the_certified_score_are_counted():
    import search

    def row(gap):
        runs = {"exact": searched(-5.0, 0), "orders": searched(-5.0 - gap, 0), "hc": searched(-9.0, 0)}
        return [{"network": "asia", "rows": 115, "objective": o, "runs": runs} for o in search.OBJECTIVES]

    table, targets = search.against_exact([*row(0.0), *row(1e-9), *row(0.5), *row(0.0)])
    assert [target.measured for target in targets] == [75.0, 75.0]
    assert table.rows[0][2:7] == (4, 3, 0.5, 0, 4.0)


def test_parts_that_were_measured_are_kept(tmp_path, monkeypatch):
    import search
    from harness.script import Settings

    monkeypatch.setattr(search.process, "part", lambda *arguments: {"asked": [str(each) for each in arguments[1:]]})
    first = search.kept(Settings(out=tmp_path), "certified", "asia", 0, 5)
    monkeypatch.setattr(search.process, "part", None)
    assert search.kept(Settings(out=tmp_path), "certified", "asia", 0, 5) == first


# Orders of the columns


def test_a_sample_has_the_levels_that_occur_in_its_rows(monkeypatch):
    whole = md.Dataset.from_codes([[0, 2], [0, 1], [1, 0], [1, 2]], names=["a", "b"])
    monkeypatch.setattr(column_orders, "sample", lambda *_: whole)
    few = column_orders.first_rows("any", 2)
    assert few.cards.tolist() == [1, 2]
    assert few.codes.tolist() == [[0, 0], [1, 0]]


def test_a_run_goes_on_with_what_was_learned_before(tmp_path):
    part = column_orders.Part("asia", 100, *column_orders.WAYS[2])
    path = tmp_path / column_orders.KEPT
    path.write_text(json.dumps(column_orders.Found(part, [0.5, 0.5], 1, 0.1)) + "\n", encoding="utf-8")
    (found,) = column_orders.learned([part], path)
    assert (found.part, found.f1, found.part.orders) == (part, [0.5, 0.5], 2)


def test_means_are_over_the_sizes_that_all_ways_have_and_leave_out_what_they_do():
    values = {"asia": (0.2, 0.4), "insurance": (0.1, 0.6)}
    found = {}
    for network, f1 in values.items():
        for n, value in zip((100, 1_000), f1, strict=True):
            for way in column_orders.WAYS:
                part = column_orders.Part(network, n, *way)
                found[part] = column_orders.Found(part, [value, value], 1, 0.0)
    extra = column_orders.Part("asia", 10_000, *column_orders.WAYS[0])
    found[extra] = column_orders.Found(extra, [1.0, 1.0], 1, 0.0)
    asia, insurance, mean, without = column_orders.by_network(found).rows
    assert asia[:3] == ("asia", "100 to 1,000", 0.3)
    assert insurance[2] == 0.35
    assert mean[2] == 0.325
    assert without[2] == 0.45  # 100 rows of insurance apart
    assert without[-3:] == (0.417, 0.479, 0.536)
    assert len(column_orders.by_rows(found).rows) == 5


# Benchpress' networks, and cases that are kept


def counted(true, found):
    """TP/P and FP/P, pair by pair."""
    tp = fp = positives = 0
    for i in range(len(true)):
        for j in range(i):
            ours, theirs = (found[i, j], found[j, i]), (true[i, j], true[j, i])
            positives += any(theirs)
            if any(ours):
                right = 1 if ours == theirs else 0.5 if any(theirs) else 0
                tp, fp = tp + right, fp + 1 - right
    return tp / positives, fp / positives


@pytest.mark.parametrize("seed", range(20))
def test_edges_are_counted_as_benchpress_does(seed):
    names = [f"V{i}" for i in range(7)]
    true, found = (md.random_dag(names, probability=0.4, seed=10 * seed + k) for k in (0, 1))
    for kind in (md.DAG.to_cpdag, lambda dag: dag):
        a, b = (kind(dag).to_adjacency() for dag in (true, found))
        assert benchpress.rates(a, b) == pytest.approx(counted(a, b))
    a, b = (benchpress.pattern(dag.to_adjacency()) for dag in (true, found))
    assert np.array_equal(a, benchpress.pattern(true.to_cpdag().to_adjacency()))  # one for each class
    judged = benchpress.judged(true.to_adjacency(), found.to_cpdag().to_adjacency())
    assert judged["pattern"] == pytest.approx(counted(a, b))
    assert judged["cpdag"] == pytest.approx(counted(*(dag.to_cpdag().to_adjacency() for dag in (true, found))))


def test_a_pattern_directs_colliders_alone():
    dag = md.DAG(["a", "b", "c", "d"], [("a", "c"), ("b", "c"), ("c", "d")])
    assert benchpress.pattern(dag.to_adjacency()).tolist() == [[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 1, 0]]


def test_random_networks_have_benchpress_design():
    edges = []
    for seed in range(1, 31):
        graph, codes = benchpress.draw("random", seed)
        assert graph.shape == (80, 80)
        assert codes.shape == (320, 80)
        assert graph.sum(axis=0).max() <= 5
        md.DAG.from_adjacency(graph)  # no cycle
        edges.append(graph.sum())
    assert 135 < np.mean(edges) < 165  # 160 without the limit of parents
    again = benchpress.draw("random", 30)
    assert np.array_equal(again[0], graph)
    assert np.array_equal(again[1], codes)


def test_probabilities_of_benchpress_networks_follow_the_design(monkeypatch):
    monkeypatch.setattr(benchpress, "ROWS", 100_000)
    graph = np.zeros((4, 4), np.int8)
    graph[[0, 1, 2], 3] = 1
    codes = benchpress.sample(graph, np.random.default_rng(1))
    share = {
        tuple(of): codes[(codes[:, :3] == of).all(axis=1), 3].mean() for of in np.unique(codes[:, :3], axis=0).tolist()
    }
    assert all(0.1 <= codes[:, i].mean() <= 0.9 for i in range(3))
    assert 0.005 <= share[0, 0, 0] <= 0.11
    single = [share[1, 0, 0], share[0, 1, 0], share[0, 0, 1]]
    assert all(0.38 <= each <= 0.92 for each in single)
    assert share[1, 1, 0] == pytest.approx(min(single[0] + single[1], 0.95), abs=0.02)
    assert share[1, 1, 1] == pytest.approx(0.95, abs=0.02)


def test_cases_are_measured_once_and_kept(tmp_path, monkeypatch):
    path = tmp_path / "cases.jsonl"
    asked = []

    def measured(case, found):
        asked.append((case, len(found)))
        return None if case == ("c", 3) else {"value": case[1]}

    cases = [("a", 1), ("b", 2), ("c", 3)]
    assert kept.measure_all(cases[:1], measured, path) == {("a", 1): {"value": 1}}
    assert (
        kept.measure_all(cases, measured, path) == kept.known(path) == {("a", 1): {"value": 1}, ("b", 2): {"value": 2}}
    )
    assert asked == [(("a", 1), 0), (("b", 2), 1), (("c", 3), 2)]
    monkeypatch.setenv("BENCH_SECONDS", "-1")
    assert kept.measure_all([("d", 4)], measured, path) == kept.known(path)


def test_a_part_ends_at_its_limit_of_cpu_seconds(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys\nprint(1)\nwhile sys.argv[2] == 'on':\n    pass\n", encoding="utf-8")
    assert process.part(str(script), "off", cpu_limit=10) == 1
    assert process.part(str(script), "on", cpu_limit=1) is None
