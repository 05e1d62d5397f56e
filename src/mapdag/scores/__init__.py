"""Likelihoods: a family's count table in, a natural log out. Search and priors are unknown here."""

from mapdag.scores.averages import NAL, PNAL
from mapdag.scores.custom import Custom
from mapdag.scores.dirichlet import BD, BDJ, K2, BDeu, BDs
from mapdag.scores.penalised import AIC, BIC, LogLik, eBIC, fNML, qNML

__all__ = [
    "AIC",
    "BD",
    "BDJ",
    "BIC",
    "K2",
    "NAL",
    "PNAL",
    "BDeu",
    "BDs",
    "Custom",
    "LogLik",
    "eBIC",
    "fNML",
    "qNML",
]
