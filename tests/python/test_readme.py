"""The Python code of README.md and docs/ runs, each page from top to bottom in one namespace, and the search command of README.md prints
the output shown there. (The Rust code runs as doctests.)"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
README = ROOT / "README.md"


# rust.md and burn.md run as doctests of their crates; invariants.md and names.md are lists; index.md is the site's contents
OTHERS = ("rust.md", "burn.md", "webassembly.md", "invariants.md", "names.md", "index.md")
PAGES = [
    README,
    *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in OTHERS),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks(page, monkeypatch):
    monkeypatch.chdir(ROOT)  # pages read files of examples/
    text = page.read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert len(blocks) >= 3
    names = {}
    for block in blocks:
        lines_before = text.count("\n", 0, block.start(1))
        exec(compile("\n" * lines_before + block[1], page, "exec"), names)


def test_readme_counts_the_workloads_of_the_comparison():
    text = (ROOT / "COMPARISON.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|[^|]+\| \**[\d.]+\** \| (\d+) of (\d+) \|", text, re.MULTILINE)
    assert len(rows) > 30  # families
    ahead, of = (sum(map(int, counts)) for counts in zip(*rows, strict=True))
    readme = " ".join(README.read_text(encoding="utf-8").split())
    assert f"than the fastest of seven other libraries in {ahead} of {of} workloads" in readme


def test_search_prints_the_output_shown():
    text = README.read_text(encoding="utf-8")
    command, shown = re.search(
        r"^```sh\n(flex-cpu search .*)\n```\n\n```text\n(.*?)^\.\.\.\n```$",
        text,
        re.MULTILINE | re.DOTALL,
    ).groups()
    program = Path(sys.executable).with_name("flex-cpu")
    printed = subprocess.run(
        [program, *shlex.split(command)[1:]],
        cwd=README.parent,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    lines = shown.splitlines()
    assert len(lines) >= 2
    assert printed.splitlines()[: len(lines)] == lines
