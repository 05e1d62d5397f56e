"""The search over orders of the nodes: the default."""
