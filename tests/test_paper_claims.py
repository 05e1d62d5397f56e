"""Claims of the paper, measured on rows whose answers are known."""

import csv
import io
import math
from functools import partial

import numpy as np
import pytest

from mapdag.paper import checks, trends
from mapdag.paper.asides import EVERY_CLAIM
from mapdag.paper.claims import measure_claims, render_claims, tally
from mapdag.paper.measures import Measure, Parts, best, every, judge
from mapdag.paper.misprint import INSTEAD, SUSPECT, render_supposed, suppose
from mapdag.paper.objectives import FIRST_TABLE, goal
from mapdag.paper.transcript import CLAIMS
from mapdag.study.panel import Panel
from study_rows import DESIGN, make_panel, make_row


def test_the_claims_are_complete():
    claims = CLAIMS
    assert [claim.number for claim in claims] == list(range(1, 80))
    # Figures that the transcript of the paper counts: 62 printed p-values for 70 tests, 61 counts out of 60.
    each = [claim.check.func is checks.better and not claim.check.keywords["readings"] for claim in claims]
    tests = sum(len(claim.check.keywords["pairs"]) for claim, apart in zip(claims, each, strict=True) if apart)
    single = sum(bool(claim.p) for claim, apart in zip(claims, each, strict=True) if not apart)
    assert sum(len(claim.p) for claim in claims) == 62
    assert tests + single == 62 + 3 + 5
    assert sum(len(claim.k) for claim in claims if claim.of == 60) == 61
    assert {claim.metric for claim in claims} <= {"shd", "arcs", "loglik", "arcs, shd"}
    assert all(claim.text for claim in claims)
    assert [claim.number for claim in EVERY_CLAIM] == list(range(1, 88))
    assert all(claim.place and claim.printed and not claim.p and not claim.k for claim in EVERY_CLAIM[79:])


def test_every_objective_of_the_claims_is_in_the_design():
    def names(value):
        if isinstance(value, str):
            return {value} if "BD" in value or "BIC" in value else set()
        if isinstance(value, partial):
            return names(list(value.keywords.values()))
        return {name for each in value for name in names(each)} if isinstance(value, (tuple, list, dict)) else set()

    used = names([claim.check for claim in EVERY_CLAIM])
    assert used <= {*DESIGN.objectives, "MU+BDs", "BIC"}
    assert set(FIRST_TABLE) <= set(DESIGN.objectives)


def test_claims_agree_with_results_made_to_agree_and_differ_from_others():
    better = {goal("MU", "BDs", 1): 4, goal("MU", "BDs", 10): 5, goal("U", "BDeu", 1): 8, goal("U", "BDeu", 10): 12}

    def value(network, size, replicate, objective):
        noise = (len(network) + len(size) + replicate) % 3
        return {"shd": better.get(objective, 9) + noise * (objective in better), "arcs": better.get(objective, 9)}

    found = {finding.claim.number: finding for finding in measure_claims(make_panel(value))}
    assert len(found) == 87
    for number in (1, 2, 17, 20, 21, 87):
        assert found[number].verdict == "agrees"
        assert found[number].measures[0].k == 60
        assert found[number].measures[0].p < 1e-10
    assert found[4].verdict == "agrees"  # BIC 9 against 12 and more
    assert found[12].parts == (True, True, False)  # in 60 of 60, not in 53
    assert found[3].measures[0].k == 60
    assert found[3].verdict == "differs"  # in 60 of 60, not in 40
    assert found[8].measures[0].k == 0
    assert found[22].measures[0].k == 0
    assert found[23].measures[1].k == 60
    assert found[27].verdict == "agrees"
    assert found[32].verdict == "agrees"  # log-likelihoods are all the same
    assert found[18].verdict == "differs"  # no trend at all
    assert [n for n, finding in found.items() if finding.verdict == "not testable"] == [81]
    opposite = {n.claim.number: n for n in measure_claims(make_panel(lambda *cell: {"shd": 20 - value(*cell)["shd"]}))}
    assert opposite[1].verdict == opposite[87].verdict == "differs"
    assert opposite[1].parts == (False, False, False)


def test_correlations_with_the_sample_size_are_found():
    trend = {"diabetes": 3.0, "pigs": 2.0, "water": 0.0}

    def value(network, size, replicate, objective):
        return {"shd": round(500 + 100 * trend.get(network, -4.0) * math.log(float(size)))}

    found = {finding.claim.number: finding for finding in measure_claims(make_panel(value, replicates=1))}
    assert (found[18].measures[0].k, found[18].measures[0].m, found[18].verdict) == (7, 10, "agrees")
    assert (found[19].measures[0].k, found[19].verdict) == (2, "agrees")


