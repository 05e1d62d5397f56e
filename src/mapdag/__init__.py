"""Maximum-a-posteriori DAGs: structure learning for discrete Bayesian networks."""
