"""Give random inputs to everything that takes any, for as long as one likes; ``make fuzz`` runs this.

Every input is a function of its number: ``--first``, ``--only`` and ``--inputs`` repeat it. An input fails if it leads
to anything but a result or one of our errors, takes more than a second or 500 MB, never ends, ends the process, or if a
value was changed. Failures are printed with their numbers, and kept in a file; ``--report`` writes what became of all.

Each target has a process of its own, which is watched.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))

if TYPE_CHECKING:
    from target import Target

SECONDS, MEGABYTES = 1.0, 500
HANG = 120.0  # seconds after which an input has no end
_AGAIN = 2  # how often an input is given once more that took too much
_SAVED = 5.0  # seconds between two notes of how far a process is


@dataclass
class Tally:
    """What became of the inputs of one target."""

    inputs: int = 0
    accepted: int = 0
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0
    largest: int = 0  # megabytes that one input took
    cpu: float = 0.0

    def add(self, other: Tally) -> None:
        """Put two of them together."""
        self.inputs, self.accepted = self.inputs + other.inputs, self.accepted + other.accepted
        self.failures = self.failures + other.failures
        self.slowest, self.largest = max(self.slowest, other.slowest), max(self.largest, other.largest)
        self.cpu += other.cpu


def made(target: Target, number: int) -> object:
    """Return the input of a number."""
    return target.make(random.Random(f"{target.name} {number}"))


def run(target: Target, numbers: Iterable[int], note: Any = None) -> Tally:
    """Give a target its inputs; `note` is told the number of each before, and the tally."""
    tally = Tally()
    for number in numbers:
        if note is not None:
            note(number, tally)
        given = made(target, number)
        took, grown = _give(target, number, given, tally)
        most = math.inf if target.seconds is None else target.seconds
        if took > most or grown > MEGABYTES:
            for _ in range(_AGAIN):  # the first of its kind may have compiled or loaded something
                again = _give(target, number, made(target, number), Tally())
                took, grown = min(took, again[0]), min(grown, again[1])
            if took > most:
                tally.failures.append(f"{target.name}, input {number}: took {took:.1f} s\n    {given!r:.500}")
            if grown > MEGABYTES:
                tally.failures.append(f"{target.name}, input {number}: took {grown} MB\n    {given!r:.500}")
        tally.inputs += 1
        tally.slowest, tally.largest = max(tally.slowest, took), max(tally.largest, grown)
    return tally


def _give(target: Target, number: int, given: Any, tally: Tally) -> tuple[float, int]:
    """Give one input; returns the seconds and megabytes that it took."""
    before, began = _settled(), time.process_time()
    try:
        tally.accepted += target.check(given)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - panics are none
        where = traceback.extract_tb(error.__traceback__)[-1]
        short = f"{type(error).__name__}: {error}"[:300]
        tally.failures.append(f"{target.name}, input {number}: {short} ({where.name})\n    {given!r:.500}")
    took = time.process_time() - began
    tally.cpu += took
    return took, max(_peak() - before, 0)


def _settled() -> int:
    """Forget the peak of memory so far; returns the megabytes that are in use."""
    try:
        with open("/proc/self/clear_refs", "w") as file:  # noqa: PTH123 - many times
            file.write("5")
    except OSError:
        pass  # not Linux: the peak is that of all inputs so far
    return _peak()


def _peak() -> int:
    try:
        with open("/proc/self/status") as file:  # noqa: PTH123
            text = file.read()
    except OSError:
        return 0
    return int(text.partition("VmHWM:")[2].split()[0]) // 1024


# One process for each target ------------------------------------------------------------------------------------------


def work(name: str, first: int, count: int, seconds: float, place: Path) -> None:
    """Be the process of a target: note in a file how far it is."""
    from targets import TARGETS

    (target,) = (each for each in TARGETS if each.name == name)
    until, saved = time.monotonic() + seconds, 0.0
    shown = place.with_suffix(".number").open("wb", buffering=0)

    def note(number: int, tally: Tally) -> None:
        nonlocal saved
        os.pwrite(shown.fileno(), f"{number:<20}".encode(), 0)
        if time.monotonic() - saved > _SAVED:
            saved = time.monotonic()
            _save(place, tally, number)

    def numbers() -> Iterable[int]:
        for number in range(first, first + count):
            if time.monotonic() > until:
                return
            yield number

    tally = run(target, numbers(), note)
    _save(place, tally, None)


def _save(place: Path, tally: Tally, number: int | None) -> None:
    aside = place.with_suffix(".tmp")
    aside.write_text(json.dumps({**asdict(tally), "next": number}))
    aside.replace(place)


def watch(target: Target, first: int, count: int, seconds: float, folder: Path) -> Tally:
    """Have a process give a target its inputs; one that hangs or dies is a failure, and the next goes on behind it."""
    total, number, until = Tally(), first, time.monotonic() + seconds
    while number < first + count and time.monotonic() < until:
        place = folder / "tally.json"
        place.unlink(missing_ok=True)
        how = [target.name, str(number), str(first + count - number), str(until - time.monotonic()), str(place)]
        process = subprocess.Popen(
            [sys.executable, __file__, "--work", *how], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        told, ended = _until_the_end(process, place.with_suffix(".number"))
        found = json.loads(place.read_text()) if place.exists() else {**asdict(Tally()), "next": number}
        reached = found.pop("next")
        total.add(Tally(**found))
        if reached is None:
            break
        last = int(place.with_suffix(".number").read_text() or number)
        total.failures.append(f"{target.name}, input {last}: {ended} {told[-400:]}")
        total.inputs += last + 1 - number - found["inputs"]  # those since the last note were done, but not noted
        number = last + 1
    return total


def _until_the_end(process: subprocess.Popen[str], number: Path) -> tuple[str, str]:
    """Wait for a process as long as it goes on; returns what it said, and how it ended."""
    last, since = "", time.monotonic()
    while True:
        try:
            _, told = process.communicate(timeout=1.0)
        except subprocess.TimeoutExpired:  # noqa: PERF203
            now = number.read_text() if number.exists() else ""
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > HANG:
                process.kill()
                process.communicate()
                return "", f"has no end (more than {HANG:g} s)"
        else:
            return told, f"ended the process (exit code {process.returncode})"


# All of them ----------------------------------------------------------------------------------------------------------


def main() -> None:
    """Run a campaign."""
    if sys.argv[1:2] == ["--work"]:
        name, first, count, seconds, place = sys.argv[2:]
        work(name, int(first), int(count), float(seconds), Path(place))
        os._exit(0)  # threads of servers do not matter any more
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=None, help="how long, in all; each target gets its part")
    parser.add_argument("--inputs", type=int, default=None, help="how many for each target, instead")
    parser.add_argument("--total", type=int, default=None, help="how many in all, instead")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--only", default="", help="targets whose names contain this")
    parser.add_argument("--failures", default="fuzz-failures.txt", help="where failures are kept")
    parser.add_argument("--state", default=None, help="note each target here when it is done, and leave those out")
    parser.add_argument("--report", default=None, help="write what became of all inputs to this file")
    parser.add_argument("--note", default="", help="what else is to be said in the report")
    options = parser.parse_args()
    from targets import TARGETS

    chosen = [target for target in TARGETS if options.only in target.name]
    state = Path(options.state) if options.state else None
    known = json.loads(state.read_text()) if state is not None and state.exists() else {}
    found = {name: Tally(**each) for name, each in known.items()}
    failed: list[str] = []
    # Files in memory where there is such a place: disks would be most of the time.
    root = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
    folder = Path(_temporary(root))
    os.environ |= {"TMPDIR": str(folder), "MAPDAG_CACHE": str(folder / "cache"), "MAPDAG_QUIET": "1"}
    try:
        for target in [each for each in chosen if each.name not in found]:
            count, seconds = _amount(options, target, chosen)
            tally = found[target.name] = watch(target, options.first, count, seconds, folder)
            print(_line(target.name, tally), flush=True)  # noqa: T201
            failed += tally.failures
            if state is not None:
                state.write_text(json.dumps({name: asdict(each) for name, each in found.items()}))
            if failed:
                Path(options.failures).write_text("\n".join(failed), encoding="utf-8", errors="backslashreplace")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{sum(each.inputs for each in found.values()):,} inputs, {len(failed)} failures")  # noqa: T201
    if options.report:
        Path(options.report).write_text(_report(found, options.first, options.note), encoding="utf-8")
    if failed:
        print("\n".join(failed[:20]))  # noqa: T201
        sys.exit(1)


def _temporary(root: Path | None) -> str:
    import tempfile

    return tempfile.mkdtemp(prefix="mapdag-fuzz-", dir=root)


def _amount(options: argparse.Namespace, target: Target, chosen: list[Target]) -> tuple[int, float]:
    """Return how many inputs a target gets, and how many seconds."""
    whole = sum(each.share for each in chosen)
    if options.inputs is not None:
        return options.inputs, float("inf")
    if options.total is not None:
        return -(-options.total * target.share // whole), float("inf")
    return 10**9, (options.seconds or 300) / len(chosen)


def _line(name: str, tally: Tally) -> str:
    return (
        f"{name:24} {tally.inputs:>9,} inputs, {tally.accepted:>8,} accepted, {len(tally.failures):>4} failures, "
        f"worst {tally.slowest:6.3f} s, {tally.largest:>4} MB, {tally.cpu:8.1f} s in all"
    )


def _report(found: dict[str, Tally], first: int, note: str) -> str:
    """Write a table of what became of all inputs."""
    from mapdag import __version__

    total = Tally()
    for tally in found.values():
        total.add(tally)
    rows = [
        f"| {name} | {each.inputs:,} | {each.accepted:,} | {len(each.failures)} | {each.slowest:.3f} | {each.largest} "
        f"| {each.cpu:,.0f} |"
        for name, each in {**found, "all": total}.items()
    ]
    when = datetime.now(timezone.utc).date().isoformat()
    head = [
        "# The last long campaign",
        "",
        "Written by `python tests/fuzz/campaign.py --total 1000000 --report tests/fuzz/RESULTS.md`; inputs are",
        f"functions of their numbers, here from {first:,} on. Time is that of the processor, memory what one input",
        "took beyond what was in use before. Accepted are those that led to a result; all others led to an error",
        "of ours. Searches, proofs and commands may take longer than a second: compilation is in them, too.",
        "",
        "| target | inputs | accepted | failures | worst, s | worst, MB | all, s |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    rows += ["", note] if note else []
    return "\n".join([*head, *rows, "", f"*{when}, mapdag {__version__}, Python {platform.python_version()}*", ""])


if __name__ == "__main__":
    main()
