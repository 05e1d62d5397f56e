"""Words of other packages: every hint that is given works when it is pasted."""

import re

import numpy as np
import pandas as pd
import pytest

import mapdag as md
from mapdag.errors import DEFAULT_SCORE, NotationError, ParameterError
from mapdag.objective import DEFAULT
from mapdag.objective.notation import LIKELIHOODS
from mapdag.vocabulary import flag_hint, name_hint, unknown_options
from mapdag.vocabulary.peers import ATTRIBUTES, NAMES, NO_SCORES, OPTIONS, REMARKS, SCORES

DATA = md.network("asia").sample(120, seed=1).select(["smoke", "lung", "bronc", "dysp", "xray"])
TABLE = {name: [DATA.levels[name][code] for code in DATA.column(name)] for name in DATA.names}
NODES = DATA.names
START = md.DAG(NODES, [("smoke", "lung")])
CALLS = {
    "learn": lambda **options: md.learn(TABLE, **options),
    "hill_climb": lambda **options: md.hill_climb(TABLE, **options),
    "tabu": lambda **options: md.tabu(TABLE, **options),
    "bootstrap": lambda **options: md.bootstrap(TABLE, **{"R": 2, **options}),
    "cross_validate": lambda **options: md.cross_validate(
        TABLE, **{"objectives": ["BIC"], "folds": 2, "max_parents": 1, **options}
    ),
    "fit": lambda **options: md.fit(START, TABLE, **options),
    "score": lambda **options: md.score(START, TABLE, **options),
    "read": lambda **options: md.read({**TABLE, "n": [1, 2] * 60}, **options),
    "diagnose": lambda **options: md.diagnose(START, TABLE, **options),
    "discretize": lambda **options: md.discretize({"x": [i / 7 for i in range(40)], "y": [0, 1] * 20}, **options),
}
ARC = ("smoke", "lung")


def test_attributes_of_peers_are_explained_and_the_hints_work():
    data = md.network("asia").sample(200, seed=1)
    result = md.learn(data, search="hc")
    objects = {"Result": result, "DAG": result.dag, "CPDAG": result.cpdag, "BayesianNetwork": result.fit()}
    for kind, hints in ATTRIBUTES.items():
        for name, here in hints.items():
            with pytest.raises(AttributeError, match=re.escape(f"has no attribute {name!r}; here it is {here}")):
                getattr(objects[kind], name)
            for owner, called in re.findall(r"\b(result|dag|cpdag|network|graph|md)\.(\w+)", here):
                known = {"result": result, "dag": result.dag, "cpdag": result.cpdag, "network": result.fit(), "md": md}
                assert hasattr(known.get(owner, objects[kind]), called), here
    with pytest.raises(AttributeError, match=r"has no attribute 'colour'$"):
        _ = result.colour


