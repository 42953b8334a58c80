#!/usr/bin/env python3
"""Checks the structure of the source by its text: uses between layers, where patterns may appear, the length of files.

Layers, lowest first; a module may use its own layer and those below it:

    dtype, scalar, error, fallible, environment  <  layout, storage  <  simd, par  <  op, kernel  <  exec  <  tensor, format
      <  ops  <  nn, fft, linalg, signal, io, stream, quant, random  <  onnx  <  prelude, bindings
      <  python (python/src, a crate of its own)

A public function with an example is named by a test. Files of one folder must not use each other in a cycle. A label of an invariant
(TENSOR1) is defined once, by a comment that begins with it, `Invariant` or `Contract`; docs/invariants.md lists them, and `--index`
rewrites it. Words that a term of the field replaced are not used again. Pages show this version of the crate. Exit status 1 when a rule
is broken.
"""

import re
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
MODULE = ROOT / "python" / "src"  # its files are named python/..
INDEX = ROOT / "docs" / "invariants.md"
LONG, TOO_LONG = 400, 600  # lines: reported, refused

LAYERS = [
    {"dtype", "scalar", "error", "fallible", "environment"},
    {"layout", "storage"},
    {"simd", "par"},
    {"op", "kernel"},
    {"exec"},
    {"tensor", "format"},
    {"ops"},
    {"nn", "fft", "linalg", "signal", "io", "stream", "quant", "random"},
    {"onnx"},
    {"prelude", "bindings"},
    {"python"},
]
LEVEL = {module: level for level, modules in enumerate(LAYERS) for module in modules}


class Rule(NamedTuple):
    """Of the files that match `where`, only those that match `allowed` may contain `pattern`."""

    pattern: str
    where: str
    allowed: str
    reason: str


RULES = [
    Rule(r"\bpyo3\b", r".*", r"python/.*", "only python/src/ knows Python"),
    Rule(
        r"\brayon\b|\bthread::(?!yield_now|sleep)", r".*", r"par/.*", "only src/par/ knows threads"
    ),
    Rule(
        r"\b(Layout|Tensor)\b", r"kernel/.*", r"", "kernels see slices, never a Layout or a Tensor"
    ),
    Rule(r"\bpar::", r"kernel/.*", r"", "kernels know no threads"),
    Rule(
        r"\bcrate::kernel\b",
        r"exec/.*",
        r"exec/products\.rs",
        "exec runs loops and knows the meaning of none",
    ),
    Rule(
        r"\b(core|std)::arch\b",
        r".*",
        r"simd/.*|kernel/gemm/(microkernel|packing)/.*",
        "intrinsics stand in src/simd/, those of tiles in kernel/gemm",
    ),
    Rule(
        r"^impl(<[^>]*>)? Tensor\b",
        r".*",
        r"tensor/.*|ops/(methods|values).*|ops/index/basic\.rs",
        "methods of Tensor stand in src/tensor/, or call ops: `method!` makes them",
    ),
]

# Retired words, each with the field's term for it.
WORDS = {
    "Attended": "AttentionElement",
    "Crew": "Workers",
    "Described": "SourceInfo",
    "Follow": "PostOp",
    "Following": "PostOp",
    "Layered": "LayerStep",
    "Lent": "Loan",
    "Refusal": "ParseError",
    "Rel": "OperandRef",
    "Spread": "Col2Im or Smoothing",
    "Way": "Plan",
    "linear_then": "linear_with_post_op",
    "matmul_then": "matmul_with_post_op",
}
WORD = re.compile(rf"\b({'|'.join(WORDS)})\b")
PLACES = re.compile(r"\bplaces\b")  # of a result, which are positions or outputs
SIZED = re.compile(r"(kernel|nn)/(conv|resample)/.*")


