"""Give random inputs to everything that takes any, for as long as one likes; ``make fuzz`` runs this.

Every input is a function of its number: ``--first`` and ``--inputs`` repeat it. An input fails if it leads to anything
but a result or one of our errors, takes more than a second or 500 MB, or if a value was changed. Failures are printed
with their numbers, and kept in a file.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from targets import TARGETS, Target

SECONDS, MEGABYTES = 1.0, 500


@dataclass
class Tally:
    """What became of the inputs of one target."""

    inputs: int = 0
    accepted: int = 0
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0
    slow: list[int] = field(default_factory=list)
    growth: int = 0  # megabytes by which one input has raised the peak


def made(target: Target, number: int) -> object:
    """Return the input of a number."""
    return target.make(random.Random(f"{target.name} {number}"))


def run(target: Target, numbers: Iterator[int] | range, until: float = float("inf")) -> Tally:
    """Give a target its inputs."""
    tally = Tally()
    for number in numbers:
        if time.perf_counter() > until:
            break
        given = made(target, number)
        before, began = _peak(), time.process_time()
        try:
            tally.accepted += target.check(given)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            where = traceback.extract_tb(error.__traceback__)[-1]
            short = f"{type(error).__name__}: {error}"[:300]
            tally.failures.append(f"{target.name}, input {number}: {short} ({where.name})\n    {given!r:.500}")
        took = time.process_time() - began
        tally.inputs += 1
        tally.slowest = max(tally.slowest, took)
        tally.growth = max(tally.growth, _peak() - before)
        if took > SECONDS and target.name not in {"searches", "command lines"}:
            tally.slow.append(number)
    return tally


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    """Run a campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300, help="how long, in all")
    parser.add_argument("--inputs", type=int, default=None, help="how many for each target, instead")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--only", default="", help="targets whose names contain this")
    parser.add_argument("--failures", default="fuzz-failures.txt", help="where failures are kept")
    options = parser.parse_args()
    chosen = [target for target in TARGETS if options.only in target.name]
    shares = sum(target.share for target in chosen)
    total, failed = 0, []
    for target in chosen:
        target.check(made(target, 0)) if target.name == "objectives" else None  # compiles
        until = (
            time.perf_counter() + options.seconds * target.share / shares if options.inputs is None else float("inf")
        )
        count = options.inputs if options.inputs is not None else 10**9
        tally = run(target, range(options.first, options.first + count), until)
        total, failed = total + tally.inputs, failed + tally.failures
        failed += [f"{target.name}, input {number}: took more than {SECONDS:g} s" for number in tally.slow]
        if tally.growth > MEGABYTES:
            failed.append(f"{target.name}: one input took {tally.growth} MB")
        print(  # noqa: T201
            f"{target.name:24} {tally.inputs:>9,} inputs, {tally.accepted:>8,} accepted, {len(tally.failures):>4} "
            f"failures, worst {tally.slowest:6.3f} s, {tally.growth:>4} MB more",
            flush=True,
        )
    print(f"{total:,} inputs, {len(failed)} failures, peak {_peak()} MB")  # noqa: T201
    if failed:
        Path(options.failures).write_text("\n".join(failed), encoding="utf-8", errors="backslashreplace")
        print("\n".join(failed[:20]))  # noqa: T201
        sys.exit(1)


if __name__ == "__main__":
    main()
