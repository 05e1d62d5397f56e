"""Threads that live on, since each remembers the terms that it has computed."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache


@cache
def pool(threads: int) -> ThreadPoolExecutor:
    """Return so many threads, always the same ones."""
    return ThreadPoolExecutor(threads, thread_name_prefix="mapdag")


if hasattr(os, "register_at_fork"):  # a process that is forked off has none of them
    os.register_at_fork(after_in_child=pool.cache_clear)
