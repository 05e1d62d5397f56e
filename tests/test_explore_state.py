"""What the explorer keeps: sessions, exports, and the commands that give a graph again."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import mapdag as md
from explorer_client import served
from mapdag.counts import Request, engine_of
from mapdag.counts.remembered import RememberedTables
from mapdag.explorer.doors import Explorer, show
from mapdag.explorer.memory import Memory
from mapdag.explorer.settings import Settings
from mapdag.search.plan import Plan


@pytest.fixture(scope="module")
def client():
    with served() as found:
        yield found


def arcs_of(graph):
    return [arc[:2] for arc in graph["arcs"]]


def export(client, data, graph, form, settings):
    answer = client.post("export", data=data, tab="t", settings=settings, arcs=arcs_of(graph), format=form)
    assert answer.status_code == 200, answer.text
    return answer


# How to get it again -------------------------------------------------------------------------------------------------

CASES = {
    "default": {},
    "numbers": {"likelihood": "BDeu", "alpha": 3.3700000000000001, "c": 1.7142857142857142, "support": 2.5},
    "constraints": {
        "required": [["asia", "xray"]],
        "forbidden": [["smoke", "lung"], ["tub", "either"]],
        "tiers": [["asia", "smoke"], ["tub", "lung"], ["xray"]],
        "max_parents": 2,
        "search": "tabu",
        "seed": 4,
    },
    "elicited": {"prior": "CS", "elicited": [["asia", "tub", 0.9], ["smoke", "dysp", 0.015625]], "support": None},
    "penalised": {"likelihood": "eBIC", "prior": "VSP", "beta": 0.0123, "search": "hc"},
}


def run_python(text, folder):
    names = {}
    with chdir(folder):
        exec(text, names)
    return [names["result"].score, [list(arc) for arc in names["result"].dag.arcs]]


@contextmanager
def chdir(folder):
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def run(command, folder):
    source = str(Path(md.__file__).parents[1])
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_command(text, folder):
    script = text.replace("mapdag learn", f"{sys.executable} -m mapdag learn --json")
    script = script.replace("mapdag sample", f"{sys.executable} -m mapdag sample")
    found = json.loads(run(["bash", "-e", "-c", script], folder).splitlines()[-1])
    return [found["score"], found["arcs"]]


@pytest.mark.parametrize("case", CASES)
def test_the_lines_of_python_give_the_same_graph(client, case, tmp_path):
    data = client.sample("asia", 500, 7)
    for graph in client.learn(data, **CASES[case]):
        text = export(client, data, graph, "python", CASES[case]).text
        score, arcs = run_python(text, tmp_path)
        assert score == graph["score"]
        assert sorted(arcs) == sorted(arcs_of(graph))


@pytest.mark.parametrize(
    "case", ["constraints", *(pytest.param(each, marks=pytest.mark.slow) for each in ("numbers", "elicited"))]
)
def test_the_command_gives_the_same_graph(client, case, tmp_path):
    data = client.sample("asia", 500, 7)
    graph = client.learn(data, **CASES[case])[-1]
    text = export(client, data, graph, "command", CASES[case]).text
    score, arcs = run_command(text, tmp_path)
    assert score == graph["score"]
    assert sorted(arcs) == sorted(arcs_of(graph))


AWKWARD = ["it's", 'a"b', "x,y", "$HOME", "ключ", " spaced"]


def test_files_with_awkward_names_and_options_are_read_again(tmp_path):
    table = tmp_path / "it's a table.csv"
    rng = np.random.default_rng(1)
    base = rng.integers(0, 2, 300)
    columns = {name: [f"l{(b + (rng.random() < 0.2 * (i + 1))) % 2}" for b in base] for i, name in enumerate(AWKWARD)}
    columns["id"] = [f"r{i}" for i in range(300)]
    columns["age"] = rng.normal(50, 10, 300).round(3).tolist()
    pl.DataFrame(columns).write_csv(table)
    options = {"drop": ["id"], "discretize": {"age": [40.0, 60.0]}}
    explorer_settings = {"forbidden": [["it's", "x,y"]], "tiers": [["$HOME"], ['a"b']], "support": 2}
    with served() as client:
        from mapdag.explorer.doors import source_of

        held = client.explorer.hold(md.read(table, **options), source_of(table, options))
        graph = client.learn(held.key, **explorer_settings)[-1]
        assert graph["arcs"]
        for form, run_it in (("python", run_python), ("command", run_command)):
            text = export(client, held.key, graph, form, explorer_settings).text
            score, arcs = run_it(text, tmp_path)
            assert score == graph["score"], text
            assert sorted(arcs) == sorted(arcs_of(graph))


def test_a_graph_that_the_settings_do_not_give_is_said_to_differ(client):
    data = client.sample("asia", 500, 7)
    text = export(client, data, {"arcs": [["asia", "dysp"]]}, "python", {}).text
    assert text.startswith("# These settings give another graph")


def test_a_table_from_the_page_is_named_as_such(client):
    text = "rain,wet\n" + "y,y\nn,n\ny,n\n" * 20
    data = client.http.post("/api/data", params={"name": "rain.csv"}, content=text.encode()).json()["data"]
    graph = client.learn(data)[-1]
    told = export(client, data, graph, "command", {})
    assert "'rain.csv' is the table that was opened on the page" in told.text
    assert told.headers["content-disposition"] == "attachment; filename*=UTF-8''rain.sh"


# Other files ---------------------------------------------------------------------------------------------------------


def test_what_is_seen_is_written_in_every_format(client, tmp_path):
    data = client.sample("asia", 500, 7)
    graph = client.learn(data)[-1]
    rows = md.network("asia").sample(500, seed=7)
    dag = md.DAG(rows.names, [tuple(arc) for arc in arcs_of(graph)])
    (tmp_path / "a.bif").write_bytes(export(client, data, graph, "bif", {}).content)
    network = md.read_network(tmp_path / "a.bif")
    assert network.dag == dag
    np.testing.assert_allclose(network.cpt("dysp"), md.fit(dag, rows).cpt("dysp"))
    (tmp_path / "a.dot").write_bytes(export(client, data, graph, "dot", {}).content)
    assert md.read_graph(tmp_path / "a.dot") == dag
    networkx = pytest.importorskip("networkx")
    (tmp_path / "a.graphml").write_bytes(export(client, data, graph, "graphml", {}).content)
    read = networkx.read_graphml(tmp_path / "a.graphml")
    names = dict(read.nodes(data="name"))
    assert {(names[a], names[b]) for a, b in read.edges} == set(dag.arcs)
    assert export(client, data, graph, "png", {}).content.startswith(b"\x89PNG")
    svg = export(client, data, graph, "svg", {}).text
    assert svg.count('class="node"') == 8
    report = export(client, data, graph, "report", {}).text
    assert report.startswith("<!doctype html>")
    assert "mapdag sample asia" in report
    wrong = client.post("export", data=data, tab="t", settings={}, arcs=[], format="exe")
    assert wrong.status_code == 422
    assert "format must be one of bif, svg" in wrong.json()["error"]


# Sessions ------------------------------------------------------------------------------------------------------------

STATE = {
    "format": "mapdag-explore",
    "version": 1,
    "source": {"network": "asia", "rows": 300, "seed": 2},
    "settings": {"alpha": 3.5},
    "notes": "\u00bd <b> \U0001f600 \ud800",
}


def test_a_session_is_kept_and_reopened(tmp_path):
    file = tmp_path / "session.json"
    with served(session=file) as client:
        assert client.get("/api/session").json() == {"file": "session.json", "session": None}
        assert client.ask("session", **STATE) == {"file": "session.json"}
        assert client.get("/api/session").json()["session"] == STATE
    with served(session=file) as client:
        assert client.explorer.go_on().data == md.network("asia").sample(300, seed=2)
        assert client.get("/api/session").json()["session"] == STATE


def test_a_session_about_a_file_says_when_it_has_changed(tmp_path):
    table, file = tmp_path / "t.csv", tmp_path / "s.json"
    table.write_text("id,rain,wet\n" + "".join(f"{i},{'yn'[i % 2]},{'yn'[i % 3 > 0]}\n" for i in range(60)))
    explorer = Explorer(session=file)
    source = {"file": "t.csv", "path": str(table), "options": {"drop": ["id"]}}
    held = explorer.hold(md.read(table, drop=["id"]), _source(table))
    assert held.to_json()["source"] == source
    explorer.session.write({**STATE, "source": source, "fingerprint": held.fingerprint})
    again = Explorer(session=file).go_on()
    assert (again.fingerprint, again.warnings) == (held.fingerprint, ())
    table.write_text(table.read_text() + "61,y,y\n")
    assert "has changed since the session was kept" in Explorer(session=file).go_on().warnings[0]
    table.unlink()
    with pytest.raises(md.errors.FileError, match="the table of the session cannot be opened"):
        Explorer(session=file).go_on()


def _source(table):
    from mapdag.explorer.doors import source_of

    return source_of(table, {"drop": ["id"]})


def test_what_is_no_session_is_not_written_over(tmp_path):
    file = tmp_path / "thesis.json"
    file.write_text('{"chapter": 1}')
    with pytest.raises(md.errors.FormatError, match="not a session of the explorer"):
        Explorer(session=file)
    assert file.read_text() == '{"chapter": 1}'
    with pytest.raises(md.errors.FileError):
        Explorer(session=tmp_path / "nowhere" / "s.json")


def test_nothing_is_written_but_the_session(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with served(session=tmp_path / "s.json") as client:
        assert client.post("session", format="other").status_code == 422
        assert client.http.post("/api/session", content=b'{"format": "mapdag-explore"').status_code == 400
        assert sorted(tmp_path.iterdir()) == []
        data = client.sample("asia", 300, 1)
        graph = client.learn(data)[-1]
        for form in ("bif", "svg", "png", "report", "command", "python"):
            export(client, data, graph, form, {})
        client.ask("session", **STATE)
    assert [path.name for path in tmp_path.iterdir()] == ["s.json"]


def test_without_a_file_the_page_keeps_its_session_itself(client):
    answer = client.post("session", **STATE)
    assert answer.status_code == 409
    assert "--session FILE" in answer.json()["error"]


# Notebooks -----------------------------------------------------------------------------------------------------------


def test_a_notebook_shows_the_page_with_the_result_s_objective():
    import httpx

    result = md.learn(md.network("asia").sample(300, seed=1), "MaxParents(2)+MU(beta=0.1)+BDeu(10)")
    frame = result.explore(height=500)
    assert 'height="500"' in frame._repr_html_()
    shown = frame._repr_html_()
    assert shown.index("<iframe") < shown.index("<details>") < shown.index("<svg")  # what is left where no page runs
    assert frame._repr_svg_() == result.dag._repr_svg_()
    assert frame.url in repr(frame)
    base, _, query = frame.url.partition("/?token=")
    token, _, key = query.partition("&data=")
    answer = httpx.get(f"{base}/api/data", headers={"X-Mapdag-Token": token}, trust_env=False)
    table = next(each for each in answer.json()["tables"] if each["data"] == key)
    settings = Settings.read(table["settings"])
    assert str(settings.objective) == "MU(beta=0.1)+BDeu(alpha=10)"
    assert settings.max_parents == 2
    assert "frame-ancestors" not in httpx.get(frame.url, trust_env=False).headers["content-security-policy"]
    assert show(result).url == frame.url  # one server, one table


@pytest.mark.parametrize(
    "objective",
    [
        "Support(m=3)+MU(c=1)+BDs(alpha=1)",
        "U+BIC",
        "VSP(beta=0.25)+K2",
        'CS(table={"A->B": 0.9})+qNML',
        "MU(beta=0.5)+AIC",
    ],
)
def test_objectives_become_settings_and_back(objective):
    assert str(Settings.of(md.parse(objective)).objective) == objective


# What is remembered --------------------------------------------------------------------------------------------------


def test_remembered_tables_are_those_that_would_be_counted():
    data = md.network("child").sample(400, seed=1)
    engine, memory = engine_of(data), RememberedTables(engine_of(data), 10_000_000)
    rng = np.random.default_rng(0)
    for _ in range(60):
        child, *others = rng.permutation(data.n_columns).tolist()
        parents = tuple(sorted(others[: rng.integers(0, 3)]))
        rest = [x for x in others if x not in parents]
        some = None if rng.random() < 0.2 else tuple(rest[: rng.integers(1, len(rest))])
        request = Request(child, parents, some)
        for found, counted in zip(memory.tables([request] * 2), engine.tables([request] * 2), strict=True):
            assert _contents(found) == _contents(counted)
            assert found.q.tolist() == counted.q.tolist()
            assert found.n_parents.tolist() == counted.n_parents.tolist()
    before = memory.counted
    memory.tables([request])
    assert memory.counted == before


def _contents(batch):
    counts = batch.counts
    cells = np.split(counts.cells, counts.cell_ends[:-1])
    totals = np.split(counts.totals, counts.total_ends[:-1])
    return [(sorted(c[c > 0].tolist()), sorted(t[t > 0].tolist())) for c, t in zip(cells, totals, strict=True)], (
        counts.n_positive.tolist(),
        counts.q_obs.tolist(),
    )


def test_what_is_remembered_stays_within_its_limit():
    data = md.network("child").sample(1000, seed=1)
    memory = RememberedTables(engine_of(data), 60_000)
    for child in range(data.n_columns):
        memory.tables([Request(child, (), tuple(x for x in range(data.n_columns) if x != child))])
        assert memory.size <= 60_000
    assert memory.size > 0


def test_graphs_do_not_depend_on_what_is_remembered():
    data = md.network("insurance").sample(1000, seed=3)
    arranged = Plan.make().arrange(data)
    memory = Memory(*arranged, 3_000_000)  # too little for all of it
    rng = np.random.default_rng(1)
    for _ in range(25):
        likelihood = str(rng.choice(["BDs", "BDeu"]))
        forbidden = [tuple(rng.choice(data.names, 2, replace=False).tolist()) for _ in range(rng.integers(0, 4))]
        settings = Settings.read(
            {
                "likelihood": likelihood,
                "alpha": float(rng.choice([0.1, 1, 5, 60])),
                "c": float(rng.choice([1, 1.5, 3])),
                "support": [None, 3, 10][rng.integers(3)],
                "forbidden": forbidden,
                "search": str(rng.choice(["hc", "hc", "tabu"])),
            }
        )
        plan = settings.plan()
        found = memory.learn(settings.objective, plan, data.names, data)
        expected = plan.run(data, [settings.objective])[0]
        assert found.dag == expected.dag
        assert found.score == expected.score
        assert memory.size < 6_000_000
