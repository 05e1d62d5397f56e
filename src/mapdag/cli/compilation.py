"""The command ``warm-up``: kernels compiled before they are needed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer

import mapdag as md

if TYPE_CHECKING:
    from collections.abc import Callable


def warm_up() -> None:
    """Compile what learning, bootstrap, prediction and missing values need, once on a machine: some minutes.

    Whatever is compiled already takes no time. Commands compile what they need themselves, too, when they need it.
    """
    from mapdag.compiling import seconds
    from mapdag.search.warmup import warm_up as compile_beside

    compile_beside()
    began = time.monotonic()
    for what, use in _uses():
        before = seconds()
        use()
        typer.echo(f"{what}: compiled in {seconds() - before:.1f} s")
    typer.echo(f"ready after {time.monotonic() - began:.0f} s")


def _uses() -> list[tuple[str, Callable[[], object]]]:
    """Small uses of all that has kernels, in words, for tables of up to 256 levels."""
    alarm, asia = md.network("alarm"), md.network("asia")
    many, few = alarm.sample(300, seed=1), asia.sample(300, seed=1)
    rows = {name: [few.levels[name][code] for code in codes] for name, codes in zip(few.names, few.codes, strict=True)}
    rows["smoke"] = [None if i % 7 == 0 else level for i, level in enumerate(rows["smoke"])]
    rows["bronc"] = [None if i % 5 == 0 else level for i, level in enumerate(rows["bronc"])]
    gaps = md.read(rows, missing="keep", like=asia)
    networks = [md.fit(alarm.dag, many), md.fit(asia.dag, few)]
    return [
        ("the default search", lambda: md.learn(many, effort=0.3)),
        ("few columns", lambda: md.learn(few)),
        ("hill climbing, tabu search", lambda: [md.learn(few, search=search) for search in ("hc", "tabu")]),
        ("bootstrap", lambda: md.bootstrap(few, R=2)),
        ("prediction", lambda: [networks[0].predict_proba(many, "CATECHOL"), networks[1].predict_proba(gaps, "dysp")]),
        ("missing values", lambda: [md.learn(gaps, search="hc"), md.structural_em(gaps), md.impute(asia, gaps)]),
        ("the posterior over graphs of few columns", lambda: md.posterior(few, time_limit=5)),
    ]


COMMANDS = (warm_up,)
