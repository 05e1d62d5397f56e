"""Fuzzing that is guided by coverage: inputs that reach new lines are kept, and changed further (atheris, libFuzzer).

``pip install atheris``, then ``python tests/fuzz/guided.py networks --seconds 600``; without a name, all readers of
bytes take their turn. An input that leads to anything but a result or one of our errors, or that takes long, ends it,
and is left in a file ``crash-...`` or ``timeout-...``; ``--input FILE`` gives it once more.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

READERS = ("cells of tables", "checks of tables", "compressed and columnar", "files of levels", "files of tiers",
           "networks", "graphs", "objectives", "designs")  # fmt: skip
_SEEDS = 200
_SECONDS, _MEGABYTES = 2, 4000  # for one input; and for the process, whose coverage is kept, too


def _find(name: str) -> tuple[Any, Any]:
    """Return a target, and who takes bytes for it."""
    from of_sizes import read_design_file, read_objective
    from targets import TARGETS

    (target,) = (each for each in TARGETS if each.name == name)
    by_bytes = {"objectives": read_objective, "designs": read_design_file}
    return target, by_bytes.get(name, target.run)


def _seeds(name: str, folder: Path) -> None:
    """Write inputs to begin with."""
    from targets import TARGETS

    (target,) = (each for each in TARGETS if each.name == name)
    for number in range(_SEEDS):
        given = target.make(random.Random(f"{name} {number}"))
        if name == "designs":
            given = "\n".join(f"{key} = {value!r}" for key, value in given.items())
        data = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else given
        (folder / f"{number}").write_bytes(data)


def guided(name: str, arguments: list[str]) -> None:
    """Be the process that gives inputs to one reader."""
    import atheris

    with atheris.instrument_imports(include=["mapdag"], enable_loader_override=False):  # no kernel compiles after that
        import mapdag.cli.options
        import mapdag.data
        import mapdag.io
        import mapdag.objective
        import mapdag.study  # noqa: F401
    from dataclasses import replace

    target, run = _find(name)
    target = replace(target, run=run)
    atheris.Setup([sys.argv[0], *arguments], lambda data: target.check(data) and None)
    atheris.Fuzz()


def main() -> None:
    """Give each reader its turn."""
    if sys.argv[1:2] == ["--work"]:
        guided(sys.argv[2], sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="", help="readers whose names contain this")
    parser.add_argument("--seconds", type=int, default=60, help="for each")
    parser.add_argument("--input", default=None, help="give this file alone")
    options = parser.parse_args()
    failed = []
    for name in [each for each in READERS if options.name in each]:
        with tempfile.TemporaryDirectory(prefix="mapdag-guided-") as folder:
            _seeds(name, Path(folder))
            limits = [f"-max_total_time={options.seconds}", f"-timeout={_SECONDS}", f"-rss_limit_mb={_MEGABYTES}"]
            given = [options.input] if options.input else [folder, *limits]
            command = [sys.executable, __file__, "--work", name, *given, "-verbosity=0", "-print_final_stats=1"]
            environment = {**os.environ, "MAPDAG_QUIET": "1", "MAPDAG_CACHE": str(Path(folder, "cache"))}
            done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
        inputs = next((line.split()[-1] for line in done.stderr.splitlines() if "number_of_executed" in line), "?")
        print(  # noqa: T201
            f"{name:24} {inputs:>9} inputs, {'no failure' if not done.returncode else done.stderr[-3000:]}", flush=True
        )
        failed += [name] * bool(done.returncode)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
