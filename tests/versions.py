"""Run `test_versions.py` with the lowest and with the newest versions of the dependencies that pyproject.toml allows.

Each set is installed in an empty environment, with every extra but the GPU's. Lowest is the first version, from the
declared one on, that has a wheel for this Python; the newest is what pip chooses. ``python tests/versions.py FOLDER``
makes the environments in a folder, both at the same time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
WITHOUT = ("gpu",)  # needs CUDA
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
#: Old versions may use what newer ones of their own dependencies deprecate.
WARNINGS = {"lowest": ["-W", "ignore::DeprecationWarning"], "newest": []}


def required() -> tuple[list[str], list[Requirement]]:
    """Extras that are installed, and all that they and the package itself require."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: lines for name, lines in project["optional-dependencies"].items() if name not in WITHOUT}
    lines = [*project["dependencies"], *(line for each in extras.values() for line in each)]
    found = {line: Requirement(line) for line in lines}
    return list(extras), [each for each in found.values() if each.marker is None or each.marker.evaluate()]


def run(*command: object) -> str:
    """Run a command; its output is shown where it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        env=ENVIRONMENT,
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{done.stdout}")
    return done.stdout


def lowest(python: Path, requirement: Requirement) -> str:
    """Pin a requirement to the lowest version that it allows and that has a wheel for this Python."""
    told = run(python, "-m", "pip", "index", "versions", requirement.name, "--only-binary", ":all:")
    listed = next(line for line in told.splitlines() if line.startswith("Available versions:"))
    versions = [Version(each) for each in listed.partition(":")[2].split(",")]
    allowed = list(requirement.specifier.filter(versions))
    if not allowed:
        raise RuntimeError(f"no version of {requirement} has a wheel for this Python")
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{requirement.name}{extras}=={min(allowed)}"


def check(which: str, folder: Path) -> str:
    """Install one set of versions, and run the tests with it; returns what is to be told."""
    began = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "venv", folder)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [python, "-m", "pip", "install", "--quiet"]
    run(*install, "--upgrade", "pip>=25.1")
    extras, requirements = required()
    pins = [lowest(python, each) for each in requirements] if which == "lowest" else []
    run(*install, "--prefer-binary", f"{ROOT}[{','.join(extras)}]", "hypothesis", "pytest", *pins)
    names = {each.name for each in requirements}
    installed = run(python, "-m", "pip", "list", "--format", "freeze").split()
    told = ", ".join(each.replace("==", " ") for each in installed if each.partition("==")[0].lower() in names)
    tests = [*WARNINGS[which], ROOT / "tests" / "test_versions.py"]
    tested = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    return f"{which}: {told}\n{tested.splitlines()[-1]} ({time.monotonic() - began:.0f} s with the installation)"


def main() -> int:
    """Check both sets at once, on two cores."""
    with ThreadPoolExecutor() as pool:
        found = [pool.submit(check, which, Path(sys.argv[1]) / which) for which in WARNINGS]
    for each in found:
        print(each.exception() or each.result())  # noqa: T201
    return sum(each.exception() is not None for each in found)


if __name__ == "__main__":
    sys.exit(main())
