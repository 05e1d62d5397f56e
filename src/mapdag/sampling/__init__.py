"""The posterior over graphs: exact, with independent draws, for few nodes; by Markov chains for many."""

from mapdag.sampling.causal_effects import EffectPosterior, Estimate
from mapdag.sampling.graph_posterior import ClassShare, Convergence, GraphShare, Posterior, SampledGraph
from mapdag.sampling.model_averages import NetworkShare
from mapdag.sampling.posterior_files import read_posterior
from mapdag.sampling.sample_graphs import posterior

__all__ = [
    "ClassShare",
    "Convergence",
    "EffectPosterior",
    "Estimate",
    "GraphShare",
    "NetworkShare",
    "Posterior",
    "SampledGraph",
    "posterior",
    "read_posterior",
]
