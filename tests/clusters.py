"""What tests of clusters share: workers in processes of their own, and waiting until all of them are there again."""

from __future__ import annotations

import logging
import os
import time
from contextlib import contextmanager

import distributed

_PATIENCE = 60  # seconds for a worker to be started again


@contextmanager
def local_cluster(workers=2):
    """Start workers of one thread; whatever was killed meanwhile, they are ended."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    cluster = distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
    )
    try:
        yield cluster
    finally:
        settle(cluster)
        try:
            cluster.close()
        except KeyError:  # at the very end, Dask may stumble over workers that were killed: all is closed by then
            cluster.status = distributed.core.Status.closed


def settle(cluster):
    """Wait until all workers that there shall be are there."""
    deadline = time.monotonic() + _PATIENCE
    while len(cluster.scheduler_info["workers"]) != len(cluster.workers) and time.monotonic() < deadline:
        time.sleep(0.05)


def workers_of(client):
    """Return the processes of all workers, when as many answer as there shall be: one that was killed does not."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        settle(client.cluster)
        answers = client.run(os.getpid, on_error="return")
        pids = sorted(answer for answer in answers.values() if isinstance(answer, int))
        if len(pids) == len(answers) == len(client.cluster.workers):
            return pids
        time.sleep(0.05)
    raise TimeoutError("workers that were killed did not come back")
