"""Another counting engine gives the same answer in every search, to the last bit; who is none is told apart."""

import math
from collections import Counter

import numpy as np
import pytest

import mapdag as md
from mapdag.counts import ENGINES, CountTable, Engine, Request, batch_of
from mapdag.errors import ParameterError


class Plain(Engine):
    """Counts rows in Python."""

    def __init__(self, data):
        self.cards, self.n_rows, self.total, self.fractions = data.cards, data.n_rows, data.total, 0
        self.codes = data.codes
        self.asked = 0

    def table(self, child, parents):
        cells = sorted(Counter(zip(*self.codes[[*parents, child]].tolist(), strict=True)).items())
        sizes = Counter(key[:-1] for key, _ in cells)
        return CountTable(
            r=int(self.cards[child]),
            q=math.prod(int(self.cards[p]) for p in parents),
            offsets=np.cumsum([0, *sizes.values()]),
            levels=np.array([key[-1] for key, _ in cells]),
            counts=np.array([count for _, count in cells]),
            configurations=np.array(list(sizes)).reshape(len(sizes), len(parents)),
            n_nodes=self.n_nodes,
        )

    def tables(self, requests):
        self.asked += len(requests)
        return [batch_of([self.table(each.child, p) for p in each.families()], each.child) for each in requests]


@pytest.mark.parametrize("search", ["orders", "hc", "tabu", "exact"])
@pytest.mark.parametrize("name", ["asia", "sachs"])
def test_every_search_finds_the_same_with_another_engine(name, search):
    data = md.network(name).sample(60, seed=2)
    if search == "exact":
        data = data.select(list(data.names[:7]))
    objectives = ["Support(3)+MU(c=1)+BDs(1)", "U+BDeu(10)", "BIC", "U+qNML", "MU(c=1)+K2"]
    made = []

    def make(table):
        made.append(Plain(table))
        return made[-1]

    options = {"effort": 0.1} if search == "orders" else {}
    here = md.learn(data, objectives, search=search, **options)
    there = md.learn(data, objectives, search=search, engine=make, **options)
    assert [each.dag for each in here] == [each.dag for each in there]
    assert [each.score for each in here] == [each.score for each in there]
    assert made
    assert made[0].asked


@pytest.mark.parametrize("seed", range(4))
def test_with_few_nodes_every_engine_leads_to_the_same_graph(seed, tmp_path):
    """With few nodes the default search looks at all graphs, whoever counts."""
    rng = np.random.default_rng(seed)
    columns = int(rng.integers(8, 14))
    data = md.network("alarm").sample(int(rng.integers(50, 400)), seed=seed)
    data = data.select([data.names[i] for i in rng.choice(data.n_columns, columns, replace=False)])
    md.write_table(data, tmp_path / "rows.csv")
    scanned = md.scan(tmp_path / "rows.csv", levels=dict(data.levels), cache=tmp_path)
    results = [md.learn(data, "BDeu(10)", effort=0.2, engine=engine) for engine in ("cores", "blocks", Plain)]
    results.append(md.learn(scanned, "BDeu(10)", effort=0.2))
    assert len({each.dag for each in results}) == len({each.score for each in results}) == 1


def test_an_engine_is_registered_under_a_name(monkeypatch):
    monkeypatch.setitem(ENGINES, "plain", Plain)
    data = md.network("asia").sample(40, seed=1)
    assert md.learn(data, engine="plain").score == md.learn(data).score


@pytest.mark.parametrize("engine", ["gpu", "mapdag.counts.cores:Counter", 3, len, lambda data: data])
def test_what_is_no_engine_is_refused(engine):
    with pytest.raises(ParameterError, match="engine must be one of cores, blocks, or make an Engine"):
        md.learn(md.network("asia").sample(40, seed=1), engine=engine)


def test_a_request_names_its_families():
    assert Request(0, (2, 3)).families() == [(2, 3)]
    assert Request(0, (2, 4), (1, 3)).families() == [(1, 2, 4), (2, 3, 4)]
    assert Request(0, (2, 4), ()).families() == []
