"""How much one family cache for all objectives saves, and what the reference implementation would need for the study.

For one sample of each network and size: seconds to learn all objectives in one task, and one task for each objective.
The families that the latter count, times what the reference implementation was seen to take for a family of so many
rows, is its time; times the replicates, that of the whole study. Seconds are of the processor.

    python benchmarks/study_sharing.py --networks child,alarm --sizes 0.1,1
"""

from __future__ import annotations

import argparse
from collections import defaultdict

from mapdag.study import Row, Task, paper
from mapdag.study.cells import missing_tasks
from mapdag.study.runs import warm_up
from mapdag.study.worker import Work, do_task

# What R bnlearn 5.2.1's hill climbing takes for one family (Zen 4, one core): microseconds, and nanoseconds for each
# row. From its seconds on samples of 5,000 and 50,000 rows of ALARM and the families that the same climb counts; within
# a third on HAILFINDER, HEPAR2, WIN95PTS, ANDES and PIGS. On PATHFINDER it takes up to three times and on DIABETES ten
# times as long, since it lays tables out in full: there this is a lower bound.
REFERENCE = {"BDeu": (20.0, 10.0), "BDs": (20.0, 21.0), "BIC": (20.0, 10.0)}


def learn(task: Task) -> tuple[float, list[Row]]:
    """Seconds and rows of a task."""
    *rows, work = do_task(task)
    assert isinstance(work, Work)
    return work.cpu, rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=None, type=lambda text: text.split(","))
    parser.add_argument("--sizes", default=None, type=lambda text: text.split(","))
    given = parser.parse_args()
    whole = paper().restricted(columns=["file"], networks=given.networks, sizes=given.sizes, searches=["hc"])
    design = whole.restricted(replicates=1)
    totals: defaultdict[str, float] = defaultdict(float)
    head = f"{'network':12} {'n/p':>5} {'rows':>7}  {'shared s':>9}  {'apart s':>9}  {'ratio':>6}"
    print(f"{head}  reference, all samples, h")
    for i, task in enumerate(missing_tasks(design)):
        if i == 0:
            warm_up(task)
        shared, rows = learn(task)
        apart = reference = 0.0
        alone = design.restricted(networks=[task.source], sizes=[task.size])
        for objective in design.objectives:
            seconds, (row,) = learn(next(missing_tasks(alone.restricted(objectives=[objective]))))
            apart += seconds
            each, more = next(cost for name, cost in REFERENCE.items() if name in objective)
            reference += row.families * (each * 1e-6 + more * 1e-9 * row.n) * whole.replicates / 3600
        totals["shared"] += shared
        totals["apart"] += apart
        totals["reference"] += reference
        figures = f"{shared:9.2f}  {apart:9.2f}  {apart / shared:6.1f}  {reference:8.3f}"
        print(f"{task.network:12} {task.size:>5} {rows[0].n:7}  {figures}", flush=True)
    ratio = totals["apart"] / totals["shared"]
    print(f"{'all':26}  {totals['shared']:9.2f}  {totals['apart']:9.2f}  {ratio:6.1f}  {totals['reference']:8.3f}")


if __name__ == "__main__":
    main()
