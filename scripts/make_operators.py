#!/usr/bin/env python3
"""Writes the table of ONNX operators in docs/onnx.md anew, from the rows of src/onnx/rows."""

from pathlib import Path

import flex.onnx

PAGE = Path(__file__).resolve().parent.parent / "docs" / "onnx.md"
HEAD = "| operator | forms since operator set |\n|---|---|\n"


def table() -> str:
    """The table: a line for each operator, with the versions from which its forms hold."""
    rows: dict[str, list[str]] = {}
    for domain, name, since in flex.onnx.operators():
        rows.setdefault(f"{domain}.{name}" if domain else name, []).append(str(since))
    return HEAD + "".join(f"| `{name}` | {', '.join(since)} |\n" for name, since in rows.items())


if __name__ == "__main__":
    before, _ = PAGE.read_text("utf-8").split(HEAD)
    PAGE.write_text(before + table(), "utf-8")
