"""The posterior over graphs: exact, with independent draws, for few nodes; by Markov chains for many."""

from mapdag.sampling.graph_posterior import ClassShare, Convergence, GraphShare, Posterior, SampledGraph
from mapdag.sampling.sample_graphs import posterior

__all__ = ["ClassShare", "Convergence", "GraphShare", "Posterior", "SampledGraph", "posterior"]