@pytest.mark.parametrize(
    ("function", "given", "expected"),
    [
        ("learn", {"score": "bde", "iss": 5}, {"objective": "U+BDeu(5)"}),
        ("learn", {"score": "bds", "iss": 2, "prior": "marginal"}, {"objective": "MU+BDs(2)"}),
        ("learn", {"score": "bds", "prior": "marginal", "beta": 0.25}, {"objective": "MU(beta=0.25)+BDs"}),
        ("learn", {"score": "k2", "prior": "vsp", "beta": 0.25}, {"objective": "VSP(beta=0.25)+K2"}),
        ("learn", {"score": "bic", "k": 2}, {"objective": "U+BIC(2)"}),
        ("learn", {"scoring_method": "bic-d"}, {"objective": "U+BIC"}),
        ("learn", {"scoring_method": "k2"}, {"objective": "U+K2"}),
        ("learn", {"score": "MU(c=1)+BDs(3)"}, {"objective": "MU(c=1)+BDs(3)"}),
        ("learn", {"equivalent_sample_size": 10}, {"objective": "U+BDeu(10)"}),
        ("learn", {"alpha": 0.5}, {"objective": "Support(m=3)+MU(c=1)+BDs(alpha=0.5)"}),
        ("learn", {"blacklist": [ARC]}, {"forbidden": [ARC]}),
        ("learn", {"black_list": [list(ARC)]}, {"forbidden": [ARC]}),
        ("learn", {"blacklist": pd.DataFrame({"from": ["smoke"], "to": ["lung"]})}, {"forbidden": [ARC]}),
        ("learn", {"whitelist": [ARC]}, {"required": [ARC]}),
        ("learn", {"fixed_edges": {ARC}}, {"required": [ARC]}),
        ("learn", {"maxp": 2}, {"max_parents": 2}),
        ("learn", {"max_indegree": 2}, {"max_parents": 2}),
        ("learn", {"max_parent": 2}, {"max_parents": 2}),
        ("learn", {"forbiden": [ARC]}, {"forbidden": [ARC]}),
        ("learn", {"restart": 3}, {"search": "hc", "restarts": 3}),
        ("hill_climb", {"restart": 3}, {"restarts": 3}),
        ("learn", {"tabu_length": 5}, {"search": "tabu", "memory": 5}),
        ("tabu", {"tabu": 5, "max_tabu": 7}, {"memory": 5, "patience": 7}),
        ("learn", {"algorithm": "hc"}, {"search": "hc"}),
        ("learn", {"method": "exhaustive"}, {"search": "exact"}),
        ("learn", {"n_jobs": -1}, {"threads": None}),
        ("learn", {"n_jobs": 2, "random_state": 4}, {"threads": 2, "seed": 4}),
        ("learn", {"verbose": 0}, {"progress": False}),
        ("learn", {"show_progress": False}, {"progress": False}),
        ("learn", {"state_names": {"smoke": ["no", "yes"]}}, {"levels": {"smoke": ["no", "yes"]}}),
        ("learn", {"dropna": True}, {"missing": "drop"}),
        ("read", {"sample_weight": "n"}, {"weights": "n"}),
        ("learn", {"temporal_order": [["smoke"], ["lung"]]}, {"tiers": [["smoke"], ["lung"]]}),
        ("learn", {"max_time": 60}, {"time_limit": 60}),
        ("bootstrap", {"n_boot": 3, "score": "bic"}, {"R": 3, "objective": "U+BIC"}),
        ("cross_validate", {"k": 3}, {"folds": 3}),
        ("cross_validate", {"cv": 3, "score": "bde", "iss": 1}, {"folds": 3, "objectives": ["U+BDeu(1)"]}),
        ("fit", {"iss": 3}, {"alpha": 3}),
        ("fit", {"estimator": "MaximumLikelihoodEstimator"}, {"method": "mle"}),
        ("fit", {"state_names": {"smoke": ["no", "yes"]}}, {"levels": {"smoke": ["no", "yes"]}}),
        ("score", {"score": "k2"}, {"objective": "U+K2"}),
        ("diagnose", {"score": "bde", "iss": 3}, {"objective": "U+BDeu(3)"}),
        ("diagnose", {"iss": 3}, {"alpha": 3}),
        ("cross_validate", {"iss": 3}, {"alpha": 3}),
        ("read", {"na_values": ["x"]}, {"missing_values": ["x"]}),
        ("read", {"delimiter": ";"}, {"separator": ";"}),
        ("read", {"seperator": ";"}, {"separator": ";"}),
        ("read", {"index_col": "xray"}, {"drop": "xray"}),
        ("read", {"n_bins": 4}, {"discretize": "quantile(4)"}),
        ("discretize", {"breaks": 4}, {"bins": 4}),
    ],
)
def test_the_hint_has_the_value_that_was_given_and_works(function, given, expected):
    with pytest.raises(ParameterError, match=f"^{function} has no option") as caught:
        CALLS[function](**given)
    hinted = {setting.option: setting.value for setting in caught.value.settings}
    assert hinted == expected
    CALLS[function](**hinted)
    pasted = re.findall(r"(\w+)=(?=[\[({\"\dTFN])", str(caught.value))
    assert set(expected) <= set(pasted)
    for setting in caught.value.settings:  # what is written is Python
        if len(str(setting)) < 300:
            assert eval(str(setting).partition("=")[2], {}) == setting.value


@pytest.mark.parametrize("function", CALLS)
def test_no_word_leads_to_an_option_that_the_function_does_not_have(function):
    with pytest.raises(ParameterError) as caught:
        CALLS[function](nonsense=1)
    known = str(caught.value).partition("; it takes ")[2].split(", ")
    assert len(known) > 3
    for word in {*OPTIONS, *REMARKS, "alpha", "beta", "prior", "k"} - set(known):
        for value in (3, "bde", "hc", None, True, object, object(), [ARC], float("nan"), np.int64(3), np.ones(2)):
            error = unknown_options(function, {word: value}, known)
            assert {setting.option for setting in error.settings} <= set(known), (word, value, str(error))
            assert str(error).startswith(f"{function} has no option {word!r}")


def test_values_that_cannot_be_written_are_named_only():
    with pytest.raises(ParameterError, match=r"'blacklist': that is called forbidden here$"):
        md.learn(TABLE, blacklist=[("a", "b")] * 100)
    with pytest.raises(ParameterError, match=r"'sample_weight': that is called weights here$"):
        md.learn(TABLE, sample_weight=[1] * 120)
    with pytest.raises(ParameterError, match="called search here, one of hc, tabu, exact, orders"):
        md.learn(TABLE, algorithm="pc")
    with pytest.raises(ParameterError, match="'mbde' is not here: it is for data of experiments"):
        md.learn(TABLE, score="mbde")
    with pytest.raises(ParameterError, match="only arcs that may be there: forbid the others"):
        md.learn(TABLE, white_list=[ARC])
    with pytest.raises(ParameterError, match=r"no option 'nonsense'; it takes data, objective, .*missing"):
        md.learn(TABLE, nonsense=1)


