"""Searches over single-arc moves: hill climbing and tabu."""
