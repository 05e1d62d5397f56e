"""BIF between us and the packages that people use with it: what one writes, the other reads, to every probability.

Each network is built in the peer from our tables, through its own constructors, so that its reader and its writer are
tested one by one. The files in `tests/bif` are what these packages once wrote; here are the packages themselves.
"""

import itertools
import warnings

import pytest

from mapdag.io import read_network, write_network
from mapdag.reference import network

pytestmark = pytest.mark.filterwarnings("ignore")  # their warnings are theirs

NAMES = ["asia", "alarm", "sachs"]
SINGLE = 1e-6  # pyAgrum's files hold single precision


def entries(net):
    """Every entry of every table, as {node: {{(node, level), (parent, level), ...}: probability}}."""
    tables = {}
    for node in net.nodes:
        family = (*net.parents(node), node)
        every = itertools.product(*[net.levels[member] for member in family])
        tables[node] = {
            frozenset(zip(family, case, strict=True)): float(p)
            for case, p in zip(every, net.cpt(node).ravel(), strict=True)
        }
    return tables


def assert_same(got, expected, tolerance):
    assert got.keys() == expected.keys()
    for node, table in expected.items():
        assert got[node] == pytest.approx(table, rel=0, abs=tolerance)


class PyAgrum:
    tolerance = SINGLE

    def __init__(self):
        self.gum = pytest.importorskip("pyagrum")

    def build(self, net):
        bn = self.gum.BayesNet("peer")
        for node in net.nodes:
            bn.add(self.gum.LabelizedVariable(node, node, list(net.levels[node])))
        for arc in net.dag.arcs:
            bn.addArc(*arc)
        for node, table in entries(net).items():
            for case, p in table.items():
                where = self.gum.Instantiation(bn.cpt(node))
                for member, level in case:
                    where.chgVal(member, level)
                bn.cpt(node).set(where, p)
        return bn

    def write(self, bn, path):
        self.gum.saveBN(bn, str(path))

    def read(self, path):
        bn = self.gum.loadBN(str(path))
        return {node: self._table(bn.cpt(node)) for node in bn.names()}

    def _table(self, cpt):
        variables = [cpt.variable(i) for i in range(cpt.nbrDim())]
        table, where = {}, self.gum.Instantiation(cpt)
        while not where.end():
            case = frozenset((v.name(), v.label(where.val(v))) for v in variables)
            table[case] = cpt.get(where)
            where.inc()
        return table


class Pgmpy:
    tolerance = 0

    def __init__(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pytest.importorskip("pgmpy")
            from pgmpy import readwrite
            from pgmpy.factors.discrete import TabularCPD
            from pgmpy.models import DiscreteBayesianNetwork
        self.io, self.cpd, self.model = readwrite, TabularCPD, DiscreteBayesianNetwork

    def build(self, net):
        model = self.model(net.dag.arcs)
        model.add_nodes_from(net.nodes)
        for node in net.nodes:
            parents = list(net.parents(node))
            model.add_cpds(
                self.cpd(
                    node,
                    len(net.levels[node]),
                    net.cpt(node).reshape(-1, len(net.levels[node])).T,
                    evidence=parents or None,
                    evidence_card=[len(net.levels[parent]) for parent in parents] or None,
                    state_names={member: list(net.levels[member]) for member in (node, *parents)},
                )
            )
        assert model.check_model()
        return model

    def write(self, model, path):
        self.io.BIFWriter(model).write(str(path))

    def read(self, path):
        model = self.io.BIFReader(str(path)).get_model()
        return {cpd.variable: self._table(cpd) for cpd in model.get_cpds()}

    def _table(self, cpd):
        every = itertools.product(*[cpd.state_names[member] for member in cpd.variables])
        return {
            frozenset(zip(cpd.variables, case, strict=True)): float(p)
            for case, p in zip(every, cpd.values.ravel(), strict=True)
        }


@pytest.fixture(params=[PyAgrum, Pgmpy])
def peer(request):
    return request.param()


@pytest.mark.parametrize("name", NAMES)
def test_we_read_what_the_peer_writes(peer, name, tmp_path):
    net = network(name)
    peer.write(peer.build(net), tmp_path / "peer.bif")
    back = read_network(tmp_path / "peer.bif")
    assert_same(entries(back), entries(net), peer.tolerance)
    assert set(back.dag.arcs) == set(net.dag.arcs)


@pytest.mark.parametrize("name", NAMES)
def test_the_peer_reads_what_we_write(peer, name, tmp_path):
    net = network(name)
    write_network(net, tmp_path / "ours.bif")
    assert_same(peer.read(tmp_path / "ours.bif"), entries(net), peer.tolerance)