def circles(files: dict[str, list[tuple[int, str]]]):
    """The groups of files of one folder that use each other in a cycle, through `super::` or their paths under `crate::`."""
    for folder in sorted({str(Path(name).parent) for name in files} - {"."}):
        here = {
            Path(name).stem: name
            for name in files
            if str(Path(name).parent) == folder and Path(name).stem != "mod"
        }
        parts = Path(folder).parts
        path = "::".join(("crate", *parts[parts[0] == "python" :]))
        uses: dict[str, set[str]] = {}
        for stem, name in here.items():
            text = "\n".join(line for _, line in files[name])
            found = set(re.findall(rf"\b(?:super|{path})::(\w+)", text))
            for group in re.findall(rf"\b(?:super|{path})::\{{(.*?)\}};", text, re.DOTALL):
                found |= set(re.findall(r"(?:^|,)\s*(\w+)", group))
            uses[stem] = (found & set(here)) - {stem}
        reached = {stem: set(used) for stem, used in uses.items()}
        for through in reached:
            for used in reached.values():
                if through in used:
                    used |= reached[through]
        around = {stem for stem in reached if stem in reached[stem]}
        while around:
            first = min(around)
            group = {stem for stem in around if stem in reached[first] and first in reached[stem]}
            yield folder, sorted(group)
            around -= group


def code(path: Path) -> list[tuple[int, str]]:
    """The numbered lines of a file without comments and strings."""
    return [
        (number, re.sub(r'"(\\.|[^"\\])*"|(^|\s)//.*', "", line))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    ]


def broken_rules(name: str, lines: list[tuple[int, str]]):
    """The rules that the file `name` breaks, as (line number, reason)."""
    module = Path(name).parts[0].removesuffix(".rs")
    level = LEVEL.get(module)
    if level is None and module != "lib":
        yield 1, f"module `{module}` has no layer in {Path(__file__).name}"
    for number, line in lines:
        for used in re.findall(r"\bcrate::(\w+)", line):
            if level is not None and LEVEL.get(used, -1) > level:
                yield number, f"`{module}` may not use `{used}`, which is above it"
        for rule in RULES:
            if (
                re.fullmatch(rule.where, name)
                and not re.fullmatch(rule.allowed, name)
                and re.search(rule.pattern, line)
            ):
                yield number, rule.reason
        for word in WORD.findall(line):
            yield number, f"`{word}` is retired: {WORDS[word]}"
        if SIZED.fullmatch(name) and PLACES.search(line):
            yield number, "`places` are positions, outputs or output_size"


LABEL = re.compile(r"\b(?!(?:AVX|SSE|UTF|LOG|XCR)\d)[A-Z]{3,}\d\b")
DEFINITION = re.compile(
    rf"^\s*//[/!]?\s+(?:- (?:\*\*)?({LABEL.pattern})[.,:]|(?:Invariant|Contract) \(?({LABEL.pattern})|({LABEL.pattern}):)"
)


def definitions(texts: dict[str, str]):
    """The definitions of labels, as (label, file, line number)."""
    for name, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            if found := DEFINITION.match(line):
                yield found[1] or found[2] or found[3], name, number


def sentence(text: str, number: int) -> str:
    """What the comment that defines a label on this line says first."""
    words = []
    for line in text.splitlines()[number - 1 :]:
        part = re.sub(r"^\s*//[/!]?\s*", "", line)
        if "//" not in line or not part or (words and DEFINITION.match(line)):
            break
        words.append(part)
    said = re.sub(
        rf"^(?:- )?(?:Invariant|Contract)?[ (*]*{LABEL.pattern}[).,:* ]*", "", " ".join(words)
    )
    said = re.sub(r"\[(`[^`]*`)\](?:\([^)]*\))?", r"\1", said.replace("**", ""))
    title = re.match(r"(?:[\w-]+ ?){1,2}\. ", said)  # of a sentence that has one
    start = title.end() if title else 0
    end = re.compile(r"(?<=[^.])\.(?= |$)|; ").search(said, start)
    said = said[: end.start()] if end else said.rstrip(":")
    return said[:1].upper() + said[1:]


