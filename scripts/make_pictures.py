#!/usr/bin/env python3
"""Writes the drawings of docs/pictures: what a view is, what copy-on-write does, which memory a fused function moves."""

from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
STYLE = """text{font:13px system-ui,sans-serif;fill:#24292f}.code{font-family:ui-monospace,monospace}.note{fill:#57606a;font-size:12px}
.middle{text-anchor:middle}.cell{fill:#ddf4ff;stroke:#54aeff}.own{fill:#dafbe1;stroke:#4ac26b}.plain{fill:none;stroke:#8c959f}
.line{stroke:#57606a;fill:none}.head{fill:#57606a}.slow{fill:#fff8c5;stroke:#d4a72c}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.note{fill:#9198a1}.cell{fill:#0c2d6b;stroke:#388bfd}.own{fill:#033a16;stroke:#2ea043}
.plain{stroke:#656c76}.line{stroke:#9198a1}.head{fill:#9198a1}.slow{fill:#4b2900;stroke:#bb8009}}"""
ARROW = (
    '<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path class="head" d="M0 0l8 4-8 4z"/></marker></defs>'
)
CELL = 34


class Drawing:
    def __init__(self, width: int, height: int, title: str) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
            f"<title>{escape(title)}</title><style>{STYLE}</style>{ARROW}"
        ]

    def text(self, x: float, y: float, text: str, kind: str = "") -> None:
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(text)}</text>')

    def box(
        self, x: float, y: float, width: float, height: float, kind: str, text: str = ""
    ) -> None:
        self.parts.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3"/>'
        )
        if text:
            self.text(x + width / 2, y + height / 2 + 4.5, text, "middle")

    def grid(self, x: float, y: float, rows: list[list[object]], kind: str = "cell") -> None:
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                self.box(x + j * CELL, y + i * CELL, CELL, CELL, kind, str(value))

    def arrow(self, x1: float, y1: float, x2: float, y2: float, head: bool = True) -> None:
        end = ' marker-end="url(#a)"' if head else ""
        self.parts.append(f'<path class="line" d="M{x1:g} {y1:g}L{x2:g} {y2:g}"{end}/>')

    def save(self, name: str) -> None:
        text = "\n".join([*self.parts, "</svg>"])
        (FOLDER / name).write_text(text + "\n", encoding="utf-8")


def view() -> None:
    """Three tensors over the same six elements."""
    d = Drawing(
        640, 300, "Three tensors that read the same six elements with other shapes and strides"
    )
    columns = [
        (8, "x", [[1, 2, 3], [4, 5, 6]], "starts at 0, strides (3, 1)"),
        (228, "x.T", [[1, 4], [2, 5], [3, 6]], "starts at 0, strides (1, 3)"),
        (448, "x[:, ::-1]", [[3, 2, 1], [6, 5, 4]], "starts at 2, strides (3, -1)"),
    ]
    for x, name, rows, note in columns:
        d.text(x, 20, name, "code")
        d.text(x, 40, note, "note")
        d.grid(x, 52, rows, "plain")
        d.arrow(x + len(rows[0]) * CELL / 2, 56 + len(rows) * CELL, 320 + (x - 228) / 3, 212)
    left = 320 - 3 * CELL
    d.grid(left, 218, [[1, 2, 3, 4, 5, 6]])
    for k in range(6):
        d.text(left + (k + 0.5) * CELL, 268, str(k), "note middle")
    d.text(320, 290, "one block of memory: no view moves an element", "note middle")
    d.save("view.svg")


def copy_on_write() -> None:
    """Assignment, then a write."""
    d = Drawing(
        640, 218, "Two tensors share memory until one of them is written to, which then has its own"
    )
    steps = [
        (8, ["b = a[:]"], "shared: nothing is copied"),
        (228, ["b[0] = 9"], "b is copied, then written"),
        (448, ["b[1] = 8"], "b is alone: written in place"),
    ]
    for k, (x, code, note) in enumerate(steps):
        d.text(x, 20, code[0], "code")
        d.text(x, 40, note, "note")
        d.text(x + 10, 76, "a", "code middle")
        d.text(x + 10, 186, "b", "code middle")
        d.grid(x + 50, 56, [[1, 2, 3]])
        d.arrow(x + 20, 72, x + 46, 72)
        if k == 0:
            d.arrow(x + 20, 176, x + 62, 96)
        else:
            d.arrow(x + 20, 182, x + 46, 182)
            d.grid(x + 50, 165, [[9, 2, 3] if k == 1 else [9, 8, 3]], "own")
    d.save("copy-on-write.svg")


def fused() -> None:
    """The memory that (a * b + c) * 2 - a / (b * b + 1) moves, operation by operation and fused."""
    d = Drawing(
        640, 400, "Seven operations move 288 MB between cores and memory; fused they move 64 MB"
    )
    mega = 16  # bytes of an operand, in millions
    steps = [
        ("a * b", 3),
        ("+ c", 3),
        ("* 2", 2),
        ("b * b", 2),
        ("+ 1", 2),
        ("a / ..", 3),
        (".. - ..", 3),
    ]
    d.text(8, 20, "operation by operation")
    d.text(8, 40, "each reads memory and writes memory", "note")
    for k, (name, operands) in enumerate(steps):
        y = 56 + k * 38
        d.text(8, y + 20, name, "code")
        d.box(80, y + 2, operands * 36, 26, "slow", f"{operands * mega} MB")
    total = sum(n for _, n in steps) * mega
    d.text(8, 56 + 7 * 38 + 20, f"together {total} MB through memory")

    x = 320
    d.text(x, 20, "flex.fuse")
    d.text(x, 40, "one walk, block by block", "note")
    for k, name in enumerate("abc"):
        y = 62 + k * 34
        for j in range(8):
            d.box(x + 20 + j * 34, y, 34, 24, "cell" if j == 3 else "plain")
        d.text(x, y + 17, name, "code")
    d.text(x + 20, 180, "memory: each operand is read once, 3 × 16 MB", "note")
    middle = x + 20 + 3.5 * 34
    d.arrow(middle, 188, middle, 212)
    d.box(x + 20, 216, 272, 70, "own")
    d.text(x + 156, 238, "a block of each, in L1 and L2 cache", "middle")
    d.text(x + 156, 258, "a * b, + c, * 2, b * b, + 1, /, -", "code middle")
    d.text(x + 156, 276, "what is in between never leaves it", "note middle")
    d.arrow(middle, 288, middle, 310)
    for j in range(8):
        d.box(x + 20 + j * 34, 314, 34, 24, "cell" if j == 3 else "plain")
    d.text(x + 20, 358, "memory: the result is written once, 16 MB", "note")
    d.text(x, 386, f"together {4 * mega} MB through memory")
    d.save("fused.svg")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    view()
    copy_on_write()
    fused()
