"""Hostile names and levels in a real browser: they are shown as they are, and nothing else happens."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from inputs import HOSTILE

import explorer_page
import mapdag as md
from mapdag.explorer.library import Source

explore, client = explorer_page.explore, explorer_page.client  # fixtures

NAMES = [name for name in HOSTILE if name.strip() and len(name) < 100]


def table(names):
    codes = np.random.default_rng(1).integers(0, 2, size=(len(names), 60))
    codes[1::2] = codes[::2][: len(codes[1::2])]  # copies, so that there are arcs
    return md.Dataset.from_codes(codes.T, names=names, levels=[[name, f"not {name}"] for name in names])


@pytest.mark.parametrize("names", [NAMES[:40], NAMES[40:]])
def test_hostile_names_are_only_names(visit, tmp_path, names):
    path = tmp_path / "page.html"
    md.Result.given(md.DAG(names, pairwise(names)), table(names), "BDs").report(path)
    page = visit(path)  # which fails at anything logged, asked for or popped up
    shown = page.locator(".node").evaluate_all("nodes => nodes.map(node => node.getAttribute('aria-label'))")
    assert sorted(shown) == sorted(names)
    for name in ("__proto__", "constructor", "toString", "</script>", "=1+1"):
        if name in names:
            page.locator(".node").nth(shown.index(name)).press("Enter")
            assert name in page.locator("body").inner_text()


@pytest.mark.parametrize("names", [NAMES[:40], NAMES[40:]])
def test_hostile_names_are_only_names_in_the_explorer(explore, client, names):
    key = client.explorer.hold(table(names), Source("</title><script>alert(1)</script>.csv")).key
    page = explore(key)
    shown = page.locator(".node").evaluate_all("nodes => nodes.map(node => node.getAttribute('aria-label'))")
    assert len(shown) == len(names)
    for name in names:
        assert any(name in (each or "") for each in shown), name
    for name in ("__proto__", "constructor", "</script>"):
        if name in names:
            page.locator(".node").nth(next(i for i, each in enumerate(shown) if name in each)).press("Enter")