def test_claims_whose_cells_are_missing_are_not_testable_and_say_why():
    few = make_panel(networks=["child"], sizes=["1"], replicates=1)
    found = {finding.claim.number: finding for finding in measure_claims(few)}
    assert found[1].verdict == "not testable"
    assert found[1].reason.startswith("missing cells: fewer than two with MU(beta=0.5)+BDs(alpha=1)")
    assert found[19].verdict == found[33].verdict == found[63].verdict == "not testable"
    some = make_panel(networks=["child", "alarm"], objectives=["U+BIC", "U+BDeu(alpha=1)"])
    found = {finding.claim.number: finding for finding in measure_claims(some)}
    assert found[5].measures[0].m == 12
    assert found[1].verdict == "not testable"
    untested = [finding for finding in found.values() if finding.verdict == "not testable"]
    assert all(finding.reason.startswith("missing cells") for finding in untested if finding.claim.number != 81)
    assert "benchmarks/families.py" in found[81].reason


def test_a_few_cells_neither_agree_nor_differ():
    small = make_panel(lambda network, size, replicate, objective: {"shd": len(size) + replicate}, sizes=["1"])
    three = make_panel(networks=["child", "alarm", "asia"], sizes=["1"], replicates=2)
    found = measure_claims(three)
    assert not [finding for finding in found if finding.verdict in {"agrees", "differs"} and finding.claim.of > 6]
    first = found[0]
    assert (first.verdict, first.measures[0].m) == ("too few cells", 3)
    assert first.remark == " (3 of the paper's 60)"
    assert "too few cells (3 of the paper's 60)" in render_claims([found], ["one"])
    assert "0 agrees, 0 differs" in tally(finding for finding in found if finding.claim.of > 6)
    assert measure_claims(small)[0].verdict == "differs"  # ten networks at one size are ten cells


def test_claims_are_written_with_all_arms():
    panel = make_panel()
    findings = measure_claims(panel)
    for form in ("text", "markdown", "latex"):
        text = render_claims([findings, findings], ["one", "two"], form)
        assert text.count("\n") >= 79
        assert "nan" not in text
    rows = list(csv.DictReader(io.StringIO(render_claims([findings], ["one"], "csv"))))
    assert {int(row["number"]) for row in rows} == set(range(1, 88))
    assert rows[0]["paper_p"] == "0.00018"
    assert (rows[0]["p_agrees"], rows[0]["direction_agrees"], rows[0]["counts_agrees"]) == ("False", "False", "False")
    assert str(Measure("x", 0.012, 3, 4, 60)) == "0.012, 3/60 (4)"


# The three parts of a verdict


@pytest.mark.parametrize(
    ("ours", "p", "share", "parts"),
    [
        (Measure(p=1e-5, k=58, m=60), 1e-3, 59 / 60, (True, True, True)),
        (Measure(p=1e-5, k=40, m=60), 1e-3, 59 / 60, (True, True, False)),
        (Measure(p=0.6, k=30, m=60), 0.043, 4 / 60, (True, False, False)),  # not significant either, but the other way
        (Measure(p=0.02, k=50, m=60), 0.002, 50 / 60, (False, True, True)),
        (Measure(p=0.02, k=50, m=60), 0.002, None, (False, True, None)),
        (Measure(k=50, shown=40, m=60), None, 45 / 60, (None, None, True)),  # between strict and shown
        (Measure(k=50, shown=40, m=60), None, 33 / 60, (None, None, False)),
    ],
)
def test_p_value_direction_and_count_are_judged_apart(ours, p, share, parts):
    found = judge(ours, p, share)
    assert found == parts
    assert found.agrees == (False not in parts)
    assert found.differing == tuple(name for name, each in zip(Parts._fields, parts, strict=True) if each is False)


def test_a_reading_agrees_as_a_whole_or_not():
    half = [Parts(True, True, False), Parts(False, True, True)]
    assert not best(half).agrees
    assert best([*half, Parts(True, True, True)]).agrees
    assert every(half) == (False, True, False)
    assert every([Parts(), Parts(direction=True)]) == (None, True, None)


def test_a_count_that_is_off_is_enough_to_differ():
    def value(network, size, replicate, objective):
        few = network == "pigs"  # in 6 cells of 60 MU+BDs is much better, in all others a little worse
        return {"shd": 100 + (objective == goal("MU", "BDs", 1)) * (-900 if few else 1) + len(size)}

    found = measure_claims(make_panel(value))[0]
    assert found.measures[0].k == 6
    assert found.parts.counts is False
    assert found.verdict == "differs"


# Chance


