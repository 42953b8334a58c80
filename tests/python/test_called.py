"""Every public function is called by a test, as far as the tests' source says: by its name, in expressions that tests evaluate, or in names
that they look up."""

import ast
import inspect
import re
from pathlib import Path

import flex
import flex.models

# Files that name functions, but do not call them: lists of names, signatures and messages.
NAMING = {"test_api", "test_called", "test_errors", "test_hints", "test_stubs", "test_torch_names"}
SPACES = [flex, flex.fft, flex.io, flex.linalg, flex.nn, flex.nn.grad, flex.quant, flex.signal]
# Of these modules names are shared with others, so the module is written too, at least in the file's name.
QUALIFIED = {"grad", "io", "quant"}
GAP = "\x01"  # what a formatted string fills in
CALL = re.compile(r"\b(\w+)\.(\w+)\(")
# Called without being named, by protocols.
IMPLICIT = {"__array_namespace_info__", "_rebuild"}


def names(text):
    """The names in a string: itself, a list of names, or the calls of an expression."""
    if re.fullmatch(r"[\w.]+(\s+[\w.]+)*\s*", text.strip()):
        return [tuple(["", *word.split(".")][-2:]) for word in text.split()]
    return CALL.findall(text)


def called(path):
    """The functions that a file calls or looks up, as pairs of what stands before the dot and the name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    formatted = {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = node.value
            yield getattr(owner, "attr", getattr(owner, "id", "")), node.attr
        elif isinstance(node, ast.Name):
            yield "", node.id
        elif isinstance(node, ast.JoinedStr):
            text = "".join(
                getattr(v, "value", GAP) if isinstance(v, ast.Constant) else GAP
                for v in node.values
            )
            yield from (("", word) for word in re.findall(rf"[\w{GAP}]+", text) if GAP in word)
            yield from CALL.findall(text)
        elif id(node) in docstrings | formatted:
            pass
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from names(node.value)


def matches(name, words):
    """Whether a name may be what one of the formatted words becomes; of them at least three letters must be given."""
    return any(
        re.fullmatch(re.escape(word).replace(re.escape(GAP), r"\w+"), name)
        for word in words
        if len(word.replace(GAP, "")) > 2
    )


def test_every_public_function_is_called():
    folder = Path(__file__).parent
    found, anywhere = set(), set()
    for path in folder.rglob("*.py"):
        if path.stem in NAMING:
            continue
        pairs = set(called(path))
        found |= pairs
        anywhere |= {name for _, name in pairs}
        found |= {(q, name) for q in QUALIFIED if q in path.stem for _, name in pairs}
    words = {name for name in anywhere if GAP in name}
    missing = []
    for space in SPACES:
        module = space.__name__.rpartition(".")[2]
        for name in space.__all__:
            value = getattr(space, name)
            if not callable(value) or inspect.isclass(value) or name in IMPLICIT:
                continue
            here = (module, name) in found if module in QUALIFIED else name in anywhere
            if not here and not matches(name, words):
                missing.append(f"{space.__name__}.{name}")
    assert not missing
