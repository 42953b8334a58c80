"""The pages of the site from those of the repository: where each goes, and what becomes of their links.

A page links to others by the repository's paths, as every viewer of repositories reads them. On the site, links between pages lead to
pages, those to files give the file, and those to folders are the plain text, since a folder is no page."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from site_api import ROOT, Reference

# Pages outside docs/, and their names on the site.
ELSEWHERE = {
    "COMPARISON.md": "comparison.md",
    "COMPARISON-BURN.md": "comparison-burn.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "src/microcontrollers.md": "microcontrollers.md",
    "README.md": "index.md",
}
START_ENDS = "\n## Install\n"  # of README.md: what stands before it begins the start page

FENCE = re.compile(r"^(```+|:::+).*?^\1[ ]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!\\)(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
PICTURES = {".svg", ".png"}


def names() -> dict[str, str]:
    """The pages of the repository by path, and their names on the site."""
    own = {f"docs/{page.name}": page.name for page in sorted((ROOT / "docs").glob("*.md"))}
    return {**own, **ELSEWHERE}


def write(folder: Path, reference: Reference) -> None:
    pages = names()
    for path, name in pages.items():
        if path != "README.md" and path != "docs/index.md":
            text = (ROOT / path).read_text(encoding="utf-8")
            (folder / name).write_text(
                moved(text, path, pages, folder, reference), encoding="utf-8"
            )
    start, found, _ = (ROOT / "README.md").read_text(encoding="utf-8").partition(START_ENDS)
    assert found, f"README.md has no {START_ENDS.strip()!r}"
    rest = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    (folder / "index.md").write_text(
        moved(start, "README.md", pages, folder, reference)
        + moved(rest, "docs/index.md", pages, folder, reference),
        encoding="utf-8",
    )


def moved(text: str, path: str, pages: dict[str, str], folder: Path, reference: Reference) -> str:
    if path.startswith("src/"):
        text = of_crate(text)

    def link(found: re.Match[str]) -> str:
        mark, words, target = found.groups()
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        target, _, anchor = target.partition("#")
        place = (ROOT / path).parent / target
        file = str(place.resolve().relative_to(ROOT))
        anchor = f"#{anchor}" if anchor else ""
        if file in pages:
            return f"[{words}]({pages[file]}{anchor})"
        if target.startswith("api/"):  # the reference, which only the site has
            return found[0]
        if place.suffix in PICTURES or place.is_file():
            copy = folder / "files" / file
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(place, copy)
            return (
                f"{mark}[{words}](files/{file})"
                if mark
                else f"{{download}}`{words.strip('`')} <files/{file}>`"
            )
        if not place.exists():
            raise SystemExit(f"{path}: there is no {target}")
        return words

    def code(found: re.Match[str]) -> str:
        name = reference.target(found[2]) if found[2].startswith("flex.") else None
        return f"{{py:obj}}`{found[2]} <{name}>`" if name else found[0]

    def prose(part: str) -> str:
        lines = part.split("\n")
        return "\n".join(
            line if line.startswith("#") else outside(LINK, line, link, code) for line in lines
        )

    out, at = [], 0
    for fence in FENCE.finditer(text):
        out += [prose(text[at : fence.start()]), fenced(fence[0])]
        at = fence.end()
    return "".join([*out, prose(text[at:])])


Change = Callable[[re.Match[str]], str]


def outside(pattern: re.Pattern[str], line: str, link: Change, code: Change) -> str:
    """Changes links, and code that is not in one."""
    out, at = [], 0
    for found in pattern.finditer(line):
        before = line[at : found.start()]
        if before.count("`") % 2:  # within code
            continue
        out += [CODE.sub(code, before), link(found)]
        at = found.end()
    return "".join([*out, CODE.sub(code, line[at:])])


def fenced(text: str) -> str:
    """A block as readers of the site see it: without the lines that rustdoc hides."""
    if not text.startswith("```rust"):
        return text
    lines = text.split("\n")
    shown = [line for line in lines[1:] if not re.match(r"#( |$)", line)]
    return "\n".join(["```rust", *shown])


def of_crate(text: str) -> str:
    """A page of the crate's documentation: rustdoc's headings begin at the first level, its code is Rust, its links name items."""
    title, _, rest = text.partition("\n\n")
    text = f"# Microcontrollers\n\n{title}\n\n{rest}"
    out, inside = [], False
    for number, line in enumerate(text.split("\n")):
        if line.startswith("```"):
            line, inside = ("```rust" if line == "```" and not inside else line), not inside
        elif number and line.startswith("# ") and not inside:
            line = f"#{line}"
        out.append(line)
    return re.sub(r"\[(`[^`]*`)\]\(crate::[^)]*\)", r"\1", "\n".join(out))
