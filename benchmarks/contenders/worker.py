"""Serve one adapter: read a request a line (fields separated by tabs), answer each with a line of JSON.

python worker.py mapdag_hc
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any


def main() -> None:
    # Libraries print what they like; answers go to the pipe that was stdout.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(Path(__file__).parent.parent))
    adapter: Any = import_module(f"contenders.{sys.argv[1]}")
    for line in sys.stdin:
        request, argument = line.rstrip("\n").split("\t")
        if request == "load":
            adapter.load(Path(argument))
            answer: dict[str, Any] = {"loaded": argument}
        else:
            seconds, arcs, more = adapter.run(argument)
            answer = {"seconds": seconds, "arcs": arcs, **more}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
