#!/usr/bin/env python3
"""Writes LICENSE-THIRD-PARTY: the licences of the crates that are compiled into the Python module, which its wheels must carry. Where a
crate has several to choose from, it is used under MIT. With --check, the exit status is 1 if the file is not what would be written."""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "LICENSE-THIRD-PARTY"
HEAD = """\
The Python module of flex contains code of these Rust crates, under the licences that follow, and of the Rust standard library
(Copyright (c) The Rust Project Contributors, MIT OR Apache-2.0, used under the MIT licence as flex itself: LICENSE-MIT).
Written by scripts/make_licenses.py.
"""


def cargo(*arguments: str) -> str:
    command = ["cargo", *arguments, "--locked"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def compiled_in() -> set[str]:
    """Names and versions of the crates in the module, for any system: macros run in the compiler only."""
    edges = ["--edges", "normal,no-proc-macro", "--target", "all", "--prefix", "none"]
    lines = cargo("tree", "--package", "flex-python", *edges).splitlines()
    return {" ".join(line.split()[:2]) for line in lines if "(/" not in line and line}


def licence(folder: Path) -> str:
    found = {path.name.upper(): path for path in folder.iterdir() if path.is_file()}
    for name in ("LICENSE-MIT", "LICENSE-MIT.TXT", "LICENSE", "LICENSE.TXT", "LICENSE.MD"):
        if name in found:
            return found[name].read_text(encoding="utf-8").strip().replace("\r\n", "\n")
    raise SystemExit(f"{folder}: no licence")


def document() -> str:
    used, crates = compiled_in(), defaultdict(list)
    packages = json.loads(cargo("metadata", "--format-version", "1"))["packages"]
    for package in sorted(packages, key=lambda p: p["name"]):
        name = f"{package['name']} v{package['version']}"
        if name in used:
            text = licence(Path(package["manifest_path"]).parent)
            crates[text].append(f"{name} ({package['license']})")
    assert sum(map(len, crates.values())) == len(used), used
    rule = "-" * 80
    parts = [f"{rule}\n" + "\n".join(names) + f"\n\n{text}\n" for text, names in crates.items()]
    return "\n".join([HEAD, *parts])


if __name__ == "__main__":
    text = document()
    if "--check" not in sys.argv:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        sys.exit(f"{TARGET.name} is not up to date: run scripts/make_licenses.py")
