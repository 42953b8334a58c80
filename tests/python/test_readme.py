"""The Python of README.md runs, from top to bottom in one namespace, and its search prints what is shown. (Its Rust runs as a doctest.)"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent.parent / "README.md"


def test_python_blocks():
    text = README.read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert len(blocks) >= 3
    names = {}
    for block in blocks:
        lines_before = text.count("\n", 0, block.start(1))
        exec(compile("\n" * lines_before + block[1], README, "exec"), names)


def test_search():
    text = README.read_text(encoding="utf-8")
    command, shown = re.search(r"^```sh\n(flex-cpu search .*)\n```\n\n```text\n(.*?)^\.\.\.\n```$", text, re.MULTILINE | re.DOTALL).groups()
    program = Path(sys.executable).with_name("flex-cpu")
    printed = subprocess.run([program, *shlex.split(command)[1:]], cwd=README.parent, capture_output=True, text=True, check=True).stdout
    lines = shown.splitlines()
    assert len(lines) >= 2
    assert printed.splitlines()[: len(lines)] == lines
