"""pgmpy: its hill climbing with BDeu and alpha = 1, other options by default. Timed is `fit`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pandas as pd
from pgmpy.structure_score import BDeu

from harness.samples import reload

_loaded: dict[str, Any] = {}


def load(folder: Path) -> None:
    names, levels, codes = reload(folder)
    # Categories of texts: columns of whole numbers would be taken for Gaussian.
    _loaded["frame"] = pd.DataFrame(
        {
            name: pd.Categorical.from_codes(codes[i].astype(int), [str(k) for k in range(len(levels[name]))])
            for i, name in enumerate(names)
        }
    )
    _loaded["states"] = {name: [str(k) for k in range(len(levels[name]))] for name in names}


def run(objective: str) -> tuple[float, list[tuple[str, str]], dict[str, Any]]:
    if objective != "BDeu(1)":
        raise ValueError(f"pgmpy's BDs is another score than ours; only BDeu(1) is compared, got {objective}")
    from pgmpy.causal_discovery import HillClimbSearch

    frame = _loaded["frame"]
    score = BDeu(frame, equivalent_sample_size=1, state_names=_loaded["states"])
    search = HillClimbSearch(scoring_method=score, return_type="dag", show_progress=False)
    start = time.perf_counter()
    search.fit(frame)
    seconds = time.perf_counter() - start
    return seconds, [tuple(arc) for arc in search.causal_graph_.edges()], {}
