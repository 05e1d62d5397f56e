"""Every block of Python in the README and the documentation runs, and prints what it says it prints."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_run_as_printed(page, tmp_path, monkeypatch):
    if not page.exists():
        pytest.skip("not part of this distribution")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    text = page.read_text(encoding="utf-8")
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for block in BLOCK.finditer(text):
        line = text[: block.start()].count("\n")
        if ">>>" in block[1]:
            # The runner clears a test's names at its end, hence the copy back.
            case = doctest.DocTestParser().get_doctest(block[1], names, page.name, str(page), line)
            runner.run(case, clear_globs=False)
            names.update(case.globs)
        else:
            exec(compile("\n" * line + block[1], page.name, "exec"), names)
    assert runner.failures == 0
