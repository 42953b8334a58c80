"""The Python of README.md runs, from top to bottom in one namespace. (Its Rust runs as a doctest.)"""

import re
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
