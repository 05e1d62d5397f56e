"""Searches that go through all graphs: the best one, the k best, posteriors of arcs."""
