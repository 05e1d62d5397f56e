"""Certified search: the best graph with a proof, or how far the best possible one can be, for tens of nodes."""
