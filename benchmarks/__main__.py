"""Run the benchmarks, each in a process of its own, and make one page of their results.

python benchmarks                    # everything
python benchmarks --quick            # smaller and fewer: to see whether it works
python benchmarks peers scaling      # these only; the page keeps the others' last results
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from harness import results
from harness.script import parser, progress, settings_of

#: In the order of the page. Reading comes last: nothing else depends on it.
SCRIPTS = ("peers", "families", "scaling", "memory", "startup", "roofline", "reading")
#: Those that compare with another version, or measure quality, and take minutes to hours: only by name.
LONG = (
    "versions",
    "support",
    "one_answer",
    "first_minutes",
    "as_collected",
    "prediction",
    "gaps",
    "gaps_scale",
    "inference",
    "explore",
    "cores",
    "gpu",
    "scan",
    "search",
    "column_orders",
    "workers",
    "certified",
    "luck",
    "learned_alpha",
    "benchpress",
    "density",
    "posterior",
)
KNOWN = (*SCRIPTS, *LONG)


def main() -> int:
    options = parser(__doc__ or "")
    options.add_argument(
        "scripts", nargs="*", metavar="SCRIPT", help=f"of {', '.join(KNOWN)}; all but the last {len(LONG)} unless given"
    )
    found = options.parse_args()
    unknown = [name for name in found.scripts if name not in KNOWN]
    if unknown:
        options.error(f"SCRIPT must be of {', '.join(KNOWN)}, got {', '.join(unknown)}")
    settings = settings_of(found)
    passed = ["--out", str(settings.out), *(["--data", str(settings.data)] if settings.data else [])]
    passed += ["--quick"] if settings.quick else []
    failed = []
    for name in found.scripts or SCRIPTS:
        start = time.perf_counter()
        script = Path(__file__).parent / f"{name}.py"
        if subprocess.run([sys.executable, str(script), *passed], check=False).returncode:
            failed.append(name)
        progress(f"{name}: {time.perf_counter() - start:.0f} s")
    progress(f"written to {results.write_page(KNOWN, settings.out)}")
    if failed:
        progress(f"failed: {', '.join(failed)}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
