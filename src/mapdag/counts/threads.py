"""Threads that live on, since each remembers the terms that it has computed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache


@cache
def pool(threads: int, purpose: str = "mapdag") -> ThreadPoolExecutor:
    """Return so many threads, always the same ones for one purpose: those of one do not wait for those of another."""
    return ThreadPoolExecutor(threads, thread_name_prefix=purpose)


if hasattr(os, "register_at_fork"):  # a process that is forked off has none of them
    os.register_at_fork(after_in_child=pool.cache_clear)


@contextmanager
def helped(task: Callable[[], None], threads: int, helpers: int) -> Iterator[None]:
    """Have some of so many threads do a task, too, which all share by taking turns; they are done at the end."""
    sent = [pool(threads).submit(task) for _ in range(helpers)]
    try:
        yield
    finally:
        for each in sent:
            each.result()
