"""The files of the explorer's page: modules find each other, and nothing comes from outside."""

import re
from importlib.resources import files

import pytest

REPORT = files("mapdag.report").joinpath("assets")
EXPLORER = files("mapdag.explorer").joinpath("assets")
MODULES = {path.name: path.read_text(encoding="utf-8") for home in (REPORT, EXPLORER) for path in home.iterdir()}
SCRIPTS = sorted(name for name in MODULES if name.endswith(".js"))
IMPORT = re.compile(r'^import \{ ([^}]*) \} from "\./([\w-]+\.js)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:const|let|function|class) (?:\{ ([^}]*) \}|(\w+))", re.MULTILINE)


def exported(name):
    found = EXPORT.findall(MODULES[name])
    return {each for many, one in found for each in (many.split(", ") if many else [one])}


def test_no_name_is_in_both_folders():
    assert not {path.name for path in REPORT.iterdir()} & {path.name for path in EXPLORER.iterdir()}


@pytest.mark.parametrize("name", SCRIPTS)
def test_modules_import_what_others_export(name):
    text = MODULES[name]
    assert len(IMPORT.findall(text)) == len(re.findall(r"^import ", text, re.MULTILINE))
    for wanted, source in IMPORT.findall(text):
        names = {each.split(" as ")[0] for each in wanted.split(", ")}
        assert names <= exported(source), (name, source)
        used = text.replace(f"import {{ {wanted} }}", "")
        assert not [each for each in names if not re.search(rf"\b{each}\b", used)], f"{name} does not use it"


@pytest.mark.parametrize("name", [*SCRIPTS, "index.html", "explore.css", "controls.css", "views.css", "page.css"])
def test_nothing_comes_from_outside_and_nothing_parses_markup(name):
    text = MODULES[name].replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|//cdn|@import", text)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text)


def test_the_page_has_no_script_of_its_own():
    page = MODULES["index.html"]
    assert re.findall(r"<script[^>]*>([^<]*)</script>", page) == [""]
    assert not re.search(r"\son\w+=|\sstyle=|javascript:", page)


def test_every_part_of_the_page_that_scripts_ask_for_is_there():
    page = MODULES["index.html"]
    own = [path.name for path in EXPLORER.iterdir() if path.name.endswith(".js")]
    made = set(re.findall(r'\bid: "([\w-]+)"', " ".join(MODULES[name] for name in own)))
    there = (
        set(re.findall(r'\bid="([\w-]+)"', page))
        | made
        | {"alpha", "c", "beta", "support", "likelihood", "prior", "search"}
    )
    asked = {each for name in own for each in re.findall(r'getElementById\("([\w-]+)"\)', MODULES[name])}
    assert asked - there == set()
