"""Scores of families, each counted once: `store` is the compiled side, `cache` the Python side."""

from mapdag.search.cache.cache import Ask, FamilyCache, Shelf

__all__ = ["Ask", "FamilyCache", "Shelf"]
