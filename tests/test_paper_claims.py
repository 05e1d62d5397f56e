"""Claims of the paper, measured on rows whose answers are known."""

import csv
import io
import math
from functools import partial

from mapdag.paper import checks
from mapdag.paper.checks import Measure
from mapdag.paper.claims import measure_claims, render_claims, tally
from mapdag.paper.objectives import FIRST_TABLE, goal
from mapdag.paper.transcript import CLAIMS
from study_rows import DESIGN, make_panel


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


def test_every_objective_of_the_claims_is_in_the_design():
    def names(value):
        if isinstance(value, str):
            return {value} if "BD" in value or "BIC" in value else set()
        if isinstance(value, partial):
            return names(list(value.keywords.values()))
        return {name for each in value for name in names(each)} if isinstance(value, (tuple, list, dict)) else set()

    used = names([claim.check for claim in CLAIMS])
    assert used <= {*DESIGN.objectives, "MU+BDs", "BIC"}
    assert set(FIRST_TABLE) <= set(DESIGN.objectives)


def test_claims_agree_with_results_made_to_agree_and_differ_from_others():
    better = {goal("MU", "BDs", 1): 4, goal("MU", "BDs", 10): 5, goal("U", "BDeu", 1): 8, goal("U", "BDeu", 10): 12}

    def value(network, size, replicate, objective):
        noise = (len(network) + len(size) + replicate) % 3
        return {"shd": better.get(objective, 9) + noise * (objective in better), "arcs": better.get(objective, 9)}

    found = {finding.claim.number: finding for finding in measure_claims(make_panel(value))}
    assert len(found) == 79
    for number in (1, 2, 17, 20, 21):
        assert found[number].verdict == "agrees"
        assert found[number].measures[0].k == 60
        assert found[number].measures[0].p < 1e-10
    assert found[4].verdict == "agrees"  # BIC 9 against 12 and more
    assert found[12].verdict == "agrees"
    assert found[3].measures[0].k == 60
    assert found[3].verdict == "differs"  # in 60 of 60, not in 40
    assert found[8].measures[0].k == 0
    assert found[22].measures[0].k == 0
    assert found[23].measures[1].k == 60
    assert found[27].verdict == "agrees"
    assert found[32].verdict == "agrees"  # log-likelihoods are all the same
    assert found[18].verdict == "differs"  # no trend at all
    assert not any(finding.verdict == "not testable" for finding in found.values())
    opposite = {n.claim.number: n for n in measure_claims(make_panel(lambda *cell: {"shd": 20 - value(*cell)["shd"]}))}
    assert opposite[1].verdict == "differs"
    assert opposite[1].direction == "opposite"


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
    assert all(
        finding.reason.startswith("missing cells") for finding in found.values() if finding.verdict == "not testable"
    )


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
    assert {int(row["number"]) for row in rows} == set(range(1, 80))
    assert rows[0]["paper_p"] == "0.00018"
    assert str(Measure("x", 0.012, 3, 4, 60)) == "0.012, 3/60 (4)"