def test_columns_are_named_and_not_counted():
    with pytest.raises(ParameterError, match=r"'index_col': that is called drop here$"):
        CALLS["read"](index_col=0)


def test_learning_has_no_target():
    with pytest.raises(ParameterError, match=r"'target': a network has none"):
        CALLS["learn"](target="xray")


def test_the_white_list_of_pgmpy_can_be_had_as_its_hint_says():
    names, white_list = NODES, [("smoke", "lung"), ("smoke", "bronc")]
    text = re.search(r"forbidden=(\[.*\]);", REMARKS["white_list"])[1]
    forbidden = eval(text, {"names": names, "white_list": white_list})
    assert set(md.learn(TABLE, forbidden=forbidden).dag.arcs) <= set(white_list)


def test_the_default_objective_is_the_one_of_learn():
    assert md.parse(DEFAULT_SCORE) == DEFAULT


# Names ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", sorted(NAMES))
def test_names_of_functions_and_classes_lead_to_ours(word):
    with pytest.raises(AttributeError, match=re.escape(f"has no attribute {word!r}; here it is {NAMES[word]}")):
        getattr(md, word)
    found = md
    for part in re.match(r"mapdag((?:\.\w+)+)", NAMES[word])[1].split(".")[1:]:
        found = getattr(found, part)
    assert callable(found)


def test_near_misses_are_found_and_nothing_else_is_made_up():
    with pytest.raises(AttributeError, match="did you mean 'learn'"):
        md.lern  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no attribute 'xyzzy'$"):
        md.xyzzy  # noqa: B018
    assert not hasattr(md, "__wrapped__")
    assert name_hint("__path__x", md.__all__) == ""
    assert not set(NAMES) & set(md.__all__)


# Scores ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", sorted(SCORES))
def test_scores_of_peers_are_read_or_lead_to_ours(word):
    if word in [name.lower() for name in LIKELIHOODS]:
        assert md.parse(word) == md.parse(SCORES[word])
        return
    with pytest.raises(NotationError) as caught:
        md.parse(word)
    hint = re.search(r"is called '(.+?)'; here it is (\w+)", caught.value.message)
    assert hint[1] == word
    assert caught.value.position == 0
    md.parse(f"MU(c=1) + {hint[2]}")


@pytest.mark.parametrize("word", sorted(NO_SCORES))
def test_scores_that_are_not_here_say_so(word):
    with pytest.raises(NotationError, match=re.escape(NO_SCORES[word])):
        md.parse(word)


@pytest.mark.parametrize("text", ["MU(c=1)+bic-d", "bic-d(3)", "  bic-d"])
def test_the_place_of_a_score_with_a_dash_is_told(text):
    with pytest.raises(NotationError, match="here it is BIC") as caught:
        md.parse(text)
    assert text[caught.value.position :].startswith("bic-d")


def test_classes_of_peers_are_no_objectives():
    class BDeuScore:
        pass

    for given in (BDeuScore, BDeuScore()):
        with pytest.raises(ParameterError, match="here it is BDeu"):
            md.learn(TABLE, given)


# Command line ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "flag", "hint"),
    [
        ("learn", "--blacklist", "that is called --forbid here"),
        ("learn", "--whitelist", "that is called --require here"),
        ("learn", "--maxp", "that is called --max-parents here"),
        ("learn", "--objective", "that is called --score here"),
        ("learn", "--iss", "that is part of --score here, as in --score 'U+BDeu(5)'"),
        ("learn", "--algorithm", "that is called --search here"),
        ("learn", "--n-jobs", "that is called --threads here"),
        ("learn", "--sep", "that is called --separator here"),
        ("learn", "--na-values", "that is called --missing-value here"),
        ("learn", "--max-parent", "did you mean --max-parents?"),
        ("cv", "--k", "that is called --folds here"),
        ("bootstrap", "--n-boot", "that is called --replicates here"),
        ("learn", "--nonsense", ""),
    ],
)
def test_flags_of_peers_lead_to_ours(run, command, flag, hint):
    code, _, err = run(command, "table.csv", flag, "3")
    assert code == 2
    assert f"No such option: {flag}" in err
    assert hint in err
    assert ("did you mean" in err or "that is" in err) == bool(hint)
    assert flag_hint(flag, []) == ""
