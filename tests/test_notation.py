"""The notation of objectives: what is printed is read back, and errors point at their place."""

import warnings

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import mapdag as md
from mapdag.errors import NotationError, ParameterError


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("MU(c=1)+BDs(alpha=1)", "MU(c=1)+BDs(alpha=1)"),
        ("BDeu", "U+BDeu(alpha=1)"),
        ("bdeu(10)", "U+BDeu(alpha=10)"),
        (" mu( 1/2 ) + bic ", "MU(beta=0.5)+BIC"),
        ("BIC(k=2.5)", "U+BIC(k=2.5)"),
        ("BDs(1e-3)+MU(beta=.25)", "MU(beta=0.25)+BDs(alpha=0.001)"),
        ("MaxParents(3)+MU(c=1)+BDs", "MaxParents(m=3)+MU(c=1)+BDs(alpha=1)"),
        ("U()+K2()", "U+K2"),
        ("eBIC(gamma=1)+U", "U+eBIC(gamma=1)"),
        ("VSP({'A': 0.1, \"B->A\": 1/4}, default=0.2)+AIC", 'VSP(beta={"A": 0.1, "B->A": 0.25}, default=0.2)+AIC'),
        ('CS({"A->B": 0.8})+BDeu(1)', 'CS(table={"A->B": 0.8})+BDeu(alpha=1)'),
        ('CS([["a b", "ü", 0.5]])+fNML', 'CS(table={"a b->ü": 0.5})+fNML'),
        (
            'LogLinear(["arcs", {"A->B": 2}], [1, 2], lam=-0.5)+qNML',
            'LogLinear(features=["arcs", {"A->B": 2}], weights=[1, 2], lam=-0.5)+qNML',
        ),
        ("CS({'A->B': [0.2, 0.3, 0.5]})+K2", 'CS(table={"A->B": [0.2, 0.3, 0.5]})+K2'),
        ("BD(a=0.3)", "U+BD(a=0.3)"),
        ("LogLik", "U+LogLik"),
        ("BDJ", "U+BDJ"),
        ("\n MU(c = 1)\n + BDs\n", "MU(c=1)+BDs(alpha=1)"),
        ("CS({('A', 'B'): 0.8})+BDeu(1)", 'CS(table={"A->B": 0.8})+BDeu(alpha=1)'),
        (r"VSP({'a\d': +1/2})+BIC", r'VSP(beta={"a\\d": 0.5})+BIC'),
    ],
)
def test_an_expression_is_read_and_printed(text, printed):
    objective = md.parse(text)
    assert str(objective) == repr(objective) == printed
    assert md.parse(printed) == objective
    assert str(md.parse(printed)) == printed


@pytest.mark.parametrize(
    "prior",
    [
        md.CS({("a\nb", 'tab\t"quote"'): 0.5}),
        md.CS({("a->b", "c"): 0.5}),
        md.CS({("  lead", "Z"): 0.8}),
        md.CS({("b\\", "'"): (0.2, 0.3, 0.5)}),
        md.LogLinear([{("A", "B"): 2}, "roots"]),
        md.VSP({"x'y": 0.1, ("p", "q->r"): 0.2}, default=0.5),
    ],
)
def test_nasty_names_survive_the_notation(prior):
    objective = prior + md.BIC()
    assert md.parse(str(objective)) == objective


names = st.text(min_size=1)
probabilities = st.floats(0.01, 0.99)
priors = st.one_of(
    st.just(md.U()),
    st.builds(md.MU, beta=probabilities),
    st.builds(md.MU, c=st.floats(1, 4.99)),
    st.builds(md.VSP, st.dictionaries(names, probabilities, max_size=3), default=probabilities),
    st.builds(md.CS, st.dictionaries(st.tuples(names, names), st.floats(0, 0.5), max_size=3)),
    st.builds(md.MaxParents, st.integers(0, 2**52)),
    st.builds(md.Support, st.floats(0, 1e100, exclude_min=True)),
    st.builds(md.LogLinear, st.lists(st.sampled_from(["arcs", "roots"]), max_size=2), lam=st.floats(-1e9, 1e9)),
)
likelihoods = st.one_of(
    st.sampled_from([md.K2(), md.BDJ(), md.BIC(), md.AIC(), md.fNML(), md.qNML(), md.LogLik()]),
    st.builds(md.BDs, st.floats(0, 1e100, exclude_min=True)),
    st.builds(md.eBIC, st.floats(0, 1e100)),
)


@given(priors, priors, likelihoods)
def test_whatever_is_printed_is_read_back(first, second, likelihood):
    objective = first + second + likelihood
    assert md.parse(str(objective)) == objective


pieces = st.sampled_from([*"()[]{},:=+-*/\\\"'#;. \n\0\ud800ü1", "MU", "BDs", "c", "1e400", "->", "if", "lambda", "0x"])