def test_resamples_draw_from_the_replicates_that_there_are():
    rows = [make_row("asia", "1", i, "U+BIC", shd=i, arcs=i) for i in (2, 5, 7)]
    rows += [make_row("child", "1", i, "U+BIC", shd=100 + i, arcs=100 + i) for i in range(1, 8)]
    panel = Panel.from_rows(rows, "file", "hc")
    seen = set()
    for seed in range(50):
        drawn = panel.resampled(np.random.default_rng(seed))
        values = drawn.values["shd"][0, 0, :, 0]
        assert np.isfinite(values).sum() == 3
        assert np.isfinite(drawn.values["shd"][1]).all()
        assert np.array_equal(drawn.values["shd"], drawn.values["arcs"] * 10, equal_nan=True)
        seen |= set(values[np.isfinite(values)].tolist())
    assert seen == {2.0, 5.0, 7.0}
    assert panel.values["shd"][0, 0, 1, 0] == 2.0  # as it was


def test_verdicts_that_other_samples_would_turn_are_within_chance():
    def value(network, size, replicate, objective):
        clear = objective == goal("U", "BDeu", 10)
        noise = hash_of(network, size, replicate, objective) % 40
        return {"shd": 50 + noise + 500 * clear}

    panel = make_panel(value, replicates=4)
    first, *again = (measure_claims(panel, resamples=20) for _ in range(2))
    assert first == again[0]
    found = {finding.claim.number: finding for finding in first}
    assert found[17].steady == (1.0, 1.0, 1.0, 1.0)
    assert not found[17].is_within_chance
    loose = [finding for finding in first if finding.is_within_chance]
    assert loose
    assert all("?" in finding.judged and finding.remark == " (within chance)" for finding in loose)
    assert tally(first).endswith(f"; {len(loose)} within chance")
    assert found[81].steady == ()


def hash_of(*values):
    return sum(ord(letter) * 31**i for i, letter in enumerate("/".join(map(str, values))))


# What is said without figures


def test_what_lies_between_is_counted_over_all_metrics():
    shds = {"U+BIC": 3, "U+K2": 5, "U+BDeu(alpha=1)": 4, "U+AIC": 7}
    panel = make_panel(lambda *cell: {"shd": shds[cell[3]]}, objectives=list(shds))
    inside, outside = ("U+BIC", "U+BDeu(alpha=1)", "U+K2"), ("U+BIC", "U+AIC", "U+K2")
    found = trends.between(panel, {"shd": [inside], "loglik": [inside]})
    assert (found.measures[0].k, found.measures[0].m, found.parts.agrees) == (90, 90, True)  # equals are between
    found = trends.between(panel, {"shd": [inside, outside]})
    assert (found.measures[0].k, found.measures[0].m, found.parts.agrees) == (60, 120, False)


def test_most_and_all_are_counted_strictly():
    panel = make_panel(
        lambda network, size, replicate, objective: {
            "shd": 100 + (objective == "U+BIC" and network in {"pigs", "water"})
        },
        objectives=["U+BIC", "U+K2"],
    )
    pair = [("U+K2", "U+BIC")]
    assert checks.wins_more_often(panel, pair, "shd", share=0.1).parts.agrees  # 12 of 60
    assert not checks.wins_more_often(panel, pair, "shd", share=0.2).parts.agrees
    assert checks.nearly_best(panel, [("U+BIC", "U+K2")], within=0.05).measures[0].k == 60
    assert checks.nearly_best(panel, [("U+BIC", "U+K2")], within=0.0).measures[0].k == 48


# The column that seems to be another's


def test_a_column_that_holds_anothers_values_explains_its_claims():
    base = {
        goal(c, "BDeu", a): x
        for a, xs in ((1, (20, 10, 9, 12)), (10, (60, 30, 35, 45)))
        for c, x in zip(("1/2", "c=1", "c=2", "c=5"), xs, strict=True)
    }

    def value(network, size, replicate, objective):
        return {"shd": base.get(objective, 50) + (len(network) * len(size) + replicate) % 3}

    panel = make_panel(value)
    findings = measure_claims(panel)
    found = {each.measured.claim.number: each for each in suppose(panel, findings)}
    assert set(found) == {39, 45, 46, 58, 63}
    assert not found[58].measured.parts.agrees
    assert (found[58].supposed.measures[0].p, found[58].supposed.measures[0].k) == (1.0, 0)
    assert found[46].measured.parts == (False, False, False)
    assert found[46].supposed.parts == (True, True, False)  # in 60 of 60, not in 47
    assert found[46].measured == findings[45]
    text = render_supposed([("one", tuple(found.values())), ("none", ())], "markdown")
    assert text.count("If the paper's SHD") == 1
    assert f"with {INSTEAD} for {SUSPECT}" in text
    few = make_panel(objectives=["U+BIC"])
    assert suppose(few, measure_claims(few)) == ()
