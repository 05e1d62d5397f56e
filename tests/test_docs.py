"""Every block of Python and every command in the README and the documentation runs, and prints what it says."""

import doctest
import re
import shlex
import shutil
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest

import mapdag as md
from mapdag.cli import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n?((?:(?!\$ ).*\n?)*)", re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Checker(doctest.OutputChecker):
    """Compares output, but for how long something took and how much work it was."""

    def check_output(self, want, got, optionflags):
        want, got = (re.sub(r"[\d,]+ moves?, [\d,]+ famil(?:y|ies), \d+\.\d+ s\b", "", text) for text in (want, got))
        return super().check_output(want, got, optionflags)


def run_python(block, page, line, names):
    """Run one block; its names stay for the next."""
    if ">>>" not in block:
        exec(compile("\n" * line + block, page.name, "exec"), names)
        return
    runner = doctest.DocTestRunner(Checker(), optionflags=FLAGS)
    # The runner clears a test's names at its end, hence the copy back.
    case = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), line)
    runner.run(case, clear_globs=False)
    names.update(case.globs)
    assert runner.failures == 0


def run_commands(block, monkeypatch, capsys):
    """Run the commands of one block that are ours; the others, such as pip, are left alone."""
    for command, expected in COMMAND.findall(block):
        name, *arguments = shlex.split(command.replace("\\\n", " "), comments=True)
        if name != "mapdag":
            continue
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        found, trouble = capsys.readouterr()
        assert not code, f"{command}\n{trouble}"
        if expected.strip():
            assert Checker().check_output(expected.rstrip() + "\n", found, FLAGS), f"{command}\nprints\n{found}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_code_blocks_and_commands_run_as_printed(page, tmp_path, monkeypatch, capsys):
    if not page.exists() or not (ROOT / "examples").exists():
        pytest.skip("not part of this distribution")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # commands replace it
    names = {"__name__": "__main__"}
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        if block[1] == "python":
            run_python(block[2], page, text[: block.start()].count("\n"), names)
        else:
            run_commands(block[2], monkeypatch, capsys)


def test_commands_are_told_from_their_output():
    assert COMMAND.findall("$ mapdag a \\\n    --b c\none\n\ntwo\n$ mapdag d\n") == [
        ("mapdag a \\\n    --b c", "one\n\ntwo\n"),
        ("mapdag d", ""),
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_that_pages_speak_of_exist(page):
    if not page.exists() or not (ROOT / "src").exists():
        pytest.skip("not part of this distribution")
    package = ROOT / "src" / "mapdag"
    named = re.findall(r"`((?:[\w-]+/)+[\w-]+\.(?:py|js|md|csv|json|gz))`", page.read_text(encoding="utf-8"))
    homes = (ROOT, package, package / "report", page.parent)
    assert [name for name in named if not any((home / name).exists() for home in homes)] == []


def test_every_public_name_is_in_the_reference():
    if not (ROOT / "docs" / "api").exists():
        pytest.skip("not part of this distribution")
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "api").glob("*.md"))
    listed = set(re.findall(r"^::: mapdag\.(\w+)", pages, re.MULTILINE))
    assert listed >= set(md.__all__)
    listed_theory = set(re.findall(r"^        - (\w+)$", pages, re.MULTILINE))
    functions = {name for name in md.theory.__all__ if callable(getattr(md.theory, name))}
    assert listed_theory | {"alpha_star", "diagnose", "Diagnosis"} >= functions


@pytest.mark.parametrize(
    ("text", "loads"),
    [
        ('<a href="https://example.org">read on</a>', 0),
        ('<link rel="stylesheet" href="assets/main.css"><img src="img/a.svg">', 0),
        ('<script src="https://example.org/a.js"></script>', 1),
        ('<link rel="preconnect" href="//example.org">', 1),
        ("<style>@import url('https://example.org/font.css')</style>", 1),
        ('<p style="background: url(http://example.org/a.png)">', 1),
    ],
)
def test_what_a_page_loads_from_outside_is_found(text, loads, tmp_path, monkeypatch):
    if not (ROOT / "docs" / "check_site.py").exists():
        pytest.skip("not part of this distribution")
    monkeypatch.syspath_prepend(ROOT / "docs")
    from check_site import outside_loads

    (tmp_path / "index.html").write_text(text, encoding="utf-8")
    assert len(outside_loads(tmp_path)) == loads


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ('<a href="other.html#part">read on</a><a href="#here">up</a><p id="here"><a href="#">top</a>', 0),
        ('<a href="https://example.org/missing">out</a><a href="mailto:a@b.c">write</a><a href="?q=1">ask</a>', 0),
        ('<img src="img/a%20b.svg"><img srcset="img/a%20b.svg 2x, img/a%20b.svg"><a href="/other.html">root</a>', 0),
        ('<a href="img/">folder without a page</a>', 1),
        ('<a href="other.html#nowhere">read on</a>', 1),
        ('<a href="#nowhere">up</a>', 1),
        ('<a href="missing.html">gone</a><img src="img/missing.svg">', 2),
        ('<img srcset="img/a%20b.svg 1x, img/missing.svg 2x">', 1),
        ('<a href="../README.md">out of the site</a>', 1),
        ('<a href="other.md">not built</a><link rel="stylesheet" href="gone.css"><script src="gone.js"></script>', 3),
    ],
)
def test_links_that_lead_nowhere_are_found(text, broken, tmp_path, monkeypatch):
    if not (ROOT / "docs" / "check_site.py").exists():
        pytest.skip("not part of this distribution")
    monkeypatch.syspath_prepend(ROOT / "docs")
    from check_site import broken_links

    site = tmp_path / "site"
    (site / "img").mkdir(parents=True)
    (tmp_path / "README.md").write_text("outside")
    (site / "img" / "a b.svg").write_text("<svg/>")
    (site / "other.html").write_text('<h2 id="part">Part</h2>')
    (site / "index.html").write_text(text, encoding="utf-8")
    assert len(broken_links(site)) == broken


@pytest.mark.parametrize("name", ["patients", "workers"])
def test_tables_of_the_examples_are_what_their_scripts_make(name, tmp_path, monkeypatch):
    if not (ROOT / "examples").exists():
        pytest.skip("not part of this distribution")
    monkeypatch.syspath_prepend(ROOT / "examples")
    import_module(name).write(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_bytes() == (ROOT / "examples" / f"{name}.csv").read_bytes()


def test_the_page_of_the_command_line_has_every_command(monkeypatch):
    if not (ROOT / "docs" / "cli.md").exists():
        pytest.skip("not part of this distribution")
    monkeypatch.syspath_prepend(ROOT / "docs")
    import typer
    from options import options_of, with_options

    from mapdag.cli.app import app

    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    shown = with_options(text)
    for command in typer.main.get_command(app).commands:
        assert f"mapdag {command}" in text
        if command != "study":
            assert f"Options of <code>mapdag {command}</code>" in shown
    assert options_of(["no", "such", "command"]) == ""
    assert "--report FILE" in options_of(["learn"])
