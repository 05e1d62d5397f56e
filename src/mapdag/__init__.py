"""Maximum-a-posteriori DAGs: structure learning for discrete Bayesian networks.

The public names below are loaded when first used, so that importing the package stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mapdag import errors, report, theory
    from mapdag.contracts import Likelihood, Objective, Prior
    from mapdag.counts import Counter, CountTable
    from mapdag.crossvalidation import CrossValidation, cross_validate
    from mapdag.data import Check, Cuts, Dataset, Gaps, Interventions, ScannedDataset, check, discretize, read, scan
    from mapdag.explorer.doors import explore
    from mapdag.graphs import (
        CPDAG,
        DAG,
        Comparison,
        NextExperiments,
        compare,
        hamming,
        meek_closure,
        n_dags,
        next_experiments,
        random_dag,
        shd,
        uniform_dag,
    )
    from mapdag.io import (
        from_networkx,
        from_pgmpy,
        from_pyagrum,
        read_arcs,
        read_graph,
        read_network,
        write_graph,
        write_network,
        write_table,
    )
    from mapdag.networks import (
        CPT,
        EM,
        AdjustedEffect,
        BayesianNetwork,
        Distribution,
        Explanation,
        Imputation,
        Marginals,
        PooledEstimate,
        adjusted_effect,
        fit,
        fit_em,
        impute,
        kl_divergence,
        pool_estimates,
    )
    from mapdag.objective import Hyperparameters, Score, parse, score
    from mapdag.predictions import Metrics, evaluate, metrics
    from mapdag.priors import CS, MU, VSP, LogLinear, MaxParents, Support, U
    from mapdag.reference import catalogue, network
    from mapdag.resamples import Bootstrap, bootstrap
    from mapdag.sampling import EffectPosterior, Posterior, posterior, read_posterior
    from mapdag.scores import AIC, BD, BDJ, BIC, K2, NAL, PNAL, BDeu, BDs, Custom, LogLik, eBIC, fNML, qNML
    from mapdag.search import (
        ArcPosteriors,
        Certificate,
        Constraints,
        EMResult,
        Result,
        arc_posteriors,
        best_dags,
        certify,
        hill_climb,
        learn,
        structural_em,
        tabu,
    )
    from mapdag.theory import Diagnosis, alpha_star, diagnose

__version__ = "0.1.0"

__all__ = [
    "AIC",
    "BD",
    "BDJ",
    "BIC",
    "CPDAG",
    "CPT",
    "CS",
    "DAG",
    "EM",
    "K2",
    "MU",
    "NAL",
    "PNAL",
    "VSP",
    "AdjustedEffect",
    "ArcPosteriors",
    "BDeu",
    "BDs",
    "BayesianNetwork",
    "Bootstrap",
    "Certificate",
    "Check",
    "Comparison",
    "Constraints",
    "CountTable",
    "Counter",
    "CrossValidation",
    "Custom",
    "Cuts",
    "Dataset",
    "Diagnosis",
    "Distribution",
    "EMResult",
    "EffectPosterior",
    "Explanation",
    "Gaps",
    "Hyperparameters",
    "Imputation",
    "Interventions",
    "Likelihood",
    "LogLik",
    "LogLinear",
    "Marginals",
    "MaxParents",
    "Metrics",
    "NextExperiments",
    "Objective",
    "PooledEstimate",
    "Posterior",
    "Prior",
    "Result",
    "ScannedDataset",
    "Score",
    "Support",
    "U",
    "adjusted_effect",
    "alpha_star",
    "arc_posteriors",
    "best_dags",
    "bootstrap",
    "catalogue",
    "certify",
    "check",
    "compare",
    "cross_validate",
    "diagnose",
    "discretize",
    "eBIC",
    "errors",
    "evaluate",
    "explore",
    "fNML",
    "fit",
    "fit_em",
    "from_networkx",
    "from_pgmpy",
    "from_pyagrum",
    "hamming",
    "hill_climb",
    "impute",
    "kl_divergence",
    "learn",
    "meek_closure",
    "metrics",
    "n_dags",
    "network",
    "next_experiments",
    "parse",
    "pool_estimates",
    "posterior",
    "qNML",
    "random_dag",
    "read",
    "read_arcs",
    "read_graph",
    "read_network",
    "read_posterior",
    "report",
    "scan",
    "score",
    "shd",
    "structural_em",
    "tabu",
    "theory",
    "uniform_dag",
    "write_graph",
    "write_network",
    "write_table",
]

_HOME = {
    "mapdag.contracts": "Likelihood Objective Prior",
    "mapdag.counts": "CountTable Counter",
    "mapdag.crossvalidation": "CrossValidation cross_validate",
    "mapdag.data": "Check Cuts Dataset Gaps Interventions ScannedDataset check discretize read scan",
    "mapdag.explorer.doors": "explore",
    "mapdag.graphs": "CPDAG DAG Comparison NextExperiments compare hamming meek_closure n_dags next_experiments "
    "random_dag shd uniform_dag",
    "mapdag.io": "from_networkx from_pgmpy from_pyagrum read_arcs read_graph read_network write_graph write_network "
    "write_table",
    "mapdag.networks": "CPT EM AdjustedEffect BayesianNetwork Distribution Explanation Imputation Marginals "
    "PooledEstimate adjusted_effect fit fit_em impute kl_divergence pool_estimates",
    "mapdag.objective": "Hyperparameters Score parse score",
    "mapdag.predictions": "Metrics evaluate metrics",
    "mapdag.priors": "CS MU VSP LogLinear MaxParents Support U",
    "mapdag.reference": "catalogue network",
    "mapdag.resamples": "Bootstrap bootstrap",
    "mapdag.sampling": "EffectPosterior Posterior posterior read_posterior",
    "mapdag.scores": "AIC BD BDJ BIC K2 NAL PNAL BDeu BDs Custom LogLik eBIC fNML qNML",
    "mapdag.search": "ArcPosteriors Certificate Constraints EMResult Result arc_posteriors best_dags certify "
    "hill_climb learn structural_em tabu",
    "mapdag.theory": "Diagnosis alpha_star diagnose",
}
_WHERE = {name: module for module, names in _HOME.items() for name in names.split()}
_MODULES = ("errors", "report", "theory")


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    if name in _MODULES:
        return import_module(f"mapdag.{name}")
    from mapdag.vocabulary import name_hint

    raise AttributeError(f"module 'mapdag' has no attribute {name!r}{name_hint(name, __all__)}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
