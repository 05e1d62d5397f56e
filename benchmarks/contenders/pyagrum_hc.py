"""pyAgrum: greedy hill climbing with its BDeu (alpha = 1, as its score is by default), on one thread and on two.

The number of threads comes with the objective, as in "BDeu(1) @2"; two is its default here, and the faster one on a
quiet machine, but its threads spin, so that two are far slower than one when another process takes a core.

Timed is `learnDAG` alone; the learner, which is where pyAgrum codes its data, is made anew for every run, untimed.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pandas as pd
import pyagrum as gum

from harness.samples import reload

_loaded: dict[str, Any] = {}


def load(folder: Path) -> None:
    names, levels, codes = reload(folder)
    template = gum.BayesNet()
    for name in names:
        template.add(gum.LabelizedVariable(name, name, [str(k) for k in range(len(levels[name]))]))
    frame = pd.DataFrame({name: codes[i].astype(str) for i, name in enumerate(names)})
    _loaded.update(frame=frame, template=template)


def run(objective: str) -> tuple[float, list[tuple[str, str]], dict[str, Any]]:
    objective, _, threads = objective.partition(" @")
    if objective != "BDeu(1)":
        raise ValueError(f"pyAgrum's hill climbing has BDeu(1) only, got {objective}")
    learner = gum.BNLearner(_loaded["frame"], _loaded["template"])
    learner.useScoreBDeu()
    learner.useGreedyHillClimbing()
    if threads:
        learner.setNumberOfThreads(int(threads))
    start = time.perf_counter()
    dag = learner.learnDAG()
    seconds = time.perf_counter() - start
    arcs = [(learner.nameFromId(tail), learner.nameFromId(head)) for tail, head in dag.arcs()]
    return seconds, arcs, {"threads": learner.getNumberOfThreads()}
