"""The nine tables of the paper: averages of SHD, arcs and predictive log-likelihood, for each network and size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mapdag.paper.objectives import BIC, STECK, goal
from mapdag.study import paper
from mapdag.study.averages import AverageTable, Heading, make_table

if TYPE_CHECKING:
    from mapdag.study.panel import Panel


def _headings(kind: str, *priors: tuple[str, str]) -> tuple[Heading, ...]:
    """Columns of one kind of likelihood with some priors, by their names in the table and in the objective."""
    return tuple(Heading(f"{name}+{kind}", str(a), goal(prior, kind, a)) for name, prior in priors for a in (1, 10))


_U, _MU = ("U", "U"), ("MU", "MU")
_PRIORS = (_U, ("MU(1/2)", "1/2"), *((f"MU({c})", c) for c in ("c=1", "c=2", "c=5")))
#: Columns of the first three tables.
SCORES = (
    *_headings("BDeu", _U),
    Heading("U+BDeu", "S", STECK),
    *_headings("BDs", _U),
    *_headings("BDeu", _MU),
    *_headings("BDs", _MU),
    Heading("BIC", "", BIC),
)
_TITLES = {
    "shd": ("Average SHD", "lower is better"),
    "arcs": ("Average number of arcs", "relative to the true graph; closer to 1 is better"),
    "loglik": ("Average predictive log-likelihood", "rescaled by -10000, for n/p < 1; lower is better"),
}


def make_tables(panel: Panel) -> tuple[AverageTable, ...]:
    """Return the nine tables: three measures for the scores with beta = 1/2, for BDeu and for BDs with each prior.

    Three more have all objectives of an arm, where it has some that the paper does not know.
    """
    kinds = [
        ("", "", SCORES),
        ("-bdeu", " for BDeu and different MU priors", _headings("BDeu", *_PRIORS)),
        ("-bds", " for BDs and different MU priors", _headings("BDs", *_PRIORS)),
    ]
    if not set(panel.objectives) <= set(paper().objectives):
        own = tuple(Heading(each, "", each) for each in panel.objectives)
        kinds.append(("-own", " for the objectives of this arm", own))
    return tuple(
        make_table(panel, headings, metric=metric, name=f"{metric}{suffix}", title=f"{title}{words} ({rule})")
        for suffix, words, headings in kinds
        for metric, (title, rule) in _TITLES.items()
    )