@given(st.one_of(st.text(), st.lists(pieces).map("".join)))
@example("U+" * 20_000 + "BDs")
@example("-" * 20_000 + "1")
def test_every_text_is_read_or_pointed_at(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            assert isinstance(md.parse(text), md.Objective)
        except NotationError as error:
            assert 0 <= error.position <= len(text)  # noqa: PT017 - it need not be raised


def test_explicit_pairs_are_not_ambiguous():
    nodes = ["a", "b->c", "a->b", "c"]
    assert md.CS({("a->b", "c"): 0.9}).log_odds(nodes)[2, 3] > 0
    assert md.CS({("a", "b->c"): 0.9}).log_odds(nodes)[0, 1] > 0
    assert md.CS({("  lead", "Z"): 0.8}).log_odds(["  lead", "Z"])[0, 1] > 0


def test_sums_of_objects_are_the_same_as_text():
    assert md.MU(c=1) + md.BDs(alpha=1) == md.parse("MU(c=1)+BDs(1)")
    assert md.BDs(1) + md.MU(c=1) == md.MU(c=1) + md.BDs(1)
    assert md.MaxParents(2) + md.U() + md.BIC() == md.parse("MaxParents(2)+U+BIC")
    assert md.MaxParents(2) + (md.MU() + md.BIC()) == md.parse("MaxParents(2)+MU+BIC")
    assert md.MU() + md.BIC() + md.MaxParents(2) == md.parse("MU+MaxParents(2)+BIC")
    assert md.parse(md.BDeu(3)) == md.parse("BDeu(3)")
    objective = md.parse("K2")
    assert md.parse(objective) is objective


def test_only_priors_and_one_likelihood_can_be_added():
    for wrong in (
        lambda: md.BIC() + md.AIC(),
        lambda: md.MU() + 1,
        lambda: md.BIC() + "MU",
        lambda: (md.U() + md.K2()) + 1,
    ):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("", 0, "expected a prior"),
        ("MU(c=1)", 7, "a likelihood is missing"),
        ("MU(c=1)+", 8, "expected a prior"),
        ("BDeu+BDs", 5, "two likelihoods"),
        ("MU(c=1)+BDx(1)", 8, r"no prior or likelihood is called 'BDx'; did you mean BD"),
        ("Foo", 0, "Likelihoods: BDeu, BDs, K2"),
        ("BDs(alpha=1", 3, r"'\(' was never closed"),
        ("BDs(beta=1)", 4, "BDs takes alpha, not 'beta'"),
        ("K2(3)", 0, r"K2 takes \(\)"),
        ("K2(a=3)", 3, "takes no parameters"),
        ("BDs(alpha=1, alpha=2)", 13, "given twice"),
        ("MU(beta=1/2, 3)", 14, "positional argument follows keyword argument"),
        ("BDs(alpha=-1)", 10, "alpha must be a positive number, got -1.0"),
        ("MU(beta=1)+K2", 8, "strictly between 0 and 1"),
        ("BDeu(0)", 5, "alpha must be a positive number, got 0"),
        ("BDeu(1/0)", 5, "no number: float division by zero"),
        (f"BDeu(1{'0' * 400})", 5, "no number: int too large"),
        ('MaxParents("a")+BIC', 11, "m must be a whole number"),
        ("MaxParents(1e400)+BIC", 11, "m must be a whole number"),
        ('CS({"A->B": "x"})+BIC', 0, "one or three probabilities"),
        ('CS([["A"]])+BIC', 0, "a row of CS"),
        ('CS("abc")+BIC', 0, "mapping or rows"),
        ("CS({[1, 2]: 0.5})+BIC", 0, "an arc must be written"),
        ("CS({{}: 0.5})+BIC", 4, "before the colon"),
        ("CS({[[]]: 0.5})+BIC", 4, "before the colon"),
        ("CS({**BIC})+BIC", 6, "before the colon"),
        ('LogLinear(["arcs"], ["x"])+BIC', 20, "weights and lam must be finite"),
        ('LogLinear("arcs", [1], "x")+BIC', 18, "weights and lam must be finite"),
        ('LogLinear([{"A->B": "x"}])+BIC', 0, "finite number"),
        (f"BD({'[' * 300}", 202, "too many nested parentheses"),
        ("BDs & MU", 6, r"expected '\+' before this"),
        ("BDs MU", 4, "cannot read 'M' here; objectives are written as in 'Support"),
        ("BDs(1,,2)", 6, "cannot read ',' here"),
        ("BDs(1, alpha=2)", 7, "alpha is given twice"),
        ("BDs(*MU)", 4, "expected a number"),
        ("BDs(**MU)", 4, r"BDs takes alpha, not '\*\*'"),
        ("BDs(alpha=None)", 10, "expected a number"),
        ("BDs(alpha=True)", 10, "expected a number"),
        ("BDs(alpha=print())", 10, "expected a number"),
        ("md.BDs(1)", 0, "expected a prior"),
        ("BDs(1)(2)", 0, "expected a prior"),
        ("BDs(alpha=$)", 10, r"cannot read '\$' here"),
        ("CS({'A->B: 0.5})+BIC", 4, "unterminated string literal\n"),
        ('  CS({"ü->é": 0.5}) + BDs(alpha=-1)', 32, "alpha must be a positive number"),
        ("MU(1, 2, 3)+BIC", 0, "MU takes"),
    ],
)
def test_a_bad_expression_is_pointed_at(text, position, message):
    with pytest.raises(NotationError, match=message) as caught:
        md.parse(text)
    assert caught.value.position == position
    assert str(caught.value).endswith(f"  {text}\n  {' ' * position}^")


def test_what_is_not_an_objective_is_refused():
    for wrong in (None, 3, md.MU()):
        with pytest.raises(ParameterError, match=r"must be a prior \+ a likelihood"):
            md.parse(wrong)


@pytest.mark.parametrize("text", ["BDs(1)#c+eBIC", "BDs(1) # of the paper", "#BIC"])
def test_comments_are_refused_as_something_may_be_meant_by_them(text):
    with pytest.raises(NotationError, match="cannot read '#' here") as caught:
        md.parse(text)
    assert caught.value.position == text.index("#")


def test_what_is_in_quotes_stays_and_other_blanks_are_blanks():
    text = 'CS({"a#b->c\u00a0d": [0.2, 0.3, 0.5]})\u00a0+\u2003BDs(1)'
    assert md.parse(text) == md.CS({"a#b->c\u00a0d": (0.2, 0.3, 0.5)}) + md.BDs(1)
