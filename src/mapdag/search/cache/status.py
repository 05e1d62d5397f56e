"""What a compiled loop came back with, and what Python has to do about it."""

from __future__ import annotations

OK = 0  # done
FULL = 1  # the store must grow
ASK = 2  # a score must be asked for in Python; the store says which
PAUSED = 3  # more to do: limits and Ctrl-C may be looked at
CONVERGED = 4  # nothing more to do
CROWDED = 5  # the trees of the search over orders must grow
