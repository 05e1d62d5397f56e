"""What the paper says of its study without a p-value or a count out of 60, as data like the claims with figures.

From its sections 4 and 5, and the captions of its appendix.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mapdag.paper import checks, trends
from mapdag.paper.measures import NotTestable
from mapdag.paper.objectives import BIC, goal
from mapdag.paper.transcript import CLAIMS, Claim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mapdag.paper.measures import Measured
    from mapdag.study.panel import Panel

_PRIORS = ("U", "1/2", "c=1", "c=2", "c=5")
_SPARSER = _PRIORS[1:]
_KINDS = ("BDeu", "BDs")
_NEARLY = 0.05  # of the best SHD, up to which another is nearly the same
_ALL_BUT_ONE = 59 / 60


def _of_three_alphas(prior: str, kind: str) -> tuple[str, str, str]:
    return goal(prior, kind, 1), goal(prior, kind, 5), goal(prior, kind, 10)


def _costs(_: Panel) -> Measured:
    """Refuse to compare seconds, which the rows of a study cannot tell."""
    raise NotTestable(
        "seconds of a row depend on what the same process learned before it; benchmarks/families.py measures it"
    )


def _asides() -> Iterator[Claim]:
    threes = [_of_three_alphas(prior, kind) for kind in _KINDS for prior in _PRIORS]
    check = partial(trends.between, triples=dict.fromkeys(("shd", "arcs", "loglik"), threes))
    note = "ten pairs of prior and likelihood; SHD and arcs in all cells, log-likelihoods for n/p < 1; ends included"
    text = "alpha = 5 is always between alpha = 1 and alpha = 10"
    yield Claim(80, text, "all", 1500, check, "5", note=note, printed="always", place="4")
    text, note = "MU+BDs can be computed in the same time as U+BDeu", "not of the study, but of its scores"
    yield Claim(81, text, "seconds", 60, _costs, note=note, printed="the same", place="5")
    groups = [[goal("MU", "BDs", a), goal("U", "BDs", a), goal("MU", "BDeu", a)] for a in (1, 10)]
    check = partial(checks.nearly_best, groups=groups, within=_NEARLY)
    text, note = "MU+BDs has nearly the SHD of the better of U+BDs and MU+BDeu", "nearly: at most 5 % more"
    yield Claim(82, text, "shd", 60, check, "1; 10", note=note, printed="in most cases", place="4.1")
    pairs = [(goal("U", "BDeu", a), goal("MU", "BDs", a)) for a in (1, 10)]
    check = partial(trends.grow_together, pairs=pairs)
    text = "U+BDeu has the higher SHD because of its arcs"
    note = "tested: the more arcs U+BDeu has beyond MU+BDs in a cell, the more SHD; no proof of a cause"
    yield Claim(83, text, "shd, arcs", 60, check, "1; 10", note=note, printed="seems so", place="4.1")
    # Significant, says the paper, but prints no p-values: zero stands for them.
    check = partial(checks.sparser_than_truth, objective=BIC, sizes=("0.1", "0.2", "0.5", "1", "2"), p=0.0)
    text = "BIC sparser than an oracle at every n/p but 5"
    yield Claim(84, text, "arcs", 10, check, conclusion="significant", printed="significant", place="4.1")
    tables = [[goal(prior, kind, a) for prior in _PRIORS for a in (1, 10)] for kind in _KINDS]
    check = partial(trends.every_one, checks=[partial(checks.all_tied, objectives=each) for each in tables])
    text = "BDeu, and BDs, tied with every prior for n/p >= 1"
    yield Claim(85, text, "loglik", 30, check, "1; 10", note="captions of tables 8 and 9", printed="all", place="B")
    alphas = [(goal(prior, "BDs", 1), goal(prior, "BDs", 10)) for prior in _SPARSER]
    check = partial(checks.wins_more_often, pairs=alphas, metric="shd", share=0.5)
    text, note = (
        "MU+BDs: alpha 1 > alpha 10 in more than half of the cells, every prior",
        "its own counts: 42, 30, 36, 40",
    )
    yield Claim(86, text, "shd", 60, check, note=note, printed="all four", place="4.2")
    swapped = [(b, a) for a, b in pairs]
    check = partial(checks.wins_more_often, pairs=swapped, metric="shd", share=_ALL_BUT_ONE)
    text, note = "MU+BDs > U+BDeu in every cell", "its own counts: 59 and 58 of 60"
    yield Claim(87, text, "shd", 60, check, "1; 10", note=note, printed="all", place="5")


#: All claims: those with figures, and what is said without.
EVERY_CLAIM = (*CLAIMS, *_asides())
