"""Maximum-a-posteriori DAGs: structure learning for discrete Bayesian networks.

The public names below are loaded when first used, so that importing the package stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mapdag import errors, theory
    from mapdag.contracts import Likelihood, Objective, Prior
    from mapdag.counts import Counter, CountTable
    from mapdag.data import Cuts, Dataset, discretize, read
    from mapdag.graphs import CPDAG, DAG, Comparison, compare, hamming, meek_closure, random_dag, shd
    from mapdag.objective import Score, parse, score
    from mapdag.priors import CS, MU, VSP, LogLinear, MaxParents, U
    from mapdag.scores import AIC, BD, BDJ, BIC, K2, BDeu, BDs, Custom, LogLik, eBIC, fNML, qNML
    from mapdag.search import Constraints, Result, learn
    from mapdag.theory import alpha_star

__version__ = "0.1.0"

__all__ = [
    "AIC",
    "BD",
    "BDJ",
    "BIC",
    "CPDAG",
    "CS",
    "DAG",
    "K2",
    "MU",
    "VSP",
    "BDeu",
    "BDs",
    "Comparison",
    "Constraints",
    "CountTable",
    "Counter",
    "Custom",
    "Cuts",
    "Dataset",
    "Likelihood",
    "LogLik",
    "LogLinear",
    "MaxParents",
    "Objective",
    "Prior",
    "Result",
    "Score",
    "U",
    "alpha_star",
    "compare",
    "discretize",
    "eBIC",
    "errors",
    "fNML",
    "hamming",
    "learn",
    "meek_closure",
    "parse",
    "qNML",
    "random_dag",
    "read",
    "score",
    "shd",
    "theory",
]

_HOME = {
    "mapdag.contracts": "Likelihood Objective Prior",
    "mapdag.counts": "CountTable Counter",
    "mapdag.data": "Cuts Dataset discretize read",
    "mapdag.graphs": "CPDAG DAG Comparison compare hamming meek_closure random_dag shd",
    "mapdag.objective": "Score parse score",
    "mapdag.priors": "CS MU VSP LogLinear MaxParents U",
    "mapdag.scores": "AIC BD BDJ BIC K2 BDeu BDs Custom LogLik eBIC fNML qNML",
    "mapdag.search": "Constraints Result learn",
    "mapdag.theory": "alpha_star",
}
_WHERE = {name: module for module, names in _HOME.items() for name in names.split()}
_MODULES = ("errors", "theory")


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    if name in _MODULES:
        return import_module(f"mapdag.{name}")
    raise AttributeError(f"module 'mapdag' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