def index(texts: dict[str, str]) -> str:
    """The page that lists all invariants."""
    rows: dict[str, list[str]] = {}
    for label, name, number in definitions(texts):
        rows.setdefault(name, []).append(f"- {label}: {sentence(texts[name], number)}.")
    return (
        "# Invariants\n\nWhat `unsafe` code relies on: each label, where it is defined and how its definition begins. "
        "`SAFETY:` comments cite\nlabels. `scripts/check_layers.py --index` writes this page, and `make lint` compares.\n"
        + "".join(f"\n**{name}**\n\n" + "\n".join(rows[name]) + "\n" for name in sorted(rows))
    )


def labels(texts: dict[str, str]):
    """Errors in the labels of invariants, which comments define once and cite anywhere."""
    defined: dict[str, list[str]] = {}
    cited: dict[str, str] = {}
    for label, name, number in definitions(texts):
        defined.setdefault(label, []).append(f"{name}:{number}")
    for name, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            comment = line[line.find("//") :] if "//" in line else ""
            for label in LABEL.findall(comment):
                cited.setdefault(label, f"{name}:{number}")
    yield from (
        f"{place}: {label} is defined nowhere"
        for label, place in cited.items()
        if label not in defined
    )
    yield from (
        f"{places[1]}: {label} is defined at {places[0]} too"
        for label, places in defined.items()
        if len(places) > 1
    )


FUNCTION = re.compile(
    r"(?P<above>(?:^ *(?://[/!]|#\[).*\n)*)^ *pub (?:const |unsafe )*fn (?P<name>\w+)", re.MULTILINE
)


def unnamed(texts: dict[str, str], tests: str):
    """Public functions whose documentation has an example, and which no Rust test names: an example shows a use, not what is right."""
    named = set(re.findall(r"\w+", tests))
    for file, text in texts.items():
        for function in FUNCTION.finditer(text):
            above, name = function["above"], function["name"]
            if "/// ```" in above and "doc(hidden)" not in above and name not in named:
                line = text.count("\n", 0, function.start("name")) + 1
                yield f"{file}:{line}: no test in tests/ calls `{name}`"


def dated():
    """Pages that show a dependency on another version than this one."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    current = manifest["workspace"]["package"]["version"].rpartition(".")[0]
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *SOURCE.glob("*.md")]
    for path in sorted(pages):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            shown = re.search(r'flex-cpu = (?:\{ version = )?"([\d.]+)"', line)
            if shown and shown[1] != current:
                yield f"{path.relative_to(ROOT)}:{number}: flex-cpu {shown[1]}, not {current}"


def main() -> int:
    """Prints the violations and returns the exit status."""
    paths = {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.rs"))}
    module = sorted(MODULE.rglob("*.rs"))
    paths |= {"python/" + path.relative_to(MODULE).as_posix(): path for path in module}
    files = {name: code(path) for name, path in paths.items() if path.name != "lib.rs"}
    broken = [
        f"{paths[name].relative_to(ROOT)}:{number}: {reason}"
        for name, lines in files.items()
        for number, reason in broken_rules(name, lines)
    ]
    sources = sorted(
        path
        for folder in ("src", "python", "tests", "benches")
        for path in (ROOT / folder).rglob("*.rs")
    )
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sources
    }
    broken += labels(texts)
    broken += dated()
    if "--index" in sys.argv:
        INDEX.write_text(index(texts), encoding="utf-8")
    elif not INDEX.exists() or INDEX.read_text(encoding="utf-8") != index(texts):
        broken.append(
            f"{INDEX.relative_to(ROOT)} is out of date: run scripts/check_layers.py --index"
        )
    tests = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "tests").rglob("*.rs"))
    public = {f"src/{n}": p.read_text("utf-8") for n, p in paths.items() if p not in module}
    broken += unnamed(public, tests)
    for folder, group in circles(files):
        broken.append(f"src/{folder}: {', '.join(group)} use each other in a circle")
    folders = ("src", "python", "tests", "benches", "examples", "scripts")
    for path in sorted(
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".rs", ".py")
    ):
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
