"""Structural EM: learning graphs from rows with gaps, under any objective."""
