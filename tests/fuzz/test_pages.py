"""Hostile names and levels in a real browser: they are shown as they are, and nothing else happens."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from inputs import HOSTILE

import mapdag as md


def test_hostile_names_are_only_names(visit, tmp_path):
    names = [name for name in HOSTILE if name.strip() and len(name) < 100][:40]
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, size=(len(names), 60))
    data = md.Dataset.from_codes(codes.T, names=names, levels=[[name, f"not {name}"] for name in names])
    path = tmp_path / "page.html"
    md.Result.given(md.DAG(names, pairwise(names)), data, "BDs").report(path)
    page = visit(path)  # which fails at anything logged, asked for or popped up
    shown = page.locator(".node").evaluate_all("nodes => nodes.map(node => node.getAttribute('aria-label'))")
    assert sorted(shown) == sorted(names)
