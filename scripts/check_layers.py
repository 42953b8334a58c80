#!/usr/bin/env python3
"""Checks the structure of the source by its text: which layer may use which, what may appear where, how long files are.

Layers, lowest first; a module may use its own layer and those below it:

    dtype, scalar, error, fallible  <  layout, storage, tensor  <  op, exec, kernel  <  ops  <  nn, io  <  python

Unit tests (a file's `#[cfg(test)]` module, files of that name, and `testing.rs`, which they share) may use anything. Exit status 1 when
a rule is broken.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
LONG, TOO_LONG = 400, 600  # lines: reported, refused

LAYERS = [
    {"dtype", "scalar", "error", "fallible"},
    {"layout", "storage", "tensor", "format"},
    {"op", "exec", "kernel"},
    {"ops"},
    {"nn", "io"},
    {"python"},
]
LEVEL = {module: level for level, modules in enumerate(LAYERS) for module in modules}


class Rule(NamedTuple):
    """`pattern` may appear only in files that `allowed` matches; looked for in those that `where` matches."""

    pattern: str
    where: str
    allowed: str
    reason: str


RULES = [
    Rule(r"\bpyo3\b", r".*", r"python/.*", "only src/python/ knows Python"),
    Rule(r"\brayon\b|\bthread::(?!yield_now|sleep)", r".*", r"exec/par(\.rs|/.*)", "only exec/par.rs knows threads"),
    Rule(r"\b(Layout|Tensor)\b", r"kernel/.*", r"", "kernels see slices, never a Layout or a Tensor"),
    Rule(r"\bexec::(?!isa\b|plain\b)\w+|\bpar::", r"kernel/.*", r"", "of exec, kernels know the instruction sets and plain values"),
    Rule(r"\bcrate::(op|kernel)\b", r"exec/.*", r"", "exec runs loops and knows the meaning of none"),
]


def code(path: Path) -> list[tuple[int, str]]:
    """The numbered lines of a file without comments, strings and its test module."""
    lines = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if re.match(r"\s*#\[cfg\((all\()?test\b", line):
            break
        lines.append((number, re.sub(r'"(\\.|[^"\\])*"|(^|\s)//.*', "", line)))
    return lines


def broken_rules(name: str, lines: list[tuple[int, str]]):
    """What lines of the file `name` break, as (line number, reason)."""
    module = Path(name).parts[0].removesuffix(".rs")
    level = LEVEL.get(module)
    if level is None and module != "lib":
        yield 1, f"module `{module}` has no layer in {Path(__file__).name}"
    for number, line in lines:
        for used in re.findall(r"\bcrate::(\w+)", line):
            if level is not None and LEVEL.get(used, -1) > level:
                yield number, f"`{module}` may not use `{used}`, which is above it"
        for rule in RULES:
            if re.fullmatch(rule.where, name) and not re.fullmatch(rule.allowed, name) and re.search(rule.pattern, line):
                yield number, rule.reason


def main() -> int:
    """Prints what is wrong; the exit status."""
    broken = []
    for path in sorted(SOURCE.rglob("*.rs")):
        name = path.relative_to(SOURCE).as_posix()
        if name in ("lib.rs", "testing.rs") or "tests" in path.with_suffix("").parts:
            continue
        broken += [f"src/{name}:{number}: {reason}" for number, reason in broken_rules(name, code(path))]
    folders = ("src", "python", "tests", "benches", "examples", "scripts")
    for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".rs", ".py")):
        length = path.read_text(encoding="utf-8").count("\n")
        line = f"{path.relative_to(ROOT)}: {length} lines"
        if length > TOO_LONG:
            broken.append(f"{line}, more than {TOO_LONG}: one idea a file")
        elif length > LONG:
            print(f"note: {line}, more than {LONG}")
    print(*broken, sep="\n", end="\n" if broken else "")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
