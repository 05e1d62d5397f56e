"""The designs that come with the library: that of the paper, and a small one."""

from __future__ import annotations

from dataclasses import replace

from mapdag.study.design import Arm, Design, Search


def paper(*, seed: int = 1) -> Design:
    """Design of the paper's section 4, in file order as there, with shuffled columns, and with the default search.

    Hill climbing breaks ties by the order of the columns, as the reference implementation does. The default search
    takes longer: it is given some of the objectives, and the default one, which the paper does not know.
    """
    climbing = Search.make({"label": "hc", "search": "hc", "order": "columns"})
    priors = ("U", "MU(beta=1/2)", "MU(c=1)", "MU(c=2)", "MU(c=5)")
    alphas = ("1", "5", "10")
    dirichlet = [f"{prior}+{kind}({alpha})" for kind in ("BDeu", "BDs") for prior in priors for alpha in alphas]
    some = [f"{score}({alpha})" for score in ("U+BDeu", "MU(c=1)+BDs") for alpha in alphas]
    return Design(
        name="paper",
        networks=(
            *("alarm", "andes", "child", "diabetes", "hailfinder"),
            *("hepar2", "insurance", "pathfinder", "pigs", "water"),
        ),
        sizes=("0.1", "0.2", "0.5", "1", "2", "5"),
        replicates=20,
        objectives=(*dirichlet, "U+BDeu(alpha_S)", "U+BIC"),
        arms=(
            Arm("file", climbing),
            Arm("shuffled", climbing),
            Arm("shuffled", Search.make("default"), (*some, "U+BIC", "Support(3)+MU(c=1)+BDs(1)")),
        ),
        seed=seed,
    )


def quick(*, seed: int = 1) -> Design:
    """Design with all the objectives on small networks and few samples: a minute at most."""
    return replace(paper(seed=seed).shortened(), name="quick")
