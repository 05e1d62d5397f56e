"""The server of the explorer: what it answers, and how it starts and stops."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext, suppress
from pathlib import Path

import httpx
import numpy as np
import pytest

import mapdag as md
from explorer_client import served
from mapdag.explorer.limits import Limits
from mapdag.explorer.settings import Settings


@pytest.fixture(scope="module")
def client():
    with served() as found:
        yield found


@pytest.fixture(scope="module")
def asia(client):
    return client.sample("asia", 500, 1)


DATA = md.network("asia").sample(500, seed=1)


# Learning ------------------------------------------------------------------------------------------------------------


def test_hill_climbing_answers_first_and_the_default_search_follows(client, asia):
    first, last = client.learn(asia)
    assert (first["search"], first["final"], last["search"], last["final"]) == ("hc", False, "orders", True)
    for answer, search in ((first, "hc"), (last, "orders")):
        found = md.learn(DATA, search=search)
        assert {tuple(arc[:2]) for arc in answer["arcs"]} == set(found.dag.arcs)
        assert {tuple(arc[:2]) for arc in answer["arcs"] if arc[2]} == set(found.compelled)
        assert answer["score"] == found.score
        assert answer["prior_part"] + answer["likelihood_part"] == pytest.approx(found.score)
        assert answer["objective"] == str(found.objective)
        assert answer["nodes"] == list(DATA.names)


@pytest.mark.parametrize(
    "settings",
    [
        {"likelihood": "BDeu", "alpha": 10},
        {"likelihood": "BIC", "prior": "U", "support": None},
        {"prior": "MU", "beta": 0.2},
        {"prior": "VSP", "beta": 0.1, "support": 0},
        {"prior": "CS", "elicited": [["asia", "tub", 0.9], ["smoke", "dysp", 0.01]]},
        {"required": [["asia", "xray"]], "forbidden": [["smoke", "lung"]], "search": "hc"},
        {"tiers": [["asia", "smoke"], ["tub", "lung", "bronc"]], "max_parents": 1},
        {"likelihood": "qNML", "search": "exact"},
        {"likelihood": "K2", "search": "tabu", "seed": 3},
    ],
)
def test_settings_mean_what_learn_means(client, asia, settings):
    last = client.learn(asia, **settings)[-1]
    meant = Settings.read(settings)
    options = {name: value for name, value in meant.limits.items() if value is not None}
    found = md.learn(DATA, meant.objective, search=meant.search, seed=meant.seed, **options)
    assert {tuple(arc[:2]) for arc in last["arcs"]} == set(found.dag.arcs)
    assert last["score"] == found.score


def test_a_change_of_the_prior_counts_nothing_and_one_of_alpha_only_what_is_new(client):
    data = client.sample("child", 2000, 1)
    first = client.learn(data, search="hc")[0]
    assert first["counted"] > 300
    again = client.learn(data, search="hc")[0]
    assert (again["counted"], again["score"]) == (0, first["score"])
    for c in (1.1, 1.2):  # the same graph, or nearly so
        assert client.learn(data, search="hc", c=c)[0]["counted"] < 60
    other = client.learn(data, search="hc", alpha=1.01)[0]
    assert other["score"] != first["score"]
    assert other["counted"] < 60
    forbidden = client.learn(data, search="hc", forbidden=[first["arcs"][0][:2]])[0]
    assert forbidden["counted"] < 0.5 * first["counted"]


def test_a_newer_request_of_the_same_tab_ends_the_older_one(client):
    data = client.sample("andes", 3000, 1)
    client.learn(data, search="hc")
    found = {}

    def ask():
        found["old"] = client.lines("learn", tab="slider", data=data, sequence=1, settings={"alpha": 2})

    older = threading.Thread(target=ask)
    older.start()
    time.sleep(0.3)
    newer = client.lines("learn", tab="slider", data=data, sequence=2, settings={"alpha": 3, "search": "hc"})
    older.join()
    assert found["old"][-1]["kind"] == "cancelled"
    assert newer[-1]["kind"] == "graph"
    assert newer[-1]["final"]


def test_a_request_that_was_overtaken_is_not_begun(client):
    data = client.sample("andes", 3000, 1)
    begun = threading.Event()

    def ask():
        begun.set()
        client.lines("learn", tab="t", data=data, sequence=5, settings={"alpha": 4})

    newer = threading.Thread(target=ask)
    newer.start()
    begun.wait()
    time.sleep(0.3)
    assert [each["kind"] for each in client.lines("learn", tab="t", data=data, sequence=4, settings={})] == [
        "cancelled"
    ]
    client.post("cancel", tab="t")
    newer.join()


def test_two_tabs_and_two_tables_at_once(client):
    tables = {name: client.sample(name, 2000, 1) for name in ("child", "insurance")}
    found = {}

    def ask(tab, name, alpha):
        answers = client.lines("learn", tab=tab, data=tables[name], sequence=1, settings={"alpha": alpha})
        found[tab] = (name, alpha, answers[-1])

    asked = [("a", "child", 1), ("b", "child", 1), ("c", "child", 5), ("d", "insurance", 1)]
    threads = [threading.Thread(target=ask, args=each) for each in asked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, alpha, answer in found.values():
        data = md.network(name).sample(2000, seed=1)
        assert answer["score"] == md.learn(data, f"Support()+MU(c=1)+BDs({alpha})").score


def test_what_cannot_be_learned_is_a_sentence(client, asia):
    lines = client.lines("learn", data=asia, settings={"required": [["asia", "tub"], ["tub", "asia"]]})
    assert (lines[-1]["kind"], lines[-1]["sequence"]) == ("error", 0)
    assert "they form a cycle" in lines[-1]["error"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"alpha": 0}, "alpha must be a positive number, got 0"),
        ({"alpha": "1"}, "alpha must be a positive number, got '1'"),
        ({"alpha": 10**400}, "alpha must be a positive number"),
        ({"likelihood": "bds"}, "likelihood must be one of BDs, BDeu"),
        ({"prior": None}, "prior must be one of MU"),
        ({"search": "magic"}, "search must be one of orders"),
        ({"support": -1}, "support must be a number of rows, or null"),
        ({"max_parents": 1.5}, "max_parents must be a whole number"),
        ({"required": [["a"]]}, "required must be a list of arcs"),
        ({"forbidden": "a"}, "forbidden must be a list of arcs"),
        ({"tiers": [1]}, "tiers must be a list of lists of names"),
        ({"elicited": [["a", "b", 2]]}, "elicited must be a list"),
        ({"aplha": 1}, "did you mean 'alpha'?"),
        ([], "settings must be an object"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_a_sentence(client, asia, settings, words):
    answer = client.post("learn", data=asia, tab="t", settings=settings)
    assert answer.status_code == 422
    assert words in answer.json()["error"]


# Views ---------------------------------------------------------------------------------------------------------------


def test_a_drawing_has_a_place_for_every_node_and_a_line_for_every_arc(client, asia):
    arcs = [list(arc) for arc in md.network("asia").dag.arcs]
    found = client.ask("layout", data=asia, arcs=arcs)
    assert len(found["x"]) == len(found["y"]) == len(found["w"]) == len(found["labels"]) == 8
    assert len(found["lines"]) == len(arcs)
    assert set(found["lines"][0]) == {"line", "stub", "head"}
    assert found["layered"]
    place = {name: i for i, name in enumerate(DATA.names)}
    assert all(found["y"][place[a]] < found["y"][place[b]] for a, b in arcs)


def test_why_an_arc_tells_what_removing_and_turning_it_cost(client, asia):
    objective = Settings().objective
    dag = md.learn(DATA, search="hc").dag
    arcs = [list(arc) for arc in dag.arcs]

    def value(graph):
        return float(md.score(graph, DATA, objective))

    for a, b in dag.arcs:
        found = client.ask("why", data=asia, settings={}, arcs=arcs, arc=[a, b])
        assert found["present"]
        assert found["remove"]["cost"] == pytest.approx(value(dag) - value(dag.without_arc(a, b)))
        assert found["factor"] == pytest.approx(found["likelihood"] + found["prior"])
        try:
            turned = dag.with_reversed(a, b)
        except md.errors.CycleError:
            assert "cycle" in found["turn"]["impossible"]
        else:
            assert found["turn"]["cost"] == pytest.approx(value(dag) - value(turned))
        counts = np.array(found["table"]["counts"])
        assert counts.sum() == 500
        assert counts.sum(axis=1).tolist() == DATA.observed(a).tolist()
        for other in found["alternatives"]:
            masks = [each for each in dag.arcs if each[1] != b] + [(p, b) for p in other["parents"]]
            assert other["cost"] == pytest.approx(value(dag) - value(md.DAG(dag.nodes, masks)))
        assert found["reversible"] == (not dag.to_cpdag().has_arc(a, b))


def test_why_not_tells_what_adding_would_cost_or_what_forbids_it(client, asia):
    dag = md.learn(DATA, search="hc").dag
    arcs = [list(arc) for arc in dag.arcs]
    objective = Settings().objective
    told = {}
    for a in dag.nodes:
        for b in dag.nodes:
            if a == b or dag.has_arc(a, b):
                continue
            found = client.ask("why", data=asia, settings={}, arcs=arcs, arc=[a, b])
            assert not found["present"]
            try:
                more = dag.with_arc(a, b)
            except md.errors.GraphError:
                told[a, b] = found["add"]["impossible"]
            else:
                gain = float(md.score(more, DATA, objective)) - float(md.score(dag, DATA, objective))
                assert found["add"]["cost"] == pytest.approx(-gain)
    assert any("cycle" in text for text in told.values())
    assert any("the other way round" in text for text in told.values())
    settings = {"forbidden": [["asia", "smoke"]], "tiers": [["tub"], ["xray"]]}
    forbidden = client.ask("why", data=asia, settings=settings, arcs=[], arc=["asia", "smoke"])
    assert forbidden["add"] == {"impossible": "asia -> smoke is forbidden"}
    later = client.ask("why", data=asia, settings=settings, arcs=[], arc=["xray", "tub"])
    assert later["add"] == {"impossible": "xray is in a later tier than tub"}


def test_why_of_nodes_that_are_not_there(client, asia):
    answer = client.post("why", data=asia, settings={}, arcs=[], arc=["asia", "tubb"])
    assert answer.status_code == 422
    assert "did you mean 'tub'?" in answer.json()["error"]


def test_constraints_tell_their_cost(client, asia):
    settings = {"required": [["asia", "smoke"]], "forbidden": [["tub", "either"]], "tiers": [["dysp"], ["bronc"]]}
    found = client.ask("constraint-cost", data=asia, tab="t", settings=settings)
    assert [each["kind"] for each in found["costs"]] == ["required", "forbidden", "tiers"]
    with_all = md.learn(DATA, **settings).score
    assert found["score"] == pytest.approx(with_all)
    assert found["total"] == pytest.approx(md.learn(DATA).score - with_all)
    for cost in found["costs"]:
        less = {name: value for name, value in settings.items() if name != cost["kind"]}
        assert cost["cost"] == pytest.approx(md.learn(DATA, **less).score - with_all)


def test_probability_tables_are_those_of_the_report(client, asia):
    arcs = [list(arc) for arc in md.network("asia").dag.arcs]
    found = client.ask("cpts", data=asia, settings={}, arcs=arcs)
    assert [each["name"] for each in found["nodes"]] == list(DATA.names)
    assert len(found["arcs"]) == 8
    assert found["plan"]["kind"] == "exact"


def test_thin_arcs_that_are_required_are_judged_as_such(client, asia):
    settings = {"support": 200, "required": [["smoke", "lung"], ["bronc", "lung"], ["asia", "lung"]]}
    found = client.ask("cpts", data=asia, settings=settings, arcs=settings["required"])
    assert all(isinstance(arc["loss"], float) for arc in found["arcs"])  # infinity would be a text or nothing


def test_evidence_moves_all_marginals(client, asia):
    dag = md.network("asia").dag
    found = client.ask(
        "evidence", data=asia, settings={}, arcs=[list(arc) for arc in dag.arcs], evidence={"dysp": "yes"}
    )
    network = md.fit(md.DAG(DATA.names, dag.arcs), DATA)
    expected = network.marginals({"dysp": "yes"})
    for node in DATA.names:
        assert found["marginals"][node] == pytest.approx(expected[node].values.tolist())
    assert found["probability"] == pytest.approx(network.log_probability({"dysp": "yes"}))


# What is filled in behind --------------------------------------------------------------------------------------------


def test_strengths_end_at_those_of_bootstrap(client, asia):
    lines = client.lines("strength", data=asia, settings={}, resamples=20)
    last = lines[-1]
    expected = md.bootstrap(DATA, Settings().objective, R=20, search="hc")
    assert (last["done"], last["of"], last["final"]) == (20, 20, True)
    place = {name: i for i, name in enumerate(DATA.names)}
    assert len(last["arcs"]) == (np.triu(expected.strength, 1) > 0).sum()
    for a, b, strength, direction in last["arcs"]:
        assert place[a] < place[b]
        assert strength == expected.strength[place[a], place[b]]
        assert direction == expected.direction[place[a], place[b]]
    assert last["threshold"] == expected.threshold


def test_lives_are_the_intervals_in_which_graphs_have_arcs(client, asia):
    lines = client.lines("life", data=asia, settings={})
    assert {line["parameter"] for line in lines} == {"alpha", "c"}
    assert [line["final"] for line in lines].count(True) == 2
    assert lines[-1]["last"]
    alive = next(line for line in lines if line["parameter"] == "alpha" and line["final"])
    for alpha in (0.05, 1.0, 40.0, 700.0):
        graph = md.learn(DATA, f"Support()+MU(c=1)+BDs({alpha})", search="hc").dag
        joined = {frozenset(arc) for arc in graph.arcs}
        near = {  # but for those that come or go within a fiftieth of it
            frozenset((a, b))
            for a, b, spans in alive["arcs"]
            if any(abs(np.log(edge / alpha)) < 0.04 for span in spans for edge in span)
        }
        found = {frozenset((a, b)) for a, b, spans in alive["arcs"] if any(lo <= alpha <= hi for lo, hi in spans)}
        assert found - near == joined - near


def test_the_map_has_a_graph_in_every_cell(client, asia):
    grid, *cells, done = client.lines("map", data=asia, settings={})
    assert (grid["kind"], done["kind"]) == ("grid", "done")
    assert {(cell["i"], cell["j"]) for cell in cells} == {
        (i, j) for i in range(len(grid["alphas"])) for j in range(len(grid["values"]))
    }
    cell = cells[7]
    alpha, c = grid["alphas"][cell["i"]], grid["values"][cell["j"]]
    with pytest.warns(md.errors.MapdagWarning) if not 1 <= c < 5 else nullcontext():
        found = md.learn(DATA, f"Support()+MU(c={c})+BDs({alpha})", search="hc")
    assert {tuple(arc) for arc in cell["arcs"]} == set(found.dag.arcs)


def test_settings_without_numbers_have_no_strips(client, asia):
    settings = {"likelihood": "BIC", "prior": "U"}
    assert client.lines("life", data=asia, settings=settings)[-1]["parameter"] is None
    grid, cell, _ = client.lines("map", data=asia, settings=settings)
    assert (grid["parameter"], cell["i"], cell["j"]) == (None, 0, 0)


def test_a_bound_comes_with_its_gap(client, asia):
    pytest.importorskip("highspy")
    last = client.lines("certify", data=asia, settings={"max_parents": 2})[-1]
    assert last["final"]
    assert last["proved"]
    assert last["gap"] == pytest.approx(0, abs=1e-6)
    assert last["graph"]["score"] == pytest.approx(last["score"])


@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        ({}, "Support(3)+MU(c=auto)+BDs(auto)"),
        ({"beta": 0.2, "c": None, "support": None, "likelihood": "BDeu"}, "MU(beta=auto)+BDeu(auto)"),
        ({"prior": "U", "search": "hc"}, "Support(3)+U+BDs(auto)"),
        ({"likelihood": "BIC"}, "Support(3)+MU(c=auto)+BIC"),
    ],
)
def test_values_are_learned_as_by_the_library(client, asia, settings, asked):
    told = client.lines("values", data=asia, settings=settings)[-1]
    expected = md.learn(DATA, asked, search=settings.get("search", "orders")).learned
    assert told["text"] == expected.values
    assert [tuple(point) for point in told["profile"]] == list(expected.profile)
    if expected.alpha is not None:
        assert told["alpha"] == expected.alpha


def test_where_nothing_can_be_learned_the_settings_that_can_are_named(client, asia):
    (line,) = client.lines("values", data=asia, settings={"likelihood": "BIC", "prior": "U"})
    assert line["error"] == "nothing to learn: choose BDs or BDeu, which have an alpha, or MU, which has a c"


def test_what_is_filled_in_can_be_ended(client):
    data = client.sample("alarm", 5000, 1)
    found = []
    thread = threading.Thread(
        target=lambda: found.extend(client.lines("strength", tab="e", data=data, settings={}, resamples=2000))
    )
    thread.start()
    time.sleep(0.5)
    assert client.ask("cancel", tab="e", what="strength") == {"cancelled": 1}
    thread.join()
    assert found[-1]["kind"] == "cancelled"


def test_work_ends_when_nobody_listens(client):
    data = client.sample("alarm", 5000, 1)
    body = {"data": data, "tab": "gone", "settings": {}, "resamples": 2000}
    with client.http.stream("POST", "/api/strength", json=body) as answer:
        next(answer.iter_lines())
    for _ in range(200):
        if client.explorer.desk.in_flight == 0:
            break
        time.sleep(0.05)
    assert client.explorer.desk.in_flight == 0


# Tables --------------------------------------------------------------------------------------------------------------


def upload(client, text, name="table.csv", **options):
    return client.http.post("/api/data", params={"name": name, **options}, content=text.encode())


ROWS = "id,age,rain,wet\n" + "\n".join(f"{i},{20 + i * 7 % 53},{'yn'[i % 2]},{'yn'[i % 3 == 0]}" for i in range(90))


def test_a_table_that_is_dropped_is_read_like_any_other(client):
    text = "rain,wet\n" + "y,y\nn,n\ny,n\n" * 20
    found = upload(client, text).json()
    assert (found["name"], found["rows"], found["advice"]) == ("table.csv", 60, [])
    assert found["columns"][0] == {"name": "rain", "r": 2, "levels": ["n", "y"], "counts": [20, 40]}
    assert upload(client, text).json()["data"] == found["data"]  # the same again
    assert found["data"] in [each["data"] for each in client.get("/api/data").json()["tables"]]
    assert client.http.delete(f"/api/data/{found['data']}").status_code == 200
    assert client.post("learn", data=found["data"], tab="t", settings={}).status_code == 422


def test_a_table_that_cannot_be_read_comes_with_the_advice_of_check(client):
    answer = upload(client, ROWS)
    assert answer.status_code == 422
    with pytest.raises(md.errors.DataError) as error:
        md.read(ROWS.encode())
    assert answer.json()["error"] == str(error.value)
    advice = answer.json()["advice"]
    assert advice[0]["option"]["drop"] == ["id"]
    assert advice[0]["option"]["discretize"][0].startswith("quantile")
    mended = upload(client, ROWS, **advice[0]["option"])
    assert mended.status_code == 200, mended.text
    found = md.read(ROWS.encode(), **md.check(ROWS.encode()).options)
    assert mended.json()["columns"][0]["levels"] == list(found.levels["age"])


def test_names_from_data_are_text(client):
    text = '"<script>alert(1)</script>","a""b"\n' + "x,y\nz,w\nx,w\n" * 20
    data = upload(client, text, name="../../<b>.csv").json()
    assert data["name"] == "<b>.csv"
    assert data["columns"][0]["name"] == "<script>alert(1)</script>"
    graph = client.learn(data["data"], search="hc", support=None, alpha=100)[0]
    assert graph["nodes"][0] == "<script>alert(1)</script>"
    arcs = [["<script>alert(1)</script>", 'a"b']]
    picture = client.post("export", data=data["data"], tab="t", settings={}, arcs=arcs, format="svg")
    assert b"<script>" not in picture.content
    assert picture.headers["content-type"].startswith("image/svg+xml")


def test_tables_have_limits():
    limits = Limits(rows=100, tables=2, body=100_000)
    with served(limits) as client:
        assert "rows must be between 1 and 100" in client.post("data", network="asia", rows=101, seed=1).json()["error"]
        many = upload(client, "a,b\n" + "x,y\nz,w\n" * 60)
        assert many.status_code == 413
        assert "has 120 rows, more than the 100" in many.json()["error"]
        assert "needs two at least" in upload(client, "a\n" + "x\ny\n" * 20).json()["error"]
        for seed in (1, 2):
            client.sample("asia", 50, seed)
        full = client.post("data", network="asia", rows=50, seed=3)
        assert full.status_code == 413
        assert "close one of them first" in full.json()["error"]


def test_a_table_with_gaps_begins_with_a_likelihood_that_takes_them(client):
    frame = DATA.to_pandas().astype(object)
    frame = frame.mask(np.random.default_rng(1).random(frame.shape) < 0.1)
    found = upload(client, frame.to_csv(index=False), missing="keep").json()
    assert found["gaps"]
    assert found["settings"]["likelihood"] == "PNAL"
    graph = client.learn(found["data"], **found["settings"])[-1]
    expected = md.learn(frame, "Support()+MU(c=1)+PNAL", missing="keep")
    assert graph["score"] == expected.score
    arcs = [arc[:2] for arc in graph["arcs"]]
    assert client.ask("cpts", data=found["data"], settings=found["settings"], arcs=arcs)["plan"]["kind"] == "exact"
    refused = client.lines("learn", data=found["data"], settings={})
    assert refused[-1]["kind"] == "error"
    assert "gaps" in refused[-1]["error"] or "missing" in refused[-1]["error"]


def test_rows_with_weights_are_learned_from_as_elsewhere(client):
    text = "rain,wet,n\ny,y,40\ny,n,5\nn,y,9\nn,n,70\n"
    data = upload(client, text, weights="n").json()
    assert (data["rows"], data["total"]) == (4, 124)
    graph = client.learn(data["data"])[-1]
    assert graph["score"] == md.learn(md.read(text.encode(), weights="n")).score


def test_vocabulary_names_what_there_is(client):
    found = client.get("/api/vocabulary").json()
    assert found["version"] == md.__version__
    assert {each["name"] for each in found["networks"]} == {each.name for each in md.catalogue()}
    assert Settings.read(found["defaults"]) == Settings()
    assert Settings().objective == md.parse("Support(3)+MU(c=1)+BDs(1)")
    for each in found["likelihoods"]:
        client_side = Settings.read({"likelihood": each["name"]})
        assert str(client_side.objective.likelihood).startswith(each["name"])


# Starting and stopping -----------------------------------------------------------------------------------------------


def test_it_stops_while_it_works():
    with served() as client:
        data = client.sample("andes", 2000, 1)

        def ask():
            with suppress(httpx.HTTPError):
                client.post("learn", data=data, tab="t", settings={})

        thread = threading.Thread(target=ask)
        thread.start()
        time.sleep(1.0)
    assert client.explorer.desk.in_flight == 0
    thread.join()


def test_the_command_says_where_the_page_is_and_stops_at_ctrl_c(tmp_path):
    table = tmp_path / "table.csv"
    md.write_table(DATA, table)
    command = [sys.executable, "-m", "mapdag", "explore", str(table), "--no-browser", "--like", "asia"]
    source = str(Path(md.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        url = process.stdout.readline().split()[-1]
        base, _, token = url.partition("/?token=")
        answer = httpx.get(f"{base}/api/data", headers={"X-Mapdag-Token": token}, trust_env=False)
        (held,) = answer.json()["tables"]
        assert held["source"] == {"file": "table.csv", "path": str(table), "options": {}}
        assert [column["name"] for column in held["columns"]] == list(DATA.names)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0
        assert not said
    finally:
        process.kill()
        process.wait()


def test_a_port_that_is_taken_is_said_to_be(client):
    from mapdag.explorer.doors import Explorer
    from mapdag.explorer.server import Server

    with pytest.raises(md.errors.FileError, match="cannot listen at"):
        Server(Explorer(), port=client.server.port)


def test_without_the_extra_the_way_to_install_it_is_told(monkeypatch):
    from mapdag.explorer.server import check_installed

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(md.errors.MissingExtraError, match=r"pip install 'mapdag\[explore\]'"):
        check_installed()


def test_json_lines_have_no_infinities(client, asia):
    settings = {"support": 400, "required": [["asia", "tub"], ["smoke", "tub"], ["dysp", "tub"]], "search": "hc"}
    for line in client.lines("learn", data=asia, settings=settings):
        json.dumps(line, allow_nan=False)
        assert line["kind"] == "graph"
        assert line["warnings"]
