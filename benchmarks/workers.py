"""Hill climbing on a Dask cluster of this machine: workers, rows, bytes and round trips, and what a kill costs."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from harness.samples import SEED
from harness.script import Script, Settings, progress
from harness.tables import Table

if TYPE_CHECKING:
    from harness.targets import Target

NETWORK = "alarm"
PARTITIONS = 8


def sample(number: int, rows: int, name: str = NETWORK) -> Any:
    """One partition, made where it will stay."""
    import mapdag as md

    return md.network(name).sample(rows, seed=SEED + number).to_pandas()


def frame_of(rows: int, name: str = NETWORK) -> Any:
    """Rows in partitions, a function of their number."""
    import dask.dataframe as dd

    make = partial(sample, rows=rows // PARTITIONS, name=name)
    return dd.from_map(make, range(PARTITIONS), meta=sample(0, 10, name))


class Counted:
    """Makes engines that note how much goes to workers and comes back."""

    def __init__(self) -> None:
        self.engine: Any = None
        self.sent: list[int] = []
        self.received: list[int] = []

    def __call__(self, data: Any) -> Any:
        from mapdag.distributed.blocks import RemoteEngine
        from mapdag.distributed.partitions import narrowed

        noted = self

        class Noting(RemoteEngine):
            def parts(self, turn: Any) -> Any:
                found = super().parts(turn)
                noted.sent.append(len(pickle.dumps(turn)))
                noted.received.append(len(pickle.dumps(narrowed(found))))
                return found

        self.engine = Noting(data)
        return self.engine


def learn(data: Any, engine: Any = None) -> Any:
    import mapdag as md

    return md.learn(data, search="hc", order="columns", engine=engine)


def timed(call: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def with_a_kill(client: Any, data: Any) -> tuple[float, Any]:
    """Learn while one worker is killed, half a second after the start."""
    pid = min(client.run(os.getpid).values())
    threading.Timer(0.5, os.kill, (pid, signal.SIGKILL)).start()
    return timed(partial(learn, data))


def one_cluster(workers: int, rows: int, expected: Any) -> tuple[Any, ...]:
    import distributed

    import mapdag as md

    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        learn(md.read(frame_of(8_000)))  # loads the kernels
        packing, data = timed(lambda: md.read(frame_of(rows)))
        plain = min(timed(partial(learn, data))[0] for _ in range(2))
        counted = Counted()
        found = learn(data, counted)
        killed, after = with_a_kill(client, data)
        for each in (found, after):
            if expected is not None and (each.dag, each.score) != (expected.dag, expected.score):
                raise RuntimeError("the result must not depend on who counts")
        client.wait_for_workers(workers)
        time.sleep(2)
    work = counted.engine.work
    return (
        workers,
        rows,
        packing,
        plain,
        work.passes,
        plain / work.passes * 1e3,
        work.families / plain,
        sum(counted.sent) / len(counted.sent) / 1e3,
        sum(counted.received) / len(counted.received) / 1e3,
        killed,
    )


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    import mapdag as md

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    rows, every = [], [10**5] if settings.quick else [10**5, 10**6, 10**7]
    for n in every:
        progress(f"workers: {n:,} rows in memory")
        whole = None
        if n <= 10**6:
            import pandas as pd

            whole = md.read(pd.concat([sample(i, n // PARTITIONS) for i in range(PARTITIONS)], ignore_index=True))
            learn(whole)
            seconds, expected = timed(partial(learn, whole))
            rows.append((0, n, None, seconds, 0, None, expected.families / seconds, None, None, None))
        else:
            expected = None
        for workers in (1, 2) if settings.quick else (1, 2, 4):
            progress(f"workers: {workers}, {n:,} rows")
            rows.append(one_cluster(workers, n, expected))
    columns = (
        "workers",
        "rows",
        "read and packed, s",
        "learned, s",
        "round trips",
        "ms each",
        "families/s",
        "kB to a worker",
        "kB back",
        "learned with a kill, s",
    )
    note = (
        "No workers: in memory. Workers have one thread each. The graph and its score were the same with any number "
        "of workers, also where one was killed, and in memory where that is in the table."
    )
    return [Table("ALARM, MU+BDs, hill climbing on a local Dask cluster", columns, tuple(rows), note)], [], None


if __name__ == "__main__":
    Script("workers", "Workers of a cluster", __doc__ or "", measure).main()
